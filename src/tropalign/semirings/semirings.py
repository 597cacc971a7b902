"""Semirings: two operations that take the place of addition and multiplication."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tropalign.errors import UsageError


@dataclass(frozen=True)
class Semiring:
    """Two operations in the place of addition and multiplication.

    There are five: `MIN_PLUS` (lengths of shortest paths), `MAX_PLUS` (scores of best paths), `REAL` (ordinary
    sums and products), `LOG` (the same of numbers given by their natural logarithms) and `BOOL` (or, and).

    Attributes
    ----------
    name : str
        "min-plus", "max-plus", "real", "log" or "bool".
    zero : float
        The number that changes no sum and makes every product zero: no path. Integers have no infinity; see
        `zero_of`.
    one : float
        The number that changes no product: the empty path.

    Examples
    --------
    >>> from tropalign.tropical import MIN_PLUS
    >>> MIN_PLUS.zero, MIN_PLUS.one
    (inf, 0.0)
    """

    name: str
    zero: float
    one: float

    @property
    def is_tropical(self) -> bool:
        """True if it adds by choosing the lowest or highest number and multiplies by addition."""
        return self.name in ("min-plus", "max-plus")

    @property
    def is_max(self) -> bool:
        """True if it adds by choosing the highest number."""
        return self.name == "max-plus"

    def __repr__(self) -> str:
        return f"<semiring {self.name}>"


#: Lowest number and addition.
MIN_PLUS = Semiring("min-plus", math.inf, 0.0)
#: Highest number and addition.
MAX_PLUS = Semiring("max-plus", -math.inf, 0.0)
#: Addition and multiplication.
REAL = Semiring("real", 0.0, 1.0)
#: Addition and multiplication of numbers given by their natural logarithms.
LOG = Semiring("log", -math.inf, 0.0)
#: Or and and.
BOOL = Semiring("bool", 0.0, 1.0)

SEMIRINGS = (MIN_PLUS, MAX_PLUS, REAL, LOG, BOOL)


def checked_semiring(semiring: Any) -> Semiring:
    """Return one of the five semirings; raises UsageError for anything else."""
    if not isinstance(semiring, Semiring) or semiring not in SEMIRINGS:
        names = "MIN_PLUS, MAX_PLUS, REAL, LOG, BOOL"
        raise UsageError(f"{semiring!r} is not a semiring: give one of tropalign.tropical's {names}")
    return semiring


def zero_of(semiring: Semiring, dtype: Any) -> Any:
    """Return the semiring's zero as a number of a type; integers have no infinity.

    Parameters
    ----------
    semiring
        One of the five.
    dtype
        A type of numbers that the semiring supports.

    Returns
    -------
    numpy.generic
        A scalar of that type: for integers under min-plus the type's highest number, under max-plus its lowest.

    Raises
    ------
    UsageError
        The first argument is not a semiring, or the semiring does not support that type.

    Examples
    --------
    >>> import numpy as np
    >>> from tropalign.tropical import MAX_PLUS, MIN_PLUS, zero_of
    >>> int(zero_of(MIN_PLUS, np.int16)), int(zero_of(MAX_PLUS, np.int16)), float(zero_of(MIN_PLUS, np.float32))
    (32767, -32768, inf)
    """
    semiring = checked_semiring(semiring)
    kind = checked_dtype(semiring, dtype)
    if kind.kind == "i" and semiring.is_tropical:
        limits = np.iinfo(kind)
        return kind.type(limits.min if semiring.is_max else limits.max)
    return kind.type(semiring.zero)


#: Types of numbers.
_FLOATS = ("float16", "float32", "float64")
_INTEGERS = ("int16", "int32")


def dtypes_of(semiring: Semiring) -> tuple[str, ...]:
    """Return the names of the types that a semiring supports."""
    if semiring == BOOL:
        return ("bool",)
    return _FLOATS if semiring == LOG else (*_FLOATS, *_INTEGERS)


def checked_dtype(semiring: Semiring, dtype: Any, name: str = "dtype") -> np.dtype[Any]:
    """Return a type that the semiring supports, in native byte order; raises UsageError for any other."""
    try:
        kind: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    except (TypeError, ValueError):
        raise UsageError(f"{dtype!r} is no type of numbers") from None
    if kind.name not in dtypes_of(semiring):
        known = ", ".join(dtypes_of(semiring))
        raise UsageError(f"{name} is of {kind}, in which {semiring.name} is not computed: convert it to one of {known}")
    return kind
