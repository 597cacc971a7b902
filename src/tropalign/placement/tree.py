"""Trees from Newick or NEXUS as arrays of nodes, and the numbering of branches that placements use."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.properties import cached_property
from tropalign.results.newick import MOST_BYTES, newick_text, parse_nodes, preorder, quoted
from tropalign.sequences.files import file_name, read_text

#: Length of a branch without one (as in PaPaRa 2).
MISSING_LENGTH = 1.0
#: So that sums of many lengths stay finite.
MOST_LENGTH = 1e300


@dataclass(frozen=True, eq=False)
class PlacementTree:
    """An unrooted binary tree, kept as it is rooted in its file.

    Nodes are numbered parents first; node 0 is the root, with two or three children. `children`: of each node, in
    file order; empty for tips. `lengths`: float64, shape (n_nodes,), of the branch above each node; 0 above the
    root. `names`: of each tip, and label of each inner node as in its file, or "".
    """

    children: tuple[tuple[int, ...], ...]
    lengths: NDArray[np.float64]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(self.children)
        if len(self.lengths) != n or len(self.names) != n:
            raise ValueError(f"a tree of {n} nodes requires {n} lengths and {n} names")
        if self.lengths.ndim != 1 or not np.isfinite(self.lengths).all() or (self.lengths < 0).any():
            raise ValueError("branch lengths must be finite and at least 0")
        if not all(isinstance(name, str) for name in self.names):
            raise ValueError("names of nodes must be strings")
        if (
            n == 0
            or len(self.children[0]) not in (2, 3)
            or any(len(below) not in (0, 2) for below in self.children[1:])
        ):
            raise ValueError("each node must have no or two children, the root two or three")
        seen = [False] * n
        for node, below in enumerate(self.children):
            for child in below:
                if not isinstance(child, int) or not node < child < n or seen[child]:
                    raise ValueError("nodes must be numbered after their parents, and each must have one parent")
                seen[child] = True
        if not all(seen[1:]):
            raise ValueError("every node except the root must have a parent")

    @property
    def tips(self) -> list[int]:
        """Nodes without children, in file order."""
        return [node for node in preorder(self.children, 0) if not self.children[node]]

    def branches(self) -> list[int]:
        """Return the node below each branch, in the order of PaPaRa 2's numbers.

        The two branches of a root with two children are one, and belong to the second child: preorder of that
        child, then of the nodes below the first one. A root with three children: preorder of the third child, the
        first, the second.
        """
        return list(self._branches)

    @cached_property
    def _branches(self) -> tuple[int, ...]:
        root = self.children[0]
        if len(root) == 2:
            first, second = root
            return (*preorder(self.children, second), *preorder(self.children, first)[1:])
        return tuple(node for child in (root[2], root[0], root[1]) for node in preorder(self.children, child))

    def branch_lengths(self) -> NDArray[np.float64]:
        """Return the length of each branch, in the order of `branches`."""
        lengths = self.lengths[self.branches()].copy()
        if len(self.children[0]) == 2:
            first, second = self.children[0]
            lengths[0] = self.lengths[first] + self.lengths[second]
        return lengths

    def clades(self) -> list[str]:
        """Name the clade below each branch: a tip's name, or two tips whose last common ancestor it is, "A|B".

        All tips are below the branch through a root with two children, unless it is the branch of a single tip.
        """
        names = [self.names[tip] for tip in self.tips]
        return [
            names[first] if end == first + 1 else f"{names[first]}|{names[end - 1]}"
            for first, end in zip(*(bounds.tolist() for bounds in self.tips_below()), strict=True)
        ]

    def tops(self) -> list[int]:
        """Return the top node of the clade below each branch.

        For the branch through a root with two children this is the root, unless one of the two is a tip: then it
        is this tip, whose own branch it is, wherever the root lies on it: ``(a,(b,c));`` is ``(a,b,c);``.
        """
        tops = self.branches()
        if len(self.children[0]) == 2:
            tops[0] = next((child for child in self.children[0] if not self.children[child]), 0)
        return tops

    def tips_below(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return start and end of the tips below each branch (`tops`), in the order of `tips`."""
        place = {tip: k for k, tip in enumerate(self.tips)}
        begin, end = np.zeros((2, len(self.children)), np.int64)
        for node in range(len(self.children) - 1, -1, -1):  # children come after their parents
            below = self.children[node]
            begin[node] = begin[below[0]] if below else place[node]
            end[node] = end[below[-1]] if below else place[node] + 1
        tops = self.tops()
        return begin[tops], end[tops]

    def newick(self) -> str:
        """Return the unrooted tree with names of tips only, and the number of each branch in braces."""
        number = {node: k for k, node in enumerate(self.branches())}
        lengths, children = self.lengths.copy(), list(self.children)
        if len(children[0]) == 2:  # merge the root's two branches
            first, second = children[0]
            inner, outer = (first, second) if children[first] else (second, first)
            children[0] = (*children[inner], outer)
            lengths[outer] += lengths[inner]
            number[outer] = number[second]
        texts = [
            f"{'' if children[node] else quoted(name)}:{length:.10g}{{{number.get(node, '')}}}" if node else ""
            for node, (name, length) in enumerate(zip(self.names, lengths.tolist(), strict=True))
        ]
        return newick_text(children, texts, 0)

    def jplace(self) -> str:
        """Return the tree as in its file, with labels, and the number of each branch in braces (Matsen et al. 2012).

        jplace numbers both branches of a root with two children. The longer one, which contains the midpoint of
        both, has number 0; the other one has the number after the last branch, and no reads::

            (a:0.3{0},(b:0.1{1},c:0.1{2})x:0.1{3});     branches of the unrooted tree: 0 (a to x, 0.4 long), 1, 2
        """
        number = {node: k for k, node in enumerate(self.branches())}
        if len(self.children[0]) == 2:
            first, second = self.children[0]
            number |= {first: len(number), second: 0}
            if self.lengths[first] > self.lengths[second]:
                number |= {first: 0, second: number[first]}
        texts = [
            quoted(name) + (f":{repr(length).removesuffix('.0')}{{{number[node]}}}" if node else "")
            for node, (name, length) in enumerate(zip(self.names, self.lengths.tolist(), strict=True))
        ]
        return newick_text(self.children, texts, 0)


