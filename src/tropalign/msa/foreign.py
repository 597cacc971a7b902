"""Detection of members that do not belong to their family, by the distances of its pairs.

The distance of two sequences is 1 minus the mean posterior, per residue of the shorter one, of the alignment with
the most expected correct pairs (docs/msa.md, stage I): 0 for equal sequences, the level of chance for unrelated
ones. A member is foreign if all of these hold:

* its nearest relative is so far away that chance explains the distance;
* the median of this distance in the family is much smaller, so that a divergent family loses no member;
* all others are far, because its mean distance is that of unrelated sequences.

Two foreign members that are related to each other are missed: each is the other's near relative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import listed, named, warn
from tropalign.sequences.alphabet import PROTEIN
from tropalign.sequences.batch import SequenceBatch


class Limits(NamedTuple):
    """Values from which on the distance to the nearest, its excess over the median, and the mean are due to chance."""

    nearest: float
    above_median: float
    mean: float


#: Chosen on one half of 144 families of BAliBASE 3 and BAliFam (proteins), and on parts of 16S genes (docs/msa.md).
PROTEIN_LIMITS, NUCLEOTIDE_LIMITS = Limits(0.45, 0.2, 0.8), Limits(0.45, 0.25, 0.55)
#: Fewer members do not show which one is foreign, and shorter members cannot be judged.
LEAST_MEMBERS, LEAST_RESIDUES = 4, 30


def foreign_members(distances: NDArray[np.float32], batch: SequenceBatch) -> NDArray[np.intp]:
    """Return the indices of the members that do not belong to the family.

    `distances`: float32, shape (n (n - 1) / 2,), of stage I with the rules of tropalign: (0,1), (0,2) .. (1,2) ..
    """
    n = len(batch)
    if n < LEAST_MEMBERS:
        return np.zeros(0, np.intp)
    nearest, sums = np.full(n, np.inf), np.zeros(n)
    begin = 0
    for k in range(n - 1):
        row = distances[begin : begin + n - 1 - k].astype(np.float64)
        begin += len(row)
        nearest[k] = min(nearest[k], row.min())
        nearest[k + 1 :] = np.minimum(nearest[k + 1 :], row)
        sums[k] += row.sum()
        sums[k + 1 :] += row
    limits = PROTEIN_LIMITS if batch.alphabet == PROTEIN else NUCLEOTIDE_LIMITS
    median = float(np.sort(nearest)[[(n - 1) // 2, n // 2]].mean())  # np.median would load masked arrays
    is_far = nearest >= max(limits.nearest, median + limits.above_median)
    is_far &= batch.lengths >= LEAST_RESIDUES
    return np.flatnonzero(is_far & (sums / (n - 1) >= limits.mean))


def tell_of_foreign(batch: SequenceBatch, foreign: NDArray[np.intp], are_dropped: bool) -> None:
    """Warn of the foreign members by name, and whether they are dropped."""
    verb, them = ("does", "it") if len(foreign) == 1 else ("do", "them")
    remedy = "left out" if are_dropped else f"{named('drop_foreign')} leaves {them} out"
    text = f"{len(foreign):,} of {len(batch):,} sequences {verb} not seem to belong to the family"
    names = listed([batch.names[k] for k in foreign])
    warn(f"{text}: {names}; {remedy}")
