"""Greedy clustering, and linkage of all pairs (single, complete, average), whose comparison is a task of tiles.

::

      0 1 2 3 4
    0   x x x x   | tile 0      A tile returns its pairs i < j that count, with their similarity. Rows of the triangle
    1     x x x   |             are cut by the cells of their pairs, so that shares and tiles cost the same.
    2       x x   | tile 1
    3         x   |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import places_of
from tropalign.clusters.candidates import CandidateFilter, Comparison, check_set
from tropalign.clusters.dereplication import read_numbers
from tropalign.clusters.options import ClusterOptions
from tropalign.devices.registry import open_devices
from tropalign.errors import InputError, named
from tropalign.execution.archive import packed, unpacked
from tropalign.execution.manifest import Shard
from tropalign.execution.task import CostList, Device, Tile, cuts, share
from tropalign.resources.limits import require, resolve_threads
from tropalign.results.clusters import Clusters
from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import concatenated

#: Largest block, and sequences of its first round.
MOST_BLOCK, ROUND = 1024, 8
#: Bytes per pair of a block's sequence and a representative: common k-mers, bounds, positions.
CANDIDATE_BYTES = 64
#: Share of the memory for a block; alignments take the rest.
BLOCK_SHARE = 0.5
#: Byte limit of a block and its representatives; more is not faster.
MOST_BLOCK_BYTES = 96 << 20


#     sequences in order    ......|[ block ]|.................
#     representatives       R R R  R  R          of all before
#
# A block is compared with all earlier representatives at once. Sequences that match none are settled in rounds:
# the first few are compared with each other, in order, and all later ones of the block with the representatives that
# this adds. So no sequence is compared with another that joined a representative, and the result equals that of
# processing one sequence after another.
class Greedy:
    """Clusters sequences one after another.

    If representatives are given, they are the first sequences, and no other is chosen. order: indices in processing
    order. memory_bytes: limit for blocks and alignments together. progress: receives the number of settled sequences;
    an exception that it raises stops the work.
    """

    def __init__(
        self,
        comparison: Comparison,
        candidates: CandidateFilter,
        order: Index,
        memory_bytes: int,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self._comparison, self._candidates, self._order, self._progress = comparison, candidates, order, progress
        self._least = comparison.options.min_identity
        self._is_first = comparison.options.assign == "first"
        self._block_bytes = min(int(memory_bytes * BLOCK_SHARE), MOST_BLOCK_BYTES)
        n = len(order)
        self._representatives = np.zeros(n, np.int64)  # in the order in which they were chosen
        self._places = np.zeros(n, np.int64)  # their positions in `order`
        self._count = 0
        # By position in `order`: number of the sequence's best representative so far, or -1.
        self._best, self._similarity = np.full(n, -1, np.int64), np.zeros(n)

    def run(self) -> tuple[Index, Index]:
        """Return the cluster of each sequence, shape (n,), -1 for none, and the representative of each cluster."""
        n, least = len(self._order), CANDIDATE_BYTES * MOST_BLOCK
        require(least, self._block_bytes, "comparing sequences", f"allow more with {named('memory_bytes')}")
        block = min(MOST_BLOCK, self._block_bytes // least)  # a round of them fits the memory
        given = self._comparison.options.n_given
        for place in range(given):
            self._add_representative(place)
        begin = given
        while begin < n:
            end = min(n, begin + block)
            places = np.arange(begin, end)
            self._offer(places, 0, self._count)
            if not given:
                self._settle(places)
            begin = end
            if self._progress is not None:
                self._progress(end - given)
        labels = np.zeros(n, np.int64)
        labels[self._order] = self._best
        return labels, self._representatives[: self._count].copy()

    def _settle(self, places: Index) -> None:
        """Make unassigned sequences representatives, in order, and offer them to later sequences."""
        count = ROUND
        unsettled = places[self._best[places] < 0]
        while len(unsettled):
            first, before = unsettled[:count], self._count
            self._choose(first)
            later = unsettled[count:] if self._is_first else places[places > first[0]]
            later = later[~np.isin(later, first)]
            self._offer(later, before, self._count)
            # Restart with small rounds if most sequences joined others: these were compared in vain.
            count = min(2 * count, MOST_BLOCK) if 2 * (self._count - before) > len(first) else ROUND
            unsettled = places[self._best[places] < 0]

    def _choose(self, places: Index) -> None:
        """Settle a few sequences among themselves."""
        similar = np.zeros((len(places), len(places)))
        batch = self._comparison.batch[self._order[places]]
        is_later = np.tril(np.ones(similar.shape, bool), -1)  # not with itself: for a chromosome, that takes hours
        later, earlier = places_of(self._candidates.within(batch, batch, is_later))
        similar[later, earlier] = self._comparison.similarities(
            self._order[places[later]], self._order[places[earlier]]
        )
        for k, place in enumerate(places.tolist()):
            is_own = self._similarity[places[:k]] == np.inf  # infinity marks representatives
            chosen = np.flatnonzero(is_own & (similar[k, :k] >= self._least)).tolist()
            if not chosen:
                self._add_representative(place)
                continue
            best = chosen[0] if self._is_first else max(chosen, key=lambda j, k=k: similar[k, j])  # type: ignore[misc]
            self._best[place], self._similarity[place] = self._best[places[best]], similar[k, best]

    def _add_representative(self, place: int) -> None:
        self._representatives[self._count], self._places[self._count] = self._order[place], place
        self._best[place], self._similarity[place] = self._count, np.inf
        self._count += 1

    def _offer(self, places: Index, begin: int, end: int) -> None:
        """Offer representatives `begin` to `end` to the sequences after them, as many at once as fit in memory."""
        step = max(1, self._block_bytes // (CANDIDATE_BYTES * max(1, len(places))))
        for first in range(begin, end, step):
            self._offer_some(places, first, min(end, first + step))

    def _offer_some(self, places: Index, begin: int, end: int) -> None:
        """Assign each sequence to an offered representative that is more similar than its current one."""
        places = places[~(self._similarity[places] == np.inf)]
        if not len(places):
            return
        of = self._representatives[begin:end]
        batch = self._comparison.batch
        may_join = self._candidates.within(batch[self._order[places]], batch[of])
        row, number = places_of(may_join & (places[:, None] > self._places[None, begin:end]))
        similar = self._comparison.similarities(self._order[places[row]], of[number])
        keep = similar >= self._least
        row, number, similar = row[keep], number[keep], similar[keep]
        # First of each row: the most similar (unless `first`), then the earliest representative.
        ranked = np.lexsort((number, np.zeros(len(row)) if self._is_first else -similar, row))
        row, number, similar = row[ranked], number[ranked], similar[ranked]
        heads = np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]])) if len(row) else np.zeros(0, np.int64)
        place, number, similar = places[row[heads]], number[heads] + begin, similar[heads]
        is_better = (self._best[place] < 0) | (not self._is_first and similar > self._similarity[place])
        self._best[place[is_better]] = number[is_better]
        self._similarity[place[is_better]] = similar[is_better]


Index = NDArray[np.int64]
Reals = NDArray[np.float64]
Progress = Callable[[int], object]


class Linkage(NamedTuple):
    """Distance of two clusters as a function of the distances of their pairs.

    is_complete: maximum (True) or mean (False). None: minimum, so that clusters are connected components of similar
    pairs and no distance is kept. counts_every_pair: whether dissimilar pairs also have to be aligned.
    """

    is_complete: bool | None
    counts_every_pair: bool


#: Linkages by method name; other methods are not linkages.
LINKAGES = {
    "single": Linkage(is_complete=None, counts_every_pair=False),
    "complete": Linkage(is_complete=True, counts_every_pair=False),
    "average": Linkage(is_complete=False, counts_every_pair=True),
}
#: Rows of the triangle that are compared at once, and their pairs.
MOST_ROWS, MOST_PAIRS = 256, 1 << 20
#: Single linkage: pairs compared at once if memory permits, since they share an index of k-mers; bytes per pair. Only
#: a few rows are aligned at a time, since pairs that they connect need no further alignment.
MOST_PAIRS_AT_ONCE, PAIR_BYTES, FEW_ROWS = 1 << 24, 32, 16
#: Bound of rounding errors of sums of distances in any order.
ROUNDING = 1e-12


def linkage_labels(
    comparison: Comparison, candidates: CandidateFilter, memory_bytes: int, progress: Progress | None = None
) -> Index:
    """Return the cluster of each sequence, shape (n,). Raises ResourceError if distances do not fit in memory."""
    n, options = len(comparison.batch), comparison.options
    check_memory(n, options.method, memory_bytes)
    if LINKAGES[options.method].is_complete is None:
        return _connected_labels(comparison, candidates, memory_bytes, progress)
    return labels_of(n, options, _compared(comparison, candidates, progress))


def labels_of(n: int, options: ClusterOptions, compared: Iterable[tuple[Index, Index, Reals]]) -> Index:
    """Return the cluster of each of n sequences from similarities of pairs i < j; missing pairs have similarity 0."""
    linkage = LINKAGES[options.method]
    if n == 1:
        return np.zeros(1, np.int64)
    if linkage.is_complete is None:
        similar = ((pair[0], pair[1], pair[2] >= options.min_identity) for pair in compared)
        return _connected(n, ((first[keep], second[keep]) for first, second, keep in similar))
    distances = np.ones(n * (n - 1) // 2)
    for first, second, similarity in compared:
        if linkage.counts_every_pair:
            similarity = np.maximum(similarity, 0.0)  # uncovered pairs have nothing in common
        distances[first * (2 * n - first - 1) // 2 + second - first - 1] = 1 - similarity
    joins, heights = _native.average_linkage(distances, n, linkage=options.method)
    is_kept = heights <= 1 - options.min_identity + ROUNDING
    return _connected(n, iter([_members(joins, is_kept, n)]))


def counts_only_similar(options: ClusterOptions) -> bool:
    """True if pairs that are not similar enough have no effect."""
    return LINKAGES[options.method].is_complete is None


def check_memory(n: int, method: str, memory_bytes: int) -> None:
    """Raise ResourceError if the distances of all pairs, which some linkages keep, do not fit in memory."""
    if LINKAGES[method].is_complete is None:
        return
    remedy = f"allow more with {named('memory_bytes')}, or choose method single or greedy"
    # For the distances, and their copy in the order of joins.
    require(2 * 8 * (n * (n - 1) // 2), memory_bytes, f"{method} linkage of {n} sequences", remedy)


def _connected_labels(
    comparison: Comparison, candidates: CandidateFilter, memory_bytes: int, progress: Progress | None
) -> Index:
    """Cluster by single linkage; pairs that are already connected by others are not compared."""
    kept, place = _without_copies(comparison)
    batch, begin, n = comparison.batch[kept], 0, len(kept)
    copies = np.flatnonzero(place[kept] != np.arange(n))
    labels = _joined(np.arange(n), copies, place[kept[copies]])
    most_pairs = min(max(memory_bytes // PAIR_BYTES, MOST_PAIRS), MOST_PAIRS_AT_ONCE)
    while begin < n:
        end = min(n, begin + max(1, min(MOST_ROWS, most_pairs // (n - begin))))
        apart = labels[begin:end, None] != labels[None, begin:]
        apart[:, : end - begin] &= np.tri(end - begin, k=-1, dtype=bool).T
        keep = candidates.within(batch.part(begin, end), batch.part(begin, n), apart)
        for row in range(begin, end, FEW_ROWS):
            few = slice(row - begin, min(row + FEW_ROWS, end) - begin)
            is_apart = labels[begin:end][few, None] != labels[None, begin:]
            first, second = places_of(keep[few] & is_apart)
            first, second = first + row, second + begin
            similarities = comparison.pair_similarities(kept[first], kept[second])
            is_similar = similarities >= comparison.options.min_identity
            labels = _joined(labels, first[is_similar], second[is_similar])
        begin = end
        if progress is not None:
            progress(len(place) if end == n else int(kept[end]))
    return _numbered(labels[place])


# The similarity of a pair depends on the two sequences and on their order. So of equal sequences the first and the last
# one in processing order are compared with others: any link of the ones between is also a link of these.
def _without_copies(comparison: Comparison) -> tuple[Index, Index]:
    """Return the sequences to compare, and for each sequence the index among them of itself or of an equal one."""
    n = len(comparison.batch)
    if comparison.options.pairs.has_track:  # sequences of equal residues may differ
        return np.arange(n), np.arange(n)
    number, order = read_numbers(comparison.batch, "plus")[0], comparison.order
    first, last = (by[np.unique(number[by], return_index=True)[1]][number] for by in (order, order[::-1]))
    copies = np.flatnonzero(first != np.arange(n))
    copies = copies[comparison.pair_similarities(first[copies], copies) >= comparison.options.min_identity]
    is_kept, own = np.ones(n, bool), np.arange(n)
    is_kept[copies], own[copies] = False, first[copies]
    is_kept[last] = True
    return np.flatnonzero(is_kept), (np.cumsum(is_kept) - 1)[own]


def _compared(
    comparison: Comparison, candidates: CandidateFilter, progress: Progress | None
) -> Iterator[tuple[Index, Index, Reals]]:
    """Yield pairs i < j with their similarity, excluding those that cannot count."""
    n = len(comparison.batch)
    if n == 1:
        return
    for end, first, second, similarity in compared_rows(comparison, candidates, 0, n):
        yield first, second, similarity
        if progress is not None:
            progress(end)


def compared_rows(
    comparison: Comparison, candidates: CandidateFilter, begin: int, last: int
) -> Iterator[tuple[int, Index, Index, Reals]]:
    """Yield blocks of rows: the end of the block, its pairs i < j, `begin` <= i < `last`, and their similarity.

    Pairs that `candidates` excludes are left out if the method needs no distance for them.
    """
    batch, leaves_out = comparison.batch, not LINKAGES[comparison.options.method].counts_every_pair
    n = len(batch)
    while begin < last:
        end = min(last, begin + max(1, min(MOST_ROWS, MOST_PAIRS // (n - begin))))
        rows, columns = end - begin, n - begin
        keep = candidates.within(batch[begin:end], batch[begin:]) if leaves_out else np.ones((rows, columns), bool)
        first, second = (places + begin for places in places_of(np.triu(keep, 1)))
        yield end, first, second, comparison.pair_similarities(first, second)
        begin = end


def _connected(n: int, edges: Iterator[tuple[Any, Any]]) -> Index:
    """Return connected components of n vertices; edges may come in several parts."""
    labels = np.arange(n)
    for first, second in edges:
        labels = _joined(labels, first, second)
    return _numbered(labels)


def _joined(labels: NDArray[Any], first: Index, second: Index) -> NDArray[Any]:
    """Merge components that are connected by these edges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(first):
        return labels
    ends, n = (labels[first], labels[second]), len(labels)
    graph = coo_array((np.ones(len(first), np.int8), ends), shape=(n, n))
    components: NDArray[Any] = connected_components(graph, directed=False)[1][labels]
    return components


