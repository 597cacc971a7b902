"""Colours of the letters of a multiple alignment: Clustal X's rules for proteins, a colour per base for nucleotides.

The rules are those of ``multiple_colours.json``, which the HTML page of ``formats/`` reads, too.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tropalign.results.multiple import MultipleAlignment

RULES = Path(__file__).with_suffix(".json")
WHITE = "#ffffff"
#: A share such as 0.6 of 5 rows is 3, whatever its product is in floating point.
ROUNDING = 1e-6


@cache
def rules() -> dict[str, Any]:
    """The file."""
    found: dict[str, Any] = json.loads(RULES.read_text())
    return found


def cell_colours(alignment: MultipleAlignment) -> tuple[NDArray[np.uint8], list[str]]:
    """The colour of each cell.

    Returns
    -------
    numbers : uint8, shape (n_rows, n_columns)
        Places in the palette; 0, white, for gaps and letters without a colour.
    palette : list of str
        ``#rrggbb``.
    """
    upper = np.frombuffer(bytes(range(256)).upper(), np.uint8)[alignment.letters]
    return (_bases if alignment.sequences.alphabet.has_strands else _clustal)(upper)


def _bases(upper: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], list[str]]:
    table = np.zeros(256, np.uint8)
    for number, (letters, _, _) in enumerate(rules()["nucleotide"], 1):
        table[_codes(letters)] = number
    return table[upper], [WHITE, *(hue for _, hue, _ in rules()["nucleotide"])]


def _clustal(upper: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], list[str]]:
    """A letter is coloured where a condition of its holds: some letters have their share of a column, gaps counted."""
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
