"""Stage III: consistency of a pair's posteriors with third sequences, by the rules of QuickProbs 1 and 2.

::

    S'xy = (Wxy Sxy + sum over z of wz Sxz Szy) / (Wxy + sum over z of wz),   Wxy = (wx + wy) (1 + gain a)

where a is the number of sequences z taken for the pair; no element is new. QuickProbs 1 (formula 2 of Gudys and
Deorowicz 2014) takes all z, without a gain. QuickProbs 2 (2017) gives a pair's own posteriors a self-weight h,
gain = (h - 1) / 200, and takes z if the clades that join it with x and with y have at most 200 sequences. So a
pair within one such clade uses the sequences of the clade, and a pair between two clades uses no third sequence.
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
    """The rules for third sequences.

    `gain`: gain of a pair's own weight, per third sequence. `last_cutoff`: cutoff of the last pass; None: as in
    the other passes. `most_leaves`: largest clade that supplies third sequences; None: no limit.
    """

    gain: float
    last_cutoff: float | None
    most_leaves: int | None


#: By rules name. tropalign's own rules are those of QuickProbs 2, whose self-weight is 3.
CONSISTENCY_RULES = {
    "tropalign": ConsistencyRule((3 - 1) / 200, 1e-5, 200),
    "quickprobs1": ConsistencyRule(0.0, None, None),
    "quickprobs2": ConsistencyRule((3 - 1) / 200, 1e-5, 200),
}
#: Refinement by rules name: how the family is split, and which results are accepted.
SPLITS = {
    "tropalign": ("gap", "not_longer"),
    "quickprobs1": ("random", "always"),
    "quickprobs2": ("gap", "not_longer"),
}
assert set(CONSISTENCY_RULES) == set(SPLITS) == set(RULES)


def clades_within(children: NDArray[np.int32], most_leaves: int) -> NDArray[np.int32]:
    """Return for each leaf the root of its largest clade with at most `most_leaves` leaves, int32, shape (n,).

    `children`: int32, shape (n - 1, 2); leaves are 0 to n - 1, and inner node n + k comes after its children.
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
    """Return weights of representative third sequences, so that a pass takes time proportional to the pairs.

    An approximation: undoing the last joins of the guide tree leaves `most` clusters. In each, the sequence of the
    highest weight (the first of several) gets the weight of the cluster, all others 0. float64, shape (n,).
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
    """Run one consistency pass over the pairs of a store; a GPU among the devices multiplies, with the same result.

    Elements below `cutoff` are dropped, unless the rule has another cutoff for the last pass. A `through` above 0
    limits the third sequences to one representative of each cluster (`representative_weights`).
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
        from tropalign.msa.gpu_consistency import relax_on_gpu  # GPU code is imported only if needed

        relax_on_gpu(devices, store, *numbers, third_weights)
    else:
        store.relax(*numbers, None, third_weights)
