"""Substitution matrices in NCBI format and by name: those of `matrices.txt`, Biopython's, and aliases."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ScoringError, did_you_mean
from tropalign.properties import cached
from tropalign.sequences.files import read_text

#: Largest matrix file in bytes; a matrix of 32 letters takes a few thousand.
MOST_BYTES = 1 << 20

_NO_MATRIX = "this is not a matrix in NCBI format (letters, then a letter and its scores per line)"


def read_ncbi(path: str | os.PathLike[str]) -> tuple[str, NDArray[np.float64]]:
    """Read a matrix file in NCBI format, possibly compressed: a line of letters, then a letter and its scores per line.

    ``#`` starts a comment. Not Biopython's reader, because that accepts rows that are too short. Raises InputError
    if the file cannot be read or is not such a matrix.
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
                raise InputError("the matrix has a letter twice: remove one of them", file=file, line=number)
            continue
        letter = words[0].upper()
        if letter not in letters or letter in rows:
            what = "second row of" if letter in rows else "row of a letter without a column:"
            raise InputError(f"{what} {letter}: a matrix must have one row per column", file=file, line=number)
        rows[letter] = _row(letter, words[1:], len(letters), file, number)
    if not letters:
        raise InputError(_NO_MATRIX, file=file)
    if missing := [letter for letter in letters if letter not in rows]:
        raise InputError(f"there is no row of {', '.join(missing)}: a matrix must have one row per column", file=file)
    return letters, np.array([rows[letter] for letter in letters])


def _row(letter: str, words: list[str], n_letters: int, file: str, line: int) -> list[float]:
    if len(words) != n_letters:
        raise InputError(
            f"the row of {letter} has {len(words)} scores for {n_letters} letters: correct it", file=file, line=line
        )
    try:
        if any("_" in word for word in words):  # float accepts 1_0 as 10
            raise ValueError
        return [float(word) for word in words]
    except ValueError:
        what = f"the row of {letter} contains a value that is not a number: correct it"
        raise InputError(what, file=file, line=line) from None


#: Aliases of matrices; the prefix E of EMBOSS is accepted for all names.
ALIASES = {"DNAFULL": "NUC.4.4", "NUC44": "NUC.4.4"}


@cached
def _shipped_files() -> dict[str, str]:
    """Return Biopython's matrix files by name; importing Bio would take a third of a short run.

    Empty if they are not stored as files in the folder that releases use.
    """
    package = find_spec("Bio")
    for folder in (package and package.submodule_search_locations) or ():
        data = os.path.join(folder, "Align", "substitution_matrices", "data")
        if os.path.isdir(data):
            return {name: os.path.join(data, name) for name in sorted(os.listdir(data)) if name != "README.txt"}
    return {}


@cached
def _triangles() -> dict[str, str]:
    """Return the matrices that Biopython lacks, as text: the lower triangle, a letter and its scores per line."""
    text = Path(__file__).with_name("matrices.txt").read_text("ascii")
    entries = (entry.partition("\n") for entry in text.split(">")[1:])
    return {name: triangle for name, _, triangle in entries}


def triangle(name: str) -> str:
    """Return the lower triangle of a matrix of `matrices.txt`, a letter and its scores per line."""
    return _triangles()[name]


@cached
def known_names() -> tuple[str, ...]:
    """Return the names of all matrices, without duplicates."""
    biopython = tuple(_shipped_files())
    if not biopython:
        from Bio.Align import substitution_matrices

        biopython = tuple(substitution_matrices.load())
    return (*biopython, *(name for name in _triangles() if name not in biopython))


@lru_cache(maxsize=256)
def canonical(name: str) -> str | None:
    """Return the name in `known_names` for a name or alias in either case; None if it is unknown.

    >>> canonical("eblosum62"), canonical("EDNAFULL"), canonical("blosum61")
    ('BLOSUM62', 'NUC.4.4', None)
    """
    upper = name.upper()
    for word in (upper, upper.removeprefix("E")):
        word = ALIASES.get(word, word)
        if word in _shipped_files() or word in known_names():
            return word
    return None


def no_matrix(name: str, what: str) -> ScoringError:
    """Return the error for an unknown name; it names the nearest known one, or the most used ones."""
    near = did_you_mean(name, known_names())
    others = "; available are BLOSUM62, BLOSUM50, PAM120, VTML200, NUC.4.4 and others, listed in docs/scoring.md"
    return ScoringError(f"there is no {what} {name!r}{near or others}")


@cached
def shipped(name: str) -> tuple[str, NDArray[np.float64]]:
    """Return letters and scores of a matrix by its name in `known_names`. Raises ScoringError if it scores codons.

    Biopython's reader is the fallback only: it takes longer than aligning a thousand pairs.
    """
    if name in (found := _shipped_files()):
        try:
            return read_ncbi(found[name])
        except InputError:  # codons, or a form that only Biopython reads
            pass
    elif name in _triangles():
        return _whole(_triangles()[name])
    from Bio.Align import substitution_matrices

    matrix = substitution_matrices.load(name)
    if not isinstance(matrix.alphabet, str):
        raise ScoringError(f"{name} scores codons, not residues: choose another matrix")
    return matrix.alphabet, np.asarray(matrix, dtype=float)


def _whole(lower: str) -> tuple[str, NDArray[np.float64]]:
    """Return letters and scores of a lower triangle."""
    rows = [line.split() for line in lower.splitlines()]
    values = np.zeros((len(rows), len(rows)))
    for k, (_, *scores) in enumerate(rows):
        values[k, : k + 1] = values[: k + 1, k] = [float(score) for score in scores]
    return "".join(letter for letter, *_ in rows), values
