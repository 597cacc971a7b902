"""Clusters by linkage of all pairs: single, complete, average."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.clusters.bounds import Reach
from tropalign.clusters.compare import Comparison
from tropalign.machine.memory import require

Index = NDArray[np.int64]
Reals = NDArray[np.float64]
Progress = Callable[[int], object]

#: Rows of the triangle of pairs that are compared at once, and the pairs of these.
MOST_ROWS, MOST_PAIRS = 256, 1 << 20
#: What sums of distances in any order may come to.
ROUNDING = 1e-12


def linkage_labels(comparison: Comparison, reach: Reach, memory_bytes: int, progress: Progress | None = None) -> Index:
    """The cluster of each sequence.

    Returns
    -------
    int64, shape (n,)

    Raises
    ------
    ResourceError
        The distances of all pairs take more memory than is allowed.
    """
    n, method = len(comparison.batch), comparison.options.method
    if n == 1:
        return np.zeros(1, np.int64)
    if method == "single":
        return _connected(n, _similar(comparison, reach, progress))
    n_pairs = n * (n - 1) // 2
    remedy = "allow more with --memory, or choose method single or greedy"
    # The distances, and their copy in the order of joins.
    require(2 * 8 * n_pairs, memory_bytes, f"{method} linkage of {n} sequences", remedy)
    distances = np.ones(n_pairs)
    for first, second, similarity in _compared(comparison, reach if method == "complete" else None, progress):
        if method == "average":
            similarity = np.maximum(similarity, 0.0)  # a pair that is not covered has nothing in common
        distances[first * (2 * n - first - 1) // 2 + second - first - 1] = 1 - similarity
    joins, heights = _native.average_linkage(distances, n, is_complete=method == "complete")
    is_kept = heights <= 1 - comparison.options.min_identity + ROUNDING
    return _connected(n, iter([_members(joins, is_kept, n)]))


def _compared(
    comparison: Comparison, reach: Reach | None, progress: Progress | None
) -> Iterator[tuple[Index, Index, Reals]]:
    """Pairs i < j and their similarity, without those that `reach` leaves out."""
    batch, begin = comparison.batch, 0
    n = len(batch)
    while begin < n:
        end = min(n, begin + max(1, min(MOST_ROWS, MOST_PAIRS // (n - begin))))
        rows, columns = end - begin, n - begin
        keep = np.ones((rows, columns), bool) if reach is None else reach.within(batch[begin:end], batch[begin:])
        first, second = (places.astype(np.int64) + begin for places in np.nonzero(np.triu(keep, 1)))
        yield first, second, comparison.similarities(first, second)
        begin = end
        if progress is not None:
            progress(begin)


def _similar(comparison: Comparison, reach: Reach, progress: Progress | None) -> Iterator[tuple[Index, Index]]:
    for first, second, similarity in _compared(comparison, reach, progress):
        keep = similarity >= comparison.options.min_identity
        yield first[keep], second[keep]


def _connected(n: int, edges: Iterator[tuple[Any, Any]]) -> Index:
    """Connected components of n vertices; edges may come in several parts."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    labels = np.arange(n)
    for first, second in edges:
        ends = labels[first], labels[second]
        graph = coo_array((np.ones(len(first), np.int8), ends), shape=(n, n))
        labels = connected_components(graph, directed=False)[1][labels]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _members(joins: NDArray[np.int32], is_kept: NDArray[np.bool_], n: int) -> tuple[Index, Index]:
    """One sequence of either side of each join that is kept."""
    leaf = np.arange(n + len(joins))
    for k, (left, _) in enumerate(joins.tolist()):
        leaf[n + k] = leaf[left]
    return leaf[joins[is_kept, 0]].astype(np.int64), leaf[joins[is_kept, 1]].astype(np.int64)
