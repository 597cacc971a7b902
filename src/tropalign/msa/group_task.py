"""Groups of a large family as a task: a worker aligns a tile's groups, from posteriors to columns.

A tile holds all that its groups need: their representatives, and the current column of each of their residues. The
result is small compared to the posteriors, which never travel:

    representatives, columns --tile--> posteriors of pairs -> guide tree, consistency, columns --result--> columns
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.gpu import Gpu
from tropalign.devices.registry import CpuDevice
from tropalign.errors import ResourceError, named
from tropalign.execution.task import Device, Progress, Tile
from tropalign.msa.groups import MOST_ROWS, GroupAlignment, Item, ItemPair, Pool, Pooled, align_items
from tropalign.msa.large_tree import AT_ONCE, MOST_ALL_PAIRS, SEEDS
from tropalign.msa.models import PairModel
from tropalign.msa.options import MsaOptions
from tropalign.msa.task import FOUND_MARGIN, LEAST_ROW_ELEMENTS, SAMPLE_MARGIN, MemoryEstimate
from tropalign.resources.limits import human
from tropalign.sequences.batch import SequenceBatch

#: Bytes per distance, stored in two triangles; and per sequence and seed whose similarity is computed.
DISTANCE_BYTES, KINSHIP_BYTES = 8, 64
#: Bytes in addition to the family: per sequence, and per residue (sums of confidence, columns).
SEQUENCE_BYTES, RESIDUE_BYTES = 1024, 40
#: Elements per row, a cautious mean, with 4 bytes each and 2 for the row; both exist twice for a moment.
ROW_ELEMENTS = 8
ROW_BYTES = 2 * (2 + 4 * ROW_ELEMENTS)
#: Bytes of an element held while groups are aligned, with its share of the rows.
HELD_BYTES = 6
#: Minimum number of rows: fewer would leave threads idle.
LEAST_ROWS = 100_000
#: Stores per group: consistent posteriors, and the original ones.
STORES = 2


# Memory of a large family, all within `memory_bytes`:
#
#   family   | tree: two triangles of distances |
#            | posteriors of sequences, of a batch's pairs |                              (fewer rows if it is short)
#            | of items | stores of the groups that are aligned at a time |               (fewer groups at a time)


class LargeMemoryEstimate:
    """Memory estimates for a large family, and how much fits; raises ResourceError if the minimum does not fit.

    `memory_bytes` excludes the family. `sampled_elements` returns the elements per row of posteriors from a
    sample, for the total that the error states.
    """

    def __init__(
        self,
        lengths: NDArray[np.int64],
        most_items: int,
        memory_bytes: int,
        sampled_elements: Callable[[], float] = lambda: LEAST_ROW_ELEMENTS,
    ) -> None:
        n = len(lengths)
        self._what = f"the alignment of {n:,} different sequences"
        self._memory_bytes = memory_bytes
        self._held = SEQUENCE_BYTES * n + RESIDUE_BYTES * int(lengths.sum())
        compared = min(n, MOST_ALL_PAIRS)
        tree = DISTANCE_BYTES * compared * (compared - 1) // 2
        if n > MOST_ALL_PAIRS:
            tree += KINSHIP_BYTES * AT_ONCE * SEEDS
        longest = np.sort(lengths)[-most_items:]

        def needed(group_bytes: int) -> int:
            return self._held + max(tree, ROW_BYTES * LEAST_ROWS + group_bytes)

        of_pair = MemoryEstimate(longest, False).of_pair()
        group = int(max(_group_bytes(longest, LEAST_ROW_ELEMENTS), of_pair))
        if needed(group) > memory_bytes:
            found = max(LEAST_ROW_ELEMENTS, SAMPLE_MARGIN * sampled_elements())
            self._refuse(needed(int(max(_group_bytes(longest, found), of_pair))))
        rows = (memory_bytes - self._held - group) // 2 // ROW_BYTES
        self.most_rows = min(MOST_ROWS, max(LEAST_ROWS, rows))

    def groups_at_once(
        self, lengths: Sequence[NDArray[np.int64]], n_elements: Sequence[int], elements_held: int
    ) -> int:
        """Return how many groups may be aligned at once; raises ResourceError if not one may.

        `lengths`: columns of each group's items. `n_elements`: of each group's posteriors; `elements_held`: of all
        in memory.
        """
        largest = 0.0
        for columns, count in zip(lengths, n_elements, strict=True):
            n_rows = float(columns.sum()) * (len(columns) - 1) / 2
            largest = max(largest, _group_bytes(columns, count / max(n_rows, 1.0)))
        left = self._memory_bytes - self._held - HELD_BYTES * elements_held
        if largest > left:
            self._refuse(int(FOUND_MARGIN * (self._memory_bytes - left + largest)))
        return int(left / max(largest, 1.0))

    def _refuse(self, needed: int) -> NoReturn:
        raise ResourceError(
            f"{self._what} needs about {human(needed)} of memory and {human(self._memory_bytes)} are allowed: "
            f"allow more with {named('memory_bytes')}, or align parts of the family and merge them",
            needed_bytes=needed,
            allowed_bytes=self._memory_bytes,
        )


def _group_bytes(lengths: NDArray[np.int64], row_elements: float) -> float:
    """Return the bytes for aligning a group, from the columns of its items: its stores, and a pass."""
    room = MemoryEstimate(lengths, False)
    return STORES * room.held(row_elements) + room.of_pass(row_elements)


#: Representatives of another group with which each one is compared: half of them (docs/msa.md).
PARTNERS = 4
#: Share of the posteriors in a tile's progress.
POSTERIORS_SHARE = 0.75
#: Seconds between progress calls while groups are aligned.
TICK = 0.2


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a tile.

    `speakers`: representatives of all items, one item after another. `column_of`: uint16, shape (n_residues,),
    column of each of their residues in the alignment of its item. `groups`: items of each group, whose members are
    speakers.
    """

    speakers: SequenceBatch
    column_of: NDArray[np.uint16]
    groups: tuple[tuple[Item, ...], ...]

    @classmethod
    def of(cls, groups: Iterable[Sequence[Item]], batch: SequenceBatch, column_of: NDArray[np.uint16]) -> Groups:
        """Extract what the tile of some groups needs from a batch and its columns per residue."""
        wanted = [list(items) for items in groups]
        chosen = np.array([one for items in wanted for item in items for one in item.representatives])
        residues = np.concatenate([np.arange(*batch.offsets[one : one + 2]) for one in chosen])
        numbers = iter(range(len(chosen)))

        def renumbered(item: Item) -> Item:
            own = tuple(next(numbers) for _ in item.representatives)
            return Item(np.array(own), item.n_columns, own)

        return cls(
            batch[chosen], column_of[residues], tuple(tuple(renumbered(item) for item in items) for items in wanted)
        )

    def tile(self, index: int) -> Tile:
        """Return the tile that aligns the groups."""
        lengths = self.speakers.lengths
        cells = rows = 0
        for items in self.groups:
            sizes, counts = sizes_of(items, lengths)
            cells += cells_of(sizes)
            rows += rows_of(sizes, counts)
        return Tile(index, cells, ROW_BYTES * rows, sum(map(len, self.groups)), self)


