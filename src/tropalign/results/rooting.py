"""Rooting of trees at an outgroup or at the midpoint.

Support belongs to branches: rerooting may reverse a branch, but the support of its split stays with it. A name
belongs to its node, as in other programs, even if rerooting changes what lies below that node:

    ((A,B)90,C,D)  rooted at A  -->  (A,(B,(C,D)90))           ((A,B)x,C,D)  -->  (A,(B,(C,D))x)
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tropalign.errors import InputError, TropalignWarning
from tropalign.results.newick import OF_BRANCH
from tropalign.results.tree import Tree

#: Support that is a label, or stands behind a name and a slash.
_SUPPORT_AT_END = re.compile(rf"(?:^|/)({OF_BRANCH})\Z")


class _Branch(NamedTuple):
    """A branch to a neighbour; `label` is set only if it is support."""

    node: int
    length: float
    support: float
    label: str


def is_of_branch(label: str) -> bool:
    """True if the label of an inner node describes the branch above it, as numbers do.

    >>> is_of_branch("95/100"), is_of_branch("Mammalia"), is_of_branch("")
    (True, False, False)
    """
    return bool(label) and not parted(label)[0]


def parted(label: str) -> tuple[str, str]:
    """Split a label into the name of the node and the text about the branch; "" for a missing one.

    >>> parted("Mammalia/95/100"), parted("Mammalia"), parted("95/nan"), parted("a/b")
    (('Mammalia', '95/100'), ('Mammalia', ''), ('', '95/nan'), ('a/b', ''))
    """
    found = _SUPPORT_AT_END.search(label)
    return (label, "") if found is None else (label[: found.start()], found[1])


def rooted_at_outgroup(tree: Tree, outgroup: str | Sequence[str]) -> Tree:
    """Return the tree rooted in the middle of the branch between the outgroup (the root's first child) and the rest.

    >>> tree = tropalign.trees.parse_tree("((A:1,B:2):0.5,C:3,D:4);")
    >>> rooted_at_outgroup(tree, ["D"]).newick()
    '(D:2.0,((A:1.0,B:2.0):0.5,C:3.0):2.0);'
    """
    wanted = set()
    outgroup = [outgroup] if isinstance(outgroup, str) else outgroup
    for name in outgroup:
        if name not in tree.names:
            raise InputError(f"the tree has no taxon {name!r}: choose one of its taxa")
        wanted.add(tree.names.index(name))
    n = tree.n_taxa
    if not wanted or len(wanted) == n:
        raise InputError("the outgroup contains all taxa or none: give some of them")
    below = [(1, int(k in wanted)) for k in range(n)]  # number of taxa below each node, and of outgroup taxa among them
    for joined in tree.children:
        below.append((sum(below[child][0] for child in joined), sum(below[child][1] for child in joined)))
    for node, counts in enumerate(below[:-1]):
        if counts in ((len(wanted), len(wanted)), (n - len(wanted), 0)):
            parent = next(k for k, joined in enumerate(tree.children) if node in joined) + n
            if parent == len(tree.lengths) - 1 and tree.is_rooted:
                parent = next(child for child in tree.children[-1] if child != node)
            first, second = (node, parent) if counts[1] else (parent, node)
            return _rooted_between(tree, _branches(tree), first, second, 0.5)
    listed = ", ".join(repr(name) for name in list(outgroup)[:3])
    raise InputError(f"no branch separates {listed} from the other taxa: give taxa that form a group in the tree")


def rooted_at_midpoint(tree: Tree) -> Tree:
    """Put the root in the middle of the longest path between two taxa; negative lengths count as negative.

    Raises InputError if a branch has no length.

    >>> rooted_at_midpoint(tropalign.trees.parse_tree("((A:1,B:2):0.5,C:3,D:4);")).newick()
    '(((A:1.0,B:2.0):0.5,C:3.0):0.5,D:3.5);'
    """
    if missing := int(np.isnan(tree.lengths).sum()):
        problem = f"the lengths of {missing:,} of {len(tree.lengths) - 1:,} branches are missing"
        raise InputError(f"{problem}, but a midpoint requires all: add them, or root the tree at an outgroup")
    around = _branches(tree)
    start = _farthest(around, 0, tree.n_taxa)[0] if (tree.lengths >= 0).all() else _end_of_longest(around, tree.n_taxa)
    end, whole, came_from = _farthest(around, start, tree.n_taxa)
    node, walked = end, 0.0
    while True:
        before = came_from[node]
        length = next(branch.length for branch in around[node] if branch.node == before)
        # The middle of a path of negative length lies on a branch of negative length.
        is_past = walked + length >= whole / 2 if whole >= 0 else walked + length <= whole / 2
        if is_past or before == start:
            share = (whole / 2 - walked) / length if length else 0.5
            return _rooted_between(tree, around, node, before, min(1.0, max(0.0, share)))
        node, walked = before, walked + length


def _labels(tree: Tree) -> list[str]:
    """Return the label of each node, "" if it has no label."""
    return [*[""] * tree.n_taxa, *(tree.labels or [""] * len(tree.children))]


def _branches(tree: Tree) -> list[list[_Branch]]:
    """Return the neighbours of each node; a root with two children is removed and its two branches merged."""
    support = np.full(len(tree.lengths), np.nan) if tree.support is None else tree.support
    label = [parted(text)[1] for text in _labels(tree)]
    n, root = tree.n_taxa, len(tree.lengths) - 1
    around: list[list[_Branch]] = [[] for _ in tree.lengths]

    def connect(a: int, b: int, length: float, sure: float, said: str) -> None:
        around[a].append(_Branch(b, length, sure, said))
        around[b].append(_Branch(a, length, sure, said))

    for k, joined in enumerate(tree.children):
        if n + k == root and tree.is_rooted:
            first, second = joined
            both = tree.lengths[list(joined)]
            length = math.nan if np.isnan(both).all() else float(np.nansum(both))
            # The lower number is kept, and a number rather than a label.
            said = [(float(support[child]), label[child]) for child in joined]
            texts = [text if math.isnan(sure) else f"{sure:.10g}" for sure, text in said]
            known = (k for k in range(2) if texts[k])
            kept = min(known, key=lambda k: (math.isnan(said[k][0]), said[k][0], k), default=0)
            if all(texts) and texts[0] != texts[1]:
                text = (
                    f"the two branches at the old root are merged, with support {texts[0]} and {texts[1]}: "
                    f"{texts[kept]} is kept"
                )
                warnings.warn(text, TropalignWarning, stacklevel=3)
            connect(first, second, length, *said[kept])
        else:
            for child in joined:
                connect(child, n + k, float(tree.lengths[child]), float(support[child]), label[child])
    return around


def _farthest(around: list[list[_Branch]], start: int, n_taxa: int) -> tuple[int, float, dict[int, int]]:
    """Return the taxon farthest from a node, its distance, and the predecessor of each node on the paths from there."""
    far = {start: 0.0}
    came_from: dict[int, int] = {}
    stack = [start]
    while stack:
        node = stack.pop()
        for branch in around[node]:
            if branch.node not in far:
                far[branch.node] = far[node] + branch.length
                came_from[branch.node] = node
                stack.append(branch.node)
    end = max((k for k in range(n_taxa) if k != start), key=lambda k: (far[k], -k))
    return end, far[end], came_from


def _end_of_longest(around: list[list[_Branch]], n_taxa: int) -> int:
    """Return an end of the longest path between two taxa for lengths of any sign; for ties, the lowest taxon.

    With negative lengths, the taxon farthest from an arbitrary node need not be an end of the longest path. Nodes
    are visited bottom-up: each keeps the farthest taxon below it and joins the two farthest taxa whose path passes
    through it.
    """
    _, _, came_from = _farthest(around, 0, n_taxa)
    best: tuple[float, int] = (-math.inf, 0)
    below = {taxon: (0.0, -taxon) for taxon in range(n_taxa)}  # distance and taxon
    for node in [*reversed(came_from), 0]:  # visits run from parents to children, so the reverse is bottom-up
        for branch in around[node]:
            if came_from.get(branch.node) != node or branch.node not in below:
                continue
            far = (below[branch.node][0] + branch.length, below[branch.node][1])
            if node in below:
                ends = max(far[1], below[node][1])
                best = max(best, (far[0] + below[node][0], ends))
            below[node] = max(below.get(node, far), far)
    return -best[1]


def _rooted_between(tree: Tree, around: list[list[_Branch]], first: int, second: int, share: float) -> Tree:
    """Return the tree rooted on the branch of two nodes, at this share of its length from the first."""
    n = tree.n_taxa
    between = next(branch for branch in around[first] if branch.node == second)
    top = [between._replace(node=first, length=between.length * share)]
    top.append(between._replace(length=between.length - top[0].length))
    given = [parted(text)[0] for text in _labels(tree)]
    number = dict(zip(range(n), range(n), strict=True))
    children: list[tuple[int, ...]] = []
    lengths, support_of, labels = [0.0] * n, [np.nan] * n, [""] * n

    def enter(branch: _Branch) -> None:
        node = number[branch.node]
        lengths[node], support_of[node] = branch.length, branch.support
        labels[node] = "/".join(filter(None, (labels[node], branch.label)))  # like IQ-TREE's names with support

    for node, below in _parents_last(around, first, second):
        for branch in below:
            enter(branch)
        number[node] = n + len(children)
        children.append(tuple(number[branch.node] for branch in below))
        lengths.append(0.0)
        support_of.append(np.nan)
        labels.append(given[node])
    for branch in top:
        enter(branch)
    children.append((number[first], number[second]))
    supported = np.array([*support_of, np.nan])
    supported[:n] = np.nan
    support = None if tree.support is None else supported
    named = (*labels[n:], given[-1] if tree.is_rooted else "")  # a removed root passes its name on to the new root
    return replace(
        tree,
        children=tuple(children),
        lengths=np.array([*lengths, 0.0]),
        support=support,
        labels=named if any(named) else None,
    )


def _parents_last(around: list[list[_Branch]], first: int, second: int) -> list[tuple[int, list[_Branch]]]:
    """Return inner nodes and their branches that lead away from a branch, descendants first."""
    found: list[tuple[int, list[_Branch]]] = []
    stack = [(second, first), (first, second)]
    while stack:
        node, before = stack.pop()
        below = [branch for branch in around[node] if branch.node != before]
        if below:
            found.append((node, below))
            stack.extend((branch.node, node) for branch in below)
    return found[::-1]
