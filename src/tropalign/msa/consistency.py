"""Stage III: what third sequences say of a pair, by the rules of QuickProbs 1 and 2.

::

    S'xy = (Wxy Sxy + sum over z of wz Sxz Szy) / (Wxy + sum over z of wz),   Wxy = (wx + wy) (1 + gain a)

with the a sequences z that are taken for the pair; no element is new. QuickProbs 1 (formula 2 of Gudys and Deorowicz
2014) takes all, without a gain. QuickProbs 2 (2017) gives a pair's own posteriors a self-weight h, gain = (h - 1) /
200, and takes z where the clades that join it with x and with y have 200 sequences at most. So the sequences between a
pair of one such clade are those of the clade, and none are between two clades.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.msa.options import RULES

if TYPE_CHECKING:
    from tropalign import _native
    from tropalign.execution.task import Device


class ConsistencyRule(NamedTuple):
    """How third sequences count.

    Attributes
    ----------
    gain
        Of a pair's own weight, per third sequence.
    last_cutoff
        Elements below it are dropped after the last pass; None: those below the cutoff, as after the others.
    most_leaves
        Third sequences come from clades of so many sequences at most; None: from anywhere.
    """

    gain: float
    last_cutoff: float | None
    most_leaves: int | None


#: By the name of the rules: tropalign's own are QuickProbs 2's, whose self-weight is 3.
CONSISTENCY_RULES = {
    "tropalign": ConsistencyRule((3 - 1) / 200, 1e-5, 200),
    "quickprobs1": ConsistencyRule(0.0, None, None),
    "quickprobs2": ConsistencyRule((3 - 1) / 200, 1e-5, 200),
}
#: How refinement splits the family, and what it takes.
SPLITS = {
    "tropalign": ("gap", "not_longer"),
    "quickprobs1": ("random", "always"),
    "quickprobs2": ("gap", "not_longer"),
}
assert set(CONSISTENCY_RULES) == set(SPLITS) == set(RULES)


def clades_within(children: NDArray[np.int32], most_leaves: int) -> NDArray[np.int32]:
    """The largest clades of a guide tree with no more than some leaves.

    Parameters
    ----------
    children : int32, shape (n - 1, 2)
        Of the inner nodes; leaves are 0 to n - 1, and inner node n + k comes after its children.

    Returns
    -------
    int32, shape (n,)
        Of each leaf the node that its clade hangs from.

    Examples
    --------
    >>> clades_within(np.array([[0, 1], [2, 4], [3, 5]], np.int32), 3).tolist()
    [5, 5, 5, 3]
    """
    n = len(children) + 1
    leaves = np.ones(2 * n - 1, np.int64)
    for k, (left, right) in enumerate(children):
        leaves[n + k] = leaves[left] + leaves[right]
    clade = np.arange(2 * n - 1, dtype=np.int32)
    for k in range(n - 2, -1, -1):
        if leaves[n + k] <= most_leaves:
            clade[children[k]] = clade[n + k]
    return clade[:n]


def representative_weights(children: NDArray[np.int32], weights: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Third sequences that stand for all, so that a pass takes time in proportion to the pairs: an approximation.

    The guide tree is cut into clusters by undoing its last joins. In each the sequence of the highest weight (the first
    of several) has the weight of the cluster.

    Parameters
    ----------
    children : int32, shape (n - 1, 2)
        The guide tree.
    weights : float64, shape (n,)
        Of the sequences.
    most
        Clusters.

    Returns
    -------
    float64, shape (n,)
        Weights of third sequences, 0 of those that do not stand for others.

    Examples
    --------
    >>> children = np.array([[0, 1], [2, 4], [3, 5]], np.int32)
    >>> representative_weights(children, np.array([0.1, 0.2, 0.3, 0.4]), 2).round(6).tolist()
    [0.0, 0.0, 0.6, 0.4]
    """
    n = len(weights)
    cluster = np.arange(2 * n - 1)
    for k in range(n - 2 - max(most - 1, 0), -1, -1):
        cluster[children[k]] = cluster[n + k]
    found = np.zeros(n)
    for members in (np.flatnonzero(cluster[:n] == node) for node in distinct(cluster[:n])):
        found[members[np.argmax(weights[members])]] = weights[members].sum()
    return found


def relax(
    store: _native.PosteriorStore,
    rule: ConsistencyRule,
    children: NDArray[np.int32],
    weights: NDArray[np.float64],
    cutoff: float,
    is_last: bool,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    devices: Sequence[Device] = (),
    through: int = 0,
) -> None:
    """One pass over the pairs of a store.

    Parameters
    ----------
    children : int32, shape (n - 1, 2)
        The guide tree.
    weights : float64, shape (n,)
        Of the sequences.
    cutoff
        Elements below it are dropped, unless the rule has another one for the last pass.
    progress
        Called now and then with the pairs begun.
    devices
        The first GPU among them multiplies; the result is the same.
    through
        At most so many third sequences are taken, one per cluster, for which it stands (`representative_weights`);
        0: all that the rule takes.
    """
    if is_last and rule.last_cutoff is not None:
        cutoff = rule.last_cutoff
    n = len(weights)
    is_sampled = 0 < through < n
    third_weights = representative_weights(children, weights, through) if is_sampled else None
    is_whole = is_sampled or rule.most_leaves is None
    groups = np.zeros(n, np.int32) if is_whole else clades_within(children, rule.most_leaves or n)
    numbers = (weights, groups, rule.gain, cutoff, n_threads, progress)
    if any(device.name != "cpu" for device in devices):
        from tropalign.msa.gpu_consistency import relax_on_gpu  # what GPUs need is imported for them alone

        relax_on_gpu(devices, store, *numbers, third_weights)
    else:
        store.relax(*numbers, None, third_weights)
