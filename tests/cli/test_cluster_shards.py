"""tropalign cluster: shards of the pairs' comparison, and the clusters that merging makes of them."""

import gzip
import random
from pathlib import Path

import pytest
from shard_runs import named, shards_of, stopped_and_resumed

from tropalign.cli.main import main

CASES = {
    "single": ["--method", "single", "--min-identity", "0.8"],
    "complete": ["--method", "complete", "--min-identity", "0.6", "--order", "abundance", "--strand", "both"],
    "average": ["--method", "average", "--min-identity", "0.7", "--min-coverage", "0.5", "-f", "uc"],
    "columns": ["--method", "single", "--min-identity", "0", "--identity", "columns", "--gap-open=5", "--match", "3"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Reads of six origins, with sizes; two rows per tile or so."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tropalign.clusters.methods.TILE_CELLS", 60_000)
    rng = random.Random(5)
    origins = ["".join(rng.choices("ACGT", k=60)) for _ in range(6)]
    reads = []
    for k in range(29):
        text = "".join(rng.choice("ACGT") if rng.random() < 0.12 else letter for letter in origins[k % 6])
        reads.append(
            f">r{k};size={rng.randint(1, 9)} of {k % 6}\n{text[rng.randint(0, 4) :].lower() if k == 3 else text}\n"
        )
    Path("in.fa").write_text("".join(reads))
    return tmp_path


BESIDE = ["--representatives", "{}.fa", "--uc", "{}.uc2", "--html", "{}.html", "--sizeout"]


@pytest.mark.parametrize("case", CASES)
def test_shards_become_the_bytes_of_one_run(case):
    words = CASES[case] + named(BESIDE, "one")
    assert main(["cluster", "-q", "in.fa", *words, "-o", "one.x", "-f", "uc" if case == "average" else "tsv"]) == 0
    for count in (1, 2, 3, 7, 40):
        paths = shards_of(count, ["cluster", "in.fa", *words])
        random.Random(count).shuffle(paths)
        out = "merged.uc.gz" if case == "average" else "merged.tsv.gz"
        assert main(["merge", *paths, "-o", out, *named(BESIDE[:6], "merged"), "-q", "-t", "2"]) == 0
        assert gzip.decompress(Path(out).read_bytes()) == Path("one.x").read_bytes()
        for suffix in (".fa", ".uc2", ".html"):
            assert Path(f"merged{suffix}").read_bytes() == Path(f"one{suffix}").read_bytes()


@pytest.mark.parametrize("method", ["single", "average"])
def test_a_stopped_shard_goes_on(method, monkeypatch):
    from tropalign.clusters.methods import LinkageTask

    command = ["cluster", "in.fa", "--method", method, "--min-identity", "0.7"]
    assert main([*command, "-q", "-o", "one.tsv"]) == 0
    paths = stopped_and_resumed(monkeypatch, LinkageTask, command)
    Path("in.fa").unlink()  # the first shard holds it
    assert main(["merge", *paths, "-o", "merged.tsv"]) == 0
    assert Path("merged.tsv").read_bytes() == Path("one.tsv").read_bytes()
