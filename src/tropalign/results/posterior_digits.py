"""Posterior probabilities as HMMER's single digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Character for a missing probability.
DOT = ord(".")


def digits(probabilities: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return a digit per probability, uint8, same shape: 0 is 0-5 %, 1 is 5-15 %, ..., * is 95-100 %; a dot for nan.

    >>> digits(np.array([0, 0.06, 0.949, 0.951, np.nan], np.float32)).tobytes()
    b'019*.'
    """
    raised = probabilities + np.float64(0.05)
    with np.errstate(invalid="ignore"):
        tenths = (raised * 10).astype(np.uint8)
    tenths += ord("0")
    tenths[raised >= 1] = ord("*")
    if (is_none := np.isnan(raised)).any():
        tenths[is_none] = DOT
    return tenths
