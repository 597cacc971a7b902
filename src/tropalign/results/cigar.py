"""CIGARs: how an alignment runs, as BAM codes its operations (``length << 4 | operation``)."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

#: A residue of the query only, of the target only, of both and equal, of both and different.
INSERTION, DELETION, EQUAL, DIFFERENT = 1, 2, 7, 8
#: Letters of the operations, by their codes.
LETTERS = "MIDNSHP=X"


def cigar_text(ops: NDArray[np.uint32]) -> str:
    """BAM-coded operations as text; ``*`` when there are none."""
    return "".join(f"{op >> 4}{LETTERS[op & 15]}" for op in ops.tolist()) or "*"


def operations_of(text: str) -> list[tuple[int, int]]:
    """(BAM operation, length) of a CIGAR's parts; none of ``*``."""
    return [(LETTERS.index(letter), int(length)) for length, letter in re.findall(r"(\d+)([MIDNSHP=X])", text)]


def gapped(query: str, i: int, target: str, j: int, operations: list[tuple[int, int]]) -> tuple[str, str, str]:
    """The letters of both from positions i and j on with their gaps, and the midline between them."""
    lines: tuple[list[str], list[str], list[str]] = ([], [], [])
    for operation, length in operations:
        takes_query, takes_target = operation != DELETION, operation != INSERTION
        lines[0].append(query[i : i + length] if takes_query else "-" * length)
        lines[1].append({EQUAL: "|", DIFFERENT: "."}.get(operation, " ") * length)
        lines[2].append(target[j : j + length] if takes_target else "-" * length)
        i += length * takes_query
        j += length * takes_target
    return "".join(lines[0]), "".join(lines[1]), "".join(lines[2])
