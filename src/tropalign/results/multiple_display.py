"""A multiple alignment as people read it: rows below one another as text, and as HTML for notebooks.

Names come from files, so they are escaped: a terminal obeys no control character in them, a browser no tag.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from tropalign.errors import shown
from tropalign.results.display import PLAIN, PRE

if TYPE_CHECKING:
    from tropalign.results.multiple import MultipleAlignment

#: Rows, letters of a name and columns that are shown of a large alignment.
SHOWN_ROWS, SHOWN_NAME, SHOWN_COLUMNS = 12, 24, 80
HTML_ROWS, HTML_COLUMNS = 100, 2_000


def title(alignment: MultipleAlignment) -> str:
    """One line: rows, kind and columns."""
    n = len(alignment)
    kind = alignment.sequences.alphabet.name
    return f"MultipleAlignment: {n:,} {kind} sequence{'s' * (n != 1)}, {alignment.n_columns:,} columns"


def block_text(alignment: MultipleAlignment) -> str:
    """The title and the rows; the midst of long rows, and of many, is left out."""
    return "\n".join([title(alignment), *_lines(alignment, SHOWN_ROWS, SHOWN_COLUMNS)])


def block_html(alignment: MultipleAlignment) -> str:
    """The same as HTML, with more of it."""
    lines = [html.escape(line) for line in _lines(alignment, HTML_ROWS, HTML_COLUMNS)]
    block = "\n".join(lines)
    box = "<div style='overflow:auto;max-height:30em'>"
    return f"<p>{html.escape(title(alignment))}</p>{box}{PRE}{block}</pre></div>"


def _lines(alignment: MultipleAlignment, most_rows: int, most_columns: int) -> list[str]:
    n = len(alignment)
    chosen = range(n) if n <= most_rows else [*range(most_rows // 2), *range(n - most_rows // 2, n)]
    names = [_cut(shown(alignment.names[k])) for k in chosen]
    width = max(map(len, names), default=0)
    lines = [
        f"{name:<{width}}  {_shortened(alignment.row(k).decode('latin-1').translate(PLAIN), most_columns)}".rstrip()
        for name, k in zip(names, chosen, strict=True)
    ]
    if n > most_rows:
        lines.insert(most_rows // 2, f"... {n - 2 * (most_rows // 2):,} more")
    return lines


def _cut(name: str) -> str:
    return name if len(name) <= SHOWN_NAME else f"{name[: SHOWN_NAME - 3]}..."


def _shortened(row: str, most: int) -> str:
    """The row; of a longer one its begin and its end."""
    return row if len(row) <= most else f"{row[: most - 13]}...{row[-10:]}"
