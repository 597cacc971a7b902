"""Alignment of large families: groups of a tree are aligned one by one, then groups of groups.

Each alignment takes a list of items: sequences, and groups that are already aligned (groups.py). All stages after
the posteriors (consistency, guide tree, progressive alignment, refinement) are those of small families.

    sequences --common subsequences--> tree --cut--> groups of at most N items, level by level, the last is the family

Exact: the use of one copy of equal sequences, and the stages within a group. Not exact: the tree, which comes from
distances without alignments; and the alignment between two groups, for which their representatives stand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ResourceError
from tropalign.execution.progress import StageProgress
from tropalign.execution.scheduler import PooledDevice, Scheduler
from tropalign.execution.task import Device, Progress, Tile
from tropalign.msa.family import MOST_RESIDUES, copied, unique_sequences, with_copies
from tropalign.msa.group_task import Groups, GroupTask, LargeMemoryEstimate, cells_of, rows_of, sizes_of
from tropalign.msa.groups import GroupAlignment, Item, representatives, starting_columns
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.large_tree import Group, divide, family_tree
from tropalign.msa.models import model_of
from tropalign.msa.options import MsaOptions
from tropalign.msa.task import N_SECTIONS, Checkpoint, NoCheckpoint, sampled_row_elements
from tropalign.ragged import offsets_of, places
from tropalign.sequences.batch import SequenceBatch

#: Cells of the pairs of a tile, some seconds of a core. A kill loses the tiles in progress, and those that wait
#: for an earlier one.
BATCH_CELLS = 500_000_000
#: Share of the tree of all sequences in the progress.
TREE_SHARE = 0.1


@dataclass(frozen=True)
class Division:
    """Division of a large family.

    `most_items`: items per group. `n_representatives`: members that represent a group. `pooled_cutoff`: lower
    posteriors of groups are dropped.
    """

    most_items: int = 16
    n_representatives: int = 8
    pooled_cutoff: float = 0.005


class LargeAlignment(NamedTuple):
    """An aligned large family.

    `columns`: int32, shape (n_residues,), sequences one after another. `tree`: the trees of all groups, joined.
    `residue_confidence`: float32, shape (n_residues,), mean over the levels of the confidence within a group,
    weighted by the sequences met there. `column_confidence`: float32, shape (n_columns,), mean of the residues.
    """

    columns: NDArray[np.int32]
    tree: GuideTree
    residue_confidence: NDArray[np.float32]
    column_confidence: NDArray[np.float32]


def align_large(
    batch: SequenceBatch,
    options: MsaOptions,
    devices: Sequence[Device],
    n_threads: int,
    memory_bytes: int,
    kept: Checkpoint | None = None,
    progress: StageProgress | None = None,
    division: Division | None = None,
) -> LargeAlignment:
    """Align two or more sequences; the time grows with the pairs, at a hundredth of the cost of all posteriors.

    `memory_bytes` excludes the family and does not change the result; `options.keep` does not apply. `kept` stores
    the tree as stage 0, and as stage 1 a part per group, by the group's index in the division.
    """
    division = division or Division()
    first, copy_of = unique_sequences(batch)
    unique = batch[first] if len(first) < len(batch) else batch
    model = model_of(unique.alphabet, options.rules)
    room = LargeMemoryEstimate(
        unique.lengths,
        division.most_items,
        memory_bytes,
        lambda: sampled_row_elements(unique, model, options.cutoff, 0.0, memory_bytes, n_threads),
    )
    parts = NoCheckpoint() if kept is None else kept
    resources = (devices, n_threads, room, parts, progress, division)
    columns, tree, residues = _Family(unique, options, *resources).align()
    if unique is not batch:
        columns, residues = (copied(values, unique, copy_of) for values in (columns, residues))
        tree = with_copies(tree, first, copy_of)
    counts = np.bincount(columns)
    return LargeAlignment(columns, tree, residues, (np.bincount(columns, residues) / counts).astype(np.float32))


class _Work:
    """A group in progress: its items with their numbers, and its alignment once computed."""

    def __init__(
        self, number: int, numbers: Sequence[int], items: list[Item], aligned: GroupAlignment | None = None
    ) -> None:
        self.number, self.numbers, self.items, self.aligned = number, numbers, items, aligned


class _Family:
    """An alignment in progress."""

    def __init__(
        self,
        batch: SequenceBatch,
        options: MsaOptions,
        devices: Sequence[Device],
        n_threads: int,
        room: LargeMemoryEstimate,
        kept: Checkpoint,
        progress: StageProgress | None,
        division: Division,
    ) -> None:
        self.batch, self.options, self.n_threads, self.division = batch, options, n_threads, division
        self.room, self.kept = room, kept
        self.model = model_of(batch.alphabet, options.rules)
        self.column_of = starting_columns(batch)
        self.items = {k: Item(np.array([k]), int(size), (k,)) for k, size in enumerate(batch.lengths.tolist())}
        self.node_of = {k: k for k in range(len(batch))}  # tree node of each item
        self.children: list[tuple[int, int]] = []
        self.branch_lengths = np.zeros(max(2 * len(batch) - 1, 1))
        self.sure, self.met = np.zeros(len(batch.codes)), np.zeros(len(batch.codes))  # sums over levels
        self.progress = progress
        self.n_slots = (
            1 if any(isinstance(one, PooledDevice) for one in devices) else sum(one.n_workers for one in devices)
        )
        self.scheduler = Scheduler(devices, None if progress is None else self._begun)
        self.work, self.work_kept, self.n_tiles = 1, 0, 0

    def align(self) -> tuple[NDArray[np.int32], GuideTree, NDArray[np.float32]]:
        """Return the columns, the tree and the confidence of the residues."""
        n = len(self.batch)
        if n > 1:
            groups = divide(self._tree().children, self.division.most_items)
            self.work = sum(len(group.items) for group in groups)
            how = (self.model, self.options, self.division.pooled_cutoff, self.room, self.n_threads, self.n_slots)
            for level in range(max(group.level for group in groups) + 1):  # groups of a level are independent
                own = [(n + k, one) for k, one in enumerate(groups) if one.level == level]
                begun: deque[list[_Work]] = deque()  # batches in order, waiting to be joined
                for result in self.scheduler.run([GroupTask(self._tiles(own, begun), *how)]):
                    some = begun.popleft()
                    aligned = iter(result.value)
                    for work in some:
                        if work.aligned is None:
                            work.aligned = next(aligned)
                            self.kept.put(1, work.number - n, work.aligned.sections())
                    self._join_all(some)
                for some in begun:  # batches of restored groups only
                    self._join_all(some)
        tree = GuideTree(np.array(self.children, np.int32).reshape(-1, 2), self.branch_lengths)
        residues = np.where(self.met > 0, self.sure / np.maximum(self.met, 1), 1.0).astype(np.float32)
        return self.column_of.astype(np.int32), tree, residues

    def _tree(self) -> GuideTree:
        """Return the tree that divides the family."""
        found = self.kept.get(0, 0)
        if found is not None:
            return GuideTree.from_bytes(found[0], len(self.batch))
        self._tell("tree", 0.0)

        def watch(n_items: int) -> Progress:
            return lambda begun: self._tell("tree", TREE_SHARE * begun / max(n_items, 1))

        tree = family_tree(self.batch, self.n_threads, None if self.progress is None else watch)
        self.kept.put(0, 0, [tree.to_bytes(), *[b""] * (N_SECTIONS - 1)])
        return tree

    def _tell(self, stage: str, share: float) -> None:
        if self.progress is not None:
            self.progress(stage, min(share, 1.0))

    def _begun(self, work: int) -> None:
        """Report the work started on groups, in addition to the restored groups."""
        self._tell("groups", TREE_SHARE + (1 - TREE_SHARE) * (self.work_kept + work) / self.work)

    def _tiles(self, groups: list[tuple[int, Group]], begun: deque[list[_Work]]) -> Iterator[Tile]:
        """Yield one tile per batch of groups, without the restored groups."""
        for some in self._batches(groups):
            begun.append(some)
            if wanted := [work.items for work in some if work.aligned is None]:
                yield Groups.of(wanted, self.batch, self.column_of).tile(self.n_tiles)
                self.n_tiles += 1

    def _batches(self, groups: list[tuple[int, Group]]) -> Iterator[list[_Work]]:
        """Yield groups with about BATCH_CELLS cells of representatives' pairs, and no more rows than memory allows."""
        some: list[_Work] = []
        cells = rows = 0
        for number, group in groups:
            work = self._begin(number, group)
            of_work = (0, 0)
            if work.aligned is None:
                sizes, counts = sizes_of(work.items, self.batch.lengths)
                of_work = cells_of(sizes), rows_of(sizes, counts)
            if cells and (cells > BATCH_CELLS or rows + of_work[1] > self.room.most_rows):
                yield some
                some, cells, rows = [], 0, 0
            some.append(work)
            cells, rows = cells + of_work[0], rows + of_work[1]
        if some:
            yield some

    def _begin(self, number: int, group: Group) -> _Work:
        """Return a group with its alignment from an earlier run, if any."""
        found = self.kept.get(1, number - len(self.batch))
        aligned = None
        if found is not None:
            aligned = GroupAlignment.of_sections(found, len(group.items))
            self.work_kept += len(group.items)
        return _Work(number, group.items, [self.items[k] for k in group.items], aligned)

    def _join_all(self, some: list[_Work]) -> None:
        for work in some:
            assert work.aligned is not None  # for the type checker
            self._join(work, work.aligned)

    def _join(self, work: _Work, aligned: GroupAlignment) -> None:
        """Make one item of a group: move the residues of its members to their new columns."""
        n_columns = int(aligned.columns.max()) + 1
        members = np.concatenate([item.members for item in work.items])
        sizes = np.array([len(item.members) for item in work.items])
        n_members = len(members)
        if n_columns > MOST_RESIDUES:
            raise ResourceError(
                f"the alignment of {n_members:,} sequences has {n_columns:,} columns, but at most "
                f"{MOST_RESIDUES:,} are supported: leave out sequences that are unrelated to the others"
            )
        begins = np.repeat(offsets_of([item.n_columns for item in work.items])[:-1], sizes)
        met = np.repeat(n_members - sizes, sizes).astype(np.float32)
        for some, residues in places(self.batch.offsets, members):
            lengths = self.batch.lengths[members[some]]
            at = np.repeat(begins[some], lengths) + self.column_of[residues]
            self.sure[residues] += np.repeat(met[some], lengths) * aligned.confidence[at]
            self.met[residues] += np.repeat(met[some], lengths)
            self.column_of[residues] = aligned.columns[at]
        self._graft(work, aligned.tree)
        chosen = representatives(
            work.items, aligned.distance, aligned.tree, self.batch.lengths, self.division.n_representatives
        )
        self.items[work.number] = Item(members, n_columns, chosen)

    def _graft(self, work: _Work, tree: GuideTree) -> None:
        """Insert the tree of a group's items into the family's tree."""
        nodes = [self.node_of[k] for k in work.numbers]
        for left, right in tree.children.tolist():
            self.children.append((nodes[left], nodes[right]))
            nodes.append(len(self.batch) + len(self.children) - 1)
        self.branch_lengths[nodes[:-1]] = tree.branch_lengths[:-1]
        self.node_of[work.number] = nodes[-1]
