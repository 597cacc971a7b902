import pytest

from formats.tables import random_table
from tropalign.sequences import NUCLEOTIDE


def test_rows(write, any_table):
    mapped = [row for row in any_table if row.n_columns]
    lines = write("paf", any_table, (8,)).decode().splitlines()
    assert 0 < len(lines) == len(mapped) < len(any_table)
    for line, row in zip(lines, mapped, strict=True):
        query, length, begin, end, strand, target, of, at, to, matches, columns, quality, *tags = line.split("\t")
        assert (query, target) == (row.query, row.target)
        assert int(length) == len(row.query_text()) and strand == "+-"[row.strand < 0]
        assert int(of) == any_table.targets.lengths[any_table.target_index[row.index]]
        spans = (row.query_start, row.query_end, row.target_start, row.target_end)
        assert tuple(map(int, (begin, end, at, to))) == spans
        assert (int(matches), int(columns), quality) == (row.n_identical, row.n_columns, "255")
        assert tags == [f"AS:i:{row.score}", f"cg:Z:{row.cigar}"]


def test_paths_lead_from_begin_to_end(write):
    """The CIGAR runs along the target's forward strand: it takes as many letters as its spans have."""
    table = random_table(3, alphabet=NUCLEOTIDE, has_strand=True, empties=False)
    for line, row in zip(write("paf", table).decode().splitlines(), table, strict=True):
        cells = line.split("\t")
        taken = {"query": 0, "target": 0}
        for operation, length in row.operations():
            taken["query"] += length * (operation != 2)
            taken["target"] += length * (operation != 1)
        assert taken == {"query": int(cells[3]) - int(cells[2]), "target": int(cells[8]) - int(cells[7])}


@pytest.mark.parametrize("n", [0, 3])
def test_nothing_mapped(write, n):
    table = random_table(0)
    assert write("paf", table.take(table.n_columns == 0).slice(0, min(n, 2))) == b""
