"""UPGMA: average linkage weighted by numbers of taxa (Sokal and Michener 1958)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tropalign import _native
from tropalign.distance_trees.joining import RULES, RulesName
from tropalign.distance_trees.matrix import condensed_distances, require_memory
from tropalign.errors import UsageError
from tropalign.execution.task import checked_progress
from tropalign.trees.tree import Tree, tree_of_joins


def upgma(
    distances: Any,
    names: Sequence[str] | None = None,
    *,
    rules: RulesName = "tropalign",
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Build the rooted tree of UPGMA.

    The two closest clusters are joined, and their distances to others are averaged by numbers of taxa. A cluster has
    the index of its first taxon. Of equally close pairs i < j, the one with the smallest j is joined, and of these
    the one with the smallest i.

    Parameters
    ----------
    distances : float32 or float64, shape (n (n - 1) / 2,) or (n, n)
        Distances of the pairs (0, 1), (0, 2), ..., (1, 2), ..., or a symmetric square.
    names
        Names of the taxa; "1", "2", ... by default.
    rules : {"tropalign", "clustalw"}
        "tropalign": all taxa are equally far from the root. "clustalw": every branch is half as long as the distance
        at which it is joined, as CLUSTAL W writes it.
    memory_bytes
        Memory limit excluding the distances; a share of the free memory by default.
    progress
        Receives the number of joins done; an exception that it raises stops the work.

    Returns
    -------
    Tree
        Its nodes are in the order of the joins.

    Raises
    ------
    InputError
        Fewer than two taxa, a distance that is not a number or is negative, or names that do not fit.
    UsageError
        An option does not exist, or the distances are not an array of numbers.
    ResourceError
        Memory does not suffice.

    Examples
    --------
    >>> upgma([[0, 2, 6], [2, 0, 6], [6, 6, 0]], ["A", "B", "C"]).newick()
    '((A:1.0,B:1.0):2.0,C:3.0);'
    """
    if rules not in RULES:
        raise UsageError(f"rules {rules!r} are none of {', '.join(RULES)}")
    condensed, taxa = condensed_distances(distances, names)
    n = len(taxa)
    require_memory(condensed.itemsize * n * n // 2, memory_bytes, f"UPGMA of {n} taxa")
    children, apart = _native.average_linkage(condensed, n, checked_progress(progress))
    heights = np.concatenate([np.zeros(n), apart / 2])
    lengths = np.zeros(2 * n - 1)
    above = heights[n:, None]
    lengths[children] = above if rules == "clustalw" else above - heights[children]
    return tree_of_joins(taxa, children.tolist(), lengths)
