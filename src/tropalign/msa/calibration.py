"""Calibration of mean posteriors as probabilities that aligned residues are aligned correctly.

Posteriors of two sequences at a time are too low: the family contains more information than each of its pairs. In
columns with a mean posterior of .56, 90 % of the pairs of residues are correct. Measured on the core columns of
114 reference alignments (110 families of BAliBASE 3, 4 of Pfam), the odds of a correct pair are eight times those
of the mean posterior m, with effort default and fast, and for residues as for columns:

    p / (1 - p) = 8 m / (1 - m)        p = 8 m / (1 + 7 m)

Fits on either half of these families gave 7 to 10, with an expected calibration error of .01 to .03 on the other
half; docs/msa.md has the error on further families. More parameters (a slope, the family's mean, its size) did not
reduce it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Odds of correct pairs, relative to the odds of the mean posterior.
ODDS = np.float32(8)


def calibrated(means: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probabilities of correct pairs, float32, for mean posteriors (`tropalign.msa.confidence`), 0 to 1."""
    return ODDS * means / (1 + (ODDS - 1) * means)
