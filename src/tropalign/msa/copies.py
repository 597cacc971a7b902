"""Equal sequences, of which one is aligned for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.msa.guide_tree import GuideTree
from tropalign.sequences.batch import SequenceBatch


def unique_sequences(batch: SequenceBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of each kind of equal sequences, and for each sequence the position of its equal among those."""
    codes, offsets = batch.codes.tobytes(), batch.offsets.tolist()
    seen: dict[bytes, int] = {}
    first: list[int] = []
    copy_of = np.zeros(len(batch), np.int64)
    for k in range(len(batch)):
        copy_of[k] = seen.setdefault(codes[offsets[k] : offsets[k + 1]], len(seen))
        if len(seen) > len(first):
            first.append(k)
    return np.array(first), copy_of


def copied(values: NDArray[Any], unique: SequenceBatch, copy_of: NDArray[np.int64]) -> NDArray[Any]:
    """What belongs to the residues of unique sequences, for all sequences."""
    return np.concatenate([values[unique.offsets[k] : unique.offsets[k + 1]] for k in copy_of])


def with_copies(tree: GuideTree, first: NDArray[np.int64], copy_of: NDArray[np.int64]) -> GuideTree:
    """A tree of unique sequences with their copies beside them, at no distance."""
    n, n_unique = len(copy_of), len(first)
    node_of = np.concatenate([first, np.zeros(n_unique - 1, np.int64)])
    children: list[tuple[int, int]] = []
    lengths = np.zeros(2 * n - 1)
    is_first = np.zeros(n, bool)
    is_first[first] = True
    for k in np.flatnonzero(~is_first).tolist():
        children.append((int(node_of[copy_of[k]]), k))
        node_of[copy_of[k]] = n + len(children) - 1
    for step, (left, right) in enumerate(tree.children.tolist()):
        children.append((int(node_of[left]), int(node_of[right])))
        node_of[n_unique + step] = n + len(children) - 1
    lengths[node_of] = tree.branch_lengths
    return GuideTree(np.array(children, np.int32).reshape(-1, 2), lengths)
