"""Proteins among nucleotides, and the other way round: told by the letters of each sequence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, named
from tropalign.sequences.batch import SequenceBatch

#: Shorter sequences are not judged one by one: some peptides look like nucleotides.
LEAST_JUDGED = 20
#: A nucleotide sequence has at least this share of A, C, G, T, U and N, a protein less than the other.
NUCLEOTIDE_SHARE, PROTEIN_SHARE = 0.95, 0.6


def check_kinds(batch: SequenceBatch, file: str | None = None) -> None:
    """Raises InputError where the letters of a sequence say that it is of another kind than its alphabet."""
    if not batch.lengths.all():
        batch = batch[np.flatnonzero(batch.lengths)]
    if not len(batch):
        return
    upper = batch.letters & 0xDF
    shares = _shares(batch, np.isin(upper, np.frombuffer(b"ACGTUN", np.uint8)))
    is_long = batch.lengths >= LEAST_JUDGED
    if batch.alphabet.has_strands:
        odd, kind, other = is_long & (shares < PROTEIN_SHARE), "protein", "nucleotide"
    else:
        n_letters = sum((_shares(batch, upper == ord(letter)) > 0).astype(int) for letter in "ACG")
        odd, kind, other = is_long & (shares >= NUCLEOTIDE_SHARE) & (n_letters == 3), "nucleotide", "protein"
    if odd.any():
        raise InputError(
            f"this is a {kind} sequence by its letters, but the family is read as {other}: remove it, or say what all "
            f"are with {named('alphabet')}",
            file=file,
            record=batch.names[int(np.flatnonzero(odd)[0])],
        )


def _shares(batch: SequenceBatch, is_one: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The share of each sequence's residues for which this is true, float64, shape (n,)."""
    found: NDArray[np.float64] = np.add.reduceat(is_one, batch.offsets[:-1], dtype=np.int64) / batch.lengths
    return found
