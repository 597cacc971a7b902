import itertools
import re
from dataclasses import fields

import numpy as np
import pytest
from formats.tables import matrix_for, random_table, reduced

from tropalign.results import aligned_pairs
from tropalign.results.aligned_pairs import KEPT_COLUMNS
from tropalign.results.alignments import Alignment, AlignmentTable, concatenate, empty_table


def same(a, b):
    for name in ("query_index", "target_index", "score", "strand", "query_start", "cigar_ops", "cigar_offsets"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None and y is None) or np.array_equal(x, y), name


def test_slices_and_chosen_rows(any_table):
    same(concatenate([any_table.slice(0, 3), any_table.slice(3, 3), any_table.slice(3, len(any_table))]), any_table)
    for depth in ("score", "ends"):
        table = reduced(any_table, depth)
        assert len(concatenate([table, table])) == 2 * len(table)
    order = np.array([5, 0, 5, 3])
    taken = any_table.take(order)
    assert taken.cigars() == [any_table.cigars()[k] for k in order]
    assert [str(row) for row in taken] == [str(any_table.row(k)) for k in order]
    same(any_table.take(any_table.score > 100), any_table.take(np.flatnonzero(any_table.score > 100)))


def test_concatenations_and_empty_tables(any_table):
    with pytest.raises(ValueError, match="no table"):
        concatenate([])
    with pytest.raises(ValueError, match="sequences or depths"):
        concatenate([any_table, reduced(any_table, "ends")])
    table = empty_table(any_table.queries, any_table.targets, "alignment", any_table.strand is not None)
    assert len(table) == 0 and table.cigars() == [] and "0 rows" in repr(table)
    same(concatenate([table, any_table]), any_table)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"depth": "deep"}, "not one of score, ends, alignment"),
        ({"query_start": None}, "requires the column query_start"),
        ({"n_gaps": np.zeros(3, np.int32)}, "3 items, not 12"),
        ({"score": np.zeros(12, np.float32)}, "array of int32"),
        ({"target_index": np.full(12, 4)}, "is out of range for a batch of 4"),
        ({"query_index": np.full(12, -1)}, "is out of range for a batch of 5"),
        ({"cigar_offsets": np.zeros(13, np.int64)}, "end with the number of cigar_ops"),
        ({"cigar_offsets": np.array([0, 9, 5, *[None] * 9, None])}, "array of int64"),
        ({"score": [3] * 12}, "array of int32"),
        ({"strand": np.zeros(12, np.int32)}, "array of int8"),
    ],
)
def test_columns_are_checked(change, words):
    with pytest.raises(ValueError, match=words):
        AlignmentTable(**{**vars(random_table(0)), **change})


def test_offsets_ascend():
    table = random_table(0)
    offsets = table.cigar_offsets.copy()
    offsets[1], offsets[2] = offsets[2] + 1, offsets[1]
    with pytest.raises(ValueError, match="cigar_offsets must be in ascending order"):
        AlignmentTable(**{**vars(table), "cigar_offsets": offsets})


def test_the_list_of_columns_is_that_of_the_table(any_table):
    kept = [column.name for column in KEPT_COLUMNS]
    names = [field.name for field in fields(AlignmentTable)]
    others = "queries targets depth query_index target_index cigar_ops cigar_offsets count_digits count_offsets".split()
    assert set(kept) == set(names) - {*others, "significance", "query_frames", "target_frames", "identity_definition"}
    for column in KEPT_COLUMNS:
        values = getattr(any_table, column.name)
        assert column.name in dir(Alignment) and getattr(Alignment, column.name).__doc__
        assert values is None or values.dtype == column.dtype
        if values is not None:
            assert [getattr(row, column.name) for row in any_table] == values.tolist()


def test_rows_by_slice_mask_and_indices(any_table):
    same(any_table[2:4], any_table.take(np.array([2, 3])))
    same(any_table[::-3], any_table.take(np.arange(29, -1, -3)))
    same(any_table[-4:], any_table.slice(26, 30))
    same(any_table[any_table.score > 100], any_table.take(any_table.score > 100))
    same(any_table[[3, -1]], any_table.take(np.array([3, 29])))
    assert len(any_table[[]]) == len(any_table[7:3]) == len(any_table.slice(9, 2)) == len(any_table.slice(40, 50)) == 0
    assert any_table[np.int64(4)].index == 4 and any_table[-1].index == 29
    for wrong in ([30], [True, False], [1.5], "ab", [[1]]):
        with pytest.raises(IndexError):
            any_table[wrong]
    if any_table.depth == "alignment":
        assert any_table.cigar(-1) == any_table[-1].cigar == any_table.cigar(29) == any_table.cigars()[29]
        for k in (30, -31):
            with pytest.raises(IndexError, match=f"row {k} of 30"):
                any_table.cigar(k)


