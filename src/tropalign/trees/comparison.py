"""Comparison of trees: Robinson-Foulds and branch-score distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from tropalign.errors import InputError, named
from tropalign.execution.task import checked_progress
from tropalign.results.tree import Tree
from tropalign.results.tree_comparisons import TreeComparisons
from tropalign.trees.splits import branches_of, check_tree, is_inner, label_of, numbers_of, sides_of, taxa_problem


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
            _check_common(here, there, (f"tree {label_of(one, k)}", where), common_taxa)
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


def _check_common(here: set[str], there: set[str], labels: tuple[str, str], common_taxa: bool) -> None:
    """Raise InputError if trees with these different taxa cannot be compared."""
    if not common_taxa:
        problem = taxa_problem(here, there, labels)
        raise InputError(f"{problem}: {named('common_taxa')} compares the trees without such taxa")
    if len(here & there) < 2:
        count = "one taxon" if here & there else "no taxon"
        raise InputError(f"{labels[0]} and {labels[1]} have {count} in common: give trees that have two or more")


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
