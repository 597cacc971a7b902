"""Substitution matrices in NCBI's format, and by name: in `matrices.txt`, and as Biopython and others call them."""

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
        if any("_" in word for word in words):  # float takes 1_0 for 10
            raise ValueError
        return [float(word) for word in words]
    except ValueError:
        what = f"the row of {letter} holds a word that is not a number: mend it"
        raise InputError(what, file=file, line=line) from None


#: Other names of one matrix; an E in front, as EMBOSS has it, is known of all.
ALIASES = {"DNAFULL": "NUC.4.4", "NUC44": "NUC.4.4"}


@cached
def _shipped_files() -> dict[str, str]:
    """Biopython's matrix files by name, found without loading Biopython, which takes a third of a short run.

    There is none where they do not lie as files where releases have them.
    """
    package = find_spec("Bio")
    for folder in (package and package.submodule_search_locations) or ():
        data = os.path.join(folder, "Align", "substitution_matrices", "data")
        if os.path.isdir(data):
            return {name: os.path.join(data, name) for name in sorted(os.listdir(data)) if name != "README.txt"}
    return {}


@cached
def _triangles() -> dict[str, str]:
    """The matrices that Biopython lacks, as text: the lower triangle, a letter and its scores per line."""
    text = Path(__file__).with_name("matrices.txt").read_text("ascii")
    entries = (entry.partition("\n") for entry in text.split(">")[1:])
    return {name: triangle for name, _, triangle in entries}


def triangle(name: str) -> str:
    """The lower triangle of a matrix of `matrices.txt`, a letter and its scores per line."""
    return _triangles()[name]


@cached
def known_names() -> tuple[str, ...]:
    """Names of all matrices, each once."""
    biopython = tuple(_shipped_files())
    if not biopython:
        from Bio.Align import substitution_matrices

        biopython = tuple(substitution_matrices.load())
    return (*biopython, *(name for name in _triangles() if name not in biopython))


@lru_cache(maxsize=256)
def canonical(name: str) -> str | None:
    """The name of `known_names` that a name stands for, in either case; None where there is none.

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
    """The sentence that says there is none of this name, with the nearest one, or those that are used most."""
    near = did_you_mean(name, known_names())
    others = "; some are BLOSUM62, BLOSUM50, PAM120, VTML200 and NUC.4.4, docs/scoring.md has all"
    return ScoringError(f"there is no {what} {name!r}{near or others}")


@cached
def shipped(name: str) -> tuple[str, NDArray[np.float64]]:
    """Letters and scores of a matrix by its name in `known_names`.

    Biopython's reader takes longer than aligning a thousand pairs.

    Raises
    ------
    ScoringError
        It scores codons.
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
    """Letters and scores of a lower triangle."""
    rows = [line.split() for line in lower.splitlines()]
    values = np.zeros((len(rows), len(rows)))
    for k, (_, *scores) in enumerate(rows):
        values[k, : k + 1] = values[: k + 1, k] = [float(score) for score in scores]
    return "".join(letter for letter, *_ in rows), values
