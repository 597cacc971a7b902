"""Intervals that are best cut into two: the general problem, the order of matrix products, search trees.

The kernel is `native/tropical/triangular.hpp`; nearly all of its work is a product of matrices over min-plus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, UsageError, shown
from tropalign.execution.task import Progress, checked_progress
from tropalign.resources.limits import default_budget, require, resolve_threads, whole_number
from tropalign.results.columns import Result
from tropalign.tropical.semirings import (
    MAX_PLUS,
    MIN_PLUS,
    Semiring,
    checked_matrix,
    checked_semiring,
    surveyed,
    zero_of,
)

#: Rows and columns of a tile (kTriangleTile in native/tropical/triangular.hpp).
TILE = 64
#: Integers below this are exact in float64.
_EXACT = 2.0**53


def triangular(
    weight: Any, semiring: Semiring = MIN_PLUS, *, n_threads: int = 0, progress: Progress | None = None
) -> NDArray[Any]:
    """Find the best way to cut each interval into two, which are cut the same way, down to single elements.

    M[i, i] = weight[i, i], and for i < j M[i, j] = weight[i, j] + the best over i <= k < j of M[i, k] + M[k + 1,
    j].

    Parameters
    ----------
    weight
        n x n numbers, float32 or float64: the cost of an element on the diagonal, above it the addition of an
        interval. The semiring's zero forbids the interval. Numbers below the diagonal are ignored.
    semiring
        `MIN_PLUS`, for which the lowest is best, or `MAX_PLUS`.
    n_threads
        Threads, 0 for all available.
    progress
        Called now and then with a number that goes up. An exception that it raises stops the work and is passed
        on.

    Returns
    -------
    numpy.ndarray
        M, of the same size and type; below the diagonal the semiring's zero. `best_cuts` returns the cuts.

    Raises
    ------
    InputError
        Not a square matrix, a number that the semiring does not have, or a result that the type cannot hold.
    UsageError
        No such semiring, or another type.
    ResourceError
        Not enough memory.

    Examples
    --------
    Merging neighbouring heaps of 2, 3 and 4 stones, where a merge costs as many steps as there are stones:

    >>> import numpy as np
    >>> from tropalign.tropical import triangular
    >>> triangular(np.array([[0.0, 5, 9], [0, 0, 7], [0, 0, 0]]))[0].tolist()
    [0.0, 5.0, 14.0]
    """
    semiring = checked_semiring(semiring)
    if not semiring.is_tropical:
        raise UsageError(f"triangular supports only MIN_PLUS and MAX_PLUS, not {semiring.name}")
    matrix = checked_matrix(weight, semiring, "weight", is_square=True)
    if matrix.dtype not in (np.float32, np.float64):
        raise UsageError(f"weight has type {matrix.dtype}: convert it to float32 or float64")
    values = empty_triangle(len(matrix), matrix.dtype, semiring)
    upper = np.where(np.tri(len(matrix), k=-1, dtype=bool), matrix.dtype.type(semiring.zero), matrix)
    bounds = surveyed(upper, semiring, "weight")
    if 2 * len(matrix) * max(bounds.highest, -bounds.lowest) > float(np.finfo(matrix.dtype).max):
        raise InputError(f"sums of weights may exceed {matrix.dtype}: scale the weights down")
    values[: len(matrix), : len(matrix)] = upper
    fill(values, semiring, is_weighted=True, n_threads=n_threads, progress=progress)
    return np.ascontiguousarray(values[: len(matrix), : len(matrix)])


def best_cuts(M: Any, semiring: Semiring = MIN_PLUS) -> NDArray[np.int32]:
    """Return the cuts of the whole interval, and of each interval that results.

    Parameters
    ----------
    M
        The result of `triangular`.
    semiring
        The semiring of that result.

    Returns
    -------
    numpy.ndarray
        (n - 1, 3) int32: i, k and j of each cut of the elements i to j into those up to k and those from k + 1.
        The whole interval comes first, then the part left of its cut, then the part right of it. Of equally good
        cuts the first is taken.

    Raises
    ------
    InputError
        Not a square matrix, or one whose whole interval has no value (the semiring's zero).
    UsageError
        Not a semiring, or a type that it does not support.

    Examples
    --------
    >>> import numpy as np
    >>> from tropalign.tropical import best_cuts, triangular
    >>> best_cuts(triangular(np.array([[0.0, 5, 9], [0, 0, 7], [0, 0, 0]]))).tolist()
    [[0, 1, 2], [0, 0, 1]]
    """
    semiring = checked_semiring(semiring)
    matrix = checked_matrix(M, semiring, "M", is_square=True)
    if not semiring.is_tropical:
        raise UsageError(f"best_cuts supports only MIN_PLUS and MAX_PLUS, not {semiring.name}")
    surveyed(matrix, semiring, "M")
    if len(matrix) and matrix[0, -1] == zero_of(semiring, matrix.dtype):
        raise InputError(f"M[0, {len(matrix) - 1}] is {semiring.zero}: the whole interval cannot be divided")
    choose = np.argmax if semiring.is_max else np.argmin

    def best_cut(i: int, j: int) -> int:
        return i + int(choose(matrix[i, i:j] + matrix[i + 1 : j + 1, j]))

    return _cuts(len(matrix), best_cut)


def _cuts(n: int, best_cut: Any) -> NDArray[np.int32]:
    cuts, open_intervals = [], [(0, n - 1)]
    while open_intervals:
        i, j = open_intervals.pop()
        if i < j:
            k = best_cut(i, j)
            cuts.append((i, k, j))
            open_intervals += [(k + 1, j), (i, k)]
    return np.array(cuts, np.int32).reshape(-1, 3)


def empty_triangle(n: int, dtype: Any, semiring: Semiring) -> NDArray[Any]:
    """Return a square array of whole tiles for n elements, without values; integers have native code's infinity."""
    size = -(-n // TILE) * TILE
    kind = np.dtype(dtype)
    require(size * size * kind.itemsize, default_budget(), f"a triangle of {n} elements", "give fewer elements")
    worst = semiring.zero
    if kind.kind == "i":
        worst = np.iinfo(kind).max // 2 * (-1 if semiring.is_max else 1)
    return np.full((size, size), worst, kind)


def fill(
    values: NDArray[Any],
    semiring: Semiring,
    *,
    is_weighted: bool = False,
    sizes: NDArray[np.float64] | None = None,
    closing: NDArray[Any] | None = None,
    letters: NDArray[np.uint8] | None = None,
    least_distance: int = 1,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> None:
    """Compute the numbers of all intervals, in `values` (native/tropical/triangular.hpp)."""
    told, threads = checked_progress(progress), resolve_threads(n_threads)
    _native.fill_triangle(values, semiring.is_max, is_weighted, sizes, closing, letters, least_distance, threads, told)


@dataclass(frozen=True, eq=False)
class MatrixChain(Result):
    """The cheapest order of multiplying matrices.

    Attributes
    ----------
    cost : int
        Multiplications of numbers that it takes.
    cuts : numpy.ndarray
        (n - 1, 3) int32, a row per product, as `best_cuts` returns them: the product of the matrices i to k is
        multiplied by that of the matrices k + 1 to j. A product comes before those that it needs.

    Examples
    --------
    >>> from tropalign.tropical import matrix_chain
    >>> order = matrix_chain([10, 30, 5, 60])
    >>> print(order, order.cost)
    ((0 1) 2) 4500
    """

    cost: int
    cuts: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"<MatrixChain: {len(self.cuts):,} products, cost {self.cost:,}>"

    def __str__(self) -> str:
        """Return the products in parentheses, matrices by their numbers."""
        made: dict[tuple[int, int], str] = {}
        for i, k, j in self.cuts[::-1].tolist():
            left, right = made.pop((i, k), str(i)), made.pop((k + 1, j), str(j))
            made[i, j] = f"({left} {right})"
        return made.popitem()[1] if made else "0"


def matrix_chain(sizes: Any, *, n_threads: int = 0, progress: Progress | None = None) -> MatrixChain:
    """Find the order of multiplying matrices that takes the fewest multiplications of numbers.

    M[i, j] = min over i <= k < j of M[i, k] + M[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1].

    Parameters
    ----------
    sizes
        n + 1 integers: matrix i has sizes[i] rows and sizes[i + 1] columns.
    n_threads
        Threads, 0 for all available.
    progress
        Called now and then with a number that goes up. An exception that it raises stops the work and is passed
        on.

    Returns
    -------
    MatrixChain
        The cost, exact, and the order. Of equally good cuts the first is taken.

    Raises
    ------
    InputError
        Fewer than two sizes, one that is not an integer or below 0, or a cost of 2^53 or more.
    ResourceError
        Not enough memory.

    Examples
    --------
    >>> from tropalign.tropical import matrix_chain
    >>> matrix_chain([30, 35, 15, 5, 10, 20, 25]).cost
    15125
    """
    try:
        given = np.asarray(sizes)
        p = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("sizes must be a list of integers") from None
    if given.ndim != 1 or len(given) < 2 or given.dtype.kind not in "iuf":
        raise InputError("sizes must be a list of at least two integers: one more than the number of matrices")
    is_bad = ~((p >= 0) & (p < _EXACT) & (p == np.floor(p)))
    if is_bad.any():
        at = int(np.argmax(is_bad))
        raise InputError(f"sizes[{at}] is {given[at]}: give integers from 0 to 2^53")
    n = len(p) - 1
    values = empty_triangle(n, np.float64, MIN_PLUS)
    values[np.arange(n), np.arange(n)] = 0
    padded = np.zeros(len(values) + 1)
    padded[: n + 1] = p
    fill(values, MIN_PLUS, sizes=padded, n_threads=n_threads, progress=progress)
    # Numbers below 2^53 are exact, and a rounded sum above that is never taken for the lowest of exact ones.
    if any((values[i, i:n] >= _EXACT).any() for i in range(n)):
        raise InputError("the products take 2^53 multiplications or more: give smaller sizes")

    def best_cut(i: int, j: int) -> int:
        costs = values[i, i:j] + values[i + 1 : j + 1, j]
        return i + int(np.argmin(costs + p[i] * p[j + 1] * p[i + 1 : j + 1]))

    return MatrixChain(int(values[0, n - 1]), _cuts(n, best_cut))


@dataclass(frozen=True, eq=False)
class SearchTree(Result):
    """A binary tree in which keys are found in the fewest steps.

    Attributes
    ----------
    cost : float
        The steps of a search, on average if the weights sum to 1.
    parents : numpy.ndarray
        (n,) int32: the key above each key, -1 for the root.

    Examples
    --------
    >>> from tropalign.tropical import search_tree
    >>> tree = search_tree([0.1, 0.2, 0.4, 0.3])
    >>> tree.root, tree.parents.tolist()
    (2, [1, 2, -1, 2])
    """

    cost: float
    parents: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"<SearchTree: {len(self.parents):,} keys, cost {self.cost:g}>"

    @property
    def root(self) -> int:
        """Key at the top, -1 if there are no keys."""
        return int(np.argmin(self.parents)) if len(self.parents) else -1


def search_tree(
    weights: Any, misses: Any = None, *, n_threads: int = 0, progress: Progress | None = None
) -> SearchTree:
    """Find the binary search tree in which keys of different weights are found in the fewest steps [1]_.

    E[i, j] = W[i, j] + min over i <= r < j of E[i, r] + E[r + 1, j] for the keys i to j - 1 with the root r. W[i,
    j] is the sum of their weights and those of the gaps around them; E[i, i] = misses[i].

    Parameters
    ----------
    weights
        (n,) numbers, not negative: how often each key is searched for.
    misses
        (n + 1,) numbers: how often the search is for something between two keys, before the first or after the
        last. None for never.
    n_threads
        Threads, 0 for all available.
    progress
        Called now and then with a number that goes up. An exception that it raises stops the work and is passed
        on.

    Returns
    -------
    SearchTree
        The cost in float64, and the tree. Of equally good roots the first is taken.

    Raises
    ------
    InputError
        Weights that are not numbers, negative or infinite, or a length of `misses` other than n + 1.
    ResourceError
        Not enough memory.

    Notes
    -----
    For very many keys there is a faster algorithm (Knuth 1971) that takes n^2 steps; this one takes n^3 / 6.

    References
    ----------
    .. [1] T. H. Cormen, C. E. Leiserson, R. L. Rivest, C. Stein. Introduction to Algorithms, third edition,
       chapter 15.5. MIT Press 2009.

    Examples
    --------
    >>> from tropalign.tropical import search_tree
    >>> tree = search_tree([0.15, 0.10, 0.05, 0.10, 0.20], [0.05, 0.10, 0.05, 0.05, 0.05, 0.10])
    >>> round(tree.cost, 12)
    2.75
    """
    p = _checked_weights(weights, "weights")
    q = np.zeros(len(p) + 1) if misses is None else _checked_weights(misses, "misses")
    n = len(p)
    if len(q) != n + 1:
        raise InputError(f"there are {n} weights and {len(q)} misses: give one more miss than weights")
    values = empty_triangle(n + 1, np.float64, MIN_PLUS)
    # Sums of weights i to j - 1 and misses i to j.
    sums_p, sums_q = np.append(0, p.cumsum()), np.append(0, q.cumsum())
    values[: n + 1, : n + 1] = (sums_p + sums_q[1:]) - (sums_p + sums_q[:-1])[:, None]
    values[np.arange(n + 1), np.arange(n + 1)] = q
    fill(values, MIN_PLUS, is_weighted=True, n_threads=n_threads, progress=progress)
    found = values[: n + 1, : n + 1]
    parents = np.full(n, -1, np.int32)
    tops = {(0, n): -1}
    for i, r, j in best_cuts(found).tolist():
        parents[r] = tops.pop((i, j))
        tops[i, r] = tops[r + 1, j] = r
    return SearchTree(float(found[0, n]), parents)


def _checked_weights(weights: Any, name: str) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(weights).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a list of numbers") from None
    if numbers.ndim != 1 or np.asarray(weights).dtype.kind not in "iuf":
        raise InputError(f"{name} must be a list of numbers")
    is_bad = ~((numbers >= 0) & (numbers <= 1e300))
    if is_bad.any():
        at = int(np.argmax(is_bad))
        raise InputError(f"{name}[{at}] is {numbers[at]}: give numbers from 0 to 1e300")
    return numbers


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
        raise UsageError(f"pairs is of type {type(pairs).__name__}: give a dict such as {PAIRS}")
    named = {}
    for pair, score in pairs.items():
        if not isinstance(pair, str) or len(pair) != 2 or not (pair.isascii() and pair.isalpha()):
            raise UsageError(f"pairs has the key {pair!r}: give keys of two letters, such as 'AU'")
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
        raise UsageError(f"the sequence is of type {type(sequence).__name__}: give a string")
    if not sequence:
        raise InputError("the sequence is empty: give at least one letter")
    for place, letter in enumerate(sequence):
        if not (letter.isascii() and letter.isalpha()):
            raise InputError(f"'{shown(letter)}' at position {place + 1} is not a letter: correct it")
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
