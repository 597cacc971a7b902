"""Clusters by linkage of all pairs: single, complete, average."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.clusters.bounds import Reach
from tropalign.clusters.compare import Comparison
from tropalign.clusters.options import ClusterOptions
from tropalign.errors import named
from tropalign.machine.memory import require

Index = NDArray[np.int64]
Reals = NDArray[np.float64]
Progress = Callable[[int], object]


class Linkage(NamedTuple):
    """How far apart two clusters are, by the distances of their pairs.

    Attributes
    ----------
    is_complete
        The greatest of them (True) or their mean (False). None: the least, so that clusters are connected by pairs that
        are similar enough, and no distance is kept.
    counts_every_pair
        Whether pairs that cannot be similar enough have to be aligned, too.
    """

    is_complete: bool | None
    counts_every_pair: bool


#: By method; a method that is not here is no linkage.
LINKAGES = {
    "single": Linkage(is_complete=None, counts_every_pair=False),
    "complete": Linkage(is_complete=True, counts_every_pair=False),
    "average": Linkage(is_complete=False, counts_every_pair=True),
}
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
    n, options = len(comparison.batch), comparison.options
    check_memory(n, options.method, memory_bytes)
    return labels_of(n, options, _compared(comparison, reach, progress))


def labels_of(n: int, options: ClusterOptions, compared: Iterable[tuple[Index, Index, Reals]]) -> Index:
    """The cluster of each of n sequences, of whose pairs i < j come the similarities; those that lack are 0."""
    linkage = LINKAGES[options.method]
    if n == 1:
        return np.zeros(1, np.int64)
    if linkage.is_complete is None:
        return _connected(n, _similar(compared, options.min_identity))
    distances = np.ones(n * (n - 1) // 2)
    for first, second, similarity in compared:
        if linkage.counts_every_pair:
            similarity = np.maximum(similarity, 0.0)  # a pair that is not covered has nothing in common
        distances[first * (2 * n - first - 1) // 2 + second - first - 1] = 1 - similarity
    joins, heights = _native.average_linkage(distances, n, is_complete=linkage.is_complete)
    is_kept = heights <= 1 - options.min_identity + ROUNDING
    return _connected(n, iter([_members(joins, is_kept, n)]))


def counts_only_similar(options: ClusterOptions) -> bool:
    """Whether pairs that are not similar enough change nothing."""
    return LINKAGES[options.method].is_complete is None


def check_memory(n: int, method: str, memory_bytes: int) -> None:
    """Raises ResourceError where the distances of all pairs, which some linkages keep, do not fit the memory."""
    if LINKAGES[method].is_complete is None:
        return
    remedy = f"allow more with {named('memory_bytes')}, or choose method single or greedy"
    # The distances, and their copy in the order of joins.
    require(2 * 8 * (n * (n - 1) // 2), memory_bytes, f"{method} linkage of {n} sequences", remedy)


def _compared(comparison: Comparison, reach: Reach, progress: Progress | None) -> Iterator[tuple[Index, Index, Reals]]:
    """Pairs i < j and their similarity, without those that cannot count."""
    n = len(comparison.batch)
    if n == 1:
        return
    for end, first, second, similarity in compared_rows(comparison, reach, 0, n):
        yield first, second, similarity
        if progress is not None:
            progress(end)


def compared_rows(
    comparison: Comparison, reach: Reach, begin: int, last: int
) -> Iterator[tuple[int, Index, Index, Reals]]:
    """Pairs i < j with i from `begin` up to `last` and their similarity, some rows at a time, and where these end.

    Pairs that `reach` leaves out are not among them, where the method needs no distance of these.
    """
    batch, leaves_out = comparison.batch, not LINKAGES[comparison.options.method].counts_every_pair
    n = len(batch)
    while begin < last:
        end = min(last, begin + max(1, min(MOST_ROWS, MOST_PAIRS // (n - begin))))
        rows, columns = end - begin, n - begin
        keep = reach.within(batch[begin:end], batch[begin:]) if leaves_out else np.ones((rows, columns), bool)
        first, second = (places.astype(np.int64) + begin for places in np.nonzero(np.triu(keep, 1)))
        yield end, first, second, comparison.pair_similarities(first, second)
        begin = end


def _similar(compared: Iterable[tuple[Index, Index, Reals]], min_identity: float) -> Iterator[tuple[Index, Index]]:
    for first, second, similarity in compared:
        keep = similarity >= min_identity
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