def read_tree(path: str | os.PathLike[str]) -> PlacementTree:
    """Read a tree from a Newick or NEXUS file, compressed or not.

    Polytomies are resolved with branches of length 0, nodes with one child are removed, a missing length is 1, a
    negative one 0; each with a warning. Comments are ignored. Raises InputError for fewer than three tips, or two
    tips of one name.
    """
    return parse_tree(read_text(path, MOST_BYTES), file_name(path))


def parse_tree(text: str, file: str = "the tree") -> PlacementTree:
    """Parse a tree in Newick or NEXUS format."""
    nodes = parse_nodes(text, file)
    below = nodes.children()
    children, lengths, names = list[list[int]](), list[float](), list[str]()
    resolved = missing = negative = skipped = 0

    def length_above(at: int) -> float:
        nonlocal missing, negative
        length = nodes.lengths[at]
        if length is None:
            missing += 1
            return MISSING_LENGTH
        if not abs(length) <= MOST_LENGTH:
            raise InputError(
                f"branch length {length} is out of range: give lengths of at most {MOST_LENGTH:g}", file=file
            )
        negative += length < 0
        return max(0.0, float(length))

    root = 0
    while len(below[root]) == 1:
        skipped += 1
        root = below[root][0]
    stack = [(-1, root, 0.0)]
    while stack:  # parents first
        parent, at, length = stack.pop()
        while len(below[at]) == 1:
            skipped += 1
            at = below[at][0]
            length += length_above(at)
        node, groups, most = len(children), below[at], 3 if parent < 0 else 2
        children.append([])
        lengths.append(length)
        names.append(nodes.labels[at] if groups else nodes.names[at])
        if parent >= 0:
            children[parent].append(node)
        if len(groups) > most:  # join the first two by an additional node, and so on
            resolved += 1
            group, *others = groups
            for other in others[: 1 - most]:
                below.append([group, other])
                group = nodes.add(-1)
                nodes.lengths[group] = 0.0
            groups = [group, *others[1 - most :]]
        stack.extend((node, child, length_above(child)) for child in reversed(groups))
    for count, what in (
        (resolved, "nodes with more than two children: resolved with branches of length 0"),
        (skipped, "nodes with a single child: removed, their lengths added"),
        (missing, "branches without a length: taken as 1"),
        (negative, "branches of negative length: taken as 0"),
    ):
        if count:
            warnings.warn(f"{shown(file)}: {count} {what}", TropalignWarning, stacklevel=3)
    _check_tips([name for name, groups in zip(names, children, strict=True) if not groups], file)
    return PlacementTree(tuple(map(tuple, children)), np.array(lengths), tuple(names))


def _check_tips(names: list[str], file: str) -> None:
    if len(names) < 3:
        raise InputError(
            f"the tree has {len(names)} tip{'s' * (len(names) != 1)}: at least three are required", file=file
        )
    if "" in names:
        raise InputError("a tip has no name: give it the name of its row in the alignment", file=file)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two tips have the name {twice!r}: give each its own name", file=file)


def plain_name(name: str) -> str:
    """Return the name without quotes, and with underscores for blanks."""
    return name.strip("'\"").replace(" ", "_")
