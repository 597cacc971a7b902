"""Tables and alignments as people read them: text, and HTML for notebooks.

Names come from files, so they are escaped: a terminal obeys no control character in them, a browser no tag.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tropalign.errors import shown

if TYPE_CHECKING:
    from tropalign.results.alignment import Alignment
    from tropalign.results.alignments import AlignmentTable

#: Rows that a table shows of itself.
SHOWN_ROWS = 10
#: Longer CIGARs are cut in a table.
CIGAR_LETTERS = 24
TEXT_WIDTH, HTML_WIDTH = 60, 80
#: Longer alignments are cut in notebooks.
HTML_COLUMNS = 8_000
#: Behind columns of equal letters, of different ones and of gaps; see-through, for light and dark pages.
COLOURS = {"|": "rgba(40,160,90,.30)", ".": "rgba(230,160,30,.22)", " ": "rgba(210,70,60,.25)"}
#: Notebooks draw a bare <pre> in the page's font, in which letters do not stand below each other.
PRE = "<pre style='font-family:monospace;white-space:pre;line-height:1.25'>"
#: Letters that are none, for a terminal: each stays one column wide.
PLAIN = dict.fromkeys((*range(32), *range(127, 161)), "?")
LEFT_ALIGNED = ("query", "target", "cigar")


def table_text(table: AlignmentTable) -> str:
    """What ``repr`` gives: a title, the first rows below the names of the columns, and how many more there are."""
    cells = _first_rows(table)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [f"<{_title(table)}>"]
    for row in cells:
        padded = [
            cell.ljust(width) if name in LEFT_ALIGNED else cell.rjust(width)
            for name, cell, width in zip(cells[0], row, widths, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    if len(table) > SHOWN_ROWS:
        lines.append(f"... and {len(table) - SHOWN_ROWS:,} more")
    return "\n".join(lines)


def table_html(table: AlignmentTable) -> str:
    """The same as HTML, with the alignments of the rows to unfold."""
    cells = _first_rows(table)
    tags = ["th"] + ["td"] * (len(cells) - 1)
    lines = ["".join(f"<{tag}>{_escaped(cell)}</{tag}>" for cell in row) for tag, row in zip(tags, cells, strict=True)]
    more = f"<p>... and {len(table) - SHOWN_ROWS:,} more</p>" if len(table) > SHOWN_ROWS else ""
    grid = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
    details = ""
    if table.depth == "alignment":
        details = "".join(
            f"<details><summary>{_escaped(alignment_title(row))}</summary>{PRE}{coloured(row)}</pre></details>"
            for row in table.slice(0, SHOWN_ROWS)
        )
    return f"<p>{_escaped(_title(table))}</p>{grid}{more}{details}"


def _title(table: AlignmentTable) -> str:
    one, many = len(table.queries), len(table.targets)
    of = f"{one:,} sequences" if table.queries is table.targets else f"{one:,} queries and {many:,} targets"
    return f"AlignmentTable: {len(table):,} rows, pairs of {of}, depth {table.depth}"


def _first_rows(table: AlignmentTable) -> list[list[str]]:
    """Names of the columns, then the first rows as text."""
    columns = table.slice(0, SHOWN_ROWS).columns()
    cells = []
    for name, values in columns.items():
        if name == "cigar":
            column = [text if len(text) < CIGAR_LETTERS else text[: CIGAR_LETTERS - 4] + " ..." for text in values]
        elif values.dtype == np.float64 and name != "score":
            column = [f"{value:.4f}" for value in values.tolist()]
        else:
            column = [shown(str(value)) for value in values.tolist()]
        cells.append(column)
    return [list(columns), *map(list, zip(*cells, strict=True))]


def alignment_title(row: Alignment) -> str:
    """One line: names, score, ends and identity, as far as they were computed."""
    text = f"{shown(row.query)} x {shown(row.target)}: score {row.score}"
    if row.strand < 0:
        text += ", reverse strand"
    if row._depth != "score":
        text += f", query {row.query_start}-{row.query_end}, target {row.target_start}-{row.target_end}"
    if row._depth == "alignment":
        text += f", identity {row.identity:.3f}"
    return text


class _Block(NamedTuple):
    """Columns that fit a line; positions are 1-based, and those of a sequence without a letter repeat the last one."""

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
    i, j = row.query_span()[0], row.target_start
    blocks = []
    for k in range(0, min(len(top), most or len(top)), width):
        a, m, b = top[k : k + width], middle[k : k + width], bottom[k : k + width]
        n_query, n_target = len(a) - a.count("-"), len(b) - b.count("-")
        blocks.append(_Block(i + (n_query > 0), a, i + n_query, m, j + (n_target > 0), b, j + n_target))
        i, j = i + n_query, j + n_target
    return blocks


def alignment_text(row: Alignment) -> str:
    """What ``print`` shows: the title, then the letters of both with the midline between them."""
    if row._depth != "alignment":
        return alignment_title(row)
    digits = len(str(max(row.query_end, row.query_span()[1], row.target_end)))
    blocks = [
        f"query  {b.query_begin:>{digits}} {b.query} {b.query_end}\n"
        f"{'':{digits + 7}} {b.middle}\n"
        f"target {b.target_begin:>{digits}} {b.target} {b.target_end}"
        for b in _blocks(row, TEXT_WIDTH)
    ]
    return "\n\n".join([alignment_title(row), *blocks])


def alignment_html(row: Alignment) -> str:
    """What a notebook shows: the title and the coloured letters."""
    return f"{PRE}{_escaped(alignment_title(row))}\n\n{coloured(row)}</pre>"


def coloured(row: Alignment) -> str:
    """The letters alone, coloured, as lines for a ``<pre>``; empty for lesser depths than "alignment"."""
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
        pieces.append(f'<span style="background:{COLOURS[mark]}">{_escaped(letters[k : k + n])}</span>')
        k += n
    return "".join(pieces)


def _escaped(text: str) -> str:
    """The text as HTML shows it."""
    from html import escape  # whose entities take longer to load than a table takes to write

    return escape(text)
