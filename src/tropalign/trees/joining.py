"""Neighbour joining (Saitou and Nei 1987, in the form of Studier and Keppler 1988)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import is_masked
from tropalign.errors import InputError, UsageError
from tropalign.execution.task import checked_progress
from tropalign.resources.limits import default_budget, require
from tropalign.resources.numbers import checked_memory
from tropalign.results.tree import DIGITS, Tree, tree_of_joins

#: Allowed relative difference between the two halves of a square.
ROUNDING = 1e-6
#: Largest distance that is accepted.
MOST_DISTANCE = 1e30
#: Rows and columns of a square that are compared at once: two such tiles of float64 take 256 KiB.
TILE = 128


def condensed_distances(
    distances: Any, names: Sequence[str] | None
) -> tuple[NDArray[np.float32] | NDArray[np.float64], tuple[str, ...]]:
    """Check distances (condensed or square); return them condensed, float32 or float64, with the names of the taxa.

    Raises InputError for wrong values or names, UsageError for a wrong type or shape.

    >>> condensed_distances([[0, 1, 2], [1, 0, 3], [2, 3, 0]], None)
    (array([1., 2., 3.]), ('1', '2', '3'))
    """
    try:
        array = np.asarray(distances)
        if array.dtype.kind not in "iufO" or is_masked(distances):
            raise TypeError
        array = np.asarray(array, array.dtype if array.dtype in (np.float32, np.float64) else np.float64, order="C")
    except (TypeError, ValueError):
        raise UsageError(
            "the distances must be an array of numbers: give n (n - 1) / 2 of them, or a square matrix"
        ) from None
    n = len(array) if array.ndim == 2 else (1 + math.isqrt(1 + 8 * array.size)) // 2
    if array.ndim not in (1, 2) or array.shape not in ((n, n), (n * (n - 1) // 2,)):
        raise UsageError(f"distances of shape {array.shape}: give n (n - 1) / 2 of them, or a square matrix")
    if n < 2:
        raise InputError("there is only one taxon: a tree requires at least two")
    if names is not None and not isinstance(names, Iterable):
        raise UsageError(f"names is of type {type(names).__name__}: give a list with a string per taxon")
    taxa = tuple(map(str, range(1, n + 1) if names is None else names))
    if len(taxa) != n:
        raise InputError(f"{len(taxa)} names are given, but distances of {n} taxa: give one name per taxon")
    if len(set(taxa)) < n:
        twice = next(name for name, count in Counter(taxa).items() if count > 1)
        raise InputError(f"two taxa have the name {twice!r}: give each its own name")
    condensed = _upper(array, taxa) if array.ndim == 2 else array
    if not (condensed.min() >= 0 and condensed.max() <= MOST_DISTANCE):
        wrong = int(np.flatnonzero(~((condensed >= 0) & (condensed <= MOST_DISTANCE)))[0])
        first, second = pair_at(wrong, n)
        value = float(condensed[wrong])
        said = "not a number" if math.isnan(value) else f"{value:g}"
        raise InputError(
            f"the distance of {taxa[first]!r} and {taxa[second]!r} is {said}: give numbers from 0 to {MOST_DISTANCE:g}"
        )
    return condensed, taxa


def require_memory(needed_bytes: int, memory_bytes: Any, what: str) -> int:
    """Return the allowed bytes: `memory_bytes`, or a share of the free memory. Raises ResourceError for too few."""
    asked = checked_memory(memory_bytes)
    allowed = default_budget() if asked is None else asked
    require(needed_bytes, allowed, what, "allow more memory, or leave taxa out")
    return allowed


def _upper(square: NDArray[Any], taxa: tuple[str, ...]) -> NDArray[Any]:
    """Return the values above the diagonal after checking symmetry."""
    n = len(square)
    if n and np.any(np.diagonal(square) != 0):
        k = int(np.flatnonzero(np.diagonal(square) != 0)[0])
        raise InputError(f"the distance of {taxa[k]!r} to itself is {square[k, k]:g}: write 0 on the diagonal")
    # Tile by tile, so that neither half is read by columns of the whole.
    is_symmetric = all(
        (square[row : row + TILE, column : column + TILE] == square[column : column + TILE, row : row + TILE].T).all()
        for row in range(0, n, TILE)
        for column in range(row, n, TILE)
    )
    for k in range(0 if is_symmetric else n):
        differ = np.flatnonzero(~np.isclose(square[k, k + 1 :], square[k + 1 :, k], ROUNDING, 0.0))
        for other in (differ[:1] + k + 1).tolist():
            there, back = square[k, other], square[other, k]
            if math.isnan(there) or math.isnan(back):
                two = f"{taxa[k]!r} and {taxa[other]!r}"
                raise InputError(f"the distance of {two} is not a number: leave one of them out")
            raise InputError(
                f"the distance of {taxa[k]!r} and {taxa[other]!r} is {there:g} in one triangle and {back:g} in "
                f"the other: give a symmetric matrix"
            )
    return np.concatenate([square[k, k + 1 :] for k in range(n)]) if n else square.ravel()


def pair_at(place: int, n: int) -> tuple[int, int]:
    """Return the pair of n taxa at an index of (0, 1), (0, 2), ..., (1, 2), ...

    >>> [pair_at(place, 4) for place in range(6)]
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    first = 0
    while place >= n - 1 - first:
        place -= n - 1 - first
        first += 1
    return first, first + 1 + place


#: Programs whose arithmetic can be used.
RulesName = Literal["tropalign", "clustalw"]
RULES = get_args(RulesName)
#: How negative lengths are treated.
NegativeRule = Literal["keep", "zero"]
NEGATIVE = get_args(NegativeRule)


