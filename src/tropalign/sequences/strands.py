"""Reverse complements of concatenated sequences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences.alphabet import Alphabet

#: Letters whose indices are computed at a time.
PIECE = 1 << 18


def reverse_complement(letters: NDArray[np.uint8], offsets: NDArray[np.int64], alphabet: Alphabet) -> NDArray[np.uint8]:
    """Reverse-complement each of several concatenated sequences in their order and case; other bytes than letters stay.

    `letters`: uint8, shape (n_letters,); sequence k is ``letters[offsets[k]:offsets[k + 1]]``. Raises InputError
    if sequences of the alphabet have a single strand.
    """
    if not alphabet.has_strands:
        raise InputError(
            f"only nucleotides have another strand: use the plus strand alone, {alphabet.name} sequences have one"
        )
    return mirrored(letters, offsets, alphabet.complement_table)


def mirrored(
    values: NDArray[np.uint8], offsets: NDArray[np.int64], table: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """Reverse each of several concatenated byte sequences, and map bytes by a table of 256 if one is given.

    `values`: uint8, shape (n_values,); sequence k is ``values[offsets[k]:offsets[k + 1]]``.
    """
    made = np.empty_like(values)
    n, begin = len(offsets) - 1, 0
    while begin < n:  # in pieces, because an index takes eight times the memory of a letter
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + PIECE, "right")) - 1)
        low, high = int(offsets[begin]), int(offsets[end])
        if end == begin + 1:
            turned = values[low:high][::-1]
        else:
            ends = offsets[begin : end + 1]
            turned = values[np.repeat(ends[:-1] + ends[1:] - 1, np.diff(ends)) - np.arange(low, high)]
        made[low:high] = turned if table is None else table[turned]
        begin = end
    return made
