"""Orientation of reads to the strand of references, by k-mers, like vsearch's --orient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, named
from tropalign.results.orientations import Orientations
from tropalign.sequences import SequenceBatch

#: Length of the k-mers.
SIZE = 12
#: A k-mer belongs to a strand if references with it outnumber those with its reverse complement by more than this
#: factor.
KMER_RATIO = 8
#: A read belongs to a strand if its k-mers of that strand outnumber those of the other by at least this factor.
READ_RATIO = 4
#: Residues whose k-mers are listed at once, 80 bytes each.
AT_ONCE = 1 << 20


def orientations(reads: SequenceBatch, references: SequenceBatch) -> Orientations:
    """Find the strand of each read from its k-mers, by the numbers of references with them and their complements.

    Raises InputError for proteins, and if no strand is certain.
    """
    if not (reads.alphabet.has_strands and set("ACGT") <= set(reads.alphabet.letters)):
        raise InputError(f"{reads.alphabet.name}s have only one strand: leave {named('orient')} out")
    n_having = np.zeros(4**SIZE, np.int32)
    for _, words, _ in _words(references):
        np.add.at(n_having, words, 1)
    plus, minus = np.zeros(len(reads), np.int64), np.zeros(len(reads), np.int64)
    for read, words, others in _words(reads):
        if not len(read):
            continue
        first, n = int(read[0]), int(read[-1] - read[0]) + 1  # reads ascend
        here, there = n_having[words].astype(np.int64), n_having[others].astype(np.int64)
        plus[first : first + n] += np.bincount(read[here > KMER_RATIO * there] - first, minlength=n)
        minus[first : first + n] += np.bincount(read[there > KMER_RATIO * here] - first, minlength=n)
    is_plus = (plus > 0) & (plus >= READ_RATIO * minus)
    is_minus = (minus > 0) & (minus >= READ_RATIO * plus)
    if not (is_plus | is_minus).any():
        raise InputError(
            f"no read shares enough {SIZE}-mers with the references to determine its strand: use other references"
        )
    return Orientations(reads, is_plus.astype(np.int8) - is_minus, plus, minus)


def _words(batch: SequenceBatch) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield sequences with their distinct k-mers of A, C, G and T, and the reverse complements of these; int64."""
    digit_of = np.full(len(batch.alphabet.letters), -1, np.int64)
    digit_of[[batch.alphabet.code(letter) for letter in "ACGT"]] = np.arange(4)  # complements add up to 3
    begin = 0
    while begin < len(batch):
        end = max(begin + 1, int(np.searchsorted(batch.offsets, batch.offsets[begin] + AT_ONCE, "right")) - 1)
        offsets = batch.offsets[begin : end + 1] - batch.offsets[begin]
        digits = digit_of[batch.codes[batch.offsets[begin] : batch.offsets[end]]]
        n = max(0, len(digits) - SIZE + 1)
        sequence = np.repeat(np.arange(begin, end), np.diff(offsets))
        is_whole = sequence[:n] == sequence[len(digits) - n :]
        words, others = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for step in range(SIZE):
            digit = digits[step : step + n]
            is_whole &= digit >= 0
            words = 4 * words + digit
            others += (3 - digit) << 2 * step
        _, first = np.unique(sequence[:n][is_whole] << 2 * SIZE | words[is_whole], return_index=True)
        yield sequence[:n][is_whole][first], words[is_whole][first], others[is_whole][first]
        begin = end
