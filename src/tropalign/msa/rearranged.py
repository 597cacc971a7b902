"""Members that start elsewhere than the others on a circle (plasmids, mitochondria), and members that are two in one.

Words that a member shares with a reference lie on diagonals i - j (i in the reference, j in the member):

    reference  ABCDEFGH    rotated    DEFGHABC    diagonals 3 (DEFGH) and -5 (ABC), whose difference is the length
                           two in one ABCDEFGHABCDEFGH    diagonals 0 and -8, each of them along the whole reference
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import counted, listed, warn
from tropalign.sequences.alphabet import Alphabet
from tropalign.sequences.batch import SequenceBatch

#: Length of words: two sequences of 65,535 residues share four of them by chance.
WORD = 15
#: Words per sequence, about: of longer sequences, words are drawn by their hash, the same in all sequences.
WORDS = 4096
#: Shorter families are not examined, and fewer words on a diagonal are no evidence.
LEAST_LENGTH, LEAST_WORDS = 500, 12
#: Insertions and deletions shift a diagonal by at most this share of the length.
TOLERANCE = 0.05
#: Least share of the shared words on both diagonals, and on each of them.
BOTH, EACH = 0.8, 0.01
#: A member of at least this multiple of the reference's length may be two in one; its halves cover at least COVERED of
#: the reference.
LONGER, COVERED = 1.5, 0.6


class Found(NamedTuple):
    """Position of the reference with which a member starts, and whether the member is two in one."""

    start: int
    is_double: bool


def warn_of_rearranged(batch: SequenceBatch, fixed: SequenceBatch | None = None) -> None:
    """Warn of members that are rotated, with their offsets, and of members that are two in one.

    `fixed`: aligned sequences, whose start is the right one.
    """
    others = batch if fixed is None else fixed
    if not batch.alphabet.has_strands or others.alphabet != batch.alphabet or len(batch) + len(others) < 3:
        return
    median = float(np.sort(others.lengths)[len(others) // 2])
    if median < LEAST_LENGTH:
        return
    reference = int(np.abs(others.lengths - median).argmin())
    words = _Words(batch.alphabet, median)
    target = _Target(words, others, reference)
    found = [target.compared(words, batch, k) for k in range(len(batch))]
    doubles = [batch.names[k] for k, one in enumerate(found) if one is not None and one.is_double]
    if doubles:
        verb = "seems to be two members" if len(doubles) == 1 else "seem to be two members each,"
        warn(
            f"{len(doubles):,} of {counted(len(batch), 'sequences')} {verb} joined end to end: {listed(doubles)}; "
            "cut them apart"
        )
    known = [(k, one.start) for k, one in enumerate(found) if one is not None and not one.is_double]
    if not known:
        return
    starts, length = np.array([start for _, start in known]), target.length

    def is_far(start: int) -> NDArray[np.bool_]:
        direct = np.abs(starts - start)
        found: NDArray[np.bool_] = np.minimum(direct, length - direct) > TOLERANCE * length
        return found

    # By default the start that most members have, about; the first of several.
    usual = 0 if fixed is not None else min(dict.fromkeys(starts.tolist()), key=lambda start: int(is_far(start).sum()))
    rotated = [known[k] for k in np.flatnonzero(is_far(usual)).tolist()]
    if rotated:
        names = listed([f"{batch.names[k]} (from residue {(usual - start) % length + 1:,})" for k, start in rotated])
        verb = "starts" if len(rotated) == 1 else "start"
        warn(
            f"{len(rotated):,} of {counted(len(batch), 'sequences')} {verb} elsewhere on a circle than the others, "
            f"which start at the residue in brackets: {names}; rotate them, or the alignment has one part of each"
        )


class _Words:
    """Words of unambiguous residues, with their positions."""

    def __init__(self, alphabet: Alphabet, mean: float) -> None:
        self._digit_of = np.full(len(alphabet.letters), -1, np.int64)
        self._digit_of[[alphabet.code(letter) for letter in alphabet.states]] = np.arange(len(alphabet.states))
        self._n_states = len(alphabet.states)
        self._share = min(1.0, WORDS / mean)

    def of(self, batch: SequenceBatch, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return words and positions, int64."""
        digits = self._digit_of[batch.codes[batch.offsets[k] : batch.offsets[k + 1]]]
        n = max(0, len(digits) - WORD + 1)
        words, is_chosen = np.zeros(n, np.int64), np.ones(n, bool)
        for step in range(WORD):
            some = digits[step : step + n]
            words = words * self._n_states + some
            is_chosen &= some >= 0
        if self._share < 1:  # Fibonacci hashing
            hashes = (words.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
            is_chosen &= hashes < np.uint64(self._share * 2**32)
        at = np.flatnonzero(is_chosen)
        return words[at], at


class _Target:
    """The reference: words that occur in it once."""

    def __init__(self, words: _Words, batch: SequenceBatch, k: int) -> None:
        found, at = words.of(batch, k)
        order = np.argsort(found, kind="stable")
        found, at = found[order], at[order]
        is_single = np.ones(len(found), bool)
        is_single[1:] &= found[1:] != found[:-1]
        is_single[:-1] &= found[1:] != found[:-1]
        self._words, self._at = found[is_single], at[is_single]
        self.length = int(batch.lengths[k])

    def compared(self, words: _Words, batch: SequenceBatch, k: int) -> Found | None:
        """Return where a member starts; None if it shares too few words, or in another order."""
        found, at = words.of(batch, k)
        place = np.minimum(np.searchsorted(self._words, found), max(len(self._words) - 1, 0))
        is_shared = self._words[place] == found if len(self._words) else np.zeros(len(found), bool)
        i, j = self._at[place[is_shared]], at[is_shared]
        n, within = len(i), TOLERANCE * self.length
        if n < LEAST_WORDS:
            return None
        diagonal = i - j
        least = max(LEAST_WORDS, EACH * n)
        if int(batch.lengths[k]) >= LONGER * self.length:
            halves = [np.abs(diagonal + shift) <= within for shift in (0, self.length)]
            shares = [len(distinct(i[half])) / max(len(self._words), 1) for half in halves]
            known = len(distinct(i)) / max(len(self._words), 1)
            return Found(0, True) if min(shares) >= COVERED * known else None
        if (np.abs(diagonal) <= within).sum() > (1 - BOTH) * n:
            return Found(0, False)
        ahead, behind = diagonal[diagonal > 0], diagonal[diagonal < 0]
        if min(len(ahead), len(behind)) < least:
            return None
        start, end = (int(np.sort(some)[len(some) // 2]) for some in (ahead, behind))
        is_near = (np.abs(diagonal - start) <= within) | (np.abs(diagonal - end) <= within)
        if abs(start - end - self.length) > within or is_near.sum() < BOTH * n:
            return None
        return Found(start, False)
