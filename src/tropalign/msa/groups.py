"""Aligned groups treated like sequences: columns instead of residues, and pooled posteriors of pairs of groups.

group x   a  MK-VL         pairs of representatives (a, c), (a, d), (b, c), (b, d)
          b  MKIVL         their posteriors, each residue by its column, added up = posteriors of x's five columns
group y   c  MRVL                                                                   with y's four
          d  MRV-
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Progress
from tropalign.msa.consistency import CONSISTENCY_RULES, SPLITS, relax
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.models import PairModel
from tropalign.msa.options import MsaOptions
from tropalign.msa.task import PosteriorTask
from tropalign.sequences.batch import SequenceBatch

#: Rows of the matrices of sequences in memory at once, unless memory is short: about 350 MB.
MOST_ROWS = 8_000_000


@dataclass(frozen=True, eq=False)
class Item:
    """A sequence or an aligned group, to be aligned as one unit.

    `members`: int64, shape (n,), its sequences. `representatives`: the members whose posteriors stand for those of
    all.
    """

    members: NDArray[np.int64]
    n_columns: int
    representatives: tuple[int, ...]

    def has_columns(self, lengths: NDArray[np.int64]) -> bool:
        """True if its columns differ from the residues of a single sequence; `lengths` are those of all sequences."""
        return len(self.members) > 1 or self.n_columns != lengths[self.members[0]]


class ItemPair(NamedTuple):
    """Two items, whose representatives are compared.

    `partners`: each representative of a group is compared with this number of the other group, spread evenly; None:
    all.
    """

    x: Item
    y: Item
    partners: int | None = None

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of sequences."""
        x, y, most = self.x.representatives, self.y.representatives, self.partners
        n = max(len(x), len(y))
        if most is None or n <= most or min(len(x), len(y)) == 1:
            return [(a, b) for a in x for b in y]
        return [(a, b) for i, a in enumerate(x) for j, b in enumerate(y) if (i + j) * most % n < most]

    def n_rows(self, lengths: NDArray[np.int64]) -> int:
        """Return an upper limit of the rows of the matrices; `lengths` are those of all sequences."""
        return sum(int(lengths[a]) for a in self.x.representatives) * len(self.y.representatives)


class Pooled(NamedTuple):
    """Posteriors of pairs of items, as `PosteriorStore.add` takes them.

    `distance`: float32, shape (n_pairs,), mean over the pairs of sequences. `row_sizes`, `columns`, `values`:
    uint16, as in `Posteriors`. `row_begins`, `element_begins`: int64, shape (n_pairs + 1,), first row and element
    of each pair.
    """

    distance: NDArray[np.float32]
    row_sizes: NDArray[np.uint16]
    columns: NDArray[np.uint16]
    values: NDArray[np.uint16]
    row_begins: NDArray[np.int64]
    element_begins: NDArray[np.int64]

    def part(self, begin: int, end: int) -> Pooled:
        """Return the posteriors of a range of pairs."""
        rows, elements = self.row_begins[begin : end + 1], self.element_begins[begin : end + 1]
        row, element = slice(rows[0], rows[-1]), slice(elements[0], elements[-1])
        return Pooled(
            self.distance[begin:end],
            self.row_sizes[row],
            self.columns[element],
            self.values[element],
            rows - rows[0],
            elements - elements[0],
        )


