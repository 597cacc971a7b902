"""Sums of products for consistency on a GPU, over whatever device has the kernel of consistency.k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.devices.launcher import Pace, Programs, kernel_source, require_room, with_constants

Ints = NDArray[np.int64]

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


@dataclass(frozen=True)
class Between:
    """The third sequences of a group, and how products with them are summed up.

    Attributes
    ----------
    members : int32, shape (n,)
        Sequences z, in the order in which they are taken.
    weights : int32, shape (n_sequences,)
        Of all sequences.
    at_once, shift
        So many z are summed up before the sum is shifted right, and by how much.
    """

    members: NDArray[np.int32]
    weights: NDArray[np.int32]
    at_once: int
    shift: int


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
        self.device, self._store, self._group = device, store, group
        arrays = _native.block_rows(store)
        self._n_bytes = sum(array.nbytes for array in arrays)
        require_room(device, self._n_bytes, device.budget_bytes(), "the posteriors of a family")
        self._arrays = [device.upload(array) for array in arrays]
        self._n_sequences = int(len(arrays[0]) ** 0.5)
        self._programs, self.pace = Programs(device, source()), Pace(FIRST_PRODUCTS)

    def sums(
        self, pairs: NDArray[np.int32], between: Between, progress: Callable[[int], None] | None = None
    ) -> list[NDArray[np.int32]]:
        """For each pair (x, y) the sums at the elements of Sxy, row by row.

        Parameters
        ----------
        pairs : int32, shape (n_pairs, 2)
            Which have posteriors.
        progress
            Called now and then with how many pairs are done.
        """
        program, found = self._programs.get(constants(self._group), progress and (lambda: progress(0))), []
        with self.device.scope() as memory:
            thirds = [memory.upload(array) for array in (between.members, between.weights)]
            begin = 0
            while begin < len(pairs):
                places, sizes = self._some(pairs[begin:], len(between.members))
                chunks = _chunks(pairs[begin : begin + len(sizes)], sizes, between, self._group)
                n_elements = int(sizes.sum())
                with self.pace.measured(n_elements * len(between.members)), self.device.scope() as scope:
                    given = [scope.upload(chunks), scope.upload(places)]
                    sums = scope.allocate(4 * n_elements + 4)
                    counts = (len(between.members), thirds[1])
                    arguments = (self._n_sequences, *self._arrays, thirds[0], *counts, *given, sums)
                    if len(chunks):
                        program.launch("relax", len(chunks), self._group, *arguments)
                    of_all = scope.download(sums, np.int32, n_elements)
                found += np.split(of_all, np.cumsum(sizes)[:-1])
                begin += len(sizes)
                if progress:
                    progress(begin)
        return found

    def _some(self, pairs: NDArray[np.int32], n_members: int) -> tuple[NDArray[np.uint16], Ints]:
        """Rows and columns of the elements of the first pairs, as many as make a launch, and how many each pair has."""
        budget = (self.device.budget_bytes() - self._n_bytes) // 16
        most = max(1, min(self.pace.cells // max(n_members, 1), budget, (1 << 31) - 1))
        found, sizes, total = list[NDArray[np.uint16]](), list[int](), 0
        for x, y in pairs.tolist():
            starts, columns, _ = self._store.matrix(x, y)
            if sizes and total + len(columns) > most:
                break
            rows = np.repeat(np.arange(len(starts) - 1, dtype=np.uint16), np.diff(starts))
            found.append(np.column_stack([rows, columns]))
            sizes.append(len(columns))
            total += len(columns)
        return np.concatenate(found), np.array(sizes, np.int64)


def _chunks(pairs: NDArray[np.int32], sizes: Ints, between: Between, group: int) -> NDArray[np.int32]:
    """By `ChunkNumber`: runs of at most `group` elements of one pair, int32, shape (n_chunks, n_numbers)."""
    counts = -(-sizes // group)
    which = np.repeat(np.arange(len(sizes)), counts)
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    chunks = np.empty((len(which), len(ChunkNumber)), np.int32)
    chunks[:, ChunkNumber.X], chunks[:, ChunkNumber.Y] = pairs[which].T
    chunks[:, ChunkNumber.BEGIN] = (np.cumsum(sizes) - sizes)[which] + group * within
    chunks[:, ChunkNumber.SIZE] = np.minimum(sizes[which] - group * within, group)
    chunks[:, ChunkNumber.AT_ONCE], chunks[:, ChunkNumber.SHIFT] = between.at_once, between.shift
    return chunks
