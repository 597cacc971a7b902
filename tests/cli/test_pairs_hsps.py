"""``--max-hsps``: several alignments per pair in every format, shard and share of threads, and what is refused."""

import json
import random
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from cli.shard_runs import shards_of
from formats.test_pairs_html import data_of
from pairwise.test_further import AMINO_ACIDS, with_repeats

import tropalign as ta
from tropalign.cli.main import main

SCORING = "--strand both --match 2 --mismatch -3 --gap-open 5 --gap-extend 2".split()
SETS = {"proteins": (AMINO_ACIDS, 0.25, []), "genes": ("ACGT", 0.1, SCORING)}
HOW = ["--max-hsps", "4", "--min-score", "45"]


@pytest.fixture(params=SETS)
def repeats(request, tmp_path, monkeypatch):
    """Words of a command, and the table that it has to write."""
    letters, rate, words = SETS[request.param]
    rng = random.Random(request.param)
    domain = "".join(rng.choice(letters) for _ in range(50))
    texts = [with_repeats(rng, letters, domain, rng.randint(0, 4), 40, rate) for _ in range(14)]
    for name, some in (("a.fa", texts[:5]), ("b.fa", texts[5:])):
        (tmp_path / name).write_text("".join(f">{name[0]}{k}\n{text}\n" for k, text in enumerate(some)))
    monkeypatch.chdir(tmp_path)
    nucleotides = {"strand": "both", "gap": ta.Gap(5, 2), "matrix": ta.SubstitutionMatrix.match_mismatch(2, -3)}
    options = nucleotides if words else {}
    batches = [ta.read_sequences(name) for name in ("a.fa", "b.fa")]
    (table,) = ta.align_all(*batches, max_hsps=4, min_score=45, **options)
    assert len(table) > 1.5 * (table.hsp == 1).sum() and table.hsp.max() == 4
    return ["pairs", "a.fa", "b.fa", *words, *HOW], table


def written(command, output, *words):
    """The bytes of an output."""
    assert main([*command, *words, "-o", output, "-q", "--no-comments"]) == 0
    return Path(output).read_bytes()


def test_tables(repeats):
    command, table = repeats
    header, *lines = [line.split("\t") for line in written(command, "all.tsv").decode().splitlines()]
    assert header == [name for name in table.columns() if name in header] and header[:3] == ["query", "target", "hsp"]
    assert [line[2] for line in lines] == list(map(str, table.hsp))
    assert [line[-1] for line in lines] == table.cigars()
    objects = [json.loads(line) for line in written(command, "all.jsonl").splitlines()]
    assert [row["hsp"] for row in objects] == table.hsp.tolist()
    chosen = written(command, "some.csv", "--columns", "hsp,score").decode().splitlines()
    assert chosen == ["hsp,score", *(f"{row.hsp},{row.score}" for row in table)]
    m8 = [line.split("\t") for line in written(command, "all.m8").decode().splitlines()]
    starts = np.where((table.columns(["strand"])["strand"] < 0), table.target_end, table.target_start + 1)
    assert [line[8] for line in m8] == list(map(str, starts)) and {len(line) for line in m8} == {12}


def test_arrow_and_parquet(repeats):
    pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    command, table = repeats
    written(command, "all.parquet"), written(command, "all.arrow")
    for found in (pyarrow.parquet.read_table("all.parquet"), pyarrow.feather.read_table("all.arrow")):
        assert found["hsp"].to_pylist() == table.hsp.tolist() and found["hsp"].type == "int32"
        assert found["cigar"].to_pylist() == table.cigars()
    assert pyarrow.table(table)["hsp"].to_pylist() == table.hsp.tolist()


def test_result(repeats):
    command, table = repeats
    written(command, "all.result")
    assert ta.read_result("all.result") == table


def test_paf_fasta_and_srspair(repeats):
    from Bio import AlignIO

    command, table = repeats
    paf = written(command, "all.paf").decode().splitlines()
    assert [re.search(r"cg:Z:(\S+)", line)[1] for line in paf] == table.cigars()
    fasta = written(command, "all.fasta").decode().split("\n\n")[:-1]
    assert [block.count(">") for block in fasta] == [2] * len(table)
    assert [re.search(r"score=(\d+)", block)[1] for block in fasta] == list(map(str, table.score))
    srspair = list(AlignIO.parse(StringIO(written(command, "all.srspair").decode()), "emboss"))
    assert [found.get_alignment_length() for found in srspair] == table.n_columns.tolist()


