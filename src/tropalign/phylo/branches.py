"""Which vectors of a tree's branches come from which, as native code takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.phylo import transitions
from tropalign.phylo.states import StateAlphabet
from tropalign.phylo.tree import Tree

if TYPE_CHECKING:
    from tropalign._native import BranchMaker


def branch_maker(
    tree: Tree,
    letters: NDArray[np.uint8],
    row: list[int],
    columns: NDArray[np.int64],
    states: StateAlphabet,
    gap_flags: str,
    share: float,
    n_threads: int,
) -> BranchMaker:
    """What makes vectors of branches, from two directional ones each: what is below it, and all the rest.

    Parameters
    ----------
    letters : uint8, shape (n_rows, n_columns)
    row
        The alignment's row of each tip.
    columns : int64
        Columns that take part.
    gap_flags, share
        How a branch's column becomes a gap column, and the share of gaps in the alignment.
    """
    from tropalign import _native

    plan = _Plan(tree)
    lengths = np.array(plan.lengths)
    table = transitions.exact(share, lengths) if gap_flags == "exact" else transitions.compatible(share, lengths)
    joints, branches = np.array(plan.joints, np.int32).reshape(-1, 5), np.array(plan.branches, np.int32)
    alignment = (np.ascontiguousarray(letters), np.array(row, np.int64), columns, states.sets, states.n_states)
    return _native.BranchMaker(*alignment, joints, branches, table, gap_flags == "discrete", n_threads)


class _Plan:
    """Which directional vector comes from which, as native code takes it."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.joints, self.branches = tree, list[tuple[int, ...]](), list[tuple[int, int, int]]()
        self.lengths: list[float] = []
        self._of_length: dict[float, int] = {}
        tips = tree.tips
        self.n_vectors = len(tips)
        self._below = {tip: k for k, tip in enumerate(tips)}
        self._above: dict[int, int] = {}
        for node in range(len(tree.children) - 1, 0, -1):
            if tree.children[node]:
                one, other = tree.children[node]
                self._below[node] = self._join(one, self._below[one], other, self._below[other])
        self._from_the_root()
        for node in range(1, len(tree.children)):
            if tree.children[node]:
                one, other = tree.children[node]
                self._above[one] = self._join(node, self._above[node], other, self._below[other])
                self._above[other] = self._join(node, self._above[node], one, self._below[one])
        for node, length in zip(tree.branches(), tree.branch_lengths().tolist(), strict=True):
            self.branches.append((self._below[node], self._above[node], self._transition(length)))

    def _from_the_root(self) -> None:
        root = self.tree.children[0]
        if len(root) == 2:
            one, other = root
            self._above[one], self._above[other] = self._below[other], self._below[one]
            return
        for k, child in enumerate(root):
            one, other = (node for j, node in enumerate(root) if j != k)
            self._above[child] = self._join(one, self._below[one], other, self._below[other])

    def _join(self, one: int, of_one: int, other: int, of_other: int) -> int:
        """A vector from those at the far ends of the branches above two nodes."""
        self.joints.append((self.n_vectors, of_one, self._above_node(one), of_other, self._above_node(other)))
        self.n_vectors += 1
        return self.n_vectors - 1

    def _above_node(self, node: int) -> int:
        length = float(self.tree.lengths[node])
        root = self.tree.children[0]
        if len(root) == 2 and node in root:
            length = float(self.tree.lengths[root[0]] + self.tree.lengths[root[1]])
        return self._transition(length)

    def _transition(self, length: float) -> int:
        if length not in self._of_length:
            self._of_length[length] = len(self.lengths)
            self.lengths.append(length)
        return self._of_length[length]
