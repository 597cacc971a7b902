"""Tables of pairs as text: tab-separated, CSV, JSON Lines and BLAST's format.

``tropalign.results.output_columns`` defines the columns; here each becomes a text per row. In tab-separated text,
names may not contain tabs. CSV quotes values with a comma, a quote or a line break (RFC 4180), JSON quotes every
text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from tropalign.arrays import distinct
from tropalign.formats.array_files import Packed, batch_packed, result_format
from tropalign.formats.format import Codec, Concatenated, Header, PairsFormat, row_blocks
from tropalign.formats.pairs import M8_COLUMNS
from tropalign.formats.pairs.context import PairsContext
from tropalign.results import aligned_pairs, rows
from tropalign.results.aligned_pairs import arrays_of
from tropalign.results.alignments import AlignmentTable, empty_table
from tropalign.results.output_columns import (
    OUTPUT_COLUMNS,
    SIGNIFICANCE,
    Values,
    chosen_names,
    default_names,
    depth_of,
    letters_of,
    values_of,
)
from tropalign.sequences.texts import decoded

#: Quotes a text within a row; None for no quoting.
Quote = Callable[[str], str] | None


@dataclass(frozen=True)
class ShownColumns:
    """Columns for a format to show.

    names: empty for those of the report. depth: the lowest report that includes them. letters: bytes per alignment
    column. have_significance: whether E-values or bits are among them.
    """

    names: tuple[str, ...]
    depth: str
    letters: float
    have_significance: bool


def shown_columns(text: str | None, form: PairsFormat) -> ShownColumns:
    """Parse a comma-separated list of columns, or return the format's own; UsageError as in `chosen_names`."""
    names = form.own_columns if text is None else chosen_names(filter(None, map(str.strip, text.split(","))))
    depth = depth_of(names) if names else "alignment"
    return ShownColumns(names, depth, letters_of(names), bool(SIGNIFICANCE.intersection(names)))


def columns_text() -> str:
    """Return a line per column: its name, its meaning, and in parentheses its names in other programs."""
    lines = []
    for column in OUTPUT_COLUMNS.values():
        also = f" ({', '.join(column.aliases)})" if column.aliases else ""
        lines.append(f"{column.name:<17} {column.meaning}{also}")
    return "\n".join(lines) + "\n"


def names_of(context: PairsContext) -> tuple[str, ...]:
    """Return the columns to write."""
    if context.columns is None:
        return default_names(context.report, context.both_strands)
    return context.columns


def text_columns(table: AlignmentTable, names: tuple[str, ...], quote: Quote = None) -> list[rows.Column]:
    """Return the columns with a text per row, numbers with the digits of tables."""
    return [text_column(table, name, quote) for name in names]


def text_column(table: AlignmentTable, name: str, quote: Quote = None) -> rows.Column:
    """Return a column by name, with a text per row."""
    column = OUTPUT_COLUMNS[name]
    if column.form in ("query", "target") and quote is not None:
        return rows.quoted_names(*aligned_pairs.given(table, column.form), quote)
    values = values_of(table, name)
    if isinstance(values, tuple):
        return quoted(values, len(table), quote) if column.form == "text" else values
    return _number(values, column.form)


def _number(values: Values, form: str) -> rows.Column:
    assert isinstance(values, np.ndarray)
    if form == "strand":
        return rows.choices((values < 0).astype(np.int64), ["+", "-"])
    if form == "percent":
        return ("real", np.ascontiguousarray(values, np.float64), 3, "")
    written = {"fraction": rows.fractions, "evalue": rows.evalues, "bits": rows.bits}
    return written.get(form, rows.numbers)(values)


def quoted(column: rows.Column, n_rows: int, quote: Quote) -> rows.Column:
    """Apply `quote` to each row of a text column; unchanged if nothing has to be quoted."""
    if quote is None or is_plain(column):
        return column
    text, offsets = rows.column_text(column, n_rows)
    return rows.words([quote(decoded(text[a:b])) for a, b in pairwise(offsets.tolist())])


def is_plain(column: rows.Column) -> bool:
    """True if a text column holds nothing that CSV or JSON would change."""
    if column[0] == "cigar":
        return True
    letters = distinct(column[1])
    return bool((letters >= ord(" ")).all()) and not np.isin(letters, np.frombuffer(b'",\\', np.uint8)).any()


def csv_word(word: str) -> str:
    """Quote a CSV value if necessary."""
    if any(letter in word for letter in '",\r\n'):
        return '"' + word.replace('"', '""') + '"'
    return word


def tsv_header(header: Header, context: PairsContext) -> bytes:
    """Return comment lines, then column names; ``strand`` only with both strands, unless it is chosen."""
    return header.above(names_of(context))