def test_sam_and_bam(repeats, monkeypatch):
    """One primary line per read; further alignments are secondary, whatever the tiles."""
    pysam = pytest.importorskip("pysam")
    command, table = repeats
    sam = written(command, "all.sam")
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "2")
    assert written(command, "tiles.sam").split(b"\n@PG")[0] == sam.split(b"\n@PG")[0]
    lines = [line.split("\t") for line in sam.decode().splitlines() if line[0] != "@"]
    assert lines == [line.split("\t") for line in Path("tiles.sam").read_text().splitlines() if line[0] != "@"]
    assert len(lines) == len(table)
    primary = [line[0] for line in lines if not int(line[1]) & 256]
    assert sorted(set(primary)) == sorted(primary) == sorted({line[0] for line in lines})
    assert all(int(line[1]) & ~(256 | 16) == 0 for line in lines)
    first = {(row.query, row.target) for row in table if row.hsp == 1}
    shown = {(line[0], line[2]) for line in lines if not int(line[1]) & 256}
    assert shown <= first
    if table.strand is not None:
        written(command, "all.bam")
        with pysam.AlignmentFile("all.bam") as file:
            assert [(row.query_name, row.flag, row.cigarstring) for row in file] == [
                (line[0], int(line[1]), line[5]) for line in lines
            ]


def test_the_report_and_the_map(repeats):
    command, table = repeats
    page = written(command, "all.html")
    data, arrays = data_of(page)
    assert arrays["hsp"].tolist() == table.hsp.tolist() and data["n_pairs"] == len(table)
    cells = arrays["cells"]
    assert sorted(cells[cells >= 0].tolist()) == np.flatnonzero(table.hsp == 1).tolist()
    written(command, "beside.tsv", "--html", "beside.html")
    assert data_of(Path("beside.html").read_bytes())[1]["hsp"].tolist() == table.hsp.tolist()


def test_from_python(repeats):
    command, table = repeats
    table.write("api.tsv")
    lines = [line for line in Path("api.tsv").read_text().splitlines() if not line.startswith("#")]
    assert lines == written(command, "all.tsv").decode().splitlines()


@pytest.mark.parametrize("block_bytes", [1 << 19, 40])
def test_what_a_pair_covers_does_not_depend_on_blocks(repeats, monkeypatch, block_bytes):
    """Text is made some rows at a time, of which each pair has all of its own."""
    command, table = repeats
    monkeypatch.setattr("tropalign.formats.format.FIRST_ROWS", 1)
    monkeypatch.setattr("tropalign.formats.format.BLOCK_BYTES", block_bytes)
    wanted = table.columns(["qcovs", "qcovhsp"])
    assert (wanted["qcovs"] > wanted["qcovhsp"]).sum() > 10
    for suffix in ("tsv", "csv", "m8", "jsonl"):
        text = written(command, f"all.{suffix}", "--columns", "qcovs,qcovhsp", "-t", "1").decode()
        found = [list(map(int, pair)) for pair in re.findall(r"(\d+)\D+(\d+)\D*$", text, re.M)]
        assert found == np.stack(list(wanted.values()), 1).tolist()
    shards = shards_of(3, [*command, "--columns", "qcovs,qcovhsp", "--no-comments"])
    assert main(["merge", *shards, "-o", "merged.tsv", "-q"]) == 0
    assert Path("merged.tsv").read_bytes() == Path("all.tsv").read_bytes()


def test_a_run_is_resumed_by_the_same_number_alone(repeats, capsys, monkeypatch):
    """The number of alignments is part of what a run is."""
    command, _ = repeats
    shards = shards_of(2, [*command[:-3], "4", *command[-2:]])
    assert main([*command, "--max-hsps", "3", "-q", "--shard", "2/2", "-o", shards[1], "-t", "1"]) == 0
    capsys.readouterr()
    assert main(["merge", *shards, "-o", "merged.tsv", "-q"]) == 3
    assert "max_hsps" in capsys.readouterr().err


def test_find_numbers_them_by_default(repeats):
    assert repeats
    header, *lines = written(["find", "a.fa", "b.fa", "--max-hsps", "3"], "hits.tsv").decode().splitlines()
    assert (
        header.startswith("query\ttarget\thsp\tevalue\tbits\tscore")
        and len({line.split("\t")[2] for line in lines}) == 3
    )
    assert "hsp" not in written(["find", "a.fa", "b.fa"], "one.tsv").decode().splitlines()[0]
    assert main(["find", "a.fa", "b.fa", "--max-hsps", "3", "--dry-run"]) == 0
