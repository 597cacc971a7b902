"""Numbers with decimals, for engines that compute with whole ones: everything times one whole factor."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import gcd, isfinite
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError

#: Scores and costs are whole numbers of such parts of a unit: four decimals.
PARTS = 10_000
#: Floats are as near as this to what was written, in parts; 0.1 + 0.2 is 0.3.
NEAR = 1e-3


def parts_of(values: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Finite values in parts of a unit; None where one of them has more than four decimals."""
    scaled = values * PARTS
    parts = np.rint(scaled)
    return parts.astype(np.int64) if (np.abs(scaled - parts) <= NEAR).all() else None


def least_factor(parts: Iterable[int]) -> int:
    """The least whole number that makes these numbers of parts, times it, whole units: a divisor of PARTS.

    >>> least_factor([95_000, 5_000]), least_factor([12_500]), least_factor([30_000])
    (2, 4, 1)
    """
    return PARTS // gcd(PARTS, *parts)


def number(value: object, what: str, most: int) -> int | float:
    """A score or cost: an int where it is whole, else the float of what was written.

    Parameters
    ----------
    value
        An int, float, Decimal, Fraction or NumPy's, with up to four decimals.
    what
        What the errors call it.
    most
        What it may be, either way.

    Raises
    ------
    ScoringError
        Something else, too large, or with more decimals.
    """
    try:
        plain = float("nan") if isinstance(value, bool) or not isinstance(value, Real | Decimal) else float(value)
    except OverflowError:
        raise ScoringError(f"{what} is beyond {most}, which no alignment needs") from None
    if not isfinite(plain):
        raise ScoringError(f"{what} {value!r} is not a number: give one, with up to four decimals")
    if abs(plain) > most:
        raise ScoringError(f"{what} {value} is beyond {most}, which no alignment needs")
    parts = parts_of(np.array(plain))
    if parts is None:
        raise ScoringError(f"{what} {value} has more than four decimals: round it")
    whole, rest = divmod(int(parts), PARTS)
    return int(parts) / PARTS if rest else whole
