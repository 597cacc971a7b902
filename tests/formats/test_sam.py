import io

import pytest
from Bio import Align

from formats.tables import random_table
from tropalign.sequences import NUCLEOTIDE


def lines_of(text):
    lines = text.decode().splitlines()
    return [x for x in lines if x.startswith("@")], [x.split("\t") for x in lines if not x.startswith("@")]


def test_header(write, proteins):
    header, _ = lines_of(write("sam", proteins))
    lengths = proteins.targets.lengths.tolist()
    assert header[0] == "@HD\tVN:1.6\tSO:unknown"
    assert header[1:5] == [f"@SQ\tSN:target{k}\tLN:{length}" for k, length in enumerate(lengths)]
    notes = "gap_cost: 8 + 2 * residues; mode: local"
    assert header[5:] == [f"@PG\tID:tropalign\tPN:tropalign\tVN:1.2.3\tCL:tropalign pairs a.fa\tDS:{notes}"]


def test_rows(write, any_table):
    _, rows = lines_of(write("sam", any_table, (1, 2)))
    assert len(rows) == len(any_table)
    for cells, row in zip(rows, any_table, strict=True):
        text, (begin, end) = row.query_text(), row.query_span()
        reverse = 16 if row.strand < 0 else 0
        assert cells[0] == row.query and cells[9] == text and cells[6:9] == ["*", "0", "0"] and cells[10] == "*"
        assert cells[11:] == [f"AS:i:{row.score}", f"NM:i:{row.n_columns - row.n_identical}"]
        if not row.n_columns:
            assert cells[1:6] == [str(4 + reverse), "*", "0", "0", "*"]
            continue
        clips = [f"{n}S" * (n > 0) for n in (begin, len(text) - end)]
        assert cells[1:6] == [
            str(reverse),
            row.target,
            str(row.target_start + 1),
            "255",
            clips[0] + row.cigar + clips[1],
        ]


def test_biopython_reads_the_alignments(write, any_table):
    table = any_table.take(any_table.n_columns > 0)
    read = list(Align.parse(io.StringIO(write("sam", table).decode()), "sam"))
    assert len(read) == len(table)
    for alignment, row in zip(read, table, strict=True):
        assert alignment.query.id == row.query and alignment.target.id == row.target
        assert alignment.score == row.score
        target, query = alignment.coordinates
        assert (target[0], target[-1]) == (row.target_start, row.target_end)
        assert sorted((query[0], query[-1])) == [row.query_start, row.query_end]
        assert (query[0] > query[-1]) == (row.strand < 0)


def test_pysam_reads_the_alignments(write, tmp_path):
    pysam = pytest.importorskip("pysam")
    table = random_table(5, alphabet=NUCLEOTIDE, has_strand=True)
    path = tmp_path / "a.sam"
    path.write_bytes(write("sam", table))
    with pysam.AlignmentFile(str(path)) as file:
        assert list(file.references) == list(table.targets.names)
        for read, row in zip(file, table, strict=True):
            assert read.query_name == row.query and read.get_tag("AS") == row.score
            if row.n_columns == 0:
                assert read.is_unmapped
                continue
            assert (read.reference_name, read.reference_start, read.reference_end) == (
                row.target,
                row.target_start,
                row.target_end,
            )
            assert (read.query_alignment_start, read.query_alignment_end) == row.query_span()
            assert read.is_reverse == (row.strand < 0)
            inner = [(op, n) for op, n in read.cigartuples if op != 4]
            assert inner == row.operations()
