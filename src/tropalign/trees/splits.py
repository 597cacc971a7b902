"""Comparison and consensus of trees, by their branches as splits of the taxa, or as clades.

Each taxon has a random number of 128 bits, and a set of taxa is the exclusive or of its numbers:

    ((A,B),C,D)    the branch above the node of A and B:  a ^ b,  or from its other side  c ^ d

A split is the smaller of its two numbers; a clade, for trees with a root, is the number of the taxa below the branch.
The probability that any two of a billion different sets share a number is below 1e-20.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named
from tropalign.execution.task import checked_progress
from tropalign.results.names import ConsensusRule
from tropalign.results.tree import DIGITS, Tree, TreeComparisons


class Branch(NamedTuple):
    """A branch: its length (NaN if missing), and the hash and the count of the taxa below it."""

    length: float
    side: int
    n_below: int


def numbers_of(trees: Iterable[Tree]) -> dict[str, int]:
    """Return a random number for each taxon of the trees."""
    draw = Random(0)
    found: dict[str, int] = {}
    for tree in trees:
        for name in tree.names:
            if name not in found:
                found[name] = draw.getrandbits(128)
    return found


def sides_of(tree: Tree, numbers: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Return, per node, the hash and the count of the taxa below it; taxa without a number do not count."""
    sides = [numbers.get(name, 0) for name in tree.names]
    n_below = [int(name in numbers) for name in tree.names]
    for joined in tree.children:
        side = 0
        for child in joined:
            side ^= sides[child]
        sides.append(side)
        n_below.append(sum([n_below[child] for child in joined]))
    return sides, n_below


def branches_of(tree: Tree, sides: list[int], n_below: list[int], *, rooted: bool = False) -> dict[int, Branch]:
    """Return the branches of a tree by the numbers of their splits, or of their clades if `rooted`.

    `sides`, `n_below`: of `sides_of`; the result is that of the tree without the taxa that have no number. Branches of
    one split, such as the two at a root, are one, whose length is their sum.

    >>> tree = tropalign.trees.parse_tree("((A:1,B:2):0.5,(C:3,D:4):1);")
    >>> found = branches_of(tree, *sides_of(tree, {"A": 1, "B": 2, "C": 4, "D": 8}))
    >>> {key: branch.length for key, branch in found.items()}
    {1: 1.0, 2: 2.0, 4: 3.0, 7: 4.0, 3: 1.5}
    """
    whole, n_taxa = sides[-1], n_below[-1]
    found: dict[int, Branch] = {}
    for side, count, length in zip(sides[:-1], n_below, tree.lengths.tolist(), strict=False):
        if 0 < count < n_taxa:
            key = side if rooted else min(side, whole ^ side)
            known = found.get(key)
            if known is not None:
                parts = [part for part in (known.length, length) if not math.isnan(part)]
                found[key] = known._replace(length=sum(parts) if parts else math.nan)
            else:
                found[key] = Branch(length, side, count)
    return found


def is_inner(branch: Branch, n_taxa: int, *, rooted: bool = False) -> bool:
    """True if a branch is informative: at least two taxa below it and, without a root, two above it."""
    return 2 <= branch.n_below <= n_taxa - (1 if rooted else 2)


def check_tree(tree: Tree, k: int, *, rooted: bool) -> None:
    """Raise UsageError if the k-th item (from 0) is not a Tree, InputError if it needs a root and has none."""
    if not isinstance(tree, Tree):
        raise UsageError(f"an object of type {type(tree).__name__} is not a Tree: make one with parse_tree")
    if rooted and not tree.is_rooted:
        problem = f"tree {label_of(tree, k)} has no root: its last node joins {len(tree.children[-1])} branches"
        raise InputError(f"{problem}; root it, or leave {named('rooted')} out")


def label_of(tree: Tree, k: int) -> str:
    """Return the name of tree k (from 0), or its number from 1 if it has no name."""
    return tree.name or str(k + 1)


def taxa_problem(one: set[str], other: set[str], names: tuple[str, str]) -> str:
    """Return how the taxa of two trees differ.

    >>> taxa_problem({"A", "B", "C"}, {"A", "B"}, ("tree 1", "tree 2"))
    "taxon 'C' of tree 1 is not in tree 2"
    """
    here = min(one - other, default=None)
    first, second = names if here is not None else reversed(names)
    which = here if here is not None else min(other - one)
    more = len(one ^ other) - 1
    also = f" ({more:,} more {'differs' if more == 1 else 'differ'})" if more else ""
    return f"taxon {which!r} of {first} is not in {second}{also}"


class _Compared(NamedTuple):
    """Compared properties of a tree: branch lengths by split, and the non-trivial splits."""

    lengths: dict[int, float]
    splits: frozenset[int]


