"""Trees whose branches are numbered, as jplace writes them (``(a:1{0},b:2{1});``), as arrays."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError

#: A bracket or comma, or a node: its label, in quotes or not, the length and the number of the branch above it.
_TOKEN = re.compile(r"([(),;])|('(?:[^']|'')*'|[^\s(){}:;,']*):([-+.0-9eE]+)\{([0-9]+)\}")


@dataclass(frozen=True, eq=False)
class NumberedTree:
    """A tree as arrays, parents before their children, which stand in the order of the text.

    Attributes
    ----------
    names : tuple of str
        Of each node; "" where it has none.
    parent : int32, shape (n_nodes,)
        -1 for the root, which is node 0.
    length : float32, shape (n_nodes,)
        Of the branch above each node.
    branch : int32, shape (n_nodes,)
        Its number; -1 above the root.
    """

    names: tuple[str, ...]
    parent: NDArray[np.int32]
    length: NDArray[np.float32]
    branch: NDArray[np.int32]


def numbered_tree(text: str) -> NumberedTree:
    """The tree of a text that `phylo.tree.Tree.newick` wrote.

    Raises
    ------
    InputError
        It is none.
    """
    # In reverse a node's label comes before what is below it, so parents come first, and children last to first.
    tokens, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.end() == at:
            raise InputError("the tree of a placement is damaged: write the shard again")
        tokens.append(found)
        at = found.end()
    names, parents, lengths, branches = [""], [-1], ["0"], ["-1"]
    stack, last = [-1], 0
    for token in reversed(tokens):
        if token[1] == ")":
            stack.append(last)
        elif token[1] == "(":
            stack.pop()
        elif token[1] is None:
            last = len(names)
            names.append(_label(token[2]))
            parents.append(stack[-1])
            lengths.append(token[3])
            branches.append(token[4])
        if not stack:
            break
    if len(stack) != 1 or len(names) < 2 or min(parents[1:]) < 0:
        raise InputError("the tree of a placement is damaged: write the shard again")
    return _in_order(names, np.array(parents), np.array(lengths, float), np.array(branches, np.int64))


def _label(text: str) -> str:
    return text[1:-1].replace("''", "'") if text.startswith("'") else text


def _in_order(
    names: list[str], parents: NDArray[np.int64], lengths: NDArray[np.float64], branches: NDArray[np.int64]
) -> NumberedTree:
    """Nodes in preorder, from nodes whose children stand last to first."""
    below: list[list[int]] = [[] for _ in names]
    for node, parent in enumerate(parents.tolist()[1:], 1):
        below[parent].append(node)
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        stack.extend(below[order[-1]])  # first to last from its end
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    parent = np.where(parents[order] < 0, -1, place[parents[order]])
    return NumberedTree(
        tuple(names[k] for k in order),
        parent.astype(np.int32),
        lengths[order].astype(np.float32),
        branches[order].astype(np.int32),
    )
