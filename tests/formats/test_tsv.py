import csv

import pytest

from formats.tables import random_table, reduced

NAMES = "query target score query_start query_end target_start target_end".split()
NAMES += "identity similarity gaps columns cigar".split()


def read(text):
    lines = text.decode().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))


def test_header(write, proteins):
    comments, _ = read(write("tsv", proteins))
    assert comments == [
        "# tropalign 1.2.3",
        "# command: tropalign pairs a.fa",
        "# gap_cost: 8 + 2 * residues",
        "# mode: local",
    ]


def test_rows(write, any_table):
    _, rows = read(write("tsv", any_table, (4, 9)))
    names = [*NAMES[:2], "strand", *NAMES[2:]] if any_table.strand is not None else NAMES
    assert len(rows) == len(any_table) and list(rows[0]) == names
    for row, alignment in zip(rows, any_table, strict=True):
        assert (row["query"], row["target"]) == (alignment.query, alignment.target)
        assert row["cigar"] == alignment.cigar
        assert row["identity"] == f"{alignment.identity:.4f}" and row["similarity"] == f"{alignment.similarity:.4f}"
        for column in NAMES[2:7]:
            assert int(row[column]) == getattr(alignment, column)
        assert (int(row["gaps"]), int(row["columns"])) == (alignment.n_gaps, alignment.n_columns)
        assert row.get("strand", "+") == "+-"[alignment.strand < 0]


@pytest.mark.parametrize(("depth", "n_columns"), [("score", 3), ("ends", 7)])
def test_lesser_depths(write, depth, n_columns):
    _, rows = read(write("tsv", reduced(random_table(0), depth)))
    assert list(rows[0]) == NAMES[:n_columns]


def test_no_row(write, proteins):
    comments, rows = read(write("tsv", proteins.slice(0, 0)))
    assert len(comments) == 4 and rows == []
