"""Branches of trees as splits of the taxa, or as clades, to compare them between trees.

Each taxon has a random number of 128 bits, and a set of taxa is the exclusive or of its numbers:

    ((A,B),C,D)    the branch above the node of A and B:  a ^ b,  or from its other side  c ^ d

A split is the smaller of its two numbers; a clade, for trees with a root, is the number of the taxa below the branch.
The probability that any two of a billion different sets share a number is below 1e-20.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from random import Random
from typing import NamedTuple

from tropalign.errors import InputError, UsageError, named
from tropalign.results.tree import Tree


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
