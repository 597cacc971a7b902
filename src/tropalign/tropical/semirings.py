"""Semirings: two operations that take the place of addition and multiplication."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import is_masked
from tropalign.errors import InputError, UsageError


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


#: Sums are minima, products are sums.
MIN_PLUS = Semiring("min-plus", math.inf, 0.0)
#: Sums are maxima, products are sums.
MAX_PLUS = Semiring("max-plus", -math.inf, 0.0)
#: Sums and products of numbers.
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
        raise UsageError(f"{dtype!r} is not a numeric type") from None
    if kind.name not in dtypes_of(semiring):
        known = ", ".join(dtypes_of(semiring))
        raise UsageError(
            f"{name} has type {kind}, which {semiring.name} does not support: convert it to one of {known}"
        )
    return kind


def checked_matrix(
    value: Any, semiring: Semiring, name: str = "A", *, n_dims: tuple[int, ...] = (2,), is_square: bool = False
) -> NDArray[Any]:
    """Return a matrix as an array in C order, of a type that the semiring supports.

    Other objects than arrays are read as float64, for `BOOL` as truth values. `n_dims`: allowed numbers of
    dimensions, 2 for a matrix, 3 for a stack of matrices. The result is a view if nothing had to be converted. The
    numbers are not checked; see `surveyed`. Raises InputError for other shapes, UsageError for other types.
    """
    array = _as_array(value, semiring, name)
    if array.ndim not in n_dims:
        wanted = " or ".join(str(n) for n in n_dims)
        raise InputError(f"{name} has {array.ndim} dimensions instead of {wanted}: give rows and columns")
    if is_square and array.shape[-1] != array.shape[-2]:
        raise InputError(f"{name} has {array.shape[-2]} rows and {array.shape[-1]} columns: it must be square")
    return np.ascontiguousarray(array, checked_dtype(semiring, array.dtype, name))


def _as_array(value: Any, semiring: Semiring, name: str) -> NDArray[Any]:
    if is_masked(value):
        raise UsageError(f"{name} is a masked array: fill its gaps first, for example with the semiring's zero")
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if hasattr(value, "tocoo"):
        raise UsageError(
            f"{name} is sparse: convert it to an array, with the semiring's zero for entries that are not stored"
        )
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths") from None
    if array.dtype.kind not in "iufb" or (semiring == BOOL and array.dtype.kind != "b"):
        kind = "truth values" if semiring == BOOL else "numbers"
        raise InputError(f"{name} is of type {type(value).__name__}, not a matrix of {kind}")
    return array if hasattr(value, "dtype") or semiring == BOOL else array.astype(np.float64)


@dataclass(frozen=True)
class Survey:
    """Properties of the numbers of a matrix over min-plus or max-plus.

    `lowest`, `highest`: of the finite numbers, exact for integers; inf and -inf without finite numbers.
    `any_zero`: True if the semiring's zero, an infinity, is among them.
    """

    lowest: float
    highest: float
    any_zero: bool


def surveyed(array: NDArray[Any], semiring: Semiring, name: str = "A") -> Survey:
    """Return the bounds of a matrix's numbers; raises InputError with the position of an invalid number."""
    if semiring == BOOL:
        return Survey(0, 1, True)
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    low, high, any_finite, any_zero, bad = _native.survey_numbers(array.reshape(-1), semiring.name != "min-plus")
    if semiring == REAL and any_zero and bad < 0 and array.dtype.kind == "f":
        bad = int(np.argmin(np.isfinite(array.reshape(-1))))
    if bad >= 0:
        where, number = f"{name}[{place_of(int(bad), array.shape)}]", array.reshape(-1)[bad]
        if np.isnan(number):
            raise InputError(f"{where} is NaN: give only numbers")
        hint = "give finite numbers" if semiring == REAL else f"its infinity is {semiring.zero}"
        raise InputError(f"{where} is {number}, which is not in {semiring.name}: {hint}")
    return Survey(low, high, bool(any_zero)) if any_finite else Survey(math.inf, -math.inf, bool(any_zero))


def place_of(at: int, shape: tuple[int, ...]) -> str:
    """Return the indices of a number in an array as text, without the index of a single matrix."""
    indices = [int(k) for k in np.unravel_index(at, shape)]
    return ", ".join(str(k) for k in (indices[1:] if len(shape) == 3 and shape[0] == 1 else indices))


#: Type for computing if the bounds of a type do not suffice.
WIDER = {"float16": "float32", "float32": "float64", "int16": "int32", "int32": "float64"}


def narrowed(c: NDArray[Any], dtype: np.dtype[Any], semiring: Semiring) -> NDArray[Any]:
    """Return a result in its type; raises InputError, which names a wider type, for a number that does not fit."""
    if c.dtype == dtype:
        return c
    is_zero = c == zero_of(semiring, c.dtype)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = c.astype(dtype)
        is_beyond = np.isinf(narrow) & ~is_zero
    else:
        limits, worst = np.iinfo(dtype), zero_of(semiring, dtype)
        is_beyond = ~is_zero & ((c < limits.min) | (c > limits.max) | (c == worst))
        narrow = np.where(is_zero | is_beyond, worst, c).astype(dtype)
    if is_beyond.any():
        at = int(np.argmax(is_beyond))
        number = c.reshape(-1)[at]
        raise InputError(
            f"the product's entry [{place_of(at, c.shape)}] is {number:.15g}, which {dtype} cannot hold: "
            f"convert the matrices to {WIDER[dtype.name]}"
        )
    return narrow
