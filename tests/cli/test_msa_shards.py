"""tropalign msa: shards of the posteriors, and the alignment that merging makes of them."""

from pathlib import Path

import pytest
from shard_runs import named, stopped_and_resumed

from tropalign.cli.main import main

OUTPUTS = {
    "fasta": ["-o", "{}.fa"],
    "clustal": ["-o", "{}.aln.gz", "-f", "clustal", "--tree-out", "{}.nwk", "--confidence", "{}.tsv"],
    "tree order": ["-o", "{}.sto", "-f", "stockholm", "--row-order", "tree", "--no-comments", "--seed", "3"],
    "accurate": ["-o", "{}.fa", "--effort", "accurate", "--confidence", "{}.tsv"],
    "a tree": ["-o", "{}.fa", "--tree-in", "guide.nwk", "--rules", "quickprobs1", "--consistency", "1"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, family):
    """Seven proteins, a letter of which is small; two pairs per tile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "2")
    records = Path(family).read_text().split(">")[1:8]
    records = [name + "\n" + text[:60] for name, _, text in (record.partition("\n") for record in records)]
    Path("in.fa").write_text(">" + "\n>".join(records).replace("K", "k") + "\n")
    names = [record.split()[0].replace("K", "k") for record in records]
    Path("guide.nwk").write_text("(" * 6 + names[0] + "".join(f",{name})" for name in names[1:]) + ";\n")
    return tmp_path


def msa(words):
    """The command without its main output; the others are called after "one"."""
    return ["msa", "in.fa", *named(words[2:], "one")]


def merged(paths, words):
    names = named(words, "merged")
    wanted = ("-o", "--tree-out", "--confidence")
    return main(["merge", *paths, *(word for k, word in enumerate(names) if {word, names[k - 1]} & set(wanted))])


def made(name):
    return {path.name.removeprefix(name): path.read_bytes() for path in Path().glob(f"{name}.*")}


def test_a_stopped_shard_goes_on(monkeypatch):
    from tropalign.msa.task import PosteriorTask

    words = OUTPUTS["fasta"]
    assert main(["msa", "-q", "in.fa", *named(words, "one")]) == 0
    assert merged(stopped_and_resumed(monkeypatch, PosteriorTask, msa(words), n_damaged=1), words) == 0
    assert made("merged") == made("one")
