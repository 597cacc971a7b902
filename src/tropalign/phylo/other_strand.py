"""Detection of reads on the opposite strand to the reference, by k-mers.

A read's k-mers are counted in the rows of the reference and in the rows' reverse complements. To measure the
effect of composition, those of its complement (not reversed) are also counted in the rows: T-rich reads resemble
the other strand of any A-rich reference.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import counted, said, shown, warn
from tropalign.phylo.read_blocks import Reads
from tropalign.sequences.alphabet import GAP_LETTERS, Alphabet
from tropalign.sequences.mates import BETWEEN

#: Length of k-mers, and maximum number of the reference's rows whose k-mers count.
WORD, MOST_ROWS = 11, 256
#: The other strand shares more than this multiple of the k-mers, plus this number, as in `tropalign.msa.strands`.
WORD_RATIO, WORD_EXCESS = 2, 8
N_BASES = 4
#: Bits of a k-mer: it occurs in a row, or in the reverse complement of one.
OWN, OTHER = np.uint8(1), np.uint8(2)


class OtherStrand:
    """Counter of reads on the opposite strand.

    `letters`: uint8, shape (n_rows, n_columns), of the reference. `alphabet` has two strands and `N_BASES` states.
    `paired`: reads are pairs, whose second mate lies on the opposite strand.
    """

    def __init__(self, letters: NDArray[np.uint8], alphabet: Alphabet, paired: bool) -> None:
        self._paired, self._n_found, self._first = paired, 0, ""
        states, n_bytes = alphabet.states, 256
        self._digit, self._other_digit = np.full((2, n_bytes), -1, np.int32)
        for letter, code in alphabet.codes_by_letter.items():
            if (state := alphabet.letters[code]) in states:
                self._digit[ord(letter)] = states.index(state)
                self._other_digit[ord(letter)] = states.index(alphabet.complement[state])
        self._strands = np.zeros(N_BASES**WORD, np.uint8)
        is_gap = np.isin(np.arange(n_bytes), list(GAP_LETTERS.encode()))
        for k in np.unique(np.linspace(0, len(letters) - 1, MOST_ROWS).astype(np.int64)):
            row = letters[k][~is_gap[letters[k]]]
            for bit, digits in ((OWN, self._digit[row]), (OTHER, self._other_digit[row][::-1])):
                words, is_known = _words(digits)
                self._strands[words[is_known]] |= bit

    def add(self, reads: Reads) -> None:
        """Count some more reads."""
        n, lengths = len(reads.names), np.diff(reads.offsets)
        of_letter = np.repeat(np.arange(n, dtype=np.int32), lengths)
        first = of_letter[: max(0, len(of_letter) - WORD + 1)]
        is_within = first == of_letter[len(of_letter) - len(first) :]
        is_second = np.cumsum(reads.letters == BETWEEN, dtype=np.int32)[: len(first)] > first if self._paired else None

        def n_words(digit: NDArray[np.int32], bit: np.uint8) -> NDArray[np.int64]:
            """Return the number of each read's k-mers with this bit, or with the other one in a second mate."""
            words, is_known = _words(digit[reads.letters])
            bits = bit if is_second is None else np.where(is_second, (OWN | OTHER) ^ bit, bit)
            return np.bincount(first[is_known & is_within & (self._strands[words] & bits > 0)], minlength=n)

        by_chance = np.maximum(n_words(self._digit, OWN), n_words(self._other_digit, OWN))
        found = np.flatnonzero(n_words(self._digit, OTHER) > WORD_RATIO * by_chance + WORD_EXCESS)
        if len(found) and not self._n_found:
            self._first = reads.names[int(found[0])]
        self._n_found += len(found)

    def tell(self, n_reads: int) -> None:
        """Warn of the reads that were found among `n_reads`."""
        if not self._n_found:
            return
        what = counted(n_reads, "pairs of mates" if self._paired else "reads")
        is_one = self._n_found == 1
        verb, as_what = ("is", "it as its reverse complement") if is_one else ("are", "them as reverse complements")
        warn(
            f"{self._n_found:,} of {what} {verb} on the other strand than the reference, the first "
            f"{shown(self._first)!r}: {said('strand', 'both')} places {as_what}"
        )


def _words(digits: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the k-mer that starts at each digit but the last ones, and whether all of its digits are known."""
    n = max(0, len(digits) - WORD + 1)
    words, is_known = np.zeros(n, np.int32), np.ones(n, bool)
    for step in range(WORD):
        words = N_BASES * words + np.maximum(digits[step : step + n], 0)
        is_known &= digits[step : step + n] >= 0
    return words, is_known
