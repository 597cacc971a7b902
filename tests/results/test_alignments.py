import itertools

import numpy as np
import pytest
from formats.tables import matrix_for, random_table, reduced

from tropalign.formats import gapped
from tropalign.results.alignments import AlignmentTable, concatenate, empty_table


def same(a, b):
    for name in ("query_index", "target_index", "score", "strand", "query_start", "cigar_ops", "cigar_offsets"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None and y is None) or np.array_equal(x, y), name


def test_slices_concatenate(any_table):
    same(concatenate([any_table.slice(0, 3), any_table.slice(3, 3), any_table.slice(3, len(any_table))]), any_table)
    for depth in ("score", "ends"):
        table = reduced(any_table, depth)
        assert len(concatenate([table, table])) == 2 * len(table)


def test_take(any_table):
    order = np.array([5, 0, 5, 3])
    taken = any_table.take(order)
    assert taken.cigars() == [any_table.cigars()[k] for k in order]
    assert [str(row) for row in taken] == [str(any_table.row(k)) for k in order]
    same(any_table.take(any_table.score > 100), any_table.take(np.flatnonzero(any_table.score > 100)))


def test_concatenate_refuses(any_table):
    with pytest.raises(ValueError, match="no table"):
        concatenate([])
    with pytest.raises(ValueError, match="another depth"):
        concatenate([any_table, reduced(any_table, "ends")])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"depth": "deep"}, "none of score, ends, alignment"),
        ({"query_start": None}, "needs the column query_start"),
        ({"n_gaps": np.zeros(3, np.int32)}, "3 items and not 12"),
        ({"score": np.zeros(12)}, "array of int32"),
        ({"target_index": np.full(12, 4)}, "outside a batch of 4"),
        ({"query_index": np.full(12, -1)}, "outside a batch of 5"),
        ({"cigar_offsets": np.zeros(13, np.int64)}, "end with the number of cigar_ops"),
        ({"strand": np.zeros(12, np.int32)}, "array of int8"),
    ],
)
def test_columns_are_checked(change, words):
    with pytest.raises(ValueError, match=words):
        AlignmentTable(**{**vars(random_table(0)), **change})


def test_native_lines_are_those_of_a_row(any_table):
    query, middle, target, offsets = gapped.lines(any_table)
    for k, row in enumerate(any_table):
        begin, end = offsets[k], offsets[k + 1]
        lines = [line[begin:end].tobytes().decode() for line in (query, middle, target)]
        assert tuple(lines) == row.aligned()


def test_midlines_know_what_is_similar(any_table):
    substitution = matrix_for(any_table.queries.alphabet)
    query, middle, target, offsets = gapped.lines(any_table, substitution)
    alphabet = any_table.queries.alphabet
    scores = substitution.scores
    for a, m, b in zip(query.tolist(), middle.tobytes().decode(), target.tolist(), strict=True):
        if ord("-") in (a, b):
            assert m == " "
            continue
        (x, y), _ = alphabet.encode(np.array([a, b], np.uint8))
        assert m == ((" |" if x == y else ".:")[int(scores[x, y] > 0)])
    counts = [middle[a:b].tobytes().decode() for a, b in itertools.pairwise(offsets)]
    assert [c.count("|") + c.count(":") for c in counts] == any_table.n_similar.tolist()


def test_rows(any_table):
    row = any_table[0]
    assert row.query == any_table.queries.names[any_table.query_index[0]]
    assert row.identity == pytest.approx(any_table.identity[0])
    assert row.n_columns == len(row.aligned()[0])
    assert str(row).count("query  ") == -(-row.n_columns // 60)
    with pytest.raises(IndexError):
        any_table.row(len(any_table))
    shallow = reduced(any_table, "score").row(0)
    with pytest.raises(AttributeError, match="deeper report"):
        _ = shallow.query_start
    assert "score" in str(shallow) and "<pre" in shallow._repr_html_()


def test_shown(any_table):
    text, page = repr(any_table), any_table._repr_html_()
    assert "30 rows" in text and "and 20 more" in text and any_table.cigars()[0][:15] in text
    assert page.count("<tr>") == 11 and "<details>" in page and "<span style" in page
    assert len({len(line) for line in text.splitlines()[2:3]}) == 1
    for depth in ("score", "ends"):
        assert "30 rows" in repr(reduced(any_table, depth)) and "<table>" in reduced(any_table, depth)._repr_html_()


def test_names_are_escaped():
    table = random_table(1)
    names = tuple(f"<b>{name}&" for name in table.queries.names)
    object.__setattr__(table.queries, "names", names)
    assert "<b>" not in table._repr_html_() and "&lt;b&gt;" in table._repr_html_()


def test_empty(any_table):
    table = empty_table(any_table.queries, any_table.targets, "alignment", any_table.strand is not None)
    assert len(table) == 0 and table.cigars() == [] and "0 rows" in repr(table)
    same(concatenate([table, any_table]), any_table)


def test_arrow_stream(any_table):
    pa = pytest.importorskip("pyarrow")
    for table in (any_table, reduced(any_table, "ends"), reduced(any_table, "score")):
        read = pa.table(table)
        for name, values in table.columns().items():
            assert read[name].to_pylist() == values.tolist(), name
    empty = empty_table(any_table.queries, any_table.targets, "alignment", any_table.strand is not None)
    assert pa.RecordBatchReader.from_stream(empty).schema == pa.table(any_table).schema


def test_arrow_stream_in_batches(any_table, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    whole = pa.table(any_table)
    monkeypatch.setattr("tropalign.results.alignments.ARROW_ROWS", 7)
    assert pa.RecordBatchReader.from_stream(any_table).read_all().equals(whole)


def test_arrow_does_not_copy_numbers(any_table):
    pa = pytest.importorskip("pyarrow")
    buffer = pa.table(any_table)["score"].chunk(0).buffers()[1]
    assert buffer.address == any_table.score.ctypes.data


def test_pandas(any_table):
    pytest.importorskip("pandas")
    frame = any_table.to_pandas()
    assert frame["cigar"].tolist() == any_table.cigars()
    assert np.shares_memory(frame["score"].to_numpy(), any_table.score)


def test_polars(any_table):
    pytest.importorskip("polars")
    frame = any_table.to_polars()
    assert frame["cigar"].to_list() == any_table.cigars()
    assert frame["identity"].to_list() == any_table.identity.tolist()
