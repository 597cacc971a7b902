"""Semirings: two operations that take the place of addition and multiplication."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tropalign.errors import UsageError


@dataclass(frozen=True)
class Semiring:
    """Two operations in the place of addition and multiplication: one chooses or sums, one goes on.

    The five that there are: `MIN_PLUS` (lengths of shortest paths), `MAX_PLUS` (scores of best paths), `REAL` (ordinary
    sums and products), `LOG` (the same of numbers that are given by their natural logarithms) and `BOOL` (or, and).

    Attributes
    ----------
    name : str
        "min-plus", "max-plus", "real", "log" or "bool".
    zero : float
        What changes no sum and makes every product zero: no path. Integers have no infinity; see `zero_of`.
    one : float
        What changes no product: the empty path.

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
        """Whether it adds by choosing the lowest or highest number and multiplies by addition."""
        return self.name in ("min-plus", "max-plus")

    @property
    def is_max(self) -> bool:
        """Whether it adds by choosing the highest number."""
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
    """One of the five. Raises UsageError on anything else."""
    if not isinstance(semiring, Semiring) or semiring not in SEMIRINGS:
        names = "MIN_PLUS, MAX_PLUS, REAL, LOG, BOOL"
        raise UsageError(f"{semiring!r} is not a semiring: give one of tropalign.tropical's {names}")
    return semiring


def zero_of(semiring: Semiring, dtype: Any) -> Any:
    """The semiring's zero as a number of a type, of which integers have no infinity.

    Parameters
    ----------
    semiring
        One of the five.
    dtype
        A type of numbers that the semiring is computed in.

    Returns
    -------
    numpy.generic
        A scalar of that type: for integers under min-plus the type's highest number, under max-plus its lowest.

    Raises
    ------
    UsageError
        What is given is not a semiring, or the semiring is not computed in that type.

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


#: The types of numbers.
_FLOATS = ("float16", "float32", "float64")
_INTEGERS = ("int16", "int32")


def dtypes_of(semiring: Semiring) -> tuple[str, ...]:
    """The names of the types that a semiring is computed in."""
    if semiring == BOOL:
        return ("bool",)
    return _FLOATS if semiring == LOG else (*_FLOATS, *_INTEGERS)


def checked_dtype(semiring: Semiring, dtype: Any, name: str = "dtype") -> np.dtype[Any]:
    """A type that the semiring is computed in, in the byte order of the machine. Raises UsageError on any other."""
    try:
        kind: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    except (TypeError, ValueError):
        raise UsageError(f"{dtype!r} is no type of numbers") from None
    if kind.name not in dtypes_of(semiring):
        known = ", ".join(dtypes_of(semiring))
        raise UsageError(f"{name} is of {kind}, in which {semiring.name} is not computed: convert it to one of {known}")
    return kind
