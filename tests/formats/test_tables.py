"""Tables of chosen columns: TSV, CSV, m8, JSON Lines and Arrow, read by others."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.conftest import context_for, parts_of
from formats.tables import random_table, reduced
from formats.written import HEADER
from tropalign.errors import InputError
from tropalign.formats.format import Header, make_writer, restore
from tropalign.results import rows
from tropalign.results.output_columns import OUTPUT_COLUMNS, default_names
from tropalign.sequences import NUCLEOTIDE, PROTEIN, SequenceBatch

#: Those that need no statistics.
NAMES = tuple(name for name in OUTPUT_COLUMNS if name not in ("bits", "evalue"))
TABLES = ("tsv", "csv", "m8", "jsonl", "arrow", "arrows", "feather", "parquet")


class Significance:
    """Numbers of every size in the place of statistics."""

    def bits(self, scores):
        return 1.5 * scores - 20.25

    def evalues(self, scores, query_lengths, target_lengths):
        return query_lengths * 10.0 ** (3 - 2.2 * scores)


def significant(table):
    table.significance = Significance()
    table.sum_evalue, table.sum_count = np.linspace(1e-30, 2, len(table)), np.full(len(table), 2, np.int32)
    return table


def renamed(table, names):
    batch = table.queries
    queries = SequenceBatch(batch.codes, batch.offsets, tuple(names), batch.alphabet, batch.letters)
    return type(table)(**{**vars(table), "queries": queries})


def read(name, text):
    if name in ("tsv", "csv"):
        lines = [line for line in text.decode().splitlines(keepends=True) if not line.startswith("# ")]
        found = list(csv.DictReader(io.StringIO("".join(lines), newline=""), delimiter="\t" if name == "tsv" else ","))
        return {key: [row[key] for row in found] for key in found[0]}
    if name == "jsonl":
        found = [json.loads(line) for line in text.decode().split("\n")[:-1]]
        return {key: [row[key] for row in found] for key in found[0]}
    pa = pytest.importorskip("pyarrow")
    if name == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(text))
    else:
        table = (pa.ipc.open_stream if name == "arrows" else pa.ipc.open_file)(io.BytesIO(text)).read_all()
    return {key: table[key].to_pylist() for key in table.column_names}


@pytest.mark.parametrize("name", [name for name in TABLES if name != "m8"])
def test_every_column(write, any_table, name):
    table = significant(any_table)
    names = [name for name in OUTPUT_COLUMNS if name != "co_optimal"]  # only with the option
    found = read(name, write(name, table, (4, 9), columns=tuple(names)))
    assert list(found) == names
    for key, values in table.columns(names).items():
        expected = values.tolist()
        if key == "strand" and name in ("tsv", "csv", "jsonl"):
            expected = ["+-"[strand < 0] for strand in expected]
        if name not in ("tsv", "csv"):
            assert found[key] == expected, key
        elif OUTPUT_COLUMNS[key].dtype is np.float64:
            # bits are rounded to one place or, above 99.9, cut to whole ones
            for text, value in zip(found[key], expected, strict=True):
                assert float(text) == pytest.approx(value, rel=0.01, abs=0.0501)
        else:
            assert found[key] == list(map(str, expected)), key


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("columns", [("target", "query_length"), ("cs", "score", "query")])
def test_parts_and_shards_make_the_same_file(any_table, name, columns):
    """However the table is cut, and by a writer that knows only what a shard does."""
    table = reduced(any_table, "score") if columns == ("target", "query_length") else any_table
    writer = make_writer("pairs", name, HEADER, context_for(table, columns=columns))
    again = restore(json.loads(json.dumps(writer.describe())))
    files = []
    for maker, cuts in ((writer, ()), (again, (1, 7, 7, 20))):
        files.append(io.BytesIO())
        maker.assemble(iter(parts_of(writer, table, cuts)), files[-1])
    assert files[0].getvalue() == files[1].getvalue() != b""


NASTY = ['a,"b"', "c#1", "#d", "e'\\u00e9\\\\", "ü"]


def test_names_that_have_to_be_quoted(write):
    table = renamed(random_table(1), NASTY)
    expected = [NASTY[k] for k in table.query_index]
    columns = ("query", "score", "query_row")
    assert read("csv", write("csv", table, columns=columns))["query"] == expected
    assert read("jsonl", write("jsonl", table, columns=columns))["query"] == expected
    assert [line.split("\t")[0] for line in write("m8", table, columns=columns).decode().splitlines()] == [
        name for name, n in zip(expected, table.n_columns, strict=True) if n
    ]
    tabbed = renamed(table, ["a\tb", "c\nd", "e\r", "f", "g"])
    for name in ("csv", "jsonl"):
        names = read(name, write(name, tabbed, columns=columns))["query"]
        assert names == [("a\tb", "c\nd", "e\r", "f", "g")[k] for k in table.query_index]
    with pytest.raises(InputError, match="the name contains a tab or a line break"):
        write("tsv", tabbed, columns=columns)


def test_letters_that_have_to_be_quoted(write):
    """Letters are kept as they were written, whatever they are."""
    table = random_table(2, empties=False)
    batch = table.queries
    letters = np.where(
        batch.letters == ord("A"), ord('"'), np.where(batch.letters == ord("C"), ord("\\"), batch.letters)
    )
    queries = SequenceBatch(batch.codes, batch.offsets, batch.names, batch.alphabet, letters.astype(np.uint8))
    table = type(table)(**{**vars(table), "queries": queries})
    expected = table.columns(["query_row"])["query_row"].tolist()
    assert any('"' in row for row in expected)
    for name in ("csv", "jsonl"):
        assert read(name, write(name, table, columns=("query_row", "score")))["query_row"] == expected


def test_tables_without_comments(any_table):
    """pandas, with and without comments, and polars read names with # where there are no comments."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = renamed(any_table, ["a#1", "#b", "##", "d", "e"])
    header = Header("1.2.3", "tropalign pairs a.fa", {"mode": "local"}, has_comments=False)
    writer, out = make_writer("pairs", "tsv", header, context_for(table)), io.BytesIO()
    restore(json.loads(json.dumps(writer.describe()))).assemble(iter(parts_of(writer, table)), out)
    assert out.getvalue().startswith(b"query\ttarget\t")
    names = table.columns()["query"].tolist()
    assert pandas.read_csv(io.BytesIO(out.getvalue()), sep="\t")["query"].tolist() == names
    assert polars.read_csv(out.getvalue(), separator="\t")["query"].to_list() == names


