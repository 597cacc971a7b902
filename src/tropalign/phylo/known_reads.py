"""Reads that were already placed, by their letters: equal reads, anywhere in the files, are placed once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.phylo.scorer import Best

#: Bytes of a `KnownRead` object with its key, excluding the items of its arrays.
KNOWN_BYTES = 700


@dataclass(frozen=True, eq=False, slots=True)
class KnownRead:
    """Placement of a read.

    `numbers`: its row in the arrays of `Best`: score, second, row, ties, start and end of the window, strand.
    `tied`: int64, all branches with the best score, ascending. `column`: int32, of each base on the placed strand.
    """

    numbers: tuple[int, ...]
    tied: NDArray[np.int64]
    column: NDArray[np.int32]


class KnownReads:
    """Placed reads by key, up to `most_bytes`; pickling drops them."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._reads: dict[bytes, KnownRead] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._most_bytes,)

    def get(self, key: bytes) -> KnownRead | None:
        """Return the placement of the read with that key, or None."""
        return self._reads.get(key)

    def keep(self, reads: dict[bytes, KnownRead]) -> None:
        """Add reads by their keys while there is room; two threads may add the same one."""
        for key, read in reads.items():
            taken = KNOWN_BYTES + read.tied.nbytes + read.column.nbytes
            if self._bytes + taken > self._most_bytes:
                return
            self._reads[key] = read
            self._bytes += taken


def key_of(sets: NDArray[Any]) -> bytes:
    """Return the key of a read's state sets."""
    return hashlib.blake2b(sets.tobytes(), digest_size=16).digest()


def known_of(best: Best, columns: NDArray[np.int32], lengths: NDArray[np.int64]) -> list[KnownRead]:
    """Return the placements one by one; `columns` holds the columns of all reads, one read after another."""
    arrays = (best.score, best.second, best.row, best.ties, best.windows[:, 0], best.windows[:, 1], best.strands)
    numbers = zip(*(array.tolist() for array in arrays), strict=True)
    ends = np.cumsum(lengths).tolist()
    of_read = (columns[end - n : end].copy() for n, end in zip(lengths.tolist(), ends, strict=True))
    return [KnownRead(*parts) for parts in zip(numbers, best.tied, of_read, strict=True)]


def best_of(reads: list[KnownRead]) -> Best:
    """Return the rows of the reads, one below another."""
    numbers = np.array([read.numbers for read in reads], np.int64).reshape(len(reads), 7)
    score, second, row, ties, begin, end, strands = numbers.T
    windows = np.stack([begin, end], axis=1).astype(np.int32)
    tied = [read.tied for read in reads]
    return Best(score.astype(np.int32), second.astype(np.int32), row, ties, windows, tied, strands.astype(np.int8))