@dataclass(frozen=True, eq=False)
class Pool:
    """Computation of the posteriors of pairs of items.

    `column_of`: uint16, shape (n_residues,), column of each residue in the alignment of its item; may change
    between calls. `cutoff`, `pooled_cutoff`: lower limits for posteriors of sequences, and of items. `most_rows`:
    rows of the matrices of sequences in memory at once; does not change the result.
    """

    batch: SequenceBatch
    column_of: NDArray[np.uint16]
    model: PairModel
    cutoff: float
    pooled_cutoff: float
    devices: Sequence[Device]
    n_threads: int
    most_rows: int = MOST_ROWS

    def posteriors(
        self, item_pairs: Iterable[ItemPair], progress: Callable[[int], Progress | None] | None = None
    ) -> Pooled:
        """Compute the posteriors of pairs of items.

        `progress` returns, for a number of pairs of sequences, the callback that receives the pairs started.
        """
        wanted = list(item_pairs)
        n_pairs = sum(len(pair.pairs()) for pair in wanted)
        watch = progress(n_pairs) if progress is not None else None
        begun = 0

        def portion_begun(items: int) -> None:
            if watch is not None:
                watch(begun + items)

        parts = []
        for some in self._portions(wanted):
            parts.append(self._pooled(some, portion_begun))
            begun += sum(len(pair.pairs()) for pair in some)
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _portions(self, wanted: Sequence[ItemPair]) -> Iterator[Sequence[ItemPair]]:
        """Yield runs of neighbouring pairs with at most `most_rows` rows in total, or a single pair."""
        begin = n_rows = 0
        for k, pair in enumerate(wanted):
            rows = pair.n_rows(self.batch.lengths)
            if k > begin and n_rows + rows > self.most_rows:
                yield wanted[begin:k]
                begin, n_rows = k, 0
            n_rows += rows
        yield wanted[begin:]

    def _pooled(self, wanted: Sequence[ItemPair], progress: Progress) -> Pooled:
        """Compute a portion's posteriors of pairs of items, each pooled from its pairs of sequences."""
        members = [pair.pairs() for pair in wanted]
        begins = np.concatenate([[0], np.cumsum([len(pairs) for pairs in members])]).astype(np.int64)
        chosen = np.array([pair for pairs in members for pair in pairs], np.int32).reshape(-1, 2)
        task = PosteriorTask(self.batch, self.model, self.cutoff, pairs=chosen)
        tiles = [result.value for result in Scheduler(self.devices, progress).run([task])]
        distance, row_sizes, columns, values = (
            np.concatenate([getattr(tile, name) for tile in tiles])
            for name in ("distance", "row_sizes", "columns", "values")
        )
        sides = [pair.x for pair in wanted], [pair.y for pair in wanted]
        n_rows, n_columns = (np.array([item.n_columns for item in side], np.int32) for side in sides)
        if any(item.has_columns(self.batch.lengths) for side in sides for item in side):
            row_sizes, columns, values = _native.pool_posteriors(
                chosen,
                row_sizes,
                columns,
                values,
                self.batch.offsets,
                self.column_of,
                begins,
                n_rows,
                n_columns,
                self.pooled_cutoff,
                self.n_threads,
            )
        means = np.add.reduceat(distance.astype(np.float64), begins[:-1]) / np.diff(begins)
        rows = np.concatenate([[0], np.cumsum(n_rows, dtype=np.int64)])
        return _with_begins(means.astype(np.float32), row_sizes, columns, values, rows)


def _with_begins(
    distance: NDArray[np.float32],
    row_sizes: NDArray[np.uint16],
    columns: NDArray[np.uint16],
    values: NDArray[np.uint16],
    rows: NDArray[np.int64],
) -> Pooled:
    """Build `Pooled` with the first element of each pair, derived from the first row of each pair."""
    elements = np.concatenate([[0], np.cumsum(row_sizes, dtype=np.int64)])[rows]
    return Pooled(distance, row_sizes, columns, values, rows, elements)


def _joined(parts: Sequence[Pooled]) -> Pooled:
    """Concatenate portions."""
    distance = np.concatenate([part.distance for part in parts])
    names = ("row_sizes", "columns", "values")
    row_sizes, columns, values = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
    sizes = np.concatenate([np.diff(part.row_begins) for part in parts])
    return _with_begins(distance, row_sizes, columns, values, np.concatenate([[0], np.cumsum(sizes)]))


def starting_columns(batch: SequenceBatch) -> NDArray[np.uint16]:
    """Return the column of each residue while no sequences are aligned, uint16, shape (n_residues,)."""
    starts = np.repeat(batch.offsets[:-1], batch.lengths)
    return (np.arange(len(batch.codes)) - starts).astype(np.uint16)


def best_columns(
    n_rows: int, n_columns: int, posteriors: Sequence[NDArray[np.uint16]], n_threads: int
) -> list[NDArray[np.int32]]:
    """Align two items by the maximum sum of posteriors; return the new column of each column of both."""
    store = _native.PosteriorStore(np.array([n_rows, n_columns], np.int32))
    store.add(np.array([[0, 1]], np.int32), *posteriors)
    columns = _native.progressive(store, np.array([[0, 1]], np.int32), np.full(2, 0.5), n_threads)
    return [columns[:n_rows], columns[n_rows:]]


@dataclass(frozen=True)
class Placed:
    """Positions of the residues of a new sequence in an alignment.

    `column`: int32, shape (n,), the column of the residue or, if it is inserted, the first column to its right.
    """

    column: NDArray[np.int32]
    is_inserted: NDArray[np.bool_]


