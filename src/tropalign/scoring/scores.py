"""Letter scores as arrays: from Python objects, from match and mismatch scores, and by alphabet codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import gcd, isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import ScoringError
from tropalign.sequences.alphabet import Alphabet, IupacRule

#: Scores and costs are integer multiples of 1 / PARTS: four decimals.
PARTS = 10_000
#: Tolerance for floats in units of 1 / PARTS: 0.1 + 0.2 is 0.3.
NEAR = 1e-3


def parts_of(values: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return finite values in units of 1 / PARTS, or None if one of them has more than four decimals."""
    scaled = values * PARTS
    parts = np.rint(scaled)
    return parts.astype(np.int64) if (np.abs(scaled - parts) <= NEAR).all() else None


def least_factor(parts: Iterable[int]) -> int:
    """Return the smallest divisor of PARTS that turns these multiples of 1 / PARTS into integers.

    >>> least_factor([95_000, 5_000]), least_factor([12_500]), least_factor([30_000])
    (2, 4, 1)
    """
    return PARTS // gcd(PARTS, *parts)


def number(value: object, what: str, most: int) -> int | float:
    """Return a score or cost as an int if it is whole, else as the float nearest to its (up to four) decimals.

    `value` may be an int, float, Decimal, Fraction or NumPy scalar of at most `most` in magnitude; `what` names it
    in errors. Raises ScoringError for anything else.
    """
    try:
        plain = float("nan") if isinstance(value, bool) or not isinstance(value, Real | Decimal) else float(value)
    except OverflowError:
        raise ScoringError(f"{what} exceeds the maximum of {most}") from None
    if not isfinite(plain):
        raise ScoringError(f"{what} {value!r} is not a number: give one, with up to four decimals")
    if abs(plain) > most:
        raise ScoringError(f"{what} {value} exceeds the maximum of {most}")
    parts = parts_of(np.array(plain))
    if parts is None:
        raise ScoringError(f"{what} {value} has more than four decimals: round it")
    whole, rest = divmod(int(parts), PARTS)
    return int(parts) / PARTS if rest else whole


def is_match_mismatch(source: Any) -> bool:
    """True for a tuple of two numbers."""
    return isinstance(source, tuple) and len(source) == 2 and all(isinstance(one, Real | Decimal) for one in source)


def letters_and_scores(source: Any) -> tuple[str, NDArray[np.float64]]:
    """Return distinct letters in upper case and the scores of their pairs, shape (n_letters, n_letters).

    `source` is a Biopython Array, a mapping of letter pairs to scores, or (letters, array). Raises ScoringError
    for anything else, for a repeated letter and for scores that are not numbers.
    """
    if isinstance(source, Mapping):
        letters, values = _of_pairs(source)
    elif isinstance(getattr(source, "alphabet", None), str):  # a Biopython Array
        letters, values = source.alphabet, source
    elif isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], str):
        letters, values = source
    else:
        raise ScoringError(
            f"an object of type {type(source).__name__} is not a matrix: give a name, a path, a SubstitutionMatrix, a "
            "Biopython Array, a dict of letter pairs, (letters, array), or (match, mismatch)"
        )
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.shape != (len(letters), len(letters)) or len(set(letters.upper())) < len(letters) or not letters:
        raise ScoringError(
            f"a matrix needs different letters, and a row and column of numbers for each ({len(letters)} letters given)"
        )
    return letters.upper(), array


def _of_pairs(scores: Mapping[Any, Any]) -> tuple[str, NDArray[np.float64]]:
    """Return letters and scores of a mapping of letter pairs."""
    pairs = [(tuple(pair), score) for pair, score in scores.items() if isinstance(pair, str | tuple)]
    if len(pairs) < len(scores) or any(
        len(pair) != 2 or not all(isinstance(letter, str) and len(letter) == 1 for letter in pair) for pair, _ in pairs
    ):
        raise ScoringError("the keys of a matrix mapping must be pairs of letters, such as ('A', 'R')")
    letters = "".join(dict.fromkeys(letter for pair, _ in pairs for letter in pair))
    values = np.full((len(letters), len(letters)), np.nan)
    try:
        for way in (-1, 1):  # reversed pairs first: explicit scores override them
            for pair, score in pairs:
                one, other = pair[::way]
                values[letters.index(one), letters.index(other)] = score
    except (TypeError, ValueError, OverflowError):
        raise ScoringError("a score of the matrix is not a number: correct it") from None
    if np.isnan(values).any():
        i, j = (int(k[0]) for k in np.nonzero(np.isnan(values)))
        raise ScoringError(f"the matrix has no score of {letters[i]} against {letters[j]}: add it")
    return letters, values


#: Codes that engines support: the letters of an alphabet, and padding.
N_CODES = 32
#: Largest score in magnitude: beyond it, sums over a hundred thousand residues would be out of range anyway.
MOST = 1_000_000


def matched(alphabet: Alphabet, match: float, mismatch: float, iupac: IupacRule) -> NDArray[np.float64]:
    """Return match and mismatch scores of an alphabet's letters; `iupac` decides those of ambiguous letters."""
    letters = alphabet.letters
    values = np.full((len(letters), len(letters)), float(mismatch))
    np.fill_diagonal(values, match)
    wild = [letters.index(letter) for letter in alphabet.wildcard]  # index of the wildcard, if there is one
    if iupac == "match":
        values[may_be_equal(alphabet)] = match
    else:
        ambiguous = [letters.index(letter) for letter in alphabet.ambiguous if letter in letters]
        zero = [*wild, *ambiguous] if iupac == "zero" else wild
        values[zero, :] = values[:, zero] = 0
    return values


def may_be_equal(alphabet: Alphabet) -> NDArray[np.bool_]:
    """Return which letters (rows, columns) can stand for the same residue: R for A or G, the wildcard for any."""
    letters = alphabet.letters
    of = {letter: set(alphabet.ambiguous.get(letter, letter)) for letter in letters}
    residues = {letter for letter in letters if letter.isalpha() and letter not in alphabet.ambiguous}
    of |= {letter: residues | {letter} for letter in alphabet.wildcard}
    return np.array([[bool(of[one] & of[other]) for other in letters] for one in letters])


def stand_in_of(alphabet: Alphabet, letter: str, letters: str) -> str | None:
    """Return the letter among `letters` whose scores stand in for those of `letter`, or None."""
    return next((other for other in alphabet.stand_ins.get(letter, "") if other in letters), None)


def factor_of(scores: NDArray[Any]) -> int:
    """Return the smallest factor that turns all scores into integers."""
    parts = parts_of(np.asarray(scores, np.float64))
    return PARTS if parts is None else least_factor(distinct(parts).tolist())


def kept_scores(name: str, scores: NDArray[Any]) -> NDArray[Any]:
    """Return a copy: int32 if all scores are whole, else float64. Raises ScoringError as `SubstitutionMatrix`."""
    values = np.array(scores, np.float64, order="C")
    most = np.abs(values).max()
    if not most <= MOST:  # also true of NaN
        raise ScoringError(f"the matrix {name} has scores beyond {MOST}: give smaller scores and costs")
    parts = parts_of(values)
    if parts is None:
        raise ScoringError(f"the scores of {name} have more than four decimals: round them")
    factor = factor_of(values)
    if most * factor > MOST:
        raise ScoringError(f"the matrix {name} has scores beyond {MOST // factor}, the limit for decimals: round them")
    return values.astype(np.int32) if factor == 1 else parts / PARTS


def by_code(alphabet: Alphabet, letters: str, values: NDArray[Any]) -> NDArray[Any]:
    """Expand scores of some letters to the matrix of all codes."""
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