def test_what_an_alignment_has_not(any_table):
    with pytest.raises(AttributeError, match="'Alignment' object has no attribute 'scoer'"):
        _ = any_table[0].scoer
    shallow = reduced(any_table, "ends")
    for name in ("cigar", "n_gaps", "identity"):
        with pytest.raises(AttributeError, match=r"Alignment\.\w+ was not computed: request"):
            getattr(shallow[0], name)
    with pytest.raises(AttributeError, match=r"AlignmentTable.similarity was not computed"):
        _ = shallow.similarity
    assert not hasattr(shallow[0], "cigar") and shallow[0].query_end == shallow.query_end[0]
    assert {"score", "query_start", "n_columns", "identity", "cigar"} < set(dir(any_table[0]))


def test_native_lines_are_those_of_rows_and_midlines_of_the_matrix(any_table):
    query, middle, target, offsets = aligned_pairs.lines(any_table)
    for k, row in enumerate(any_table):
        begin, end = offsets[k], offsets[k + 1]
        lines = [line[begin:end].tobytes().decode() for line in (query, middle, target)]
        assert tuple(lines) == row.aligned()
    substitution = matrix_for(any_table.queries.alphabet)
    query, middle, target, offsets = aligned_pairs.lines(any_table, substitution)
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


def test_rows_and_tables_are_shown(any_table):
    row = any_table[0]
    assert row.query == any_table.queries.names[any_table.query_index[0]]
    assert row.identity == pytest.approx(any_table.identity[0])
    assert row.n_columns == len(row.aligned()[0])
    assert str(row).count("query  ") == -(-row.n_columns // 60)
    with pytest.raises(IndexError):
        any_table.row(len(any_table))
    shallow = reduced(any_table, "score").row(0)
    with pytest.raises(AttributeError, match="more detailed report"):
        _ = shallow.query_start
    assert "score" in str(shallow) and "<pre" in shallow._repr_html_()
    text, page = repr(any_table), any_table._repr_html_()
    assert "30 rows" in text and "and 20 more" in text and any_table.cigars()[0][:15] in text
    assert page.count("<tr>") == 11 and "<details>" in page and "<span style" in page
    _, *lines, _ = text.splitlines()
    cells = [[match.span() for match in re.finditer(r"\S+(?: \S+)*", line)] for line in lines]
    assert len(lines) == 11 and {len(row) for row in cells} == {len(any_table.columns())}
    for name, spans in zip(any_table.columns(), zip(*cells, strict=True), strict=True):
        begins, ends = zip(*spans, strict=True)
        assert len(set(begins if name in ("query", "target", "cigar") else ends)) == 1, name
    for depth in ("score", "ends"):
        assert "30 rows" in repr(reduced(any_table, depth)) and "<table>" in reduced(any_table, depth)._repr_html_()
    style = "<pre style='font-family:monospace;white-space:pre;"
    assert any_table[0]._repr_html_().startswith(style) and any_table._repr_html_().count(style) == 10


def test_names_are_escaped_and_letters_that_are_none_not_shown():
    table = random_table(1)
    names = tuple(f"<b>{name}&\x1b[2J\x9b\u202e\n" for name in table.queries.names)
    object.__setattr__(table.queries, "names", names)
    assert "<b>" not in table._repr_html_() and "&lt;b&gt;" in table._repr_html_()
    assert "<b>" not in table[0]._repr_html_() and "&lt;b&gt;" in table[0]._repr_html_()
    for text in (repr(table), repr(table[0]), str(table[0]), table._repr_html_(), table[0]._repr_html_()):
        assert not {"\x1b", "\x9b", "\u202e"} & set(text) and r"&\x1b[2J\x9b\u202e\n" in text.replace("&amp;", "&")
    table = random_table(2, empties=False)
    object.__setattr__(table.queries, "letters", np.full_like(table.queries.letters, 27))
    assert "\x1b" not in str(table[0]) + table[0]._repr_html_() and "???" in str(table[0])


def test_arrow_streams_copy_no_numbers(any_table, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    for table in (any_table, reduced(any_table, "ends"), reduced(any_table, "score")):
        read = pa.table(table)
        for name, values in table.columns().items():
            assert read[name].to_pylist() == values.tolist(), name
    empty = empty_table(any_table.queries, any_table.targets, "alignment", any_table.strand is not None)
    assert pa.RecordBatchReader.from_stream(empty).schema == pa.table(any_table).schema
    whole = pa.table(any_table)
    monkeypatch.setattr("tropalign.results.output_columns.ARROW_ROWS", 7)
    assert pa.RecordBatchReader.from_stream(any_table).read_all().equals(whole)
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
