"""BED: an interval of the target per alignment, as bedtools bamtobed makes it of the same SAM."""

import shutil
import subprocess

import numpy as np
import pytest

import tropalign
from formats.conftest import pairs_file
from tropalign.cli.main import main
from tropalign.sequences import NUCLEOTIDE, SequenceBatch


def test_lines(write, any_table):
    expected = [
        f"{row.target}\t{row.target_start}\t{row.target_end}\t{row.query}\t{min(max(row.score, 0), 1000)}\t"
        f"{'-' if row.strand < 0 else '+'}"
        for row in any_table
        if row.n_columns
    ]
    assert write("bed", any_table, (8,)).decode().splitlines() == expected


def test_scores_are_within_the_bounds_of_bed_and_names_are_words():
    queries, targets = (
        SequenceBatch.from_strings({name: "ACGT" * 100}, alphabet=NUCLEOTIDE) for name in ("a read", "chr 1")
    )
    (table,) = tropalign.align_all(queries, targets, mode="global", n_threads=1)
    assert table.score[0] > 1000
    assert pairs_file("bed", table) == b"chr_1\t0\t400\ta_read\t1000\t+\n"


@pytest.mark.skipif(not shutil.which("bedtools"), reason="bedtools is not installed")
def test_intervals_are_those_of_bedtools(tmp_path):
    pytest.importorskip("pysam")
    rng = np.random.default_rng(1)
    reference = "".join(rng.choice(list("ACGT"), 400))
    reads = {f"q{k}": reference[20 * k : 20 * k + 60 + k].replace("GAT", "GT") for k in range(12)}
    reads |= {f"m{k}": text[::-1].translate(str.maketrans("ACGT", "TGCA")) for k, text in enumerate(reads.values())}
    queries, targets = (SequenceBatch.from_strings(x, alphabet=NUCLEOTIDE) for x in (reads, {"r": reference}))
    (table,) = tropalign.align_all(queries, targets, mode="local", strand="both", n_threads=1)
    (tmp_path / "x.bam").write_bytes(pairs_file("bam", table))
    theirs = subprocess.run(["bedtools", "bamtobed", "-i", tmp_path / "x.bam"], check=True, capture_output=True).stdout
    ours = [line.split("\t") for line in pairs_file("bed", table).decode().splitlines()]
    assert [row[:4] + row[5:] for row in ours] == [
        row[:4] + row[5:] for row in (line.split("\t") for line in theirs.decode().splitlines())
    ]


def test_of_translated_targets(tmp_path):
    """Positions count nucleotides of the target, on its forward strand."""
    (tmp_path / "p.fa").write_text(">p\nMKVLAWGIVGLLLAQWDEFH\n")
    genome = "ACGTT" + "ATGAAAGTTCTGGCTTGGGGTATCGTTGGTCTGCTGCTGGCTCAGTGGGACGAATTCCAC" + "GGA"
    minus = genome[::-1].translate(str.maketrans("ACGT", "TGCA"))
    (tmp_path / "g.fa").write_text(f">g\n{genome}\n>m\n{minus}\n")
    words = ["find", tmp_path / "p.fa", tmp_path / "g.fa", "--translate", "target", "--max-evalue", "1e-3"]
    assert main([*map(str, words), "-o", str(tmp_path / "x.bed"), "-q"]) == 0
    rows = [line.split("\t") for line in (tmp_path / "x.bed").read_text().splitlines()]
    assert sorted(row[:4] + row[5:] for row in rows) == [["g", "5", "65", "p", "+"], ["m", "3", "63", "p", "-"]]
