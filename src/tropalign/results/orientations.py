"""Strands of reads, found by k-mers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import concatenated


@dataclass(frozen=True, eq=False)
class Orientations:
    """Reads with their strand: 1, -1, or 0 if it is uncertain; and their numbers of k-mers of each strand."""

    reads: SequenceBatch
    strand: NDArray[np.int8]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]

    def oriented(self) -> SequenceBatch:
        """Return the reads whose strand is certain, reverse-complemented if it is the minus strand."""
        minus = self.reads[np.flatnonzero(self.strand < 0)]
        both = concatenated([self.reads, minus.reverse_complement()], [*self.reads.names, *minus.names])
        places = np.where(self.strand < 0, len(self.reads) + np.cumsum(self.strand < 0) - 1, np.arange(len(self.reads)))
        oriented: SequenceBatch = both[places[self.strand != 0]]
        return oriented
