"""Stage III: consistency of a pair's posteriors with third sequences, by the rules of QuickProbs 1 and 2.

::

    S'xy = (Wxy Sxy + sum over z of wz Sxz Szy) / (Wxy + sum over z of wz),   Wxy = (wx + wy) (1 + gain a)

where a is the number of sequences z taken for the pair; no element is new. QuickProbs 1 (formula 2 of Gudys and
Deorowicz 2014) takes all z, without a gain. QuickProbs 2 (2017) gives a pair's own posteriors a self-weight h,
gain = (h - 1) / 200, and takes z if the clades that join it with x and with y have at most 200 sequences. So a
pair within one such clade uses the sequences of the clade, and a pair between two clades uses no third sequence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.devices.gpu import Gpu, Pace, Programs, kernel_source, require_room, with_constants
from tropalign.devices.registry import GpuDevice
from tropalign.errors import DeviceError, ResourceError, TropalignWarning
from tropalign.execution.task import Device
from tropalign.msa.options import RULES


class ConsistencyRule(NamedTuple):
    """The rules for third sequences.

    `gain`: gain of a pair's own weight, per third sequence. `last_cutoff`: cutoff of the last pass; None: as in
    the other passes. `most_leaves`: largest clade that supplies third sequences; None: no limit.
    """

    gain: float
    last_cutoff: float | None
    most_leaves: int | None


#: By rules name. tropalign's own rules are those of QuickProbs 2, with self-weight 3.
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
        relax_on_gpu(devices, store, *numbers, third_weights)
    else:
        store.relax(*numbers, None, third_weights)


#: Lanes per group.
GROUP = 64
#: Elements times z of the first launch, before the device's rate is known.
FIRST_PRODUCTS = 1_000_000_000


class ChunkNumber(IntEnum):
    """Indices of a chunk's numbers in `chunks`."""

    #: The pair, and the start and size of the chunk among the launch's elements.
    X = 0
    Y = 1
    BEGIN = 2
    SIZE = 3
    #: Number of z that are summed before the sum is shifted right, and the shift.
    AT_ONCE = 4
    SHIFT = 5


#: Numbers that consistency.k shares with this file, by their kernel names without the prefix RELAX.
NUMBERS = {"CHUNK_INTS": len(ChunkNumber), **{f"CHUNK_{number.name}": number.value for number in ChunkNumber}}


def source() -> str:
    """Return the kernel as one text, with the numbers that it shares with this file."""
    return with_constants(kernel_source(Path(__file__).parent, "consistency.k"), "RELAX", NUMBERS)


def constants(group: int = GROUP) -> dict[str, int]:
    """Return the compile-time constants of the kernel, besides NUMBERS."""
    return {"RELAX_GROUP": group}


class ProductsOnGpu:
    """The posteriors of a `_native.PosteriorStore` on a device, and sums of their products.

    The store must not change meanwhile. Raises ResourceError if the posteriors do not fit the device's memory.
    """

    def __init__(self, device: Gpu, store: Any, group: int = GROUP) -> None:
        self.device, self._group = device, group
        arrays = _native.block_rows(store)
        self._n_bytes = sum(array.nbytes for array in arrays)
        require_room(device, self._n_bytes, device.budget_bytes(), "the posteriors of a family")
        self._arrays = [device.upload(array) for array in arrays]
        self._n_sequences = int(len(arrays[0]) ** 0.5)
        self._programs, self.pace = Programs(device, source()), Pace(FIRST_PRODUCTS)

    def sums(
        self,
        pairs: NDArray[np.int32],
        sizes: NDArray[np.int32],
        places: NDArray[np.uint16],
        members: NDArray[np.int32],
        weights: NDArray[np.int32],
        at_once: int,
        shift: int,
    ) -> NDArray[np.int32]:
        """Compute the sums that native ``PosteriorStore.relax`` requests, int32, shape (n_elements,).

        `pairs`: x and y of each pair; `sizes`: elements of each pair; `places`: row and column of each element;
        `members`: sequences z in summation order. `at_once` of them are summed before the sum is shifted right by
        `shift`.
        """
        program = self._programs.get(constants(self._group))
        ends, found = np.cumsum(sizes, dtype=np.int64), []
        with self.device.scope() as shared:
            thirds = [shared.upload(members), len(members), shared.upload(weights)]
            begin, first = 0, 0  # pair, and its first element
            while begin < len(sizes):
                end = max(int(np.searchsorted(ends, first + self._most(len(members)), "right")), begin + 1)
                last = int(ends[end - 1])
                chunks = _chunks(pairs[2 * begin : 2 * end].reshape(-1, 2), sizes[begin:end], self._group)
                chunks[:, ChunkNumber.AT_ONCE], chunks[:, ChunkNumber.SHIFT] = at_once, shift
                with self.pace.measured((last - first) * len(members)), self.device.scope() as memory:
                    given = [memory.upload(chunks), memory.upload(places[2 * first : 2 * last])]
                    sums = memory.allocate(4 * (last - first) + 4)
                    if len(chunks):
                        arguments = (self._n_sequences, *self._arrays, *thirds, *given, sums)
                        program.launch("relax", len(chunks), self._group, *arguments)
                    found.append(memory.download(sums, np.int32, last - first))
                begin, first = end, last
        return np.concatenate([np.zeros(0, np.int32), *found])

    def _most(self, n_members: int) -> int:
        """Return the maximum number of elements of a launch."""
        return max(1, min(self.pace.cells // max(n_members, 1), (self.device.budget_bytes() - self._n_bytes) // 16))


def relax_on_gpu(
    devices: Sequence[Device],
    store: Any,
    weights: NDArray[np.float64],
    groups: NDArray[np.int32],
    gain: float,
    cutoff: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    third_weights: NDArray[np.float64] | None = None,
) -> None:
    """Run ``store.relax`` with products from the first GPU of the devices, if any; the result is the same.

    If the GPU fails or has too little memory, a warning is issued and the CPU computes the pass.
    """
    rule = (weights, groups, gain, cutoff, n_threads, progress)
    gpu = next((device.gpu for device in devices if isinstance(device, GpuDevice)), None)
    if gpu is not None:
        try:
            store.relax(*rule, ProductsOnGpu(gpu, store).sums, third_weights)
            return
        except (DeviceError, ResourceError, MemoryError) as error:
            words = f"{error}: the CPU computes this consistency pass instead"
            warnings.warn(words, TropalignWarning, stacklevel=2)
    store.relax(*rule, None, third_weights)


def _chunks(pairs: NDArray[np.int32], sizes: NDArray[np.int32], group: int) -> NDArray[np.int32]:
    """Return runs of at most `group` elements of one pair by `ChunkNumber`, int32, shape (n_chunks, n_numbers)."""
    counts = -(-sizes // group)
    which = np.repeat(np.arange(len(sizes)), counts)
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    chunks = np.empty((len(which), len(ChunkNumber)), np.int32)
    chunks[:, ChunkNumber.X], chunks[:, ChunkNumber.Y] = pairs[which].T
    chunks[:, ChunkNumber.BEGIN] = (np.cumsum(sizes) - sizes)[which] + group * within
    chunks[:, ChunkNumber.SIZE] = np.minimum(sizes[which] - group * within, group)
    return chunks
