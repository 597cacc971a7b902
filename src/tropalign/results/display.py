"""Text and notebook HTML of tables and alignments.

Names come from files, so they are escaped: control characters for terminals, tags for browsers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import shown

if TYPE_CHECKING:
    from tropalign.results.alignments import Alignment, AlignmentTable

#: Rows that a table shows.
SHOWN_ROWS = 10
#: Maximum length of CIGARs in a table.
CIGAR_LETTERS = 24
TEXT_WIDTH, HTML_WIDTH = 60, 80
#: Maximum number of alignment columns in notebooks.
HTML_COLUMNS = 8_000
#: Backgrounds of columns of equal residues, different residues and gaps; translucent, for light and dark pages.
COLOURS = {"|": "rgba(40,160,90,.30)", ".": "rgba(230,160,30,.22)", " ": "rgba(210,70,60,.25)"}
#: Notebooks render a bare <pre> in the page's proportional font, which breaks the alignment of characters.
PRE = "<pre style='font-family:monospace;white-space:pre;line-height:1.25;overflow-x:auto'>"
#: Control characters are replaced for terminals, so that each stays one column wide.
PLAIN = dict.fromkeys((*range(32), *range(127, 161)), "?")
LEFT_ALIGNED = ("query", "target", "cigar")


def grid_text(title: str, cells: dict[str, list[str]], n_rows: int) -> str:
    """Return a title, a grid of rows with a header, and the number of further rows."""
    lines = [f"<{title}>"]
    widths = {name: max(map(len, (name, *column))) for name, column in cells.items()}
    for row in (tuple(cells), *zip(*cells.values(), strict=True)):
        padded = [
            cell.ljust(width) if name in LEFT_ALIGNED else cell.rjust(width)
            for cell, (name, width) in zip(row, widths.items(), strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join([*lines, *_more(n_rows)])


def grid_html(title: str, cells: dict[str, list[str]], n_rows: int, details: Iterable[tuple[str, str]] = ()) -> str:
    """Return `grid_text` as HTML with collapsible details: pairs of an unescaped title and an HTML text."""
    rows = [("th", tuple(cells)), *(("td", row) for row in zip(*cells.values(), strict=True))]
    lines = ["".join(f"<{tag}>{escaped(cell)}</{tag}>" for cell in row) for tag, row in rows]
    grid = _scrolled(f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>")
    more = "".join(f"<p>{line}</p>" for line in _more(n_rows))
    folded = (f"<details><summary>{escaped(name)}</summary>{PRE}{text}</pre></details>" for name, text in details)
    return f"<p>{escaped(title)}</p>{grid}{more}{''.join(folded)}"


def text_html(text: str) -> str:
    """Return lines of text as notebook HTML."""
    return f"{PRE}{escaped(text)}</pre>"


def record_html(record: Any) -> str:
    """Return a named tuple, or the repr fields of a dataclass, as notebook HTML: a row per field."""
    is_tuple = isinstance(record, tuple)
    names = getattr(record, "_fields", ()) if is_tuple else [each.name for each in fields(record) if each.repr]
    cells = ((name, shown(str(getattr(record, name)))) for name in names)
    lines = (f"<tr><th>{escaped(name)}</th><td>{escaped(cell)}</td></tr>" for name, cell in cells)
    return _scrolled(f"<table>{''.join(lines)}</table>")


def _scrolled(table: str) -> str:
    """Wrap a table so that it scrolls within the page; some notebooks do not do so themselves."""
    return f"<div style='overflow-x:auto'>{table}</div>"


def _more(n_rows: int) -> list[str]:
    return [f"... and {n_rows - SHOWN_ROWS:,} more"] if n_rows > SHOWN_ROWS else []


def cells(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """Format the first rows of columns: four decimals, shortened CIGARs, names escaped for terminals."""
    first = {name: values[:SHOWN_ROWS] for name, values in columns.items()}
    return {
        name: [_cell(name, value) for value in (values if isinstance(values, list) else values.tolist())]
        for name, values in first.items()
    }


def _cell(name: str, value: Any) -> str:
    if name == "cigar" and len(value) >= CIGAR_LETTERS:
        return f"{value[: CIGAR_LETTERS - 4]} ..."
    if isinstance(value, float) and name != "score":
        return f"{value:.4f}"
    return shown(str(value))


def table_text(table: AlignmentTable) -> str:
    """Return the ``repr``: a title, the first rows under column names, and the number of further rows."""
    return grid_text(table._title(), cells(table.slice(0, SHOWN_ROWS).columns()), len(table))


def table_html(table: AlignmentTable) -> str:
    """Return the ``repr`` as HTML, with the alignments of the rows as collapsible details."""
    first = table.slice(0, SHOWN_ROWS)
    rows = first if table.depth == "alignment" else ()
    details = ((alignment_title(row), coloured(row)) for row in rows)
    return grid_html(table._title(), cells(first.columns()), len(table), details)


def alignment_title(row: Alignment) -> str:
    """Return one line with names, score, ends and identity, as far as they were computed."""
    text = f"{shown(row.query)} x {shown(row.target)}: score {row.score}"
    if row.strand < 0:
        text += ", reverse strand"
    if row._depth != "score":
        text += f", query {row.query_start}-{row.query_end}, target {row.target_start}-{row.target_end}"
    if row._depth == "alignment":
        text += f", identity {row.identity:.3f}"
    return text


class _Block(NamedTuple):
    """Columns that fit on one line.

    Positions are 1-based; those of a query on the minus strand descend. A sequence without a residue in the block
    repeats its last position.
    """

    query_begin: int
    query: str
    query_end: int
    middle: str
    target_begin: int
    target: str
    target_end: int


def _blocks(row: Alignment, width: int, most: int | None = None) -> list[_Block]:
    top, middle, bottom = row.aligned()
    top, bottom = top.translate(PLAIN), bottom.translate(PLAIN)
    step = -1 if row.strand < 0 else 1
    i, j = row.query_end + 1 if step < 0 else row.query_start, row.target_start  # numbers of the preceding residues
    blocks = []
    for k in range(0, min(len(top), most or len(top)), width):
        a, m, b = top[k : k + width], middle[k : k + width], bottom[k : k + width]
        n_query, n_target = len(a) - a.count("-"), len(b) - b.count("-")
        query_begin, query_end = i + step * (n_query > 0), i + step * n_query
        blocks.append(_Block(query_begin, a, query_end, m, j + (n_target > 0), b, j + n_target))
        i, j = query_end, j + n_target
    return blocks


def alignment_text(row: Alignment) -> str:
    """Return the ``print`` text: the title, then both sequences with the midline between them."""
    if row._depth != "alignment":
        return alignment_title(row)
    digits = len(str(max(row.query_end, row.target_end)))
    blocks = [
        f"query  {b.query_begin:>{digits}} {b.query} {b.query_end}\n"
        f"{'':{digits + 7}} {b.middle}\n"
        f"target {b.target_begin:>{digits}} {b.target} {b.target_end}"
        for b in _blocks(row, TEXT_WIDTH)
    ]
    return "\n\n".join([alignment_title(row), *blocks])


def alignment_html(row: Alignment) -> str:
    """Return notebook HTML: the title and the coloured alignment."""
    return f"{PRE}{escaped(alignment_title(row))}\n\n{coloured(row)}</pre>"


def coloured(row: Alignment) -> str:
    """Return the coloured residues as lines for a ``<pre>``; empty for depths below "alignment"."""
    if row._depth != "alignment":
        return ""
    lines = []
    for b in _blocks(row, HTML_WIDTH, HTML_COLUMNS):
        lines += [
            f"{b.query_begin:>9} {_spans(b.query, b.middle)} {b.query_end}",
            f"{b.target_begin:>9} {_spans(b.target, b.middle)} {b.target_end}",
            "",
        ]
    if row.n_columns > HTML_COLUMNS:
        lines.append(f"... and {row.n_columns - HTML_COLUMNS:,} more columns")
    return "\n".join(lines)


def _spans(letters: str, middle: str) -> str:
    pieces, k = [], 0
    for mark, run in groupby(middle):
        n = len(list(run))
        pieces.append(f'<span style="background:{COLOURS[mark]}">{escaped(letters[k : k + n])}</span>')
        k += n
    return "".join(pieces)


def escaped(text: str) -> str:
    """Escape a text for HTML."""
    from html import escape  # imported late: loading its entities takes longer than writing a table

    return escape(text)


#: Character for a missing probability.
DOT = ord(".")


def digits(probabilities: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return a digit per probability, uint8, same shape: 0 is 0-5 %, 1 is 5-15 %, ..., * is 95-100 %; a dot for nan.

    >>> digits(np.array([0, 0.06, 0.949, 0.951, np.nan], np.float32)).tobytes()
    b'019*.'
    """
    raised = probabilities + np.float64(0.05)
    with np.errstate(invalid="ignore"):
        tenths = (raised * 10).astype(np.uint8)
    tenths += ord("0")
    tenths[raised >= 1] = ord("*")
    if (is_none := np.isnan(raised)).any():
        tenths[is_none] = DOT
    return tenths
