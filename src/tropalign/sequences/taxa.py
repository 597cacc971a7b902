"""Known taxa of sequences: NCBI's number, and a lineage."""

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
    """Taxa of sequences, in their order.

    taxids: int64, shape (n,), NCBI's numbers, or 0.
    lineages: the distinct lineages; the first one is empty.
    lineage: int64, shape (n,), index of each sequence's lineage.

    Raises ValueError for arrays of different lengths and invalid numbers.
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
        """Make the taxa of n sequences of which nothing is known."""
        return cls(np.zeros(n, np.int64), Texts.of([""]), np.zeros(n, np.int64))

    @classmethod
    def joined(cls, pieces: Sequence[Taxa]) -> Taxa:
        """Concatenate the taxa of several sets of sequences."""
        shifts = np.cumsum([0, *(len(piece.lineages) for piece in pieces)])
        return cls(
            np.concatenate([piece.taxids for piece in pieces]),
            Texts.of(joined([piece.lineages for piece in pieces])),
            np.concatenate([piece.lineage + shift for piece, shift in zip(pieces, shifts.tolist(), strict=False)]),
        )

    def take(self, index: NDArray[np.integer] | slice) -> Taxa:
        """Return the taxa of the sequences with these indices."""
        return Taxa(self.taxids[index], self.lineages, self.lineage[index])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.taxids.nbytes + self.lineage.nbytes + self.lineages.data.nbytes + self.lineages.offsets.nbytes

    def digest(self) -> str:
        """Return a SHA-256 in hexadecimal: equal for equal taxids and lineages that were found in the same order."""
        found = hashlib.sha256()
        for part in (self.taxids, self.lineage, self.lineages.offsets, self.lineages.data):
            found.update(np.ascontiguousarray(part).data)
        return found.hexdigest()
