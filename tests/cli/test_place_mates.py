"""``tropalign place --mates`` from the command line."""

import gzip
import json
import random

import pytest
from oracles.jplace import check_jplace

from tropalign.cli.main import main

OTHER = str.maketrans("ACGT", "TGCA")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A reference, its tree, and paired ends of fragments of it in FASTQ."""
    rng = random.Random(2)
    row = "".join(rng.choices("ACGT", k=200))
    rows = ["".join(rng.choice("ACGT") if rng.random() < 0.1 * k else c for c in row) for k in range(5)]
    (tmp_path / "ref.fa").write_text("".join(f">t{k}\n{text}\n" for k, text in enumerate(rows)))
    (tmp_path / "ref.nwk").write_text("((t0:0.1,t1:0.1):0.1,(t2:0.1,t3:0.1):0.1,t4:0.2);")
    one, other = "", ""
    for k in range(60):
        begin = rng.randrange(100)
        fragment = rng.choice(rows)[begin : begin + 90]
        if k % 2:
            fragment = fragment[::-1].translate(OTHER)
        mates = fragment[:40], fragment[::-1].translate(OTHER)[:40]
        one += f"@f{k}/1 x\n{mates[0]}\n+\n{'I' * 40}\n"
        other += f"@f{k}/2 x\n{mates[1]}\n+\n{'I' * 40}\n"
    (tmp_path / "r_1.fq").write_text(one)
    (tmp_path / "r_2.fq.gz").write_bytes(gzip.compress(other.encode()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = "place --reference ref.fa --tree ref.nwk r_1.fq --mates r_2.fq.gz --strand both -q".split()


def test_all_outputs_shards_and_threads(files, monkeypatch):
    outs = "-o w.fa --table w.tsv --jplace w.jplace".split()
    assert main([*WORDS, *outs, "-t", "1"]) == 0
    text = (files / "w.fa").read_text().split()
    rows = dict(zip(text[10::2], text[11::2], strict=True))
    assert list(rows) == [f">f{k}" for k in range(60)]
    assert all(len(row) == 200 and 70 <= 200 - row.count("-") <= 80 for row in rows.values())
    lines = [line.split("\t") for line in (files / "w.tsv").read_text().splitlines() if not line.startswith("#")][1:]
    assert [line[6] for line in lines] == ["+", "-"] * 30
    assert list(check_jplace((files / "w.jplace").read_text())) == [f"f{k}" for k in range(60)]
    monkeypatch.setenv("TROPALIGN_TILE_READS", "9")
    for k in (1, 2):
        named = f"-o {k}.shard --table {k}.tsv --jplace {k}.jplace --shard {k}/2 -t 2".split()
        assert main([*WORDS, *named]) == 0
    assert main("merge 1.shard 2.shard -o m.fa --table m.tsv --jplace m.jplace".split()) == 0
    assert (files / "m.fa").read_bytes() == (files / "w.fa").read_bytes()
    assert (files / "m.tsv").read_text().splitlines()[3:] == (files / "w.tsv").read_text().splitlines()[3:]
    one, other = (json.loads((files / f"{name}.jplace").read_text())["placements"] for name in "mw")
    assert one == other
