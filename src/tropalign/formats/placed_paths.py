"""Columns of placed reads as few bytes, for pages that have their letters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.pair_paths import leb128
from tropalign.results.placements import Placements

#: Kinds of runs: letters in neighbouring columns, letters in no column, columns without a letter of the read.
IN_COLUMNS, INSERTED, SKIPPED = 0, 1, 2


def packed_columns(placements: Placements) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Where each read's letters stand, from its first column on, and how many bytes that takes for each of them.

    ::

        columns     . 1 2 3 4 5 6 7        from column 1: 2 in columns, 1 inserted, 2 skipped, 3 in columns
        read          A C g - - T A C      a run is the number length << 2 | kind, written as in formats/pair_paths.py
    """
    column, offsets = placements.column.astype(np.int64), placements.offsets
    n = len(column)
    if not n:
        return np.zeros(0, np.uint8), np.zeros(len(placements), np.int64)
    of_read = np.repeat(np.arange(len(placements)), np.diff(offsets))
    is_in = column >= 0
    # The last letter in a column before each letter, of any read; -1 for none.
    last = np.concatenate([[-1], np.maximum.accumulate(np.where(is_in, np.arange(n), -1))[:-1]])
    follows = is_in & (last >= offsets[of_read])
    skipped = np.where(follows, column - column[last] - 1, 0)
    begins = np.ones(n, bool)
    begins[1:] = (of_read[1:] != of_read[:-1]) | (is_in[1:] != is_in[:-1]) | (skipped[1:] > 0)
    firsts = np.flatnonzero(begins)
    lengths = np.diff(np.append(firsts, n))
    n_items = 1 + (skipped[firsts] > 0)
    ends = np.cumsum(n_items)
    numbers = np.zeros(int(ends[-1]), np.uint64)
    numbers[ends - 1] = lengths << 2 | np.where(is_in[firsts], IN_COLUMNS, INSERTED)
    gaps = firsts[n_items == 2]
    numbers[ends[n_items == 2] - 2] = skipped[gaps] << 2 | SKIPPED
    text, sizes = leb128(numbers)
    per_read = np.bincount(np.repeat(of_read[firsts], n_items), sizes, len(placements))
    return text, per_read.astype(np.int64)
