"""Tables of pairs as text: tab-separated, CSV, JSON Lines and BLAST's.

Which columns there are stands in one place, ``tropalign.results.output_columns``; here each becomes a text per row.
Tab-separated text ends a value at the next tab, so that no name may hold one; CSV puts what holds a comma, a quote or a
line break into quotes (RFC 4180), JSON every text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tropalign.arrays import distinct
from tropalign.formats.format import Codec, concatenated, row_blocks
from tropalign.formats.header import Header
from tropalign.formats.pairs import M8_COLUMNS, PairsFormat
from tropalign.formats.pairs.context import PairsContext
from tropalign.results import nucleotides, rows
from tropalign.results.alignments import AlignmentTable
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

#: How a word is written between others; None where it stands as it is.
Quote = Callable[[str], str] | None


@dataclass(frozen=True)
class ShownColumns:
    """The columns that a format is to show.

    Attributes
    ----------
    names
        None of them: those of the report.
    depth
        The least report that has them.
    letters
        Bytes that they take per column of an alignment.
    have_significance
        Whether E-values or bits are among them.
    """

    names: tuple[str, ...]
    depth: str
    letters: float
    have_significance: bool


def shown_columns(text: str | None, form: PairsFormat) -> ShownColumns:
    """Finds the columns of a list with commas, else the format's own.

    Raises
    ------
    UsageError
        As `tropalign.results.output_columns.chosen_names`.
    """
    names = form.own_columns if text is None else chosen_names(filter(None, map(str.strip, text.split(","))))
    depth = depth_of(names) if names else "alignment"
    return ShownColumns(names, depth, letters_of(names), bool(SIGNIFICANCE.intersection(names)))


def columns_text() -> str:
    """A line per column: its name, what it holds, and in parentheses what other programs call it."""
    lines = []
    for column in OUTPUT_COLUMNS.values():
        also = f" ({', '.join(column.aliases)})" if column.aliases else ""
        lines.append(f"{column.name:<17} {column.meaning}{also}")
    return "\n".join(lines) + "\n"


def names_of(context: PairsContext) -> tuple[str, ...]:
    """The columns to write."""
    if context.columns is None:
        return default_names(context.report, context.both_strands)
    return context.columns


def text_columns(table: AlignmentTable, names: tuple[str, ...], quote: Quote = None) -> list[rows.Column]:
    """The columns, a text per row each; numbers with the digits that tables have."""
    return [text_column(table, name, quote) for name in names]


def text_column(table: AlignmentTable, name: str, quote: Quote = None) -> rows.Column:
    """A column by its name, a text per row."""
    column = OUTPUT_COLUMNS[name]
    if column.form in ("query", "target") and quote is not None:
        return rows.quoted_names(*nucleotides.given(table, column.form), quote)
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
    """A column of letters as `quote` writes each row; as it is where no letter has to be quoted."""
    if quote is None or is_plain(column):
        return column
    text, offsets = rows.column_text(column, n_rows)
    return rows.words([quote(decoded(text[a:b])) for a, b in pairwise(offsets.tolist())])


def is_plain(column: rows.Column) -> bool:
    """Whether a column of letters holds nothing that CSV or JSON would change."""
    if column[0] == "cigar":
        return True
    letters = distinct(column[1])
    return bool((letters >= ord(" ")).all()) and not np.isin(letters, np.frombuffer(b'",\\', np.uint8)).any()


def csv_word(word: str) -> str:
    """A word between commas."""
    if any(letter in word for letter in '",\r\n'):
        return '"' + word.replace('"', '""') + '"'
    return word


def tsv_header(header: Header, context: PairsContext) -> bytes:
    """Comment lines, then the names of the columns; ``strand`` is there with both strands only, unless it is chosen."""
    return ("\n".join([*header.comment_lines(), "\t".join(names_of(context))]) + "\n").encode()


def encode_tsv(table: AlignmentTable, context: PairsContext) -> bytes:
    """Coordinates 0-based half-open, identity and similarity as fractions of the columns."""
    return rows.join(text_columns(table, names_of(context)), len(table))


def csv_header(header: Header, context: PairsContext) -> bytes:
    """The names of the columns."""
    return (",".join(names_of(context)) + "\n").encode()


def encode_csv(table: AlignmentTable, context: PairsContext) -> bytes:
    """The values of the TSV; what holds a comma, a quote or a line break stands in quotes."""
    return rows.join(text_columns(table, names_of(context), csv_word), len(table), separator=",")


def encode_jsonl(table: AlignmentTable, context: PairsContext) -> bytes:
    """Numbers with as many digits as give the same number again; the strand as ``"+"`` or ``"-"``."""
    columns, before = [], "{"
    for name in names_of(context):
        columns += _members(table, name, f'{before}"{name}":')
        before = ","
    return rows.join(columns, len(table), separator="", terminator="}\n")


def _members(table: AlignmentTable, name: str, prefix: str) -> list[rows.Column]:
    """A key and its values."""
    form = OUTPUT_COLUMNS[name].form
    if form in ("query", "target"):
        return [rows.quoted_names(*nucleotides.given(table, form), json_word, prefix)]
    values = values_of(table, name)
    if isinstance(values, tuple):
        if is_plain(values):
            return [rows.constant(prefix + '"'), values, rows.constant('"')]
        return [rows.constant(prefix), quoted(values, len(table), json_word)]
    if form == "strand":
        return [rows.choices((values < 0).astype(np.int64), ['"+"', '"-"'], prefix)]
    return [rows.shortest(values, prefix) if values.dtype == np.float64 else rows.numbers(values, prefix)]


def json_word(word: str) -> str:
    """A word as JSON, letters beyond ASCII as they are."""
    return json.dumps(word, ensure_ascii=False)


def _by_pairs(
    encode: Callable[[AlignmentTable, PairsContext], bytes],
) -> Callable[[AlignmentTable, PairsContext], Iterator[bytes]]:
    """Makes ``blocks`` that hold all alignments of a pair, since columns such as qcovs are of these together."""

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
    """Positions from 1; on the minus strand the target's descend, and the query stays as it is."""
    if table.n_columns is not None and not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    elif table.n_columns is None and table.significance is not None:  # a local score of 0 is that of no column
        table = table.take(table.score > 0)
    names = M8_COLUMNS if context.columns is None else context.columns
    columns = [
        rows.constant(ABSENT[name]) if name in ABSENT and table.significance is None else text_column(table, name)
        for name in names
    ]
    return rows.join(columns, len(table))


TSV = Codec(
    encode_tsv,
    concatenated(tsv_header),
    assembled_with=("report", "both_strands", "columns"),
    blocks=_by_pairs(encode_tsv),
)
CSV = Codec(
    encode_csv,
    concatenated(csv_header),
    assembled_with=("report", "both_strands", "columns"),
    blocks=_by_pairs(encode_csv),
)
JSONL = Codec(encode_jsonl, concatenated(), blocks=_by_pairs(encode_jsonl))
M8 = Codec(encode_m8, concatenated(), blocks=_by_pairs(encode_m8))