def placed_by(n_residues: int, n_columns: int, posteriors: Sequence[NDArray[np.uint16]]) -> Placed:
    """Place a new sequence by its posteriors with an alignment's columns."""
    x, y = best_columns(n_residues, n_columns, posteriors, 1)
    right = np.searchsorted(y, x).astype(np.int32)
    return Placed(right, (right == n_columns) | (y[np.minimum(right, n_columns - 1)] != x))


class GroupAlignment(NamedTuple):
    """The alignment of a group's items.

    `columns`: int32, new column of each column of the items, items one after another. `tree`: its leaves are the
    items. `confidence`: float32, per column of the items. `distance`: float32, shape (n_pairs,), (0,1), (0,2) ..
    (1,2) ..
    """

    columns: NDArray[np.int32]
    tree: GuideTree
    confidence: NDArray[np.float32]
    distance: NDArray[np.float32]

    def sections(self) -> list[bytes]:
        """Return the alignment as bytes for the disk, which `of_sections` reads."""
        return [self.columns.tobytes(), self.tree.to_bytes(), self.confidence.tobytes(), self.distance.tobytes()]

    @classmethod
    def of_sections(cls, parts: Sequence[bytes], n_items: int) -> GroupAlignment:
        """Restore an alignment from the result of `sections`."""
        columns, tree, confidence, distance = parts
        numbers = (np.frombuffer(part, np.float32) for part in (confidence, distance))
        return cls(np.frombuffer(columns, np.int32), GuideTree.from_bytes(tree, n_items), *numbers)


def align_items(
    items: Sequence[Item],
    pairs: NDArray[np.int32],
    found: Pooled,
    options: MsaOptions,
    n_threads: int,
    progress: Progress | None = None,
) -> GroupAlignment:
    """Align items by the posteriors of their pairs: guide tree, consistency, progressive alignment, refinement.

    `pairs`: int32, shape (n_pairs, 2), all of them: (0,1), (0,2) .. (1,2) ..
    """
    lengths = np.array([item.n_columns for item in items], np.int32)
    store, as_found = _native.PosteriorStore(lengths), _native.PosteriorStore(lengths)
    for one in (store, as_found):
        one.add(pairs, found.row_sizes, found.columns, found.values)
    tree = GuideTree(*_native.guide_tree(found.distance, progress))
    weights = _native.sequence_weights(tree.children, tree.branch_lengths)
    for number in range(options.consistency):
        is_last = number + 1 == options.consistency
        rule = CONSISTENCY_RULES[options.rules]
        numbers = (weights, options.cutoff, is_last, n_threads, progress)
        relax(store, rule, tree.children, *numbers, through=options.through)
    columns = _native.progressive(store, tree.children, weights, n_threads, progress)
    if options.refine:
        how = (*SPLITS[options.rules], options.refine, options.seed)
        columns = _native.refine(store, columns, weights, *how, n_threads, progress)
    # by the original probabilities, not by their values after consistency
    confidence, _ = _native.confidence(as_found, columns, weights, n_threads, progress)
    return GroupAlignment(columns, tree, confidence, found.distance)


def representatives(
    items: Sequence[Item], distance: NDArray[np.float32], tree: GuideTree, lengths: NDArray[np.int64], most: int
) -> tuple[int, ...]:
    """Return sequences that represent a group, one from each of `most` stretches along its tree.

    Each shares the most residues with the others of its stretch: it is close to all of them, and no fragment.
    `distance`: float32, shape (n_pairs,), of the items: (0,1), (0,2) .. (1,2) ..; `lengths` are those of all
    sequences.
    """
    candidates = [(k, one) for k in tree.leaf_order() for one in items[k].representatives]
    of_item = np.array([k for k, _ in candidates])
    counts = np.array([len(items[k].members) / len(items[k].representatives) for k, _ in candidates])
    length = lengths[[one for _, one in candidates]].astype(np.float64)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    stretch = np.minimum((middle * most).astype(np.int64), most - 1)
    chosen = []
    for k in distinct(stretch):
        within = np.flatnonzero(stretch == k)
        near = 1 - among(distance, of_item[within], len(items))
        shared = near * np.minimum(length[within, None], length[within])
        chosen.append(candidates[within[(shared @ counts[within]).argmax()]][1])
    return tuple(chosen)


def among(distance: NDArray[np.float32], some: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Return the distances among some of n items as a square; 0 on the diagonal."""
    low, high = np.minimum(some[:, None], some), np.maximum(some[:, None], some)
    place = low * (2 * n - low - 1) // 2 + high - low - 1
    return np.where(low == high, 0.0, distance[np.where(low == high, 0, place)])
