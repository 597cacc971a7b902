"""Decimal scores for integer engines: all scores and costs are multiplied by one integer factor."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import gcd, isfinite
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError

#: Scores and costs are integer multiples of 1 / PARTS: four decimals.
PARTS = 10_000
#: Tolerance for floats in units of 1 / PARTS: 0.1 + 0.2 is 0.3.
NEAR = 1e-3


def parts_of(values: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return finite values in units of 1 / PARTS, or None if one of them has more than four decimals."""
    scaled = values * PARTS
    parts = np.rint(scaled)
    return parts.astype(np.int64) if (np.abs(scaled - parts) <= NEAR).all() else None


def least_factor(parts: Iterable[int]) -> int:
    """Return the smallest divisor of PARTS that turns these multiples of 1 / PARTS into integers.

    >>> least_factor([95_000, 5_000]), least_factor([12_500]), least_factor([30_000])
    (2, 4, 1)
    """
    return PARTS // gcd(PARTS, *parts)


def number(value: object, what: str, most: int) -> int | float:
    """Return a score or cost as an int if it is whole, else as the float nearest to its (up to four) decimals.

    `value` may be an int, float, Decimal, Fraction or NumPy scalar of at most `most` in magnitude; `what` names it
    in errors. Raises ScoringError for anything else.
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
