"""What the formats of tables of pairs share: which columns are shown, and each as a text per row.

Plain text ends a value at the next tab, so that no name may hold one; CSV puts what holds a comma, a quote or a line
break into quotes (RFC 4180), JSON every text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tropalign.formats.pairs import PairsContext
from tropalign.formats.writer import Format
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


def shown_columns(text: str | None, form: Format[PairsContext]) -> ShownColumns:
    """Those of a list with commas, else the format's own.

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
    return rows.words([quote(text[a:b].decode("latin-1")) for a, b in pairwise(offsets.tolist())])


def is_plain(column: rows.Column) -> bool:
    """Whether a column of letters holds nothing that CSV or JSON would change."""
    if column[0] == "cigar":
        return True
    letters = np.unique(column[1])
    return bool((letters >= ord(" ")).all()) and not np.isin(letters, np.frombuffer(b'",\\', np.uint8)).any()


def csv_word(word: str) -> str:
    """A word between commas."""
    if any(letter in word for letter in '",\r\n'):
        return '"' + word.replace('"', '""') + '"'
    return word
