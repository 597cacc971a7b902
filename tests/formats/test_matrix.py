import io

import numpy as np
import pytest

from formats.tables import random_table, reduced
from tropalign.errors import InputError
from tropalign.results.alignments import AlignmentTable


def triangle(n=4):
    """Every pair of a set, with made-up counts."""
    batch = random_table(0).targets
    query, target = (index.astype(np.int64) for index in np.triu_indices(n, 1))
    columns = np.arange(10, 10 + len(query), dtype=np.int32)
    zero = np.zeros(len(query), np.int32)
    return AlignmentTable(
        batch, batch, "alignment", query, target, 10 * columns, None, zero, zero, zero, zero,
        columns - np.arange(len(query), dtype=np.int32), columns, zero, columns,
        columns.astype(np.uint32) << 4 | 7, np.arange(len(query) + 1, dtype=np.int64),
    )  # fmt: skip


def expected(table, values):
    matrix = np.full((len(table.queries),) * 2, {"score": np.nan, "identity": 1.0, "distance": 0.0}[values])
    column = {"score": table.score, "identity": table.identity, "distance": 1 - table.identity}[values]
    matrix[table.query_index, table.target_index] = matrix[table.target_index, table.query_index] = column
    return matrix


@pytest.mark.parametrize("values", ["score", "identity", "distance"])
@pytest.mark.parametrize("cuts", [(), (1, 4)])
def test_npz(write, values, cuts):
    table = triangle()
    text = write("matrix", table, cuts, is_triangle=True, matrix_values=values, matrix_layout="npz")
    read = np.load(io.BytesIO(text))
    assert read[values] == pytest.approx(expected(table, values), nan_ok=True)
    assert read["queries"].tolist() == read["targets"].tolist() == list(table.queries.names)


@pytest.mark.parametrize("values", ["score", "identity", "distance"])
def test_tsv(write, values):
    table = triangle()
    lines = write("matrix", table, is_triangle=True, matrix_values=values).decode().splitlines()
    assert lines[0] == "# tropalign 1.2.3" and f"# values: {values}" in lines
    header, *rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert header == ["", *table.queries.names] and [row[0] for row in rows] == header[1:]
    read = np.array([[float(cell or "nan") for cell in row[1:]] for row in rows])
    assert read == pytest.approx(expected(table, values), abs=1e-6, nan_ok=True)


def test_phylip(write):
    table = triangle()
    text = write("matrix", table, is_triangle=True, matrix_values="distance", matrix_layout="phylip").decode()
    first, *lines = text.splitlines()
    assert int(first) == len(lines) == 4
    assert [line.split()[0] for line in lines] == list(table.queries.names)
    read = np.array([[float(x) for x in line.split()[1:]] for line in lines])
    assert read == pytest.approx(expected(table, "distance"), abs=1e-6)
    assert (read == read.T).all() and (np.diag(read) == 0).all()


def test_two_sets(write):
    base = reduced(random_table(1), "score")
    n, m = len(base.queries), len(base.targets)
    query, target = (a.ravel().astype(np.int64) for a in np.indices((n, m)))
    score = np.arange(n * m, dtype=np.int32)
    table = AlignmentTable(base.queries, base.targets, "score", query, target, score)
    read = np.load(io.BytesIO(write("matrix", table, (3,), matrix_layout="npz")))
    assert read["score"].tolist() == score.reshape(n, m).tolist()
    with pytest.raises(InputError, match="distances of a single set"):
        write("matrix", table, matrix_layout="phylip")


def test_missing_pairs(write):
    table = triangle().slice(0, 5)
    with pytest.raises(InputError) as caught:
        write("matrix", table, is_triangle=True)
    assert "2 of its cells are empty (the first is target2 with target3)" in str(caught.value)
