"""Sums of products for consistency on a GPU, over whatever device has the kernel of consistency.k."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.devices.launcher import Pace, Programs, kernel_source, require_room, with_constants
from tropalign.devices.registry import GpuDevice
from tropalign.errors import DeviceError, ResourceError, TropalignWarning
from tropalign.execution.task import Device

#: Lanes of a group.
GROUP = 64
#: Elements times z that a device is given at once before its rate is known.
FIRST_PRODUCTS = 1_000_000_000


class ChunkNumber(IntEnum):
    """Numbers of a chunk, in `chunks`."""

    #: The pair, and which of the launch's elements are the chunk's.
    X = 0
    Y = 1
    BEGIN = 2
    SIZE = 3
    #: So many z are summed up before the sum is shifted right, and by how much.
    AT_ONCE = 4
    SHIFT = 5


#: What consistency.k and this file agree on, by the names that the kernel knows (less their prefix RELAX).
NUMBERS = {"CHUNK_INTS": len(ChunkNumber), **{f"CHUNK_{number.name}": number.value for number in ChunkNumber}}


def source() -> str:
    """The kernel as one text, with the numbers that it shares with this file."""
    return with_constants(kernel_source(Path(__file__).parent, "consistency.k"), "RELAX", NUMBERS)


def constants(group: int = GROUP) -> dict[str, int]:
    """What the kernel is compiled with, beside NUMBERS."""
    return {"RELAX_GROUP": group}


class ProductsOnGpu:
    """The posteriors of a store on a device, and sums of their products.

    Parameters
    ----------
    device
    store
        A `_native.PosteriorStore`, which does not change meanwhile.

    Raises
    ------
    ResourceError
        The posteriors do not fit the device's memory.
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
        """What native ``PosteriorStore.relax`` asks of its `products`: int32, shape (n_elements,).

        Parameters
        ----------
        pairs : int32, shape (2 n_pairs,)
            x and y of each pair.
        sizes : int32, shape (n_pairs,)
            Elements of each.
        places : uint16, shape (2 n_elements,)
            Row and column of each element.
        members : int32, shape (n,)
            Sequences z, in the order in which they are taken.
        weights : int32, shape (n_sequences,)
        at_once, shift
            So many z are summed up before the sum is shifted right, and by how much.
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
        """Elements of a launch."""
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
    """``store.relax`` with products from the first GPU of some devices, if there is one: the same result.

    A GPU that fails, or has too little memory, costs a warning, and the processor computes the pass.
    """
    rule = (weights, groups, gain, cutoff, n_threads, progress)
    gpu = next((device.gpu for device in devices if isinstance(device, GpuDevice)), None)
    if gpu is not None:
        try:
            store.relax(*rule, ProductsOnGpu(gpu, store).sums, third_weights)
            return
        except (DeviceError, ResourceError, MemoryError) as error:
            words = f"{error}: the processor computes a pass of consistency in its place"
            warnings.warn(words, TropalignWarning, stacklevel=2)
    store.relax(*rule, None, third_weights)


def _chunks(pairs: NDArray[np.int32], sizes: NDArray[np.int32], group: int) -> NDArray[np.int32]:
    """By `ChunkNumber`: runs of at most `group` elements of one pair, int32, shape (n_chunks, n_numbers)."""
    counts = -(-sizes // group)
    which = np.repeat(np.arange(len(sizes)), counts)
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    chunks = np.empty((len(which), len(ChunkNumber)), np.int32)
    chunks[:, ChunkNumber.X], chunks[:, ChunkNumber.Y] = pairs[which].T
    chunks[:, ChunkNumber.BEGIN] = (np.cumsum(sizes) - sizes)[which] + group * within
    chunks[:, ChunkNumber.SIZE] = np.minimum(sizes[which] - group * within, group)
    return chunks
