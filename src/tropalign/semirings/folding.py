"""Structures of RNA with the most pairs, by Nussinov's recurrence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, shown
from tropalign.execution.task import Progress
from tropalign.machine.numbers import whole_number
from tropalign.results.columns import Result
from tropalign.semirings.intervals import empty_triangle, fill
from tropalign.semirings.semirings import MAX_PLUS

#: Default pairs, each with score 1: Watson and Crick's, and G with U.
PAIRS = {"AU": 1, "GC": 1, "GU": 1}
#: Maximum score of a pair.
_MOST = 1000
#: Up to this total, sums of two scores stay below int16's bounded infinity.
_SMALL = 8000


@dataclass(frozen=True, eq=False)
class Structure(Result):
    """The pairs of letters in a sequence.

    Attributes
    ----------
    score : int
        The sum of the pairs' scores: their number, if each has score 1.
    partners : numpy.ndarray
        (n,) int32: the index of each letter's partner, -1 for an unpaired letter.

    Examples
    --------
    >>> from tropalign.tropical import nussinov
    >>> structure = nussinov("GGGAAAUCC")
    >>> print(structure, structure.score)
    (((...))) 3
    """

    score: int
    partners: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"<Structure: {len(self.partners):,} letters, score {self.score:,}>"

    def __str__(self) -> str:
        """Return pairs as parentheses, other letters as dots."""
        places = np.arange(len(self.partners))
        return "".join(np.where(self.partners < 0, ".", np.where(self.partners > places, "(", ")")).tolist())


def nussinov(
    sequence: str,
    *,
    least_loop: int = 3,
    pairs: Mapping[str, int] | None = None,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> Structure:
    """Find the structure of an RNA with the highest score of nested pairs [1]_.

    M[i, j] is the highest of M[i, k] + M[k + 1, j] for i <= k < j and, if letters i and j pair, M[i + 1, j - 1]
    plus the score of the pair. This counts pairs without energies: for likely structures use an energy model, such
    as that of ViennaRNA.

    Parameters
    ----------
    sequence
        Letters in upper or lower case; T is U. Letters without scores do not pair.
    least_loop
        Minimum number of letters between two that pair.
    pairs
        The score of each pair of letters, an integer from 0 to 1000, in either order; by default 1 for each of AU,
        GC and GU.
    n_threads
        Threads, 0 for all available.
    progress
        Called now and then with a number that goes up. An exception that it raises stops the work and is passed
        on.

    Returns
    -------
    Structure
        The score and the pairs. Of several best structures, from outside to inside: the ends of an interval pair
        if that is best, otherwise it is cut at the first best position.

    Raises
    ------
    InputError
        The sequence is empty, or contains a character that is not a letter.
    UsageError
        An argument that is not a text, a least loop below 0, or invalid pairs.
    ResourceError
        Not enough memory.

    References
    ----------
    .. [1] R. Nussinov, A. B. Jacobson. Fast algorithm for predicting the secondary structure of single-stranded
       RNA. PNAS 77 (1980) 6309-6313.

    Examples
    --------
    >>> from tropalign.tropical import nussinov
    >>> str(nussinov("GGGAAAUCCAGGGAAACCC"))
    '(((...))).(((...)))'
    """
    least_loop = whole_number("least_loop", least_loop, 0, 2**31 - 1)
    letters, scores = _scores(PAIRS if pairs is None else pairs)
    codes = _codes(sequence, letters)
    n, most = len(codes), int(scores.max(initial=0))
    dtype = np.int16 if n // 2 * most <= _SMALL else np.int32
    values = empty_triangle(n, dtype, MAX_PLUS)
    places = np.arange(len(values))
    values[places, places] = 0
    values[places[1:], places[:-1]] = 0  # the empty interval between neighbours scores 0
    padded = np.full(len(values), len(letters), np.uint8)
    padded[:n] = codes
    wide = np.full(np.add(scores.shape, 1), -(np.iinfo(dtype).max // 2), dtype)
    wide[:-1, :-1] = np.where(scores < 0, wide[0, -1], scores)
    fill(
        values,
        MAX_PLUS,
        closing=np.ascontiguousarray(wide[:, padded]),
        letters=padded,
        least_distance=min(least_loop, n) + 1,
        n_threads=n_threads,
        progress=progress,
    )
    return Structure(int(values[0, n - 1]), _partners(values, codes, wide, least_loop))


def _scores(pairs: Any) -> tuple[str, NDArray[np.int64]]:
    """Return the letters that pair, and the score of each pair of them, -1 for letters that do not pair."""
    if not isinstance(pairs, Mapping):
        raise UsageError(f"pairs are a {type(pairs).__name__}: give a dict such as {PAIRS}")
    named = {}
    for pair, score in pairs.items():
        if not isinstance(pair, str) or len(pair) != 2 or not (pair.isascii() and pair.isalpha()):
            raise UsageError(f"pairs have {pair!r}, which is no text of two letters, such as 'AU'")
        named[pair.upper().replace("T", "U")] = whole_number(f"the score of pair {pair}", score, 0, _MOST)
    letters = "".join(sorted(set("".join(named))))
    scores = np.full((len(letters), len(letters)), -1, np.int64)
    for pair, score in named.items():
        at = letters.index(pair[0]), letters.index(pair[1])
        scores[at] = scores[at[::-1]] = max(score, scores[at])
    return letters, scores


def _codes(sequence: Any, letters: str) -> NDArray[np.uint8]:
    """Return the index of each letter of a sequence among those that pair; other letters get the next index."""
    if not isinstance(sequence, str):
        raise UsageError(f"the sequence is a {type(sequence).__name__}: give a text")
    if not sequence:
        raise InputError("the sequence is empty: give at least one letter")
    for place, letter in enumerate(sequence):
        if not (letter.isascii() and letter.isalpha()):
            raise InputError(f"'{shown(letter)}' at position {place + 1} is no letter of a sequence")
    table = np.full(256, len(letters), np.uint8)
    table[list(letters.encode())] = np.arange(len(letters))
    return table[np.frombuffer(sequence.upper().replace("T", "U").encode(), np.uint8)]


def _partners(
    values: NDArray[Any], codes: NDArray[np.uint8], scores: NDArray[Any], least_loop: int
) -> NDArray[np.int32]:
    partners = np.full(len(codes), -1, np.int32)
    open_intervals = [(0, len(codes) - 1)]
    while open_intervals:
        i, j = open_intervals.pop()
        if j - i <= least_loop or not values[i, j]:
            continue
        if int(values[i + 1, j - 1]) + int(scores[codes[i], codes[j]]) == values[i, j]:
            partners[i], partners[j] = j, i
            open_intervals.append((i + 1, j - 1))
        else:
            k = i + int(np.argmax(values[i, i:j] + values[i + 1 : j + 1, j]))
            open_intervals += [(k + 1, j), (i, k)]
    return partners
