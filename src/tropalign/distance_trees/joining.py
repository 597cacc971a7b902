"""Neighbour joining (Saitou and Nei 1987, in the form of Studier and Keppler 1988)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.distance_trees.matrix import condensed_distances, require_memory
from tropalign.errors import UsageError
from tropalign.execution.task import checked_progress
from tropalign.trees.tree import DIGITS, Tree, tree_of_joins

#: Programs whose arithmetic can be used.
RulesName = Literal["tropalign", "clustalw"]
RULES = get_args(RulesName)
#: How negative lengths are treated.
NegativeRule = Literal["keep", "zero"]
NEGATIVE = get_args(NegativeRule)


def neighbour_joining(
    distances: Any,
    names: Sequence[str] | None = None,
    *,
    negative: NegativeRule = "keep",
    rules: RulesName = "tropalign",
    overwrite: bool = False,
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Build the unrooted tree of neighbour joining.

    Of r clusters, the pair with the smallest (r - 2) d(i, j) - R(i) - R(j) is joined, where R(i) is the sum of the
    distances of i. A cluster has the index of its first taxon. Of equal pairs i < j, the one with the smallest j is
    joined, and of these the one with the smallest i.

    Parameters
    ----------
    distances : float32 or float64, shape (n (n - 1) / 2,) or (n, n)
        Distances of the pairs (0, 1), (0, 2), ..., (1, 2), ..., or a symmetric square. float32 is kept as such and
        needs half the memory.
    names
        Names of the taxa; "1", "2", ... by default.
    negative : {"keep", "zero"}
        How negative lengths are treated. "zero": such a branch gets length 0, and its sibling absorbs the
        difference, so that the distance of the two is kept (Kuhner and Felsenstein 1994).
    rules : {"tropalign", "clustalw"}
        "clustalw": sums, rounding and small lengths as in CLUSTAL W, so that ties are broken in the same way.
    overwrite
        Whether the array of `distances` may be used as work space, which destroys it. Otherwise a copy is made.
    memory_bytes
        Memory limit excluding the distances; a share of the free memory by default.
    progress
        Receives the number of joins done; an exception that it raises stops the work.

    Returns
    -------
    Tree
        The root joins three nodes; for two taxa it joins two, each at half of their distance.

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
    >>> tree = neighbour_joining([[0, 5, 9, 9], [5, 0, 10, 10], [9, 10, 0, 8], [9, 10, 8, 0]], ["A", "B", "C", "D"])
    >>> tree.newick()
    '((A:2.0,B:3.0):3.0,C:4.0,D:4.0);'
    """
    if rules not in RULES:
        raise UsageError(f"rules {rules!r} are none of {', '.join(RULES)}")
    if negative not in NEGATIVE:
        raise UsageError(f"negative {negative!r} is none of {', '.join(NEGATIVE)}")
    given, taxa = condensed_distances(distances, names)
    is_clustalw = rules == "clustalw"
    n, dtype = len(taxa), np.dtype(np.float64) if is_clustalw else given.dtype
    is_free = given.flags.writeable and (overwrite or not np.may_share_memory(given, distances))
    is_copied = not is_free or given.dtype != dtype
    # The copy, and the bounds of blocks.
    require_memory(
        is_copied * dtype.itemsize * n * n // 2 + n * n // 16, memory_bytes, f"neighbour joining of {n} taxa"
    )
    if n == 2:
        half = float(given[0]) / 2
        return Tree(taxa, ((0, 1),), np.array([half, half, 0.0]), digits=DIGITS)
    used_up = given.astype(dtype) if is_copied else given
    joined, last, lengths = _native.neighbour_joining(used_up, n, is_clustalw, checked_progress(progress))
    children = [*joined.tolist(), last]
    if negative == "zero":
        _without_negative(children, lengths)
    return tree_of_joins(taxa, children, lengths)


def _without_negative(children: list[Sequence[int]], lengths: NDArray[np.float64]) -> None:
    """Set negative lengths to 0 in place; in a pair, the other branch absorbs the difference."""
    for joined in children[:-1]:
        for one, other in (joined, tuple(reversed(joined))):
            if lengths[one] < 0:
                lengths[other] = max(0.0, lengths[other] + lengths[one])
                lengths[one] = 0.0
    np.maximum(lengths, 0.0, out=lengths)
