"""Guide trees, which set the order in which the sequences of a family are aligned, and their weights."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError
from tropalign.results.newick import MOST_BYTES, Nodes, clustalw_name, parse_nodes, preorder
from tropalign.results.tree import Tree
from tropalign.sequences.files import file_name, read_text

#: Maximum length of a branch in a file; sums over a whole file stay far from overflow.
MOST_LENGTH = 1e30


@dataclass(frozen=True, eq=False)
class GuideTree:
    """A rooted binary tree of n sequences.

    Nodes 0 to n - 1 are the sequences in family order; node n + k joins the two nodes ``children[k]``, which are
    below n + k. `children`: int32, shape (n - 1, 2). `branch_lengths`: float64, shape (2n - 1,), of the branch
    above each node; 0 above the root.
    """

    children: NDArray[np.int32]
    branch_lengths: NDArray[np.float64]

    @property
    def n_leaves(self) -> int:
        """Number of sequences."""
        return len(self.children) + 1

    def leaf_order(self) -> list[int]:
        """Return the leaves in tree order."""
        n = self.n_leaves
        return [node for node in preorder([[]] * n + self.children.tolist(), 2 * n - 2) if node < n]

    def newick(self, names: Sequence[str]) -> str:
        """Return the tree in Newick format, with all digits of the lengths, so that the same tree can be read again.

        `names`: of the sequences, in family order.
        """
        return Tree(tuple(names), tuple(map(tuple, self.children.tolist())), self.branch_lengths).newick()

    def of_first(self, n: int) -> GuideTree:
        """Return the tree of the first n sequences; nodes with one child left are removed, their lengths added."""
        n_leaves = self.n_leaves
        node_of = [*range(n), *[-1] * (n_leaves - n + len(self.children))]
        children: list[tuple[int, int]] = []
        lengths = [*self.branch_lengths[:n].tolist(), *[0.0] * (n - 1)]
        for step, below in enumerate(self.children.tolist()):
            node, kept = n_leaves + step, [node_of[child] for child in below if node_of[child] >= 0]
            if len(kept) == 2:
                children.append((kept[0], kept[1]))
                kept = [n + len(children) - 1]
            if kept:
                node_of[node] = kept[0]
                lengths[kept[0]] += float(self.branch_lengths[node])
        lengths[-1] = 0.0
        return GuideTree(np.array(children, np.int32).reshape(-1, 2), np.array(lengths))

    def to_bytes(self) -> bytes:
        """Return the tree as bytes for the disk."""
        return self.children.tobytes() + self.branch_lengths.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, n_leaves: int) -> GuideTree:
        """Restore a tree from the result of `to_bytes`."""
        split = 8 * (n_leaves - 1)
        return cls(np.frombuffer(data[:split], np.int32).reshape(-1, 2), np.frombuffer(data[split:], np.float64))


def read_guide_tree(path: str | os.PathLike[str], names: Sequence[str]) -> GuideTree:
    """Read a guide tree for the named sequences from a Newick or NEXUS file, compressed or not.

    Nodes with more than two children are resolved by branches of length 0, the first two together, and so on.
    Nodes with one child are removed and their lengths added. A missing or negative length is 0; if all are 0, all
    sequences count the same. Labels of inner nodes and comments are ignored. Leaves may have their names as
    CLUSTALW changes them: with underscores for blanks, colons, commas, semicolons and round brackets.
    """
    return parse_guide_tree(read_text(path, MOST_BYTES), names, file_name(path))


def check_tree(given: object) -> None:
    """Raise UsageError if an argument is neither None, Newick text nor a file's Path."""
    if given is not None and not isinstance(given, str | os.PathLike):
        what = f"an object of type {type(given).__name__} is not a tree"
        raise UsageError(f"{what}: give Newick text or a file's Path")


def tree_of(given: str | os.PathLike[str] | None, names: Sequence[str]) -> GuideTree | None:
    """Read the guide tree of a family from Newick text or a file's Path; None stays None."""
    if given is None:
        return None
    return parse_guide_tree(given, names) if isinstance(given, str) else read_guide_tree(given, names)


def parse_guide_tree(text: str, names: Sequence[str], file: str = "the tree") -> GuideTree:
    """Parse a guide tree for the named sequences from text in Newick or NEXUS format."""
    nodes = parse_nodes(text, file)
    below = nodes.children()
    leaves = [node for node, children in enumerate(below) if not children]
    own = own_names(names)
    for leaf in leaves:
        nodes.names[leaf] = own.get(nodes.names[leaf], nodes.names[leaf])
    _check_names([nodes.names[leaf] for leaf in leaves], names, file)
    return _numbered(nodes, below, {name: k for k, name in enumerate(names)}, file)


def own_names(names: Sequence[str]) -> dict[str, str]:
    """Return the sequence names by their CLUSTALW form, excluding ambiguous forms."""
    changed = [clustalw_name(name) for name in names]
    times = Counter(changed)
    return {word: name for word, name in zip(changed, names, strict=True) if times[word] == 1}


def _check_names(leaves: list[str], names: Sequence[str], file: str) -> None:
    """Reject leaves that are not the sequence names, each once."""
    family, seen = set(names), set()
    for name in leaves:
        if name in seen:
            raise InputError(f"two leaves have the name {name!r}: give each sequence one leaf", file=file)
        seen.add(name)
    unknown = next((name for name in leaves if name not in family), None)
    missing = next((name for name in names if name not in seen), None)
    if unknown is None and missing is None:
        return
    said = [f"the tree has a leaf {unknown!r}, which is not a sequence"] if unknown is not None else []
    said += [f"has no leaf {missing!r}" if said else f"the tree has no leaf {missing!r}"] if missing else []
    raise InputError(f"{', and '.join(said)}: give a tree whose leaves are the names of the sequences", file=file)


def _numbered(nodes: Nodes, below: list[list[int]], number_of: dict[str, int], file: str) -> GuideTree:
    """Return the tree, its inner nodes numbered from the leaves up."""
    n = len(number_of)
    children: list[tuple[int, int]] = []
    lengths = [0.0] * (2 * n - 1)

    def join(first: int, second: int) -> int:
        children.append((first, second))
        return n + len(children) - 1

    made = [0] * len(below)  # the number of each node
    for node in range(len(below) - 1, -1, -1):
        number = made[below[node][0]] if below[node] else number_of[nodes.names[node]]
        for other in below[node][1:]:
            number = join(number, made[other])
        if node:
            lengths[number] += _length(nodes.lengths[node], file)
        made[node] = number
    lengths[2 * n - 2] = 0.0
    return GuideTree(np.array(children, np.int32).reshape(-1, 2), np.array(lengths))


def _length(length: float | None, file: str) -> float:
    if length is not None and not (math.isfinite(length) and length <= MOST_LENGTH):
        raise InputError(f"branch length {length} is out of range: give lengths of at most {MOST_LENGTH:g}", file=file)
    return max(0.0, float(length or 0.0))