def encode_tsv(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return rows with 0-based half-open coordinates, identity and similarity as fractions of the columns."""
    return rows.join(text_columns(table, names_of(context)), len(table))


def csv_header(header: Header, context: PairsContext) -> bytes:
    """Return the column names."""
    return (",".join(names_of(context)) + "\n").encode() if header.has_names else b""


def encode_csv(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return the values of the TSV; values with a comma, a quote or a line break are quoted."""
    return rows.join(text_columns(table, names_of(context), csv_word), len(table), separator=",")


def encode_jsonl(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return JSON lines; numbers have enough digits to restore the same value, the strand is ``"+"`` or ``"-"``."""
    columns, before = [], "{"
    for name in names_of(context):
        columns += _members(table, name, f'{before}"{name}":')
        before = ","
    return rows.join(columns, len(table), separator="", terminator="}\n")


def _members(table: AlignmentTable, name: str, prefix: str) -> list[rows.Column]:
    """Return a key and its values."""
    form = OUTPUT_COLUMNS[name].form
    if form in ("query", "target"):
        return [rows.quoted_names(*aligned_pairs.given(table, form), json_word, prefix)]
    values = values_of(table, name)
    if isinstance(values, tuple):
        if is_plain(values):
            return [rows.constant(prefix + '"'), values, rows.constant('"')]
        return [rows.constant(prefix), quoted(values, len(table), json_word)]
    if form == "strand":
        return [rows.choices((values < 0).astype(np.int64), ['"+"', '"-"'], prefix)]
    return [rows.shortest(values, prefix) if values.dtype == np.float64 else rows.numbers(values, prefix)]


def json_word(word: str) -> str:
    """Return a text as JSON, with non-ASCII characters unchanged."""
    return json.dumps(word, ensure_ascii=False)


def _by_pairs(
    encode: Callable[[AlignmentTable, PairsContext], bytes],
) -> Callable[[AlignmentTable, PairsContext], Iterator[bytes]]:
    """Make ``blocks`` that keep all alignments of a pair together, since columns such as qcovs depend on all."""

    def blocks(table: AlignmentTable, context: PairsContext) -> Iterator[bytes]:
        def text_of(begin: int, end: int) -> bytes:
            return encode(table.slice(begin, end), context)

        if table.hsp is None:
            return row_blocks(len(table), text_of)
        pair = values_of(table, "pair")
        assert isinstance(pair, np.ndarray)
        ends = np.append(np.flatnonzero(np.diff(pair)) + 1, len(table))
        return row_blocks(len(table), text_of, lambda end: int(ends[np.searchsorted(ends, end)]))

    return blocks


ABSENT = {"evalue": "-1", "bits": "0"}


def encode_m8(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return rows with positions from 1; on the minus strand, target positions descend, query positions do not."""
    if table.n_columns is not None and not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    elif table.n_columns is None and table.significance is not None:  # a local score of 0 has no columns
        table = table.take(table.score > 0)
    names = M8_COLUMNS if context.columns is None else context.columns
    columns = [
        rows.constant(ABSENT[name]) if name in ABSENT and table.significance is None else text_column(table, name)
        for name in names
    ]
    return rows.join(columns, len(table))


TSV = Codec(
    encode_tsv,
    Concatenated(tsv_header),
    assembled_with=("report", "both_strands", "columns"),
    blocks=_by_pairs(encode_tsv),
)
CSV = Codec(
    encode_csv,
    Concatenated(csv_header),
    assembled_with=("report", "both_strands", "columns"),
    blocks=_by_pairs(encode_csv),
)
JSONL = Codec(encode_jsonl, Concatenated(), blocks=_by_pairs(encode_jsonl))
M8 = Codec(encode_m8, Concatenated(), blocks=_by_pairs(encode_m8))


def pack(table: AlignmentTable, context: PairsContext) -> Packed:
    """Pack the columns."""
    return {}, arrays_of(table)


def whole(context: PairsContext) -> Packed:
    """Pack depth and sequences."""
    notes, arrays = batch_packed(context.queries, "queries")
    if context.targets is not context.queries:
        more_notes, more_arrays = batch_packed(context.targets, "targets")
        notes, arrays = notes | more_notes, arrays | more_arrays
    if context.identity != "columns":
        notes["identity"] = context.identity
    return {"depth": context.report, **notes}, arrays


def _empty(context: PairsContext) -> Packed:
    queries, targets = cast(Any, context.queries), cast(Any, context.targets)
    return {}, arrays_of(empty_table(queries, targets, context.report, context.both_strands, context.decimal_scores))


RESULT = result_format(
    "pairs",
    pack,
    whole,
    _empty,
    assembled_with=("queries", "targets", "letters", "report", "both_strands", "decimal_scores", "identity"),
)
