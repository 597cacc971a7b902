"""Multiple alignments from files: PHYLIP, FASTA and Stockholm."""

from __future__ import annotations

import io
import os

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences import read_text


def read_alignment(path: str | os.PathLike[str]) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
    """Names and letters of an alignment; the format is judged by the first line, compression by content.

    Returns
    -------
    names : tuple of str
        Up to the first blank.
    letters : uint8, shape (n_rows, n_columns)
        As they were written.

    Raises
    ------
    InputError
        No alignment, rows of unequal lengths, or two rows of one name.
    """
    file = str(path)
    text = read_text(path).lstrip()
    kind = "fasta" if text.startswith(">") else "stockholm" if text.startswith("# STOCKHOLM") else "phylip-relaxed"
    from Bio import AlignIO

    try:
        rows = AlignIO.read(io.StringIO(text), kind)
    except ValueError as error:
        what = {"fasta": "FASTA", "stockholm": "Stockholm"}.get(kind, "PHYLIP")
        raise InputError(f"read as {what}, this is no alignment ({str(error).rstrip('.')})", file=file) from None
    names = tuple(str(row.id) for row in rows)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("two rows have the same name: give each its own", file=file, record=twice)
    letters = np.frombuffer("".join(str(row.seq) for row in rows).encode("latin-1", "replace"), np.uint8)
    return names, letters.reshape(len(names), -1).copy()
