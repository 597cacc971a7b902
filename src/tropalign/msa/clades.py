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

from tropalign.msa.anchored import Anchored, align_anchored, identity_tree
from tropalign.msa.family import MOST_RESIDUES, FamilyInput, copied, unique_sequences, with_copies
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
#: Most items, clades and single members; and members that represent a clade.
MOST_ITEMS, REPRESENTATIVES = 32, 4
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
    """Align a family clade by clade; None if it has no or too many clades, or one that cannot be cut."""
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
    columns, confidence = column_of.astype(np.int32), sure.astype(np.float32)
    tree = identity_tree(unique, columns)
    if unique is not job.batch:
        columns, confidence = (copied(values, unique, copy_of) for values in (columns, confidence))
        tree, is_alone = with_copies(tree, first, copy_of), is_alone[copy_of]
    counts = np.bincount(columns)
    return Anchored(columns, tree, confidence, (np.bincount(columns, confidence) / counts).astype(np.float32), is_alone)


def clades_of(batch: SequenceBatch) -> list[NDArray[np.int64]] | None:
    """Return the members of each clade, those within RADIUS of its centre; None if there are more than MOST_ITEMS."""
    left, found = np.arange(len(batch)), list[NDArray[np.int64]]()
    while len(left):
        if len(found) == MOST_ITEMS:
            return None
        kinship = Kinship(batch[left])
        is_near = kinship.compared().distances <= RADIUS
        is_near[kinship.centre] = True
        found.append(left[is_near])
        left = left[~is_near]
    return found


def has_clade(batch: SequenceBatch, is_alone: NDArray[np.bool_]) -> bool:
    """True if members that are aligned with the centre alone are similar to one another."""
    alone = np.flatnonzero(is_alone)
    if len(alone) < LEAST_CLADE:
        return False
    return int((Kinship(batch[alone]).compared().distances <= RADIUS).sum()) >= LEAST_CLADE


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
