"""Trees from Newick or NEXUS as arrays of nodes, and the numbering of branches that placements use."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.properties import cached_property
from tropalign.results.newick import MOST_BYTES, Nodes, newick_text, parse_nodes, preorder, quoted
from tropalign.sequences.files import file_name, read_text

#: Length of a branch without one (as in PaPaRa 2).
MISSING_LENGTH = 1.0
#: So that sums of many lengths stay finite.
MOST_LENGTH = 1e300


@dataclass(frozen=True, eq=False)
class Tree:
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
            raise ValueError(f"a tree of {n} nodes needs as many lengths and names")
        if self.lengths.ndim != 1 or not np.isfinite(self.lengths).all() or (self.lengths < 0).any():
            raise ValueError("lengths of branches have to be finite numbers of 0 or more")
        if not all(isinstance(name, str) for name in self.names):
            raise ValueError("names of nodes have to be texts")
        if (
            n == 0
            or len(self.children[0]) not in (2, 3)
            or any(len(below) not in (0, 2) for below in self.children[1:])
        ):
            raise ValueError("nodes of a binary tree have two children or none, the root two or three")
        seen = [False] * n
        for node, below in enumerate(self.children):
            for child in below:
                if not isinstance(child, int) or not node < child < n or seen[child]:
                    raise ValueError("nodes have to be numbered parents first, each the child of one")
                seen[child] = True
        if not all(seen[1:]):
            raise ValueError("every node but the root has to be the child of one")

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
        first, last = list(self.names), list(self.names)
        for node in range(len(self.children) - 1, -1, -1):  # children come after their parents
            if self.children[node]:
                first[node], last[node] = first[self.children[node][0]], last[self.children[node][-1]]
        tops = self.tops()
        return [first[node] if not self.children[node] else f"{first[node]}|{last[node]}" for node in tops]

    def tops(self) -> list[int]:
        """Return the top node of the clade below each branch.

        For the branch through a root with two children this is the root, unless one of the two is a tip: then it
        is this tip, whose own branch it is, wherever the root lies on it: ``(a,(b,c));`` is ``(a,b,c);``.
        """
        tops = self.branches()
        if len(self.children[0]) == 2:
            tops[0] = next((child for child in self.children[0] if not self.children[child]), 0)
        return tops

    def newick(self) -> str:
        """Return the unrooted tree with names of tips only, and the number of each branch in braces."""
        number = {node: k for k, node in enumerate(self.branches())}
        lengths, children = self.lengths.copy(), list(self.children)
        if len(children[0]) == 2:  # one branch instead of the root's two
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


def read_tree(path: str | os.PathLike[str]) -> Tree:
    """Read a tree from a Newick or NEXUS file, compressed or not.

    Polytomies are resolved with branches of length 0, nodes with one child are removed, a missing length is 1, a
    negative one 0; each with a warning. Comments are ignored. Raises InputError for fewer than three tips, or two
    tips of one name.
    """
    return parse_tree(read_text(path, MOST_BYTES), file_name(path))


def parse_tree(text: str, file: str = "the tree") -> Tree:
    """Parse a tree from text in Newick or NEXUS format."""
    made = _Maker(parse_nodes(text, file), file)
    made.take_all()
    for count, what in made.notes():
        if count:
            warnings.warn(f"{shown(file)}: {what.format(count=count)}", TropalignWarning, stacklevel=3)
    _check_tips([name for name, below in zip(made.names, made.children, strict=True) if not below], file)
    return Tree(tuple(map(tuple, made.children)), np.array(made.lengths), tuple(made.names))


class _Maker:
    """Conversion of a file's nodes to those of a binary tree."""

    def __init__(self, nodes: Nodes, file: str) -> None:
        self.nodes, self.file = nodes, file
        self.below = nodes.children()
        self.children: list[list[int]] = []
        self.lengths: list[float] = []
        self.names: list[str] = []
        self.resolved = self.missing = self.negative = self.skipped = 0

    def notes(self) -> list[tuple[int, str]]:
        return [
            (self.resolved, "{count} nodes with more than two children: resolved with branches of length 0"),
            (self.skipped, "{count} nodes with a single child: left out, their lengths added"),
            (self.missing, "{count} branches without a length: taken as 1"),
            (self.negative, "{count} branches of negative length: taken as 0"),
        ]

    def take_all(self) -> None:
        """Add all nodes, parents first."""
        root = 0
        while len(self.below[root]) == 1:
            self.skipped += 1
            root = self.below[root][0]
        stack = [(-1, root, 0.0)]
        while stack:
            parent, at, length = stack.pop()
            while len(self.below[at]) == 1:
                self.skipped += 1
                at = self.below[at][0]
                length += self._length(at)
            labels = self.nodes.labels if self.below[at] else self.nodes.names
            node = self._add(parent, length, labels[at])
            groups = self._grouped(self.below[at], 3 if parent < 0 else 2)
            stack.extend((node, child, self._length(child)) for child in reversed(groups))

    def _add(self, parent: int, length: float, name: str) -> int:
        self.children.append([])
        self.lengths.append(length)
        self.names.append(name)
        if parent >= 0:
            self.children[parent].append(len(self.children) - 1)
        return len(self.children) - 1

    def _grouped(self, children: list[int], most: int) -> list[int]:
        """Reduce children to `most`: join the first two by a new node, and so on."""
        if len(children) <= most:
            return children
        self.resolved += 1
        group = children[0]
        for other in children[1 : len(children) - most + 1]:
            self.below.append([group, other])
            group = self.nodes.add(-1)
            self.nodes.lengths[group] = 0.0
        return [group, *children[len(children) - most + 1 :]]

    def _length(self, at: int) -> float:
        length = self.nodes.lengths[at]
        if length is None:
            self.missing += 1
            return MISSING_LENGTH
        if not abs(length) <= MOST_LENGTH:
            problem = f"a branch of length {length}: lengths are numbers up to {MOST_LENGTH:g}"
            raise InputError(problem, file=self.file)
        if length < 0:
            self.negative += 1
        return max(0.0, float(length))


def _check_tips(names: list[str], file: str) -> None:
    if len(names) < 3:
        raise InputError(f"the tree has {len(names)} tip{'s' * (len(names) != 1)}: three or more are needed", file=file)
    if "" in names:
        raise InputError("a tip has no name: give it the name of its row in the alignment", file=file)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two tips are called {twice!r}: give each its own name", file=file)
