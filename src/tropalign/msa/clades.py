"""Families of several clades, each of them similar: every clade is cut (anchored.py), then the clades are aligned.

clade   a  MKVLAWMKT            a clade's alignment is one item with columns instead of residues, as in groups.py;
        b  MKILAWMKT            some of its members represent it in the posteriors of two items
clade   c  MRV--WMRT
        d  MRVI-WMRS
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.msa.anchored import Anchored, align_anchored, identity_tree, is_similar
from tropalign.msa.family import (
    MOST_RESIDUES,
    FamilyInput,
    copied,
    foreign_members,
    is_long,
    unique_sequences,
    with_copies,
)
from tropalign.msa.groups import Item, ItemPair, Pool, align_items
from tropalign.msa.models import model_of
from tropalign.msa.star import Kinship
from tropalign.ragged import offsets_of

if TYPE_CHECKING:
    from tropalign.execution.progress import StageProgress
    from tropalign.execution.task import Device
    from tropalign.results.multiple import MultipleAlignment
    from tropalign.sequences.batch import SequenceBatch

#: Greatest distance from the centre of a clade, by k-mers: so that most columns are certain.
RADIUS = 0.1
#: Least members that are a clade instead of strangers.
LEAST_CLADE = 3
#: Most items (clades and single members), also as a share of the members; and members that represent a clade.
MOST_ITEMS, MOST_SHARE, REPRESENTATIVES = 32, 1 / 4, 4
#: Share of the cells of all pairs of the family that pairs of representatives have, at most; or cells (seconds).
MOST_CELLS, FEW_CELLS = 1 / 50, 2e9
#: Posteriors of items below this one are dropped, as in effort fast.
POOLED_CUTOFF = 0.005


def align_clades(
    job: FamilyInput,
    align: Callable[[FamilyInput], MultipleAlignment],
    devices: Sequence[Device],
    n_threads: int,
    memory_bytes: int,
    progress: StageProgress | None = None,
) -> Anchored | None:
    """Align a family clade by clade; None if it has no or too many clades, or one that cannot be cut.

    `Anchored.is_alone` of the result: members of foreign clades, too.
    """
    first, copy_of = unique_sequences(job.batch)
    unique = job.batch[first] if len(first) < len(job.batch) else job.batch
    groups = clades_of(unique)
    if groups is None or len(groups) < 2:
        return None
    n_representatives = _affordable(unique, len(groups))
    if not n_representatives:
        return None
    column_of = np.zeros(len(unique.codes), np.int64)
    sure = np.ones(len(unique.codes), np.float64)
    items: list[Item] = []
    is_alone = np.zeros(len(unique), bool)
    for group in groups:
        residues = _residues(unique, group)
        if len(group) == 1:
            column_of[residues] = np.arange(len(residues))
            items.append(Item(group, len(residues), (int(group[0]),)))
            continue
        found = align_anchored(replace(job, batch=unique[group]), align, n_threads, memory_bytes)
        if found is None or int(found.columns.max()) >= MOST_RESIDUES:
            return None
        column_of[residues], sure[residues], is_alone[group] = found.columns, found.residue_confidence, found.is_alone
        order = group[[k for k in found.tree.leaf_order() if not found.is_alone[k]]]
        items.append(Item(group, int(found.columns.max()) + 1, _spread(order, unique.lengths, n_representatives)))
        if progress is not None:
            progress("clades", 0.5 * len(items) / len(groups))
    model = model_of(unique.alphabet, job.options.rules)
    pool = Pool(unique, column_of.astype(np.uint16), model, job.options.cutoff, POOLED_CUTOFF, devices, n_threads)
    pairs = np.stack(np.triu_indices(len(items), 1), 1).astype(np.int32)
    posteriors = pool.posteriors(ItemPair(items[a], items[b]) for a, b in pairs.tolist())
    aligned = align_items(items, pairs, posteriors, job.options, n_threads)
    begins = offsets_of([item.n_columns for item in items])
    for item, begin in zip(items, begins[:-1].tolist(), strict=True):
        residues, n_own = _residues(unique, item.members), len(item.members)
        at = begin + column_of[residues]
        column_of[residues] = aligned.columns[at]
        sure[residues] = ((n_own - 1) * sure[residues] + (len(unique) - n_own) * aligned.confidence[at]) / (
            len(unique) - 1
        )
    if job.options.judges_members:
        foreign = foreign_members(aligned.distance, unique[np.array([item.representatives[0] for item in items])])
        is_alone[np.concatenate([*(items[k].members for k in foreign), np.zeros(0, np.int64)])] = True
    columns, confidence = column_of.astype(np.int32), sure.astype(np.float32)
    tree = identity_tree(unique, columns)
    if unique is not job.batch:
        columns, confidence = (copied(values, unique, copy_of) for values in (columns, confidence))
        tree, is_alone = with_copies(tree, first, copy_of), is_alone[copy_of]
    counts = np.bincount(columns)
    return Anchored(columns, tree, confidence, (np.bincount(columns, confidence) / counts).astype(np.float32), is_alone)


def may_be_cut(job: FamilyInput) -> bool:
    """True if the family is large, long and similar, or consists of such clades."""
    return is_long(job) and (is_similar(job.batch) or clades_of(job.batch) is not None)


def clades_of(batch: SequenceBatch) -> list[NDArray[np.int64]] | None:
    """Return the members of each clade, those within RADIUS of its centre; None if they are too many."""
    left, found = np.arange(len(batch)), list[NDArray[np.int64]]()
    most = int(min(MOST_ITEMS, MOST_SHARE * len(batch)))
    while len(left):
        kinship = Kinship(batch[left])
        is_near = kinship.compared().distances <= RADIUS
        is_near[kinship.centre] = True
        found.append(left[is_near])
        left = left[~is_near]
        if len(left) > (most - len(found)) * len(found[-1]):  # the largest come first, more or less
            return None
    return found


def has_clades(batch: SequenceBatch) -> bool:
    """True if the family has several clades, and not one clade and strangers."""
    return sum(len(group) >= LEAST_CLADE for group in clades_of(batch) or []) > 1


def _affordable(batch: SequenceBatch, n_items: int) -> int:
    """Return how many members may represent a clade, so that their pairs do not take long; 0 if not even one."""
    lengths = batch.lengths.astype(float)
    whole = (lengths.sum() ** 2 - (lengths**2).sum()) / 2
    of_one = n_items * (n_items - 1) / 2 * lengths.mean() ** 2
    return min(REPRESENTATIVES, int((max(FEW_CELLS, MOST_CELLS * whole) / of_one) ** 0.5))


def _residues(batch: SequenceBatch, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of the residues of some members, one member after another."""
    lengths = batch.lengths[members]
    return np.arange(lengths.sum()) + np.repeat(batch.offsets[members] - offsets_of(lengths)[:-1], lengths)


def _spread(order: NDArray[np.int64], lengths: NDArray[np.int64], most: int) -> tuple[int, ...]:
    """Return members from stretches along a tree, the longest one of each."""
    stretches = np.array_split(order, min(most, len(order)))
    return tuple(int(stretch[lengths[stretch].argmax()]) for stretch in stretches)