def test_dataframes_are_read_from_every_format(write, any_table):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    scores = any_table.score.tolist()
    assert pandas.read_json(io.BytesIO(write("jsonl", any_table)), lines=True)["score"].tolist() == scores
    assert pandas.read_csv(io.BytesIO(write("csv", any_table)))["score"].tolist() == scores
    assert pandas.read_feather(io.BytesIO(write("arrow", any_table)))["score"].tolist() == scores
    assert polars.read_ndjson(write("jsonl", any_table))["score"].to_list() == scores
    assert polars.read_ipc(io.BytesIO(write("arrow", any_table)))["score"].to_list() == scores


@pytest.mark.parametrize("alphabet", [PROTEIN, NUCLEOTIDE])
def test_m8_is_read_by_biopython(write, alphabet):
    search = pytest.importorskip("Bio.SearchIO")
    table = significant(random_table(4, 30, alphabet, has_strand=alphabet is NUCLEOTIDE))
    found = [row for row in table if row.n_columns]
    # Hits of a query stand together, as in BLAST's output.
    table = table.take(np.argsort(table.query_index * 10 + table.target_index, kind="stable"))
    text = write("m8", table).decode()
    hsps = [hsp for query in search.parse(io.StringIO(text), "blast-tab") for hsp in query.hsps]
    assert len(hsps) == len(found) == len(text.splitlines())
    rows = sorted(found, key=lambda row: (row.query_index, row.target_index))
    for hsp, row in zip(hsps, rows, strict=True):
        assert (hsp.query_id, hsp.hit_id) == (row.query, row.target)
        assert (hsp.query_start, hsp.query_end) == (row.query_start, row.query_end)
        assert (hsp.hit_start, hsp.hit_end) == (row.target_start, row.target_end)
        if row.target_end - row.target_start > 1:
            assert hsp.hit_strand in (row.strand, 0)
        assert hsp.aln_span == row.n_columns and hsp.ident_pct == pytest.approx(100 * row.identity, abs=0.0005)
        assert hsp.mismatch_num == row.n_columns - row.n_gaps - row.n_identical


def test_m8_without_statistics_and_tables_without_rows(write, proteins):
    assert {tuple(line.split("\t")[10:]) for line in write("m8", proteins).decode().splitlines()} == {("-1", "0")}
    lines = write("tsv", proteins.slice(0, 0)).decode().splitlines()
    assert len(lines) == 5 and lines[-1].split("\t") == list(default_names("alignment", has_strand=False))


def plain_evalue(x):
    if not x >= 0:
        return "-1"
    if x < 1e-180:
        return "0.0"
    if x < 0.0009 or x >= 1e15:
        return f"{x:.2e}"
    return f"{x:.3f}" if x < 0.1 else f"{x:.2f}" if x < 1 else f"{x:.1f}" if x < 10 else f"{x:.0f}"


def plain_bits(x):
    if not np.isfinite(x) or x == 0:
        return "0"
    return f"{x:.3e}" if abs(x) > 99999 else str(int(x)) if x > 99.9 else f"{x:.1f}"


doubles = st.one_of(st.floats(), st.floats(0, 2e5), st.floats(-330, 20).map(lambda x: 10.0**x))


@given(st.lists(doubles, max_size=20))
def test_doubles_are_rounded_as_elsewhere(values):
    array = np.array(values, np.float64)
    for column, plain in (
        (rows.evalues, plain_evalue),
        (rows.bits, plain_bits),
        (rows.shortest, lambda x: x if np.isfinite(x) else None),
    ):
        lines = rows.join([column(array)], len(array)).decode().splitlines()
        if column is rows.shortest:
            lines = [json.loads(line) for line in lines]
        assert lines == [plain(x) for x in values]


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: {**arrays, "score": arrays["score"][1:]},
        lambda arrays: {**arrays, "score": arrays["score"].astype(np.int64)},
        lambda arrays: {**arrays, "query:": arrays["query:"] + 1},
        lambda arrays: {**arrays, "query:": arrays["query:"].astype(np.int32)},
        lambda arrays: {**arrays, "query:": arrays["query:"][:0]},
        lambda arrays: {key: value for key, value in arrays.items() if key != "cigar:"},
    ],
)
def test_parts_of_other_columns(proteins, damage):
    writer = make_writer("pairs", "arrows", HEADER, context_for(proteins))
    arrays = dict(np.load(io.BytesIO(parts_of(writer, proteins)[0])))
    sink = io.BytesIO()
    np.savez(sink, **damage(arrays))
    with pytest.raises(InputError, match="a finished part is damaged"):
        writer.assemble([sink.getvalue()], io.BytesIO())


def test_columns_of_the_report(write, proteins):
    for depth in ("score", "ends"):
        found = read("csv", write("csv", reduced(proteins, depth)))
        assert tuple(found) == default_names(depth, has_strand=False)
