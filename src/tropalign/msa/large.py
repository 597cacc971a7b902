"""Alignments of large families: groups of a tree are aligned one by one, then groups of groups.

What is aligned at a time is a list of items: sequences, and groups that are aligned already (groups.py). All stages
after the posteriors (consistency, guide tree, progressive alignment, refinement) are those of small families.

    sequences --common subsequences--> tree --cut--> groups of at most N items, level by level, the last is the family

Exact: equal sequences are aligned once, and what the stages make of a group's items. Not exact: the tree, which comes
from distances without alignments; and what stands between two groups, for which their representatives speak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ResourceError
from tropalign.execution.progress import StageProgress
from tropalign.execution.task import Device, Progress
from tropalign.msa.checkpoint import N_SECTIONS, Checkpoint, NoCheckpoint
from tropalign.msa.family import MOST_RESIDUES, copied, unique_sequences, with_copies
from tropalign.msa.groups import (
    GroupAlignment,
    Item,
    ItemPair,
    Pool,
    Pooled,
    align_items,
    representatives,
    starting_columns,
)
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.large_memory import LargeMemoryEstimate
from tropalign.msa.large_tree import Group, divide, family_tree
from tropalign.msa.models import model_of
from tropalign.msa.options import MsaOptions
from tropalign.msa.task import sampled_row_elements
from tropalign.ragged import offsets_of, places
from tropalign.sequences.batch import SequenceBatch

#: Cells of the pairs whose posteriors are made at a time: a kill loses them.
BATCH_CELLS = 2_000_000_000
#: The share of the work that the tree of all sequences is taken for, for progress.
TREE_SHARE = 0.1


@dataclass(frozen=True)
class Division:
    """How a large family is divided.

    Attributes
    ----------
    most_items
        Items of a group.
    n_representatives
        Members that speak for a group.
    pooled_cutoff
        Posteriors of groups below it are dropped.
    """

    most_items: int = 16
    n_representatives: int = 8
    pooled_cutoff: float = 0.005


class LargeAlignment(NamedTuple):
    """An aligned large family.

    Attributes
    ----------
    columns : int32, shape (n_residues,)
        Of each residue, sequences one after another.
    tree : GuideTree
        As it was aligned: the trees of all groups, put together.
    residue_confidence : float32, shape (n_residues,)
        The mean over the levels of the confidence within a group, weighted by the sequences that are met there.
    column_confidence : float32, shape (n_columns,)
        The mean of the residues.
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
    """Aligns a family of any size, in time that grows with its pairs by a hundredth of what all posteriors take.

    Parameters
    ----------
    batch
        The family, of two sequences or more.
    options
        Of the stages; `keep` does not apply.
    devices, n_threads
        What computes posteriors, and threads for the rest.
    memory_bytes
        What may be taken beside the family; the alignment is the same for any.
    kept
        Stage 0 leaves the tree, stage 1 a part per group, by the group's place in the division.
    progress
        Receives the name of a stage and the share of all work that is done.

    Raises
    ------
    ResourceError
        The tree or a group takes more memory than is allowed, or an alignment gets more columns than 16 bits number.
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
    """A group on its way: its items with their numbers, and its alignment once it is there."""

    def __init__(
        self, number: int, numbers: Sequence[int], items: list[Item], aligned: GroupAlignment | None = None
    ) -> None:
        self.number, self.numbers, self.items, self.aligned = number, numbers, items, aligned
        self.pairs = np.stack(np.triu_indices(len(items), 1), 1).astype(np.int32)

    @property
    def n_pairs(self) -> int:
        """Pairs of items."""
        return len(self.pairs)

    def item_pairs(self) -> list[ItemPair]:
        """The items of each pair."""
        return [ItemPair(self.items[i], self.items[j]) for i, j in self.pairs.tolist()]


class _Family:
    """An alignment in the making."""

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
        model = model_of(batch.alphabet, options.rules)
        numbers = (options.cutoff, division.pooled_cutoff)
        self.pool = Pool(batch, starting_columns(batch), model, *numbers, devices, n_threads, room.most_rows)
        self.items = {k: Item(np.array([k]), int(size), (k,)) for k, size in enumerate(batch.lengths.tolist())}
        self.node_of = {k: k for k in range(len(batch))}  # of an item, in the tree of the family
        self.children: list[tuple[int, int]] = []
        self.branch_lengths = np.zeros(max(2 * len(batch) - 1, 1))
        self.sure, self.met = np.zeros(len(batch.codes)), np.zeros(len(batch.codes))  # sums over levels
        self.progress = progress
        self.done = 0.0

    def align(self) -> tuple[NDArray[np.int32], GuideTree, NDArray[np.float32]]:
        """Columns, tree and confidence of the residues."""
        n = len(self.batch)
        if n > 1:
            groups = divide(self._tree().children, self.division.most_items)
            self.done = TREE_SHARE
            work = sum(len(group.items) ** 2 for group in groups)
            for level in range(max(group.level for group in groups) + 1):
                numbered = [(n + k, one) for k, one in enumerate(groups) if one.level == level]
                self._align_level(numbered, (1 - TREE_SHARE) / work)
        tree = GuideTree(np.array(self.children, np.int32).reshape(-1, 2), self.branch_lengths)
        residues = np.where(self.met > 0, self.sure / np.maximum(self.met, 1), 1.0).astype(np.float32)
        return self.pool.column_of.astype(np.int32), tree, residues

    def _tree(self) -> GuideTree:
        """The tree by which the family is divided."""
        found = self.kept.get(0, 0)
        if found is not None:
            return GuideTree.from_bytes(found[0], len(self.batch))
        self._tell("tree", 0.0)
        tree = family_tree(self.batch, self.n_threads, self._watch("tree", TREE_SHARE))
        self.kept.put(0, 0, [tree.to_bytes(), *[b""] * (N_SECTIONS - 1)])
        return tree

    def _tell(self, stage: str, share: float) -> None:
        if self.progress is not None:
            self.progress(stage, min(share, 1.0))

    def _watch(self, stage: str, share: float) -> Callable[[int], Progress | None]:
        """Gives, for a number of items, what receives the items begun: they are this share of the work."""

        def of(n_items: int) -> Progress | None:
            if self.progress is None:
                return None
            return lambda begun: self._tell(stage, self.done + share * begun / max(n_items, 1))

        return of

    def _align_level(self, groups: list[tuple[int, Group]], unit_share: float) -> None:
        """Aligns groups that do not depend on one another."""
        for some in self._batches(groups):
            share = unit_share * sum(len(work.items) ** 2 for work in some)
            if wanted := [work for work in some if work.aligned is None]:
                pairs = [pair for work in wanted for pair in work.item_pairs()]
                found = self.pool.posteriors(pairs, self._watch("posteriors", share))
                self._tell("groups", self.done + share)
                self._align(wanted, found)
            self.done += share
            for work in some:
                assert work.aligned is not None  # for the type checker
                self._join(work, work.aligned)

    def _batches(self, groups: list[tuple[int, Group]]) -> Iterator[list[_Work]]:
        """Groups whose pairs of representatives have BATCH_CELLS cells together, and no more rows than have room."""
        some: list[_Work] = []
        cells = rows = 0
        for number, group in groups:
            found = self.kept.get(1, number - len(self.batch))
            aligned = None if found is None else GroupAlignment.of_sections(found, len(group.items))
            work = _Work(number, group.items, [self.items[k] for k in group.items], aligned)
            sizes = np.array([self.batch.lengths[list(item.representatives)].sum() for item in work.items])
            speakers = np.array([len(item.representatives) for item in work.items])
            work_rows = int((np.cumsum(sizes)[:-1] * speakers[1:]).sum()) if aligned is None else 0
            if some and (cells > BATCH_CELLS or rows + work_rows > self.room.most_rows):
                yield some
                some, cells, rows = [], 0, 0
            some.append(work)
            cells += int(sizes.sum()) ** 2 // 2 if aligned is None else 0
            rows += work_rows
        if some:
            yield some

    def _align(self, some: list[_Work], found: Pooled) -> None:
        """Each group on a thread, or where there are few on all threads; those that are done are kept."""
        bounds = np.concatenate([[0], np.cumsum([work.n_pairs for work in some])]).tolist()
        parts = [found.part(*span) for span in pairwise(bounds)]
        lengths = [np.array([item.n_columns for item in work.items]) for work in some]
        at_once = self.room.groups_at_once(lengths, [len(part.columns) for part in parts], len(found.columns))
        is_one_each = len(some) >= 2 * self.n_threads and at_once >= self.n_threads
        n_threads = 1 if is_one_each else self.n_threads
        stop = Event()

        def watch(_: int) -> None:
            if stop.is_set():
                raise CancelledError

        with ThreadPoolExecutor(self.n_threads if is_one_each else 1) as threads:
            waiting = [
                threads.submit(align_items, work.items, work.pairs, part, self.options, n_threads, watch)
                for work, part in zip(some, parts, strict=True)
            ]
            try:
                for work, one in zip(some, waiting, strict=True):
                    work.aligned = one.result()
                    self.kept.put(1, work.number - len(self.batch), work.aligned.sections())
            except BaseException:
                stop.set()
                threads.shutdown(cancel_futures=True)
                raise

    def _join(self, work: _Work, aligned: GroupAlignment) -> None:
        """Makes one item of a group: moves the residues of its members to their new columns."""
        n_columns = int(aligned.columns.max()) + 1
        members = np.concatenate([item.members for item in work.items])
        sizes = np.array([len(item.members) for item in work.items])
        n_members = len(members)
        if n_columns > MOST_RESIDUES:
            raise ResourceError(
                f"the alignment of {n_members:,} sequences gets {n_columns:,} columns, but {MOST_RESIDUES:,} is the "
                "most: leave out sequences that have little in common with the others"
            )
        begins = np.repeat(offsets_of([item.n_columns for item in work.items])[:-1], sizes)
        met = np.repeat(n_members - sizes, sizes).astype(np.float32)
        for some, residues in places(self.batch.offsets, members):
            lengths = self.batch.lengths[members[some]]
            at = np.repeat(begins[some], lengths) + self.pool.column_of[residues]
            self.sure[residues] += np.repeat(met[some], lengths) * aligned.confidence[at]
            self.met[residues] += np.repeat(met[some], lengths)
            self.pool.column_of[residues] = aligned.columns[at]
        self._graft(work, aligned.tree)
        chosen = representatives(
            work.items, aligned.distance, aligned.tree, self.batch.lengths, self.division.n_representatives
        )
        self.items[work.number] = Item(members, n_columns, chosen)

    def _graft(self, work: _Work, tree: GuideTree) -> None:
        """Puts the tree of a group's items into that of the family."""
        nodes = [self.node_of[k] for k in work.numbers]
        for left, right in tree.children.tolist():
            self.children.append((nodes[left], nodes[right]))
            nodes.append(len(self.batch) + len(self.children) - 1)
        self.branch_lengths[nodes[:-1]] = tree.branch_lengths[:-1]
        self.node_of[work.number] = nodes[-1]
