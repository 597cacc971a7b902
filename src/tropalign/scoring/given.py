"""Letters and scores out of what Python code may give as a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError


def letters_and_scores(source: Any) -> tuple[str, NDArray[np.float64]]:
    """Letters in upper case, each once, and the scores of their pairs, shape (n_letters, n_letters).

    Parameters
    ----------
    source
        A Biopython Array; a mapping of letter pairs to scores; or letters and an array of their scores.

    Raises
    ------
    ScoringError
        Something else, a letter that is given twice, or scores that are no numbers.
    """
    if isinstance(source, Mapping):
        letters, values = _of_pairs(source)
    elif isinstance(getattr(source, "alphabet", None), str):  # a Biopython Array
        letters, values = source.alphabet, source
    elif isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], str):
        letters, values = source
    else:
        raise ScoringError(
            f"an object of type {type(source).__name__} is no matrix: give a name, a path, a SubstitutionMatrix, a "
            "Biopython Array, a dict of letter pairs, or (letters, array)"
        )
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.shape != (len(letters), len(letters)) or len(set(letters.upper())) < len(letters) or not letters:
        raise ScoringError(f"{len(letters)} letters, each once, need an array of as many rows and columns of numbers")
    return letters.upper(), array


def _of_pairs(scores: Mapping[Any, Any]) -> tuple[str, NDArray[np.float64]]:
    """Letters and scores of a mapping of letter pairs."""
    pairs = [(tuple(pair), score) for pair, score in scores.items() if isinstance(pair, str | tuple)]
    if len(pairs) < len(scores) or any(
        len(pair) != 2 or not all(isinstance(letter, str) and len(letter) == 1 for letter in pair) for pair, _ in pairs
    ):
        raise ScoringError("a matrix as a mapping has pairs of letters as its keys, such as ('A', 'R')")
    letters = "".join(dict.fromkeys(letter for pair, _ in pairs for letter in pair))
    values = np.full((len(letters), len(letters)), np.nan)
    try:
        for way in (-1, 1):  # the other way first: what was said itself holds
            for pair, score in pairs:
                one, other = pair[::way]
                values[letters.index(one), letters.index(other)] = score
    except (TypeError, ValueError, OverflowError):
        raise ScoringError("a score of the matrix is not a number: mend it") from None
    if np.isnan(values).any():
        i, j = (int(k[0]) for k in np.nonzero(np.isnan(values)))
        raise ScoringError(f"the matrix has no score of {letters[i]} against {letters[j]}: add it")
    return letters, values
