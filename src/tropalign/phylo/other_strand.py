"""Reads that lie on the other strand than the reference, told by words (k-mers) and confirmed by scores.

::

reference  ACGGTCATTGCA...   its words: bit 1    those of its reverse complement: bit 2
read       TGCAATGACCGT...   many words with bit 2 and few with bit 1: on the other strand
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import counted, said, shown, warn
from tropalign.phylo.read_blocks import Reads
from tropalign.phylo.reference_rows import StateAlphabet
from tropalign.sequences.alphabet import GAP_LETTERS
from tropalign.sequences.mates import BETWEEN

#: Letters of a word, and rows of the reference whose words count.
WORD, MOST_ROWS = 11, 256
#: The other strand shares so many times the words, and so many more: as `tropalign.msa.strands` judges.
WORD_RATIO, WORD_EXCESS = 2, 8
#: Suspects that are scored on both strands until one is found to lie on the other one.
MOST_SCORED = 16
N_BASES = 4
OWN, OTHER = np.uint8(1), np.uint8(2)


class OtherStrand:
    """Counts reads on the other strand.

    Parameters
    ----------
    letters : uint8, shape (n_rows, n_columns)
        Of the reference, whose alphabet has two strands and four states.
    scores_higher
        Whether a read (its letters) fits the reference better on its other strand.
    paired
        Reads are pairs, whose second mate lies on the other strand.
    """

    def __init__(
        self,
        letters: NDArray[np.uint8],
        states: StateAlphabet,
        scores_higher: Callable[[NDArray[np.uint8]], bool],
        paired: bool,
    ) -> None:
        self._scores_higher, self._paired, self._n_scored = scores_higher, paired, 0
        alphabet = states.alphabet
        self._digits = np.full(256, -1, np.int32)
        for digit, state in enumerate(alphabet.states):
            for letter in (state, *(one for one, other in alphabet.synonyms.items() if other == state)):
                self._digits[[ord(letter), ord(letter.lower())]] = digit
        complement = np.array([alphabet.states.index(alphabet.complement[state]) for state in alphabet.states])
        self._strands = np.zeros(N_BASES**WORD, np.uint8)
        is_gap = np.isin(np.arange(256), list(GAP_LETTERS.encode()))
        for k in np.unique(np.linspace(0, len(letters) - 1, MOST_ROWS).astype(np.int64)):
            digits = self._digits[letters[k][~is_gap[letters[k]]]]
            turned = np.where(digits < 0, digits, complement[digits])[::-1]
            for bit, text in ((OWN, digits), (OTHER, turned)):
                words, is_known = _words(text)
                self._strands[words[is_known]] |= bit
        self._n_found, self._first = 0, ""

    def add(self, reads: Reads) -> None:
        """Look at some more reads."""
        lengths = np.diff(reads.offsets)
        of_letter = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        words, is_known = _words(self._digits[reads.letters])
        of_word = of_letter[: len(words)]
        is_known &= of_word == of_letter[len(of_letter) - len(words) :]
        strands = self._strands[words]
        if self._paired:
            is_second = np.cumsum(reads.letters == BETWEEN, dtype=np.int32)[: len(words)] > of_word
            strands = np.where(is_second, strands >> 1 | (strands & OWN) << 1, strands)
        n_own, n_other = (
            np.bincount(of_word, (strands & bit > 0) & is_known, len(lengths)).astype(np.int64) for bit in (OWN, OTHER)
        )
        suspects = np.flatnonzero(n_other > WORD_RATIO * n_own + WORD_EXCESS)
        for k in suspects.tolist() if not self._n_found else ():
            if self._n_scored == MOST_SCORED:
                return
            self._n_scored += 1
            letters = reads.letters[reads.offsets[k] : reads.offsets[k + 1]]
            if self._scores_higher(letters[: int(np.argmax(letters == BETWEEN))] if self._paired else letters):
                self._first = reads.names[k]
                break
        if self._first:
            self._n_found += len(suspects)

    def tell(self, n_reads: int) -> None:
        """Warn of the reads that were found among this number of them."""
        if not self._n_found:
            return
        what = counted(n_reads, "pairs of mates" if self._paired else "reads")
        verb, them = ("is", "it") if self._n_found == 1 else ("are", "them")
        warn(
            f"{self._n_found:,} of {what} {verb} on the other strand than the reference, the first "
            f"{shown(self._first)!r}: {said('strand', 'both')} places {them} as reverse complements"
        )


def _words(digits: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The word that begins at each digit but the last ones, and whether all of its digits are known."""
    n = max(0, len(digits) - WORD + 1)
    words, is_known = np.zeros(n, np.int32), np.ones(n, bool)
    for step in range(WORD):
        words = N_BASES * words + np.maximum(digits[step : step + n], 0)
        is_known &= digits[step : step + n] >= 0
    return words, is_known
