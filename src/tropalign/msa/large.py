"""Alignments of large families: groups of a tree are aligned one by one, then groups of groups.

What is aligned at a time is a list of items: sequences, and groups that are aligned already (groups.py). All stages
after the posteriors (consistency, guide tree, progressive alignment, refinement) are those of small families.

    sequences --common subsequences--> tree --cut--> groups of at most N items, level by level, the last is the family

Exact: equal sequences are aligned once, and what the stages make of a group's items. Not exact: the tree, which comes
from distances without alignments; and what stands between two groups, for which their representatives speak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ResourceError
from tropalign.execution.progress import StageProgress
from tropalign.execution.task import Device, Progress
from tropalign.msa.copies import copied, unique_sequences, with_copies
from tropalign.msa.families import Group, divide
from tropalign.msa.family import MOST_RESIDUES
from tropalign.msa.group_alignment import GroupAlignment, align_items, representatives
from tropalign.msa.groups import Item, ItemPair, Pool, Pooled, starting_columns
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.models import model_of
from tropalign.msa.options import MsaOptions
from tropalign.msa.sampled_tree import family_tree
from tropalign.sequences.batch import SequenceBatch

#: Cells of the pairs whose posteriors are made at a time.
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

    most_items: int = 48
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
    progress
        Receives the name of a stage and the share of all work that is done.

    Raises
    ------
    ResourceError
        An alignment gets more columns than 16 bits number.
    """
    first, copy_of = unique_sequences(batch)
    unique = batch[first] if len(first) < len(batch) else batch
    columns, tree, residues = _Family(unique, options, devices, n_threads, progress, division or Division()).align()
    if unique is not batch:
        columns, residues = (copied(values, unique, copy_of) for values in (columns, residues))
        tree = with_copies(tree, first, copy_of)
    counts = np.bincount(columns)
    return LargeAlignment(columns, tree, residues, (np.bincount(columns, residues) / counts).astype(np.float32))


class _Work:
    """A group on its way: its items with their numbers, and the posteriors of all pairs of them."""

    def __init__(self, number: int, numbers: Sequence[int], items: list[Item]) -> None:
        self.number, self.numbers, self.items = number, numbers, items
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
        progress: StageProgress | None,
        division: Division,
    ) -> None:
        self.batch, self.options, self.n_threads, self.division = batch, options, n_threads, division
        model = model_of(batch.alphabet, options.rules)
        columns = starting_columns(batch)
        self.pool = Pool(batch, columns, model, options.cutoff, division.pooled_cutoff, devices, n_threads)
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
            self._tell("tree", 0.0)
            whole = family_tree(self.batch, self.n_threads, self._watch("tree", TREE_SHARE))
            groups = divide(whole.children, self.division.most_items)
            self.done = TREE_SHARE
            work = sum(len(group.items) ** 2 for group in groups)
            for level in range(max(group.level for group in groups) + 1):
                numbered = [(n + k, one) for k, one in enumerate(groups) if one.level == level]
                self._align_level(numbered, (1 - TREE_SHARE) / work)
        tree = GuideTree(np.array(self.children, np.int32).reshape(-1, 2), self.branch_lengths)
        residues = np.where(self.met > 0, self.sure / np.maximum(self.met, 1), 1.0).astype(np.float32)
        return self.pool.column_of.astype(np.int32), tree, residues

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
            pairs = [pair for work in some for pair in work.item_pairs()]
            found = self.pool.posteriors(pairs, self._watch("posteriors", share))
            bounds = np.concatenate([[0], np.cumsum([work.n_pairs for work in some])]).tolist()
            parts = [found.part(*span) for span in pairwise(bounds)]
            self.done += share
            self._tell("groups", self.done)
            for work, part, aligned in zip(some, parts, self._aligned(some, parts), strict=True):
                self._join(work, part.distance, aligned)

    def _batches(self, groups: list[tuple[int, Group]]) -> Iterator[list[_Work]]:
        """Groups whose pairs of representatives have about BATCH_CELLS cells together."""
        some: list[_Work] = []
        cells = 0
        for number, group in groups:
            some.append(_Work(number, group.items, [self.items[k] for k in group.items]))
            sizes = [int(self.batch.lengths[list(item.representatives)].sum()) for item in some[-1].items]
            cells += sum(sizes) ** 2 // 2
            if cells > BATCH_CELLS:
                yield some
                some, cells = [], 0
        if some:
            yield some

    def _aligned(self, some: list[_Work], parts: list[Pooled]) -> list[GroupAlignment]:
        """Each group on a thread, or where there are few on all threads."""
        is_one_each = len(some) >= 2 * self.n_threads
        n_threads = 1 if is_one_each else self.n_threads
        with ThreadPoolExecutor(self.n_threads if is_one_each else 1) as threads:
            waiting = [
                threads.submit(align_items, work.items, work.pairs, found, self.options, n_threads)
                for work, found in zip(some, parts, strict=True)
            ]
            try:
                return [one.result() for one in waiting]
            except BaseException:
                threads.shutdown(cancel_futures=True)
                raise

    def _join(self, work: _Work, distance: NDArray[np.float32], aligned: GroupAlignment) -> None:
        """Makes one item of a group: moves the residues of its members to their new columns."""
        n_columns = int(aligned.columns.max()) + 1
        n_members = sum(len(item.members) for item in work.items)
        if n_columns > MOST_RESIDUES:
            raise ResourceError(
                f"the alignment of {n_members:,} sequences gets {n_columns:,} columns, but {MOST_RESIDUES:,} is the "
                "most: leave out sequences that have little in common with the others"
            )
        begins = np.concatenate([[0], np.cumsum([item.n_columns for item in work.items])])
        offsets, column_of = self.batch.offsets, self.pool.column_of
        for item, begin in zip(work.items, begins.tolist(), strict=False):
            for k in item.members.tolist():
                residues = slice(offsets[k], offsets[k + 1])
                at = begin + column_of[residues].astype(np.int64)
                self.sure[residues] += (n_members - len(item.members)) * aligned.confidence[at]
                self.met[residues] += n_members - len(item.members)
                column_of[residues] = aligned.columns[at]
        self._graft(work, aligned.tree)
        members = np.concatenate([item.members for item in work.items])
        chosen = representatives(
            work.items, distance, aligned.tree, self.batch.lengths, self.division.n_representatives
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
