"""Memory estimates for the posteriors of a family and their consistency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign import _native

#: Bytes of the store per pair, per residue of its two sequences, and per element (with the transpose, and the new
#: value that a pass makes).
PAIR_BYTES, RESIDUE_BYTES, STORED_BYTES = 64, 4, 10
#: Total memory of the process per byte of the store: includes results of tiles, and freed memory that is not
#: returned.
SPARE = 1.3
#: Elements per row: the minimum, and a number that hardly any family exceeds.
LEAST_ROW_ELEMENTS, MANY_ROW_ELEMENTS = 1.0, 32.0
#: Safety factors: all pairs may differ from a sample, and from the pairs that were found first.
SAMPLE_MARGIN, FOUND_MARGIN = 1.25, 1.05
#: Bytes per element of stage I, and how many bytes are kept for the confidence at most.
FOUND_BYTES, MOST_KEPT_BYTES = 4, 64 << 20
#: Bytes of a thread in a consistency pass: per chunk of a row of its tile, maximum per chunk, and a constant part.
CHUNK_BYTES, MOST_CHUNK_BYTES, LEAST_PASS_BYTES = 96, 48 << 20, 8 << 20
#: Pairs of a tile of a pass (native/msa/consistency.cpp).
TILE_PAIRS = 32 * 32
#: Bytes per row of a pair's posteriors as they are found.
FOUND_ROW_BYTES = 50
#: Shares of the memory for the rows found at once, and for the tables of stage I's threads.
FOUND_SHARE, SCRATCH_SHARE = 1 / 8, 1 / 4


class MemoryEstimate:
    """Memory estimates for a family by the elements of posteriors per row: measured, and on the safe side."""

    def __init__(self, lengths: NDArray[np.int64], wants_confidence: bool) -> None:
        n = len(lengths)
        self._n_pairs, self._longest = n * (n - 1) // 2, float(lengths.max())
        self._n_rows = float(lengths.sum(dtype=np.float64)) * (n - 1) / 2  # mean of all pairs' matrices
        self._two_longest = np.sort(lengths)[-2:]
        self._wants_confidence = wants_confidence

    def needed(self, row_elements: float) -> float:
        """Return the bytes of all stages with one thread, excluding the process and the family."""
        return self.held(row_elements) + max(self.of_pass(row_elements), self.of_pair())

    def held(self, row_elements: float) -> float:
        """Return the bytes of the store, and of posteriors that are kept for the confidence."""
        n_elements = row_elements * self._n_rows
        store = PAIR_BYTES * self._n_pairs + 2 * RESIDUE_BYTES * self._n_rows + STORED_BYTES * n_elements
        kept = min(FOUND_BYTES * n_elements, MOST_KEPT_BYTES) if self._wants_confidence else 0.0
        return SPARE * store + kept

    def of_pair(self) -> float:
        """Return a thread's bytes for one pair's posteriors: the rows of a sweep over the two longest sequences."""
        return float(scratch_of(self._two_longest)) if self._n_pairs else 0.0

    def of_pass(self, row_elements: float) -> float:
        """Return the bytes of a thread for a consistency pass: the sums of a tile."""
        n_chunks = max(2.0, row_elements / 2)  # per row
        rows = min(self._n_pairs, TILE_PAIRS) * self._longest
        return LEAST_PASS_BYTES + n_chunks * min(CHUNK_BYTES * rows, MOST_CHUNK_BYTES)


def scratch_of(lengths: NDArray[np.int64]) -> int:
    """Return the bytes of a thread for posteriors of sequences of these lengths, excluding its results."""
    longest = np.sort(lengths)[-2:]
    return _native.posterior_scratch_bytes(int(longest[0]), int(longest[-1]))


def rows_at_once(memory_bytes: int) -> int:
    """Return the rows of posteriors that are found at once."""
    return max(1, int(memory_bytes * FOUND_SHARE / FOUND_ROW_BYTES))
