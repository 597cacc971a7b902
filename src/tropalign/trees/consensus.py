"""Consensus of trees: the splits that all of them have, or more than half (Margush and McMorris 1981)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError
from tropalign.execution.task import checked_progress
from tropalign.results.names import ConsensusRule
from tropalign.results.tree import DIGITS, Tree
from tropalign.trees.splits import branches_of, check_tree, label_of, numbers_of, sides_of, taxa_problem

CONSENSUS = get_args(ConsensusRule)


@dataclass(slots=True)
class _Counted:
    """A split: the taxa below its branch, the number of trees that have it, and their known branch lengths."""

    side: int
    n_below: int
    n_trees: int = 0
    n_lengths: int = 0
    total: float = 0.0

    @property
    def length(self) -> float:
        """Mean of the known lengths; NaN if all are missing."""
        return self.total / self.n_lengths if self.n_lengths else math.nan


def consensus_tree(
    trees: Iterable[Tree],
    rule: ConsensusRule = "majority",
    *,
    rooted: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Return the consensus of trees of the same taxa.

    Parameters
    ----------
    trees
        Trees, or an iterator of them, of which one is held at a time.
    rule : {"majority", "strict"}
        "majority": the splits that more than half of the trees have. "strict": those that all have.
    rooted
        Count clades, so that the consensus has a root. All trees must have one. By default splits are counted, and
        roots have no meaning.
    progress
        Receives the number of trees read; an exception that it raises stops the work.

    Returns
    -------
    Tree
        Its taxa are in the order of the first tree. `support` is the percentage of the trees that have each split,
        `lengths` the mean over those of them in which the branch has a length, and `n_samples` the number of trees.

    Raises
    ------
    InputError
        No tree; trees with different taxa; a tree without a root if `rooted`.
    UsageError
        The rule does not exist, or an object is no Tree.

    Examples
    --------
    >>> texts = ["((A:1,B:1):1,C:1,D:1);", "((A:1,B:1):2,C:1,D:1);", "((A:1,C:1):3,B:1,D:1);"]
    >>> consensus_tree(map(tropalign.trees.parse_tree, texts)).newick(1)
    '(A:1.0,B:1.0,(C:1.0,D:1.0)67:1.5);'
    """
    if rule not in CONSENSUS:
        raise UsageError(f"rule {rule!r} is none of {', '.join(CONSENSUS)}")
    progress = checked_progress(progress)
    names: tuple[str, ...] = ()
    numbers: dict[str, int] = {}
    found: dict[int, _Counted] = {}
    parts: dict[int, tuple[int, ...]] = {}  # sets of taxa of a node's children, by the node's own set
    n_trees, first = 0, ""
    for k, tree in enumerate([trees] if isinstance(trees, Tree) else trees):
        check_tree(tree, k, rooted=rooted)
        if not k:
            names, numbers, first = tree.names, numbers_of([tree]), f"tree {label_of(tree, 0)}"
        elif numbers.keys() != set(tree.names):
            problem = taxa_problem(set(numbers), set(tree.names), (first, f"tree {label_of(tree, k)}"))
            raise InputError(f"{problem}: a consensus is of trees with the same taxa")
        sides, n_below = sides_of(tree, numbers)
        for joined, side in zip(tree.children, sides[tree.n_taxa :], strict=True):
            if side not in parts:
                parts[side] = tuple([sides[child] for child in joined])
        for key, branch in branches_of(tree, sides, n_below, rooted=rooted).items():
            one = found.get(key)
            if one is None:
                one = found[key] = _Counted(branch.side, branch.n_below)
            one.n_trees += 1
            if not math.isnan(branch.length):
                one.n_lengths += 1
                one.total += branch.length
        n_trees += 1
        if progress is not None:
            progress(n_trees)
    if not n_trees:
        raise InputError("there is no tree: give one or more")
    least = n_trees if rule == "strict" else n_trees // 2 + 1
    kept = [one for one in found.values() if one.n_trees >= least]
    leaves = {numbers[name]: taxon for taxon, name in enumerate(names)}
    return _joined(names, [(_leaves_of(one.side, parts, leaves), one) for one in kept], n_trees, rooted)


def _leaves_of(side: int, parts: Mapping[int, tuple[int, ...]], leaves: Mapping[int, int]) -> NDArray[np.int64]:
    """Return the taxa of a set."""
    found, stack = [], [side]
    while stack:
        side = stack.pop()
        if side in leaves:
            found.append(leaves[side])
        else:
            stack.extend(parts[side])
    return np.array(found)


def _joined(
    names: tuple[str, ...], splits: Sequence[tuple[NDArray[np.int64], _Counted]], n_trees: int, rooted: bool
) -> Tree:
    """Make the tree of pairwise compatible splits.

    Without a root, a split stands for the clade that does not hold the first taxon, whose own branch then ends in the
    root. Clades are added from the smallest on: each joins the nodes that are above its taxa so far.
    """
    n = len(names)
    lengths, support = [math.nan] * n, [math.nan] * n
    clades = []
    for taxa, one in splits:
        if not rooted and (taxa == 0).any():
            taxa = np.setdiff1d(np.arange(n), taxa)
        if not rooted and len(taxa) == n - 1:
            lengths[0] = one.length
        elif len(taxa) == 1:
            lengths[taxa[0]] = one.length
        else:
            clades.append((len(taxa), int(taxa.min()), taxa, one))
    if n == 2 and not rooted:
        lengths = [lengths[0] / 2] * 2
    top = np.arange(n)  # the node above each taxon so far
    children: list[tuple[int, ...]] = []
    for _, _, taxa, one in sorted(clades, key=lambda clade: clade[:2]):
        children.append(_tops(top[np.sort(taxa)]))
        top[taxa] = len(lengths)
        lengths.append(one.length)
        support.append(100.0 * one.n_trees / n_trees)
    children.append(_tops(top))
    is_known = len(children) > 1
    of_nodes = np.array([*support, math.nan]) if is_known else None
    return Tree(names, tuple(children), np.array([*lengths, 0.0]), of_nodes, n_samples=n_trees, digits=DIGITS)


def _tops(nodes: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the different nodes, in the order of their first taxa."""
    return tuple(dict.fromkeys(nodes.tolist()))