def neighbour_joining(
    distances: Any,
    names: Sequence[str] | None = None,
    *,
    negative: NegativeRule = "keep",
    rules: RulesName = "tropalign",
    overwrite: bool = False,
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Build the unrooted tree of neighbour joining.

    Of r clusters, the pair with the smallest (r - 2) d(i, j) - R(i) - R(j) is joined, where R(i) is the sum of the
    distances of i. A cluster has the index of its first taxon. Ties between pairs i < j go to the smallest j, then to
    the smallest i.

    Parameters
    ----------
    distances : float32 or float64, shape (n (n - 1) / 2,) or (n, n)
        Distances of the pairs (0, 1), (0, 2), ..., (1, 2), ..., or a symmetric square. float32 is kept as such and
        needs half the memory.
    names
        Names of the taxa; "1", "2", ... by default.
    negative : {"keep", "zero"}
        How negative lengths are treated. "zero": such a branch gets length 0, and its sibling absorbs the
        difference, so that the distance of the two is kept (Kuhner and Felsenstein 1994).
    rules : {"tropalign", "clustalw"}
        "clustalw": sums, rounding and small lengths as in CLUSTAL W, so that ties are broken in the same way.
    overwrite
        Whether the array of `distances` may be used as work space, which destroys it. Otherwise a copy is made.
    memory_bytes
        Memory limit excluding the distances; a share of the free memory by default.
    progress
        Receives the number of joins done; an exception that it raises stops the work.

    Returns
    -------
    Tree
        The root joins three nodes; for two taxa it joins two, each at half of their distance.

    Raises
    ------
    InputError
        Fewer than two taxa, a distance that is not a number or is negative, or names that do not fit.
    UsageError
        An option does not exist, or the distances are not an array of numbers.
    ResourceError
        Memory does not suffice.

    Examples
    --------
    >>> tree = neighbour_joining([[0, 5, 9, 9], [5, 0, 10, 10], [9, 10, 0, 8], [9, 10, 8, 0]], ["A", "B", "C", "D"])
    >>> tree.newick()
    '((A:2.0,B:3.0):3.0,C:4.0,D:4.0);'
    """
    if rules not in RULES:
        raise UsageError(f"rules {rules!r} are not one of {', '.join(RULES)}")
    if negative not in NEGATIVE:
        raise UsageError(f"negative {negative!r} is not one of {', '.join(NEGATIVE)}")
    given, taxa = condensed_distances(distances, names)
    is_clustalw = rules == "clustalw"
    n, dtype = len(taxa), np.dtype(np.float64) if is_clustalw else given.dtype
    is_free = given.flags.writeable and (overwrite or not np.may_share_memory(given, distances))
    is_copied = not is_free or given.dtype != dtype
    # The copy, and the bounds of blocks.
    require_memory(
        is_copied * dtype.itemsize * n * n // 2 + n * n // 16, memory_bytes, f"neighbour joining of {n} taxa"
    )
    if n == 2:
        half = float(given[0]) / 2
        return Tree(taxa, ((0, 1),), np.array([half, half, 0.0]), digits=DIGITS)
    used_up = given.astype(dtype) if is_copied else given
    joined, last, lengths = _native.neighbour_joining(used_up, n, is_clustalw, checked_progress(progress))
    children = [*joined.tolist(), last]
    if negative == "zero":
        for pair in children[:-1]:
            for one, other in (pair, tuple(reversed(pair))):
                if lengths[one] < 0:
                    lengths[other] = max(0.0, lengths[other] + lengths[one])
                    lengths[one] = 0.0
        np.maximum(lengths, 0.0, out=lengths)
    return tree_of_joins(taxa, children, lengths)


def upgma(
    distances: Any,
    names: Sequence[str] | None = None,
    *,
    rules: RulesName = "tropalign",
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Build the rooted tree of UPGMA.

    The two closest clusters are joined, and their distances to others are averaged by numbers of taxa. A cluster has
    the index of its first taxon. Ties between pairs i < j go to the smallest j, then to the smallest i.

    Parameters
    ----------
    distances : float32 or float64, shape (n (n - 1) / 2,) or (n, n)
        Distances of the pairs (0, 1), (0, 2), ..., (1, 2), ..., or a symmetric square.
    names
        Names of the taxa; "1", "2", ... by default.
    rules : {"tropalign", "clustalw"}
        "tropalign": all taxa are equally far from the root. "clustalw": every branch is half as long as the distance
        at which it is joined, as CLUSTAL W writes it.
    memory_bytes
        Memory limit excluding the distances; a share of the free memory by default.
    progress
        Receives the number of joins done; an exception that it raises stops the work.

    Returns
    -------
    Tree
        Its nodes are in the order of the joins.

    Raises
    ------
    InputError
        Fewer than two taxa, a distance that is not a number or is negative, or names that do not fit.
    UsageError
        An option does not exist, or the distances are not an array of numbers.
    ResourceError
        Memory does not suffice.

    Examples
    --------
    >>> upgma([[0, 2, 6], [2, 0, 6], [6, 6, 0]], ["A", "B", "C"]).newick()
    '((A:1.0,B:1.0):2.0,C:3.0);'
    """
    if rules not in RULES:
        raise UsageError(f"rules {rules!r} are not one of {', '.join(RULES)}")
    condensed, taxa = condensed_distances(distances, names)
    n = len(taxa)
    require_memory(condensed.itemsize * n * n // 2, memory_bytes, f"UPGMA of {n} taxa")
    children, apart = _native.average_linkage(condensed, n, checked_progress(progress))
    heights = np.concatenate([np.zeros(n), apart / 2])
    lengths = np.zeros(2 * n - 1)
    above = heights[n:, None]
    lengths[children] = above if rules == "clustalw" else above - heights[children]
    return tree_of_joins(taxa, children.tolist(), lengths)
