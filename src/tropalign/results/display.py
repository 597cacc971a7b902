"""Text and notebook HTML of tables and alignments.

Names come from files, so they are escaped: control characters for terminals, tags for browsers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import shown

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
    """Return `grid_text` as HTML; `details` (collapsible): pairs of unescaped title and HTML text."""
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
    found: dict[str, list[str]] = {}
    for name, values in columns.items():
        first = values[:SHOWN_ROWS]
        texts = found[name] = list[str]()
        for value in first if isinstance(first, list) else first.tolist():
            if name == "cigar" and len(value) >= CIGAR_LETTERS:
                texts.append(f"{value[: CIGAR_LETTERS - 4]} ...")
            else:
                is_decimal = isinstance(value, float) and name != "score"
                texts.append(f"{value:.4f}" if is_decimal else shown(str(value)))
    return found


class Block(NamedTuple):
    """Columns of two aligned sequences that fit a line.

    Positions are 1-based; those of a query on the minus strand descend, and those of a sequence without a residue
    repeat the last one.
    """

    query_begin: int
    query: str
    query_end: int
    middle: str
    target_begin: int
    target: str
    target_end: int


def blocks(
    lines: tuple[str, str, str],
    before: tuple[int, int],
    width: int = TEXT_WIDTH,
    *,
    step: int = 1,
    gap: str = "-",
    most: int | None = None,
) -> list[Block]:
    """Cut aligned lines (query, middle, target); `before`: positions before the first residues; `gap`: of the query."""
    top, middle, bottom = lines
    i, j = before
    found = []
    for k in range(0, min(len(top), most or len(top)), width):
        a, m, b = top[k : k + width], middle[k : k + width], bottom[k : k + width]
        n_query, n_target = len(a) - a.count(gap), len(b) - b.count("-")
        end = i + step * n_query
        found.append(Block(i + step * (n_query > 0), a, end, m, j + (n_target > 0), b, j + n_target))
        i, j = end, j + n_target
    return found


def pair_text(title: str, cut: Iterable[Block], query: str, last: int, below: str = "") -> str:
    """Return a title and blocks; `query`: label; `last`: highest position; `below`: a line below the alignment."""
    digits = len(str(last))
    lines = [title]
    for k, b in enumerate(cut):
        lines += [
            "",
            f"{query:<6} {b.query_begin:>{digits}} {b.query} {b.query_end}",
            f"{'':{digits + 7}} {b.middle}",
            f"target {b.target_begin:>{digits}} {b.target} {b.target_end}",
        ]
        if below:
            lines.append(f"{'':{digits + 7}} {below[k * TEXT_WIDTH : (k + 1) * TEXT_WIDTH]}")
    return "\n".join(lines)


def coloured(cut: Iterable[Block]) -> list[str]:
    """Return blocks as lines for a ``<pre>``, letters coloured by the line between them."""
    lines = []
    for b in cut:
        lines += [
            f"{b.query_begin:>9} {_spans(b.query, b.middle)} {b.query_end}",
            f"{b.target_begin:>9} {_spans(b.target, b.middle)} {b.target_end}",
            "",
        ]
    return lines


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
