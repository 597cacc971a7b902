"""The items of a group aligned by the stages of small families, and which of its sequences stand for it then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.task import Progress
from tropalign.msa.consistency import CONSISTENCY_RULES, SPLITS, relax
from tropalign.msa.groups import Item, Pooled
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.options import MsaOptions


class GroupAlignment(NamedTuple):
    """What the stages make of a group's items.

    Attributes
    ----------
    columns : int32
        Of each column of the items, items one after another.
    tree : GuideTree
        Whose leaves are the items.
    confidence : float32
        Of each column of the items.
    distance : float32, shape (n_pairs,)
        Of the items: (0,1), (0,2) .. (1,2) ..
    """

    columns: NDArray[np.int32]
    tree: GuideTree
    confidence: NDArray[np.float32]
    distance: NDArray[np.float32]

    def sections(self) -> list[bytes]:
        """As bytes for the disk; `of_sections` makes the alignment of them again."""
        return [self.columns.tobytes(), self.tree.to_bytes(), self.confidence.tobytes(), self.distance.tobytes()]

    @classmethod
    def of_sections(cls, parts: Sequence[bytes], n_items: int) -> GroupAlignment:
        """From what `sections` made."""
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
    """Aligns items by the posteriors of their pairs: guide tree, consistency, progressive alignment, refinement.

    Parameters
    ----------
    pairs : int32, shape (n_pairs, 2)
        All of them: (0,1), (0,2) .. (1,2) ..
    progress
        Called now and then; what it raises ends the work.
    """
    from tropalign import _native

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
    # of the probabilities, not of what consistency makes of them
    confidence, _ = _native.confidence(as_found, columns, weights, n_threads, progress)
    return GroupAlignment(columns, tree, confidence, found.distance)


def representatives(
    items: Sequence[Item], distance: NDArray[np.float32], tree: GuideTree, lengths: NDArray[np.int64], most: int
) -> tuple[int, ...]:
    """Sequences that stand for a group, one from each of `most` stretches along its tree.

    Of a stretch the one is taken that shares the most residues with the others: close to all of them, and no fragment.

    Parameters
    ----------
    distance : float32, shape (n_pairs,)
        Of the items: (0,1), (0,2) .. (1,2) ..
    lengths
        Of all sequences.
    """
    candidates = [(k, one) for k in tree.leaf_order() for one in items[k].representatives]
    of_item = np.array([k for k, _ in candidates])
    counts = np.array([len(items[k].members) / len(items[k].representatives) for k, _ in candidates])
    length = lengths[[one for _, one in candidates]].astype(np.float64)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    stretch = np.minimum((middle * most).astype(np.int64), most - 1)
    chosen = []
    for k in np.unique(stretch):
        within = np.flatnonzero(stretch == k)
        near = 1 - among(distance, of_item[within], len(items))
        shared = near * np.minimum(length[within, None], length[within])
        chosen.append(candidates[within[(shared @ counts[within]).argmax()]][1])
    return tuple(chosen)


def among(distance: NDArray[np.float32], some: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """The distances of some of n items with one another as a square; 0 of an item with itself."""
    low, high = np.minimum(some[:, None], some), np.maximum(some[:, None], some)
    place = low * (2 * n - low - 1) // 2 + high - low - 1
    return np.where(low == high, 0.0, distance[np.where(low == high, 0, place)])
