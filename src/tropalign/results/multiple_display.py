"""Display of a multiple alignment: rows as text, as HTML for notebooks, and colours.

Colours come from ``multiple_colours.json``, which the HTML page of ``formats/`` also reads.

Names come from files, so they are escaped: control characters for terminals, tags for browsers.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import shown
from tropalign.properties import cached
from tropalign.results.display import PLAIN, PRE, escaped

if TYPE_CHECKING:
    from tropalign.results.multiple import MultipleAlignment

#: Limits for a large alignment: rows, characters of a name, and columns.
SHOWN_ROWS, SHOWN_NAME, SHOWN_COLUMNS = 12, 24, 80
HTML_ROWS, HTML_COLUMNS = 100, 2_000
#: Largest alignment, in cells, that a notebook colours; a notebook file stores every coloured run.
COLOURED_CELLS = 20_000
#: Names stay in place while the residues scroll under them, so they need the page's own background colour:
#: Jupyter's, VS Code's, others'.
NAME = "<span style='position:sticky;left:0;background:var(--jp-layout-color0,var(--vscode-editor-background,Canvas))'>"

#: Clustal X's rules for proteins, and a colour per base for nucleotides.
RULES = Path(__file__).with_name("multiple_colours.json")
WHITE = "#ffffff"
#: A share such as 0.6 of 5 rows is 3, even if the floating-point product differs.
ROUNDING = 1e-6


def title(alignment: MultipleAlignment) -> str:
    """Return one line with rows, alphabet and columns."""
    n = len(alignment)
    kind = alignment.sequences.alphabet.name
    return f"MultipleAlignment: {n:,} {kind} sequence{'s' * (n != 1)}, {alignment.n_columns:,} columns"


def block_text(alignment: MultipleAlignment) -> str:
    """Return the title and the rows; the middle of long rows, and of many rows, is omitted."""
    return "\n".join([title(alignment), *_lines(alignment, SHOWN_ROWS, SHOWN_COLUMNS)])


def block_html(alignment: MultipleAlignment) -> str:
    """Return title and rows as HTML, more than in text, and in colour if the alignment is small enough."""
    names, texts = _rows(alignment, HTML_ROWS, HTML_COLUMNS)
    letters = [escaped(text) for text in texts]
    n_rows, n_columns = alignment.shape
    if n_rows * n_columns <= COLOURED_CELLS and n_rows <= HTML_ROWS and n_columns <= HTML_COLUMNS:
        numbers, palette = cell_colours(alignment)
        letters = [_coloured(text, row.tolist(), palette) for text, row in zip(texts, numbers, strict=True)]
    lines = [f"{NAME}{escaped(name)}  </span>{text}" for name, text in zip(names, letters, strict=True)]
    block = "\n".join(lines)
    box = "<div style='overflow:auto;max-height:30em'>"
    return f"<p>{escaped(title(alignment))}</p>{box}{PRE}{block}</pre></div>"


def _lines(alignment: MultipleAlignment, most_rows: int, most_columns: int) -> list[str]:
    names, texts = _rows(alignment, most_rows, most_columns)
    return [f"{name}  {text}".rstrip() for name, text in zip(names, texts, strict=True)]


def _rows(alignment: MultipleAlignment, most_rows: int, most_columns: int) -> tuple[list[str], list[str]]:
    """Return padded names and rows; if rows are omitted, a line in the middle says how many."""
    n = len(alignment)
    chosen = range(n) if n <= most_rows else [*range(most_rows // 2), *range(n - most_rows // 2, n)]
    names = [_cut(shown(alignment.names[k])) for k in chosen]
    texts = [_shortened(alignment.row(k).decode("latin-1").translate(PLAIN), most_columns) for k in chosen]
    if n > most_rows:
        names.insert(most_rows // 2, f"... {n - 2 * (most_rows // 2):,} more")
        texts.insert(most_rows // 2, "")
    width = max(map(len, names), default=0)
    return [name.ljust(width) for name in names], texts


def _coloured(text: str, numbers: list[int], palette: list[str]) -> str:
    """Return a row with coloured backgrounds, translucent for light and dark pages."""
    pieces, at = [], 0
    for number, run in groupby(numbers):
        n = len(list(run))
        letters = escaped(text[at : at + n])
        pieces.append(f"<span style='background:{palette[number]}66'>{letters}</span>" if number else letters)
        at += n
    return "".join(pieces)


def _cut(name: str) -> str:
    return name if len(name) <= SHOWN_NAME else f"{name[: SHOWN_NAME - 3]}..."


def _shortened(row: str, most: int) -> str:
    """Return a row, shortened to its start and its end if it is too long."""
    return row if len(row) <= most else f"{row[: most - 13]}...{row[-10:]}"


@cached
def rules() -> dict[str, Any]:
    """Load the colour rules from their file."""
    found: dict[str, Any] = json.loads(RULES.read_text())
    return found


def cell_colours(alignment: MultipleAlignment) -> tuple[NDArray[np.uint8], list[str]]:
    """Return palette indices of all cells, uint8, shape (n_rows, n_columns), and the palette of ``#rrggbb`` texts.

    Index 0, white, is for gaps and characters without a colour.
    """
    upper = np.frombuffer(bytes(range(256)).upper(), np.uint8)[alignment.letters]
    return (_bases if alignment.sequences.alphabet.has_strands else _clustal)(upper)


def _bases(upper: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], list[str]]:
    table = np.zeros(256, np.uint8)
    for number, (letters, _, _) in enumerate(rules()["nucleotide"], 1):
        table[_codes(letters)] = number
    return table[upper], [WHITE, *(hue for _, hue, _ in rules()["nucleotide"])]


def _clustal(upper: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], list[str]]:
    """Colour a residue if one of its conditions holds: certain residues make up a share of the column, gaps counted."""
    conditions, hues = rules()["clustal"]["conditions"], list(rules()["clustal"]["hues"])
    counts = {letter: (upper == ord(letter)).sum(0) for letter in "ACDEFGHIKLMNPQRSTVWY"}
    holds = {
        sign: sum(counts[letter] for letter in letters) >= share * len(upper) - ROUNDING
        for sign, (share, letters) in conditions.items()
    }
    numbers = np.zeros(upper.shape, np.uint8)
    for letters, hue, signs in rules()["clustal"]["rules"]:
        is_coloured = np.ones(upper.shape[1], bool) if not signs else np.any([holds[sign] for sign in signs], axis=0)
        numbers[np.isin(upper, _codes(letters)) & is_coloured & (numbers == 0)] = hues.index(hue) + 1
    return numbers, [WHITE, *(rules()["clustal"]["hues"][hue][0] for hue in hues)]


def _codes(letters: str) -> NDArray[np.uint8]:
    return np.frombuffer(letters.encode(), np.uint8)
