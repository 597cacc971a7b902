"""Neighbour joining (Saitou and Nei 1987, in the form of Studier and Keppler 1988), UPGMA and WPGMA."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import is_masked
from tropalign.errors import InputError, UsageError, said
from tropalign.execution.task import checked_progress
from tropalign.resources.limits import checked_memory, default_budget, require
from tropalign.results.names import NegativeRule
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
    # Tile by tile, since reading whole columns would be slow.
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
#: Treatment of negative lengths.
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
    negative : {"keep", "zero", "error"}
        How negative lengths are treated: see `replace_negative_lengths`.
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
        Fewer than two taxa, a distance that is not a number or is negative, names that do not fit, or negative
        lengths with ``negative="error"``.
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
    _check_negative(negative)
    given, taxa = condensed_distances(distances, names)
    is_clustalw = rules == "clustalw"
    n, dtype = len(taxa), np.dtype(np.float64) if is_clustalw else given.dtype
    is_free = given.flags.writeable and (overwrite or not np.may_share_memory(given, distances))
    is_copied = not is_free or given.dtype != dtype
    # For the copy and the bounds of blocks.
    require_memory(
        is_copied * dtype.itemsize * n * n // 2 + n * n // 16, memory_bytes, f"neighbour joining of {n} taxa"
    )
    if n == 2:
        half = float(given[0]) / 2
        return Tree(taxa, ((0, 1),), np.array([half, half, 0.0]), digits=DIGITS)
    used_up = given.astype(dtype) if is_copied else given
    joined, last, lengths = _native.neighbour_joining(used_up, n, is_clustalw, checked_progress(progress))
    children = [*joined.tolist(), last]
    return replace_negative_lengths(tree_of_joins(taxa, children, lengths), negative)


def replace_negative_lengths(tree: Tree, negative: NegativeRule = "zero") -> Tree:
    """Return the tree without negative branch lengths.

    Parameters
    ----------
    tree
        The tree; its missing lengths stay missing.
    negative : {"zero", "keep", "error"}
        "zero": a branch of negative length gets length 0. If its node has one sibling, the sibling absorbs the
        difference, so that the distance of the two is kept (Kuhner and Felsenstein 1994). "error": negative lengths
        are an error. "keep": they stay.

    Returns
    -------
    Tree

    Raises
    ------
    InputError
        A length is negative, and ``negative="error"``. Lengths nearer to 0 than a millionth of the longest one are
        rounding errors.
    UsageError
        The option does not exist.

    Examples
    --------
    >>> replace_negative_lengths(tropalign.trees.parse_tree("((A:-1,B:3):1,C:-2,D:4);")).newick()
    '((A:0.0,B:2.0):1.0,C:0.0,D:4.0);'
    """
    _check_negative(negative)
    if negative == "error" and (wrong := is_negative(tree.lengths)).any():
        least = int(np.nanargmin(tree.lengths))
        tip = least
        while tip >= tree.n_taxa:
            tip = tree.children[tip - tree.n_taxa][0]
        branch = f"taxon {tree.names[tip]!r}" if tip == least else f"the clade with {tree.names[tip]!r}"
        count = int(wrong.sum())
        branches = "1 branch has a negative length" if count == 1 else f"{count:,} branches have negative lengths"
        raise InputError(
            f"{branches}, the least {tree.lengths[least]:.8g} above {branch}: {said('negative', 'zero')} makes them 0"
        )
    if negative != "zero" or not (tree.lengths < 0).any():
        return tree
    lengths = tree.lengths.copy()
    for joined in tree.children:
        if len(joined) == 2:
            for one, other in (joined, joined[::-1]):
                if lengths[one] < 0:
                    if not math.isnan(lengths[other]):
                        lengths[other] = max(0.0, lengths[other] + lengths[one])
                    lengths[one] = 0.0
    return replace(tree, lengths=np.maximum(lengths, 0.0))


def is_negative(lengths: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the lengths below 0, apart from rounding errors.

    >>> is_negative(np.array([-1.0, -1e-9, np.nan, 2.0])).tolist()
    [True, False, False, False]
    """
    found: NDArray[np.bool_] = lengths < -ROUNDING * np.abs(lengths).max(initial=0, where=~np.isnan(lengths))
    return found


def _check_negative(negative: str) -> None:
    if negative not in NEGATIVE:
        raise UsageError(f"negative {negative!r} is none of {', '.join(NEGATIVE)}")


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
    return _averaged(distances, names, "average", rules, memory_bytes, progress)


def wpgma(
    distances: Any,
    names: Sequence[str] | None = None,
    *,
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Build the rooted tree of WPGMA (Sokal and Michener 1958; McQuitty 1966).

    The two closest clusters are joined. The distance of the new cluster to another one is the mean of the distances
    of the two, not weighted by their numbers of taxa. Ties are broken as in `upgma`.

    Parameters
    ----------
    distances, names, memory_bytes, progress
        As in `upgma`.

    Returns
    -------
    Tree
        All taxa are equally far from the root. Nodes are in the order of the joins.

    Raises
    ------
    InputError
        Fewer than two taxa, a distance that is not a number or is negative, or names that do not fit.
    UsageError
        The distances are not an array of numbers.
    ResourceError
        Memory does not suffice.

    Examples
    --------
    >>> wpgma([[0, 2, 6, 9], [2, 0, 6, 7], [6, 6, 0, 4], [9, 7, 4, 0]], ["A", "B", "C", "D"]).newick()
    '((A:1.0,B:1.0):2.5,(C:2.0,D:2.0):1.5);'
    """
    return _averaged(distances, names, "weighted", "tropalign", memory_bytes, progress)


def _averaged(
    distances: Any,
    names: Sequence[str] | None,
    linkage: str,
    rules: RulesName,
    memory_bytes: int | None,
    progress: Callable[[int], object] | None,
) -> Tree:
    """Build the rooted tree of average or weighted linkage."""
    condensed, taxa = condensed_distances(distances, names)
    n = len(taxa)
    require_memory(condensed.itemsize * n * n // 2, memory_bytes, f"{linkage} linkage of {n} taxa")
    children, apart = _native.average_linkage(condensed, n, checked_progress(progress), linkage)
    heights = np.concatenate([np.zeros(n), apart / 2])
    lengths = np.zeros(2 * n - 1)
    above = heights[n:, None]
    lengths[children] = above if rules == "clustalw" else above - heights[children]
    return tree_of_joins(taxa, children.tolist(), lengths)
