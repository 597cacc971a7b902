"""tropalign msa: shards of the posteriors, and the alignment that merging makes of them."""

import gzip
import random
import shutil
import zipfile
from pathlib import Path

import pytest
from shard_runs import named, refuses, shards_of, stopped_and_resumed

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


@pytest.mark.parametrize("case", OUTPUTS)
def test_shards_become_the_bytes_of_one_run(case):
    words = OUTPUTS[case]
    assert main(["msa", "-q", "in.fa", *named(words, "one")]) == 0
    whole = made("one")
    assert len(whole) == 1 + ("--tree-out" in words) + ("--confidence" in words)
    for count in (1, 2, 3, 7, 30):
        paths = shards_of(count, msa(words))
        assert made("one") == whole  # a shard writes no other file
        random.Random(count).shuffle(paths)
        assert merged(paths, words) == 0
        assert made("merged") == whole


def test_merging_needs_no_input_and_may_leave_files_out(folder, tmp_path_factory):
    words = OUTPUTS["clustal"]
    assert main(["msa", "-q", "in.fa", *named(words, "one")]) == 0
    paths = shards_of(2, msa(words))
    Path("in.fa").unlink()
    assert main(["merge", *paths, "-o", "merged.aln", "-t", "1", "--memory", "2G", "--device", "cpu"]) == 0
    assert Path("merged.aln").read_bytes() == gzip.decompress(Path("one.aln.gz").read_bytes())
    assert set(made("merged")) == {".aln"}


def test_a_stopped_shard_goes_on(monkeypatch):
    from tropalign.msa.task import PosteriorTask

    words = OUTPUTS["fasta"]
    assert main(["msa", "-q", "in.fa", *named(words, "one")]) == 0
    assert merged(stopped_and_resumed(monkeypatch, PosteriorTask, msa(words), n_damaged=1), words) == 0
    assert made("merged") == made("one")


def test_what_is_wrong_with_shards(capsys):
    words = OUTPUTS["fasta"]
    one, two = shards_of(2, msa(words))
    other = shards_of(3, [*msa(words), "--seed", "9"])[1]
    shutil.copy(two, "cut")
    Path("cut").write_bytes(Path(two).read_bytes()[:-200])
    damaged = bytearray(Path(one).read_bytes())
    with zipfile.ZipFile(one) as archive:
        at = archive.getinfo("inputs").header_offset + 80
    damaged[at] ^= 1
    Path("bad").write_bytes(damaged)
    cases = (
        ([one], 3, "of 2 shards number 2 is missing: give all of them"),
        ([one, two, one], 3, "shard 1/2 is given twice"),
        ([one, other], 3, "this is a shard of another run"),
        ([one, "cut"], 3, "cut: this is not a shard that --shard wrote, or not all of it"),
        (["bad", two], 3, "bad: the input in it is damaged: write this shard again"),
        ([one, two, "--confidence", "c.tsv"], 2, "--confidence: these shards hold none; tropalign msa"),
        ([one, two, "--uc", "c.uc"], 2, "--uc: these shards hold none; tropalign cluster --uc makes it"),
        ([one, two, "-o", "x.aln"], 2, "the shards are of format fasta, but x.aln ends in .aln"),
        ([one, two, "-o", one], 2, "is an input"),
    )
    refuses(capsys, ["merge", "-o", "out.fa"], cases, "out.fa")


def test_no_file_is_asked_of_them_that_other_verbs_make(capsys):
    assert main(["msa", "in.fa", "-q", "--shard", "1/1", "-o", "1.shard"]) == 0
    assert main(["merge", "1.shard", "-o", "x.fa", "--otu-table", "x.tsv"]) == 2
    assert "--otu-table: these shards hold none; tropalign cluster --otu-table makes it" in capsys.readouterr().err
    assert not made("x")


def test_what_is_turned_in_shards_stays_turned():
    text = "ACGGATTACCGATAGGCTTAACGGTACCATGGCATTAGACCATTGCAAGGT" * 2
    texts = [text, text[::-1].translate(str.maketrans("ACGT", "TGCA"))]
    Path("in.fa").write_text("".join(f">s{k}\n{texts[k == 2]}\n" for k in range(4)))
    words = ["-o", "{}.fa", "--strand", "adjust"]
    assert main(["msa", "-q", "in.fa", *named(words, "one")]) == 0
    assert merged(shards_of(2, msa(words)), words) == 0
    assert made("merged")[".fa"] == made("one")[".fa"] and b">s2 (reverse complement)\n" in made("one")[".fa"]
