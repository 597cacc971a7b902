"""Map of pairs: the table row of each cell, and the order of lines by average linkage.

Lines of a set against itself are joined by the distance 1 - near, with 1 for a pair without a row; lines of two
sets by the Euclidean distance between their profiles against the other set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import _native

#: Maximum number of lines of one side of a map.
MOST_LINES = 3_000
#: Identities in maps of two sets are rounded to multiples of 1 / DIGITS.
DIGITS = 10_000


@dataclass(frozen=True)
class Lines:
    """Lines of one side in the order of their tree.

    order: sequence indices from the top or the left, int32, shape (n,). joins: the two nodes of each join, int32,
    shape (n - 1, 2); nodes below n are sequences, n + k is the k-th join. heights: their distances, float64, shape
    (n - 1,).
    """

    order: NDArray[np.int32]
    joins: NDArray[np.int32]
    heights: NDArray[np.float64]


@dataclass(frozen=True)
class PairMap:
    """A map: the table row of each cell (-1 if empty), and the lines of both sides (one object for one set)."""

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
    """Return the map of pairs; the first row of each pair counts.

    query, target: indices. near: similarity from 0 to 1. shape: numbers of queries and targets.
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
    """Return distances between lines, shape (n, n); products of integers make the sums exact in any order."""
    whole = np.rint(DIGITS * profiles)
    squares = (whole * whole).sum(1)
    between = squares[:, None] + squares[None, :] - 2 * (whole @ whole.T)
    distances: NDArray[np.float64] = np.sqrt(between) / DIGITS
    return distances


def joined(distances: NDArray[np.float64]) -> Lines:
    """Return the average linkage of lines from their distances, shape (n, n)."""
    n = len(distances)
    if n < 2:
        return Lines(np.arange(n, dtype=np.int32), np.zeros((0, 2), np.int32), np.zeros(0))
    joins, heights = _native.average_linkage(np.ascontiguousarray(distances[np.triu_indices(n, 1)]), n, None)
    return Lines(_leaves(joins, n), joins, heights)


def _leaves(joins: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Return the leaves from the root down, the larger side of each join first."""
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
