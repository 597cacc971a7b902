"""Substitution matrices from files in NCBI format."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences.files import read_text

#: Bytes of a matrix file at most; a matrix of 32 letters takes some thousands.
MOST_BYTES = 1 << 20

_NO_MATRIX = "this is no matrix in NCBI format (letters, then a letter and its scores per line)"


def read_ncbi(path: str | os.PathLike[str]) -> tuple[str, NDArray[np.float64]]:
    """Letters and scores of a matrix file in NCBI format: a line of letters, then a letter and its scores per line.

    Biopython's reader takes rows that are too short, so this one is ours. ``#`` begins a comment. The file may be
    compressed.

    Raises
    ------
    InputError
        A file that cannot be read or is no such matrix.
    """
    file = str(path)
    text = read_text(path, MOST_BYTES)
    letters = ""
    rows: dict[str, list[float]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        is_text = line.isascii() and "".join(words).isprintable()
        if any(len(word) > 1 for word in (words if not letters else words[:1])) or not is_text:
            raise InputError(_NO_MATRIX, file=file, line=number)
        if not letters:
            letters = "".join(words).upper()
            if len(set(letters)) < len(letters):
                raise InputError("the matrix has a letter twice: leave one out", file=file, line=number)
            continue
        letter = words[0].upper()
        if letter not in letters or letter in rows:
            what = "second row of" if letter in rows else "row of a letter without a column:"
            raise InputError(f"{what} {letter}: a matrix has one row per column", file=file, line=number)
        rows[letter] = _row(letter, words[1:], len(letters), file, number)
    if not letters:
        raise InputError(_NO_MATRIX, file=file)
    if missing := [letter for letter in letters if letter not in rows]:
        raise InputError(f"there is no row of {', '.join(missing)}: a matrix has one row per column", file=file)
    return letters, np.array([rows[letter] for letter in letters])


def _row(letter: str, words: list[str], n_letters: int, file: str, line: int) -> list[float]:
    if len(words) != n_letters:
        raise InputError(
            f"the row of {letter} has {len(words)} scores for {n_letters} letters: mend it", file=file, line=line
        )
    try:
        return [float(word) for word in words]
    except ValueError:
        raise InputError(
            f"the row of {letter} holds a word that is not a number: mend it", file=file, line=line
        ) from None
