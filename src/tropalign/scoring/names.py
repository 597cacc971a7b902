"""Matrices by name: Biopython's, those of `matrices.txt`, and what EMBOSS, BLAST and parasail call them."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ScoringError, did_you_mean
from tropalign.scoring.ncbi import read_ncbi

#: Other names of one matrix; an E in front, as EMBOSS has it, is known of all.
ALIASES = {"DNAFULL": "NUC.4.4", "NUC44": "NUC.4.4"}


@lru_cache(maxsize=1)
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


@lru_cache(maxsize=1)
def _triangles() -> dict[str, str]:
    """The matrices that Biopython lacks, as text: the lower triangle, a letter and its scores per line."""
    text = files("tropalign.scoring").joinpath("matrices.txt").read_text("ascii")
    entries = (entry.partition("\n") for entry in text.split(">")[1:])
    return {name: triangle for name, _, triangle in entries}


def triangle(name: str) -> str:
    """The lower triangle of a matrix of `matrices.txt`, a letter and its scores per line."""
    return _triangles()[name]


@lru_cache(maxsize=1)
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
        if word in known_names():
            return word
    return None


def no_matrix(name: str, what: str) -> ScoringError:
    """The sentence that says there is none of this name, with the nearest one, or those that are used most."""
    near = did_you_mean(name, known_names())
    others = "; some are BLOSUM62, BLOSUM50, PAM120, VTML200 and NUC.4.4, docs/scoring.md has all"
    return ScoringError(f"there is no {what} {name!r}{near or others}")


@lru_cache(maxsize=8)
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