def compare_trees(
    trees: Tree | Iterable[Tree],
    others: Tree | Iterable[Tree] | None = None,
    *,
    rooted: bool = False,
    common_taxa: bool = False,
    progress: Callable[[int], object] | None = None,
) -> TreeComparisons:
    """Compare each tree with each of the others: how many splits differ, and how much branch lengths do.

    Robinson and Foulds' distance (1981) is the number of splits that one of two trees has and the other has not. The
    branch score of Kuhner and Felsenstein (1994) is the square root of the sum of the squared differences of branch
    lengths, over all splits, trivial ones too; a branch that a tree does not have has length 0. Weighted
    Robinson-Foulds is the sum of the absolute differences.

    Parameters
    ----------
    trees
        Trees.
    others
        Trees to compare them with. By default each pair of `trees` is compared once.
    rooted
        Compare clades, and thereby roots, which all trees must have. By default splits are compared, and roots have no
        meaning.
    common_taxa
        Compare the trees without the taxa that only one of them has. By default such trees are an error.
    progress
        Receives the number of pairs compared; an exception that it raises stops the work.

    Returns
    -------
    TreeComparisons
        A row per pair of trees.

    Raises
    ------
    InputError
        Trees with different taxa, unless `common_taxa`; fewer than two common taxa; a tree without a root if `rooted`;
        no pair of trees.
    UsageError
        An object is no Tree.

    Examples
    --------
    >>> parse_tree = tropalign.trees.parse_tree
    >>> one, other = parse_tree("((A:1,B:1):1,C:1,(D:1,E:1):2);"), parse_tree("((A:1,B:1):4,D:1,(C:1,E:1):1);")
    >>> found = compare_trees(one, other)
    >>> found.rf.tolist(), found.normalised_rf.tolist(), found.branch_score.tolist()
    ([2], [0.5], [3.7416573867739413])
    """
    progress = checked_progress(progress)
    lefts = _checked(trees, rooted)
    rights = lefts if others is None else _checked(others, rooted)
    if others is None and len(lefts) < 2:
        raise InputError("there is one tree, and two are compared: give another")
    pairs: Iterator[tuple[int, int]] = combinations(range(len(lefts)), 2)
    if others is not None:
        pairs = product(range(len(lefts)), range(len(rights)))
    numbers = numbers_of([*lefts, *rights])
    taxa = {id(tree): set(tree.names) for tree in (*lefts, *rights)}
    whole: dict[int, _Compared] = {}

    def of_all(tree: Tree) -> _Compared:
        if id(tree) not in whole:
            whole[id(tree)] = _compared(tree, numbers, rooted)
        return whole[id(tree)]

    rows = []
    for done, (k, j) in enumerate(pairs, 1):
        one, other = lefts[k], rights[j]
        here, there = taxa[id(one)], taxa[id(other)]
        if here == there:
            two = of_all(one), of_all(other)
        else:
            common = here & there
            where = f"tree {label_of(other, j)}" + ("" if others is None else " of the others")
            labels = f"tree {label_of(one, k)}", where
            if not common_taxa:
                problem = taxa_problem(here, there, labels)
                raise InputError(f"{problem}: {named('common_taxa')} compares the trees without such taxa")
            if len(common) < 2:
                count = "one taxon" if common else "no taxon"
                raise InputError(
                    f"{labels[0]} and {labels[1]} have {count} in common: give trees that have two or more"
                )
            those = {name: numbers[name] for name in common}
            two = _compared(one, those, rooted), _compared(other, those, rooted)
        rows.append((k, j, len(here & there), *_distances(*two)))
        if progress is not None:
            progress(done)
    index, other_index, n_taxa, rf, max_rf, branch_score, weighted_rf = zip(*rows, strict=True)
    counts = {"index": index, "other_index": other_index, "n_taxa": n_taxa, "rf": rf, "max_rf": max_rf}
    return TreeComparisons(
        names=tuple(label_of(tree, k) for k, tree in enumerate(lefts)),
        other_names=tuple(label_of(tree, k) for k, tree in enumerate(rights)),
        **{name: np.array(values, np.int64) for name, values in counts.items()},
        branch_score=np.array(branch_score, np.float64),
        weighted_rf=np.array(weighted_rf, np.float64),
        is_each_pair=others is None,
    )


def _checked(trees: Tree | Iterable[Tree], rooted: bool) -> list[Tree]:
    """Return the trees as a list. Raises as `compare_trees` does."""
    found = list(trees) if isinstance(trees, Iterable) else [trees]
    for k, tree in enumerate(found):
        check_tree(tree, k, rooted=rooted)
    if not found:
        raise InputError("there is no tree: give one or more")
    return found


def _compared(tree: Tree, numbers: dict[str, int], rooted: bool) -> _Compared:
    """Return a tree's compared properties, ignoring taxa without a number."""
    sides, n_below = sides_of(tree, numbers)
    branches = branches_of(tree, sides, n_below, rooted=rooted)
    inner = (key for key, branch in branches.items() if is_inner(branch, n_below[-1], rooted=rooted))
    return _Compared({key: branch.length for key, branch in branches.items()}, frozenset(inner))


def _distances(one: _Compared, other: _Compared) -> tuple[int, int, float, float]:
    """Return Robinson-Foulds and its maximum, the branch score, and weighted Robinson-Foulds."""
    a, b = one.lengths, other.lengths
    differences = [a[key] - b.get(key, 0.0) for key in a] + [b[key] for key in b.keys() - a.keys()]
    rf = len(one.splits ^ other.splits)
    score = math.sqrt(math.fsum([difference * difference for difference in differences]))
    return rf, len(one.splits) + len(other.splits), score, math.fsum(map(abs, differences))


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
