"""tropalign tree: shards of bootstrap samples and of pairs, and the tree that merging makes of them."""

import gzip
import random
import shutil
import zipfile
from pathlib import Path

import pytest
from shard_runs import refuses, shards_of, stopped_and_resumed

from tropalign.cli.main import main
from tropalign.execution.archive import packed

DATA = Path(__file__).parent.parent / "data" / "trees"
CASES = {
    "samples": ["in.aln", "--bootstrap", "23", "--seed", "4"],
    "upgma": ["in.aln", "--bootstrap", "5", "--method", "upgma", "--distances", "identity", "--gaps", "complete"],
    "wpgma": ["in.aln", "--bootstrap", "5", "--method", "wpgma", "--min-occupancy", "0.6"],
    "rooted": ["in.aln", "--bootstrap", "9", "--midpoint", "--negative", "zero"],
    "pairs": ["in.fa", "--unaligned", "--distances", "identity"],
    "pairs and outgroup": ["in.fa", "--unaligned", "--outgroup", "{first}"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An alignment and its sequences; three pairs or a sample per tile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")
    monkeypatch.setattr("tropalign.trees.bootstrap.TILE_CELLS", 1)
    shutil.copy(DATA / "proteins.fasta", "in.aln")
    records = Path("in.aln").read_text().split(">")[1:]
    parts = [record.partition("\n") for record in records]
    Path("in.fa").write_text("".join(f">{name}\n{text.replace('-', '')}" for name, _, text in parts))
    return tmp_path


def words_of(case):
    first = Path("in.fa").read_text().split()[0][1:]
    return [word.format(first=first) for word in CASES[case]]


@pytest.mark.parametrize("case", CASES)
def test_shards_become_the_bytes_of_one_run(case):
    words = [*words_of(case), "--distances-out", "one.phy"]
    assert main(["tree", "-q", *words, "-o", "one.nwk"]) == 0
    for count in (1, 2, 3, 7, 40):
        paths = shards_of(count, ["tree", *words])
        random.Random(count).shuffle(paths)
        assert main(["merge", *paths, "-o", "merged.nwk.gz", "--distances-out", "merged.phy", "-q", "-t", "2"]) == 0
        assert gzip.decompress(Path("merged.nwk.gz").read_bytes()) == Path("one.nwk").read_bytes()
        assert Path("merged.phy").read_bytes() == Path("one.phy").read_bytes()


def test_merging_needs_no_input_and_the_name_chooses_the_format(capfd):
    words = words_of("samples")
    assert main(["tree", "-q", *words, "-o", "one.dnd"]) == 0
    assert main(["tree", "-q", *words]) == 0
    paths = shards_of(3, ["tree", *words])
    Path("in.aln").unlink()
    assert main(["merge", *paths, "-o", "merged.dnd"]) == 0
    assert Path("merged.dnd").read_bytes() == Path("one.dnd").read_bytes()
    assert main(["merge", *paths]) == 0
    first, second = capfd.readouterr().out.splitlines()
    assert first == second


@pytest.mark.parametrize("case", ["samples", "pairs"])
def test_a_stopped_shard_goes_on(case, monkeypatch):
    from tropalign.trees.bootstrap import SampleTask
    from tropalign.trees.pair_counts import PairCountTask

    kind = SampleTask if case == "samples" else PairCountTask
    command = ["tree", *words_of(case)]
    assert main([*command, "-q", "-o", "one.nwk"]) == 0
    assert main(["merge", *stopped_and_resumed(monkeypatch, kind, command), "-o", "merged.nwk"]) == 0
    assert Path("merged.nwk").read_bytes() == Path("one.nwk").read_bytes()


def test_a_shard_with_other_inputs_is_refused(capsys):
    one, two = shards_of(2, ["tree", *words_of("samples")])
    with zipfile.ZipFile(one) as archive, zipfile.ZipFile("forged", "w") as forged:
        for name in archive.namelist():
            forged.writestr(name, packed([b">a\nMK\n"]) if name == "inputs" else archive.read(name))
    text = "the inputs in the first shard are not those of the run: write this shard again"
    refuses(capsys, ["merge", "-o", "out.nwk"], [(["forged", two], 3, text)], "out.nwk")
