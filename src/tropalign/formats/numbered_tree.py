"""Parser of jplace trees with numbered branches (``(a:1{0},b:2{1});``) to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.trees.newick import Nodes, parse_newick


def lengths_of(nodes: Nodes) -> NDArray[Any]:
    """The length of each branch, 0 if it has none: float32 unless this makes one 0 or infinite, else float64."""
    lengths = np.array([0.0, *(length or 0.0 for length in nodes.lengths[1:])])
    with np.errstate(over="ignore"):
        small = lengths.astype(np.float32)
    return small if np.isfinite(small).all() and ((small != 0) == (lengths != 0)).all() else lengths


def numbered_tree(text: str) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """The nodes of a tree that `phylo.tree.Tree.newick` wrote, parents first, children in the order of the text.

    Returns
    -------
    names : list of str
        "" where a node has none.
    arrays : dict of str to array
        parent (int32, -1 above the root, which is node 0), length (`lengths_of`) and branch (int32, -1 above the root).

    Raises
    ------
    InputError
        It is none.
    """
    damaged = InputError("the tree of a placement is damaged: write the shard again")
    try:
        nodes = parse_newick(text, "", has_numbers=True)
    except InputError:
        raise damaged from None
    if len(nodes.parents) < 2 or None in nodes.numbers[1:] or None in nodes.lengths[1:]:
        raise damaged
    return nodes.names, {
        "parent": np.array(nodes.parents, np.int32),
        "length": lengths_of(nodes),
        "branch": np.array([-1, *nodes.numbers[1:]], np.int32),
    }