def sizes_of(items: Sequence[Item], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return per item the residues of its representatives and their number; `lengths` are those of all sequences."""
    sizes = np.array([lengths[list(item.representatives)].sum() for item in items])
    return sizes, np.array([len(item.representatives) for item in items])


def cells_of(sizes: NDArray[np.int64]) -> int:
    """Return an upper limit of the cells of a group's pairs."""
    return int(sizes.sum()) ** 2 // 2


def rows_of(sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    """Return the rows of the matrices of a group's pairs."""
    return int((np.cumsum(sizes)[:-1] * counts[1:]).sum())


@dataclass(frozen=True, eq=False)
class GroupTask:
    """Alignments of groups that do not depend on one another.

    `made`: the tiles, possibly lazy. `room`: memory limit of each computing machine; does not change the result.
    `n_threads`: for the stages after the posteriors if GPUs compute these. `n_slots`: tiles computed at once per
    machine, which share its memory and these threads.
    """

    made: Iterable[Tile]
    model: PairModel
    options: MsaOptions
    pooled_cutoff: float
    room: LargeMemoryEstimate
    n_threads: int
    n_slots: int = 1

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "made": ()}  # a worker gets tiles one by one

    def tiles(self) -> Iterable[Tile]:
        """Return the tiles, each with some groups."""
        return self.made

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> list[GroupAlignment]:
        """Align the tile's groups."""
        return self._aligned(tile, CpuDevice(n_threads), n_threads, progress)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> list[GroupAlignment]:
        """Align the tile's groups, with posteriors from a GPU."""
        return self._aligned(tile, _Stream(device), max(1, self.n_threads // self.n_slots), progress)

    def _aligned(self, tile: Tile, device: Device, n_threads: int, progress: Progress | None) -> list[GroupAlignment]:
        given: Groups = tile.payload
        numbers = (self.options.cutoff, self.pooled_cutoff)
        most_rows = max(1, self.room.most_rows // self.n_slots)
        pool = Pool(given.speakers, given.column_of, self.model, *numbers, [device], n_threads, most_rows)
        item_pairs = [
            ItemPair(items[i], items[j], PARTNERS) for items in given.groups for i, j in pairs_of(items).tolist()
        ]

        def tell(share: float) -> None:
            if progress is not None:
                progress(int(tile.n_items * share))

        def of_pairs(n_pairs: int) -> Progress:
            return lambda begun: tell(POSTERIORS_SHARE * begun / max(n_pairs, 1))

        def of_groups(n_done: int) -> None:
            tell(POSTERIORS_SHARE + (1 - POSTERIORS_SHARE) * n_done / len(given.groups))

        def at_once(groups: Sequence[Sequence[Item]], parts: Sequence[Pooled], n_elements: int) -> int:
            """Return how many of a tile's groups fit the memory at once, given the other slots."""
            lengths = [np.array([item.n_columns for item in items]) for items in groups]
            sizes = [len(part.columns) for part in parts]
            return max(1, self.room.groups_at_once(lengths, sizes, self.n_slots * n_elements) // self.n_slots)

        found = pool.posteriors(item_pairs, of_pairs)
        return aligned_groups(given.groups, found, self.options, at_once, n_threads, of_groups)


@dataclass(frozen=True)
class _Stream:
    """The GPU that computes a tile, in the calling thread."""

    gpu: Gpu
    name = "gpu"
    n_workers = 1

    def compute(self, task: Any, tile: Tile, progress: Progress | None = None) -> Any:
        """Compute the posteriors of some pairs."""
        return task.on_gpu(tile, self.gpu, progress)


def pairs_of(items: Sequence[Item]) -> NDArray[np.int32]:
    """Return all pairs of a group's items: (0,1), (0,2) .. (1,2) .."""
    return np.stack(np.triu_indices(len(items), 1), 1).astype(np.int32)


def aligned_groups(
    groups: Sequence[Sequence[Item]],
    found: Pooled,
    options: MsaOptions,
    at_once: Callable[[Sequence[Sequence[Item]], Sequence[Pooled], int], int],
    n_threads: int,
    alive: Callable[[int], None],
) -> list[GroupAlignment]:
    """Align groups, each on one thread, or each on all threads if there are few groups or little memory.

    `found`: posteriors of the pairs of each group, one group after another. `at_once` returns how many groups fit
    the memory. `alive` receives the number of groups done; an exception from it stops the work.
    """
    pairs = [pairs_of(items) for items in groups]
    bounds = np.concatenate([[0], np.cumsum([len(one) for one in pairs])]).tolist()
    parts = [found.part(*span) for span in pairwise(bounds)]
    is_one_each = len(groups) >= 2 * n_threads and at_once(groups, parts, len(found.columns)) >= n_threads
    of_group = 1 if is_one_each else n_threads
    stop = Event()

    def watch(_: int) -> None:
        if stop.is_set():
            raise CancelledError

    with ThreadPoolExecutor(n_threads if is_one_each else 1) as threads:
        waiting = [
            threads.submit(align_items, *one, options, of_group, watch)
            for one in zip(groups, pairs, parts, strict=True)
        ]
        aligned: list[GroupAlignment] = []
        try:
            while len(aligned) < len(waiting):
                alive(len(aligned))
                try:
                    aligned.append(waiting[len(aligned)].result(TICK))
                except TimeoutError:
                    if waiting[len(aligned)].done():  # the group itself raised TimeoutError
                        raise
        except BaseException:
            stop.set()
            threads.shutdown(cancel_futures=True)
            raise
        return aligned
