"""Scores of letters as arrays: of matches and mismatches, checked, and by the codes of an alphabet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError
from tropalign.scoring.decimals import PARTS, least_factor, parts_of
from tropalign.sequences.alphabet import Alphabet

#: Codes that engines know: an alphabet's letters, and padding.
N_CODES = 32
#: The largest score, either way: sums of a hundred thousand residues are out of range then anyway.
MOST = 1_000_000
#: What ambiguous letters may score where there is no matrix.
IUPAC = ("mismatch", "zero", "match")


def matched(alphabet: Alphabet, match: float, mismatch: float, iupac: str) -> NDArray[np.float64]:
    """Scores of an alphabet's letters (rows, columns), equal or not; ambiguous ones by a word of `IUPAC`."""
    letters = alphabet.letters
    values = np.full((len(letters), len(letters)), float(mismatch))
    np.fill_diagonal(values, match)
    wild = letters.index(alphabet.wildcard)
    if iupac == "match":
        values[_may_be_equal(alphabet)] = match
    else:
        ambiguous = [letters.index(letter) for letter in alphabet.ambiguous if letter in letters]
        zero = [wild, *ambiguous] if iupac == "zero" else [wild]
        values[zero, :] = values[:, zero] = 0
    return values


def _may_be_equal(alphabet: Alphabet) -> NDArray[np.bool_]:
    """Which letters (rows, columns) may stand for one residue: R for A or G, the wildcard for every one."""
    letters = alphabet.letters
    of = {letter: set(alphabet.ambiguous.get(letter, letter)) for letter in letters}
    residues = {letter for letter in letters if letter.isalpha() and letter not in alphabet.ambiguous}
    of[alphabet.wildcard] = residues | {alphabet.wildcard}
    return np.array([[bool(of[one] & of[other]) for other in letters] for one in letters])


def stand_in_of(alphabet: Alphabet, letter: str, letters: str) -> str | None:
    """The letter that a matrix of these letters scores another one like."""
    return next((other for other in alphabet.stand_ins.get(letter, "") if other in letters), None)


def factor_of(scores: NDArray[Any]) -> int:
    """The least whole number that makes all of them whole."""
    parts = parts_of(np.asarray(scores, np.float64))
    return PARTS if parts is None else least_factor(np.unique(parts).tolist())


def kept_scores(name: str, scores: NDArray[Any]) -> NDArray[Any]:
    """A copy: int32 where all are whole, else the floats of what was written. Raises ScoringError as the class says."""
    values = np.array(scores, np.float64, order="C")
    most = np.abs(values).max()
    if not most <= MOST:  # nor a number
        raise ScoringError(f"the matrix {name} has scores beyond {MOST}")
    parts = parts_of(values)
    if parts is None:
        raise ScoringError(f"the scores of {name} have more than four decimals: round them")
    factor = factor_of(values)
    if most * factor > MOST:
        raise ScoringError(f"the matrix {name} has scores beyond {MOST // factor}, the most with so many decimals")
    return values.astype(np.int32) if factor == 1 else parts / PARTS


def by_code(alphabet: Alphabet, letters: str, values: NDArray[Any]) -> NDArray[Any]:
    """The matrix of all codes from that of some letters."""
    scores = np.full((N_CODES, N_CODES), values.min(), values.dtype)
    row = {}
    for code, letter in enumerate(alphabet.letters):
        source = letter if letter in letters else stand_in_of(alphabet, letter, letters)
        if source is not None:
            row[code] = letters.index(source)
    codes = np.array(list(row), dtype=np.intp)
    rows = np.array(list(row.values()), dtype=np.intp)
    if len(codes):
        scores[np.ix_(codes, codes)] = values[np.ix_(rows, rows)]
    return scores
