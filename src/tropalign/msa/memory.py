"""What the posteriors of a family and their consistency take in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign import _native

#: Bytes of the store per pair, per residue of its two sequences, and per element (with the transpose, and the new
#: value that a pass makes).
PAIR_BYTES, RESIDUE_BYTES, STORED_BYTES = 64, 4, 10
#: What the process takes in all for a byte of the store: results of tiles, and memory that is freed and kept.
SPARE = 1.3
#: Elements per row at the least, and so many as hardly any family has.
LEAST_ROW_ELEMENTS, MANY_ROW_ELEMENTS = 1.0, 32.0
#: By how much all pairs may differ from a sample, and from those that were found first.
SAMPLE_MARGIN, FOUND_MARGIN = 1.25, 1.05
#: Bytes per element of what stage I leaves, and how many are kept for the confidence at the most.
FOUND_BYTES, MOST_KEPT_BYTES = 4, 64 << 20
#: What a thread takes for a pass of consistency: per chunk of a row of its tile, per chunk of all, and beside that.
CHUNK_BYTES, MOST_CHUNK_BYTES, LEAST_PASS_BYTES = 96, 48 << 20, 8 << 20
#: Pairs of a tile of a pass (native/msa/consistency.cpp).
TILE_PAIRS = 32 * 32
#: Bytes per row of a pair's posteriors as they are found.
FOUND_ROW_BYTES = 50
#: The share of the memory for what is found at a time, and for the tables of threads of stage I.
FOUND_SHARE, SCRATCH_SHARE = 1 / 8, 1 / 4


class MemoryEstimate:
    """Estimates for a family, from how many elements its posteriors keep per row; measured, and on the safe side.

    Parameters
    ----------
    lengths : int64, shape (n,)
        Residues of each sequence.
    wants_confidence
        Whether posteriors are kept for the confidence.
    """

    def __init__(self, lengths: NDArray[np.int64], wants_confidence: bool) -> None:
        n = len(lengths)
        self._n_pairs, self._longest = n * (n - 1) // 2, float(lengths.max())
        self._n_rows = float(lengths.sum(dtype=np.float64)) * (n - 1) / 2  # of all pairs' matrices, on the average
        self._two_longest = np.sort(lengths)[-2:]
        self._wants_confidence = wants_confidence

    def needed(self, row_elements: float) -> float:
        """Bytes of all stages with one thread, beside the process and the family."""
        return self.held(row_elements) + max(self.of_pass(row_elements), self.of_pair())

    def held(self, row_elements: float) -> float:
        """Bytes of the store, and of what is kept for the confidence."""
        n_elements = row_elements * self._n_rows
        store = PAIR_BYTES * self._n_pairs + 2 * RESIDUE_BYTES * self._n_rows + STORED_BYTES * n_elements
        kept = min(FOUND_BYTES * n_elements, MOST_KEPT_BYTES) if self._wants_confidence else 0.0
        return SPARE * store + kept

    def of_pair(self) -> float:
        """Bytes of a thread for the posteriors of a pair: the rows of a sweep over the two longest sequences."""
        return float(scratch_of(self._two_longest)) if self._n_pairs else 0.0

    def of_pass(self, row_elements: float) -> float:
        """Bytes of a thread for a pass of consistency: the sums of a tile."""
        n_chunks = max(2.0, row_elements / 2)  # per row
        rows = min(self._n_pairs, TILE_PAIRS) * self._longest
        return LEAST_PASS_BYTES + n_chunks * min(CHUNK_BYTES * rows, MOST_CHUNK_BYTES)


def scratch_of(lengths: NDArray[np.int64]) -> int:
    """Bytes that a thread takes, beside what it finds, for the posteriors of sequences of these lengths."""
    longest = np.sort(lengths)[-2:]
    return _native.posterior_scratch_bytes(int(longest[0]), int(longest[-1]))


def rows_at_once(memory_bytes: int) -> int:
    """Rows of posteriors that are found at a time."""
    return max(1, int(memory_bytes * FOUND_SHARE / FOUND_ROW_BYTES))