def _numbered(labels: NDArray[Any]) -> Index:
    """Renumber components consecutively from 0."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _members(joins: NDArray[np.int32], is_kept: NDArray[np.bool_], n: int) -> tuple[Index, Index]:
    """Return one sequence from each side of each kept join."""
    leaf = np.arange(n + len(joins))
    for k, (left, _) in enumerate(joins.tolist()):
        leaf[n + k] = leaf[left]
    return leaf[joins[is_kept, 0]].astype(np.int64), leaf[joins[is_kept, 1]].astype(np.int64)


#: Cost of a tile in cells, some seconds on one core.
TILE_CELLS = 15_000_000_000


class Compared(NamedTuple):
    """Pairs first < second and their similarity."""

    first: Index
    second: Index
    similarity: Reals


class LinkageTask:
    """Task that compares pairs of a set that may count; shard (i, n): the i-th of n shares, counted from 1."""

    def __init__(self, comparison: Comparison, candidates: CandidateFilter, shard: Shard) -> None:
        self._comparison, self._candidates = comparison, candidates
        lengths = comparison.batch.lengths.astype(np.float64)
        after = lengths.sum() - np.cumsum(lengths)
        rows = CostList(lengths * after + 1)
        spans = pairwise(cuts(rows, *share(rows, shard), rows.n, TILE_CELLS))
        self._tiles = [
            Tile(k, int(rows.cost_before(end) - rows.cost_before(begin)), 0, end - begin, (begin, end))
            for k, (begin, end) in enumerate(spans)
        ]

    def tiles(self) -> list[Tile]:
        """Return the tiles: runs of rows."""
        return self._tiles

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Compared:
        """Compare the pairs of the tile's rows, on the devices of the comparison."""
        least = self._comparison.options.min_identity if counts_only_similar(self._comparison.options) else -np.inf
        begin, last = tile.payload
        found = [Compared(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for end, first, second, similarity in compared_rows(self._comparison, self._candidates, begin, last):
            keep = similarity >= least
            found.append(Compared(first[keep], second[keep], similarity[keep]))
            if progress is not None:
                progress(end - begin)
        return Compared(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def encoded(found: Compared) -> bytes:
    """Serialise the pairs of a tile."""
    columns = (found.first.astype("<i4"), found.second.astype("<i4"), found.similarity.astype("<f8"))
    return packed([column.tobytes() for column in columns])


def restored(parts: Iterable[bytes], n: int) -> Iterator[tuple[Index, Index, Reals]]:
    """Yield the pairs of all tiles. Raises ValueError for a part that `encoded` did not make from n sequences."""
    for part in parts:
        columns = unpacked(part, 3)
        first, second = (np.frombuffer(column, "<i4").astype(np.int64) for column in columns[:2])
        similarity: NDArray[np.float64] = np.frombuffer(columns[2], "<f8")
        if not len(first) == len(second) == len(similarity) or ((first < 0) | (first >= second) | (second >= n)).any():
            raise ValueError("the pairs do not belong to these sequences")
        yield first, second, similarity


def cluster_batch(
    batch: SequenceBatch,
    options: ClusterOptions,
    n_threads: int,
    memory_bytes: int,
    devices: Iterable[str],
    progress: Progress | None = None,
) -> Clusters:
    """Cluster a batch by checked options."""
    return clustered(*compared_by(batch, options, n_threads, memory_bytes, devices), memory_bytes, progress)


def clustered(
    comparison: Comparison,
    candidates: CandidateFilter,
    memory_bytes: int,
    progress: Progress | None = None,
) -> Clusters:
    """Cluster the batch of a comparison."""
    options = comparison.options
    if options.method == "greedy":
        labels, representatives = Greedy(comparison, candidates, comparison.order, memory_bytes, progress).run()
        return _with_alignments(comparison, labels, representatives)
    return linked(comparison, linkage_labels(comparison, candidates, memory_bytes // 2, progress))


def with_given(given: SequenceBatch, reads: SequenceBatch) -> tuple[SequenceBatch, int]:
    """Return given representatives and the reads as one batch, and the number of the former."""
    if given.alphabet != reads.alphabet:
        raise InputError(
            f"the representatives are {given.alphabet.name}s, but the sequences are {reads.alphabet.name}s: give both "
            f"of the same kind, or set the alphabet of both with {named('alphabet')}"
        )
    return concatenated([given, reads]), len(given)


def compared_by(
    batch: SequenceBatch, options: ClusterOptions, n_threads: int, memory_bytes: int, devices: Iterable[str]
) -> tuple[Comparison, CandidateFilter]:
    """Return the aligner of pairs and the filter of candidate pairs."""
    check_set(batch, options)
    opened = open_devices(list(devices), n_threads, int(batch.lengths.sum()) ** 2 // 8, memory_bytes)
    return compared_on(opened, batch, options, n_threads, memory_bytes)


def compared_on(
    devices: Sequence[Device], batch: SequenceBatch, options: ClusterOptions, n_threads: int, memory_bytes: int
) -> tuple[Comparison, CandidateFilter]:
    """Like `compared_by`, for a checked set and open devices."""
    candidates = CandidateFilter(options, batch.alphabet, resolve_threads(n_threads))
    return Comparison(batch, options, devices, memory_bytes // 2), candidates


def linked(comparison: Comparison, labels: NDArray[np.int64]) -> Clusters:
    """Return the clusters of a linkage, with their representatives."""
    # Clusters are numbered by their representatives, the first in the order.
    _, first = np.unique(labels[comparison.order], return_index=True)
    representatives = comparison.order[np.sort(first)]
    number = np.zeros(len(representatives), np.int64)
    number[labels[representatives]] = np.arange(len(representatives))
    return _with_alignments(comparison, number[labels], representatives)


def _with_alignments(comparison: Comparison, labels: NDArray[np.int64], representatives: NDArray[np.int64]) -> Clusters:
    """Return the clusters, with the alignment of each member to its representative."""
    n = len(labels)
    members = np.flatnonzero((representatives[labels] != np.arange(n)) & (labels >= 0))
    columns: dict[str, Any] = {
        "identity": (labels >= 0).astype(np.float64),
        "strand": np.ones(n, np.int8),
        "score": np.zeros(n, np.int32),
        "cigars": [None] * n,
        "member_start": np.zeros(n, np.int64),
        "representative_start": np.zeros(n, np.int64),
    }
    begin = 0
    for table, identity in comparison.alignments(members, representatives[labels[members]]):
        some = members[begin : begin + len(table)]
        begin += len(table)
        columns["identity"][some] = identity
        columns["member_start"][some], columns["representative_start"][some] = table.query_start, table.target_start
        columns["score"] = columns["score"].astype(table.score.dtype, copy=False)
        columns["score"][some] = table.score
        if table.strand is not None:
            columns["strand"][some] = table.strand
        for k, cigar in zip(some.tolist(), table.cigars(), strict=True):
            columns["cigars"][k] = cigar
    columns["n_given"] = comparison.options.n_given
    return Clusters(comparison.batch, labels, representatives, comparison.rank, comparison.sizes, **columns)
