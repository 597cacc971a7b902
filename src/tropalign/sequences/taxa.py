"""Which taxon each sequence is of, as far as that is known: NCBI's number, and a lineage."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.sequences.texts import Texts, joined

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Taxa:
    """Taxa of some sequences, in the order of these.

    Attributes
    ----------
    taxids : int64, shape (n,)
        NCBI's numbers; 0 where a sequence has none.
    lineages : Texts
        Different lineages; the first one is empty.
    lineage : int64, shape (n,)
        Which of these each sequence has.

    Raises
    ------
    ValueError
        Arrays of several lengths, or a number of a lineage that there is not.
    """

    taxids: Int64
    lineages: Texts
    lineage: Int64

    def __post_init__(self) -> None:
        if len(self.taxids) != len(self.lineage):
            raise ValueError(f"{len(self.taxids)} taxids for {len(self.lineage)} lineages: give as many")
        if len(self) and not 0 <= self.lineage.min() <= self.lineage.max() < len(self.lineages):
            raise ValueError(f"a lineage has a number that is none of {len(self.lineages)}")
        if len(self) and self.taxids.min() < 0:
            raise ValueError(f"a taxid is {self.taxids.min()}: taxids are 0 or more")

    def __len__(self) -> int:
        return len(self.taxids)

    @classmethod
    def unknown(cls, n: int) -> Taxa:
        """Taxa of so many sequences of which nothing is known."""
        return cls(np.zeros(n, np.int64), Texts.of([""]), np.zeros(n, np.int64))

    @classmethod
    def joined(cls, pieces: Sequence[Taxa]) -> Taxa:
        """Taxa of the sequences of several, one after another."""
        shifts = np.cumsum([0, *(len(piece.lineages) for piece in pieces)])
        return cls(
            np.concatenate([piece.taxids for piece in pieces]),
            Texts.of(joined([piece.lineages for piece in pieces])),
            np.concatenate([piece.lineage + shift for piece, shift in zip(pieces, shifts.tolist(), strict=False)]),
        )

    def take(self, index: NDArray[np.integer] | slice) -> Taxa:
        """Taxa of the sequences with these numbers."""
        return Taxa(self.taxids[index], self.lineages, self.lineage[index])

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self.taxids.nbytes + self.lineage.nbytes + self.lineages.data.nbytes + self.lineages.offsets.nbytes

    def digest(self) -> str:
        """SHA-256 in hexadecimal: equal for equal taxids and lineages that were found in the same order."""
        found = hashlib.sha256()
        for part in (self.taxids, self.lineage, self.lineages.offsets, self.lineages.data):
            found.update(np.ascontiguousarray(part).data)
        return found.hexdigest()
