"""Paths of pairs as bytes for pages that have the letters: a run of paired residues needs no word on which are equal.

A run is a number ``length << 2 | kind``, of kind 0 (two residues), 1 (one of the query) or 2 (one of the target), in
bytes of 7 bits, the lowest first, each but the last with its highest bit set (LEB128).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.results.alignments import AlignmentTable

#: Of operations as in BAM: I, D, = and X.
_KINDS = np.zeros(16, np.uint32)
_KINDS[1], _KINDS[2] = 1, 2


def packed_paths(table: AlignmentTable) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The paths of all rows, uint8, and how many bytes each takes, int64, shape (n,)."""
    ops, offsets = table.cigar_ops, table.cigar_offsets
    if not len(ops):
        return np.zeros(0, np.uint8), np.zeros(len(table), np.int64)
    kinds, lengths = _KINDS[ops & 15], (ops >> 4).astype(np.uint64)
    begins = np.ones(len(ops), bool)
    begins[1:] = kinds[1:] != kinds[:-1]
    begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    firsts = np.flatnonzero(begins)
    numbers = np.add.reduceat(lengths, firsts) << np.uint64(2) | kinds[firsts]
    text, sizes = leb128(numbers)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    n_runs = np.concatenate([[0], np.cumsum(begins)])  # of the operations before each
    return text, np.diff(ends[n_runs[offsets]])


def leb128(numbers: NDArray[np.uint64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Numbers below 2^35 as bytes, and how many each takes."""
    sizes = np.ones(len(numbers), np.int64)
    for k in range(1, 5):
        sizes += numbers >> np.uint64(7 * k) > 0
    places = np.cumsum(sizes) - sizes
    text = np.zeros(int(sizes.sum()), np.uint8)
    for k in range(5):
        has = sizes > k
        digit = (numbers[has] >> np.uint64(7 * k)) & np.uint64(127)
        text[places[has] + k] = digit | np.where(sizes[has] > k + 1, 128, 0).astype(np.uint64)
    return text, sizes
