"""Pairs as a map: which row stands in which cell, and the order of its lines by average linkage.

The lines of a set against itself are joined by 1 - near, and a pair without a row counts as 1; those of two sets by the
distance (Euclid's) between what they share with all of the other set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import _native

#: Lines of one side that a map has at most.
MOST_LINES = 3_000
#: Identities in maps of two sets count in units of 1 / DIGITS.
DIGITS = 10_000


@dataclass(frozen=True)
class Lines:
    """The lines of one side in the order of their tree.

    Attributes
    ----------
    order : int32, shape (n,)
        Which sequence stands where, from the top or the left.
    joins : int32, shape (n - 1, 2)
        The two nodes that each join puts together: sequences below n, n + k the k-th join.
    heights : float64, shape (n - 1,)
        How far apart they are.
    """

    order: NDArray[np.int32]
    joins: NDArray[np.int32]
    heights: NDArray[np.float64]


@dataclass(frozen=True)
class PairMap:
    """A map: cells, and both sides' lines (one object where a set is mapped against itself).

    Attributes
    ----------
    cells : int32, shape (n_queries, n_targets)
        The row of the table that stands there; -1 for none.
    """

    cells: NDArray[np.int32]
    rows: Lines
    columns: Lines


def mapped(
    query: NDArray[np.int64],
    target: NDArray[np.int64],
    near: NDArray[np.float64],
    shape: tuple[int, int],
    is_one_set: bool,
) -> PairMap:
    """The map of pairs; of two rows of one pair the first counts.

    Parameters
    ----------
    query, target : int64, shape (n,)
        Their sequences.
    near : float64, shape (n,)
        How near they are, from 0 to 1.
    shape
        Queries and targets; of one set both times the same.
    """
    cells = np.full(shape, -1, np.int32)
    _, first = np.unique(query * shape[1] + target, return_index=True)
    cells[query[first], target[first]] = first
    if is_one_set:
        cells = np.where(cells < 0, cells.T, cells)
    profiles = np.where(cells < 0, 0.0, np.append(near, 0.0)[cells])
    if is_one_set:
        rows = columns = joined(1 - np.maximum(profiles, profiles.T))
    else:
        rows, columns = joined(_between(profiles)), joined(_between(profiles.T))
    return PairMap(cells, rows, columns)


def _between(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances between lines, shape (n, n). Whole numbers are multiplied: their sums are exact in whatever order."""
    whole = np.rint(DIGITS * profiles)
    squares = (whole * whole).sum(1)
    between = squares[:, None] + squares[None, :] - 2 * (whole @ whole.T)
    distances: NDArray[np.float64] = np.sqrt(between) / DIGITS
    return distances


def joined(distances: NDArray[np.float64]) -> Lines:
    """Average linkage of lines, from their distances, shape (n, n)."""
    n = len(distances)
    if n < 2:
        return Lines(np.arange(n, dtype=np.int32), np.zeros((0, 2), np.int32), np.zeros(0))
    joins, heights = _native.average_linkage(np.ascontiguousarray(distances[np.triu_indices(n, 1)]), n, None)
    return Lines(_leaves(joins, n), joins, heights)


def _leaves(joins: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Leaves from the root down, the larger side of each join first."""
    sizes, children = [1] * n, joins.tolist()
    for a, b in children:
        sizes.append(sizes[a] + sizes[b])
    found: list[int] = []
    waiting = [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node < n:
            found.append(node)
            continue
        a, b = children[node - n]
        waiting += (b, a) if (sizes[a], -a) >= (sizes[b], -b) else (a, b)
    return np.array(found, np.int32)
