"""Checks of matrices from callers, and the bounds of their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import is_masked
from tropalign.errors import InputError, UsageError
from tropalign.semirings.semirings import BOOL, REAL, Semiring, checked_dtype, zero_of


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
        raise InputError(f"{name} has {array.shape[-2]} rows and {array.shape[-1]} columns: it has to be square")
    return np.ascontiguousarray(array, checked_dtype(semiring, array.dtype, name))


def _as_array(value: Any, semiring: Semiring, name: str) -> NDArray[Any]:
    if is_masked(value):
        raise UsageError(f"{name} is a masked array: fill its gaps first, say with the semiring's zero")
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if hasattr(value, "tocoo"):
        raise UsageError(f"{name} is sparse: convert it to an array, with the semiring's zero where it stores nothing")
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths") from None
    if array.dtype.kind not in "iufb" or (semiring == BOOL and array.dtype.kind != "b"):
        raise InputError(f"{name} is a {type(value).__name__} and no matrix of {_kind_of(semiring)}")
    return array if hasattr(value, "dtype") or semiring == BOOL else array.astype(np.float64)


def _kind_of(semiring: Semiring) -> str:
    return "truth values" if semiring == BOOL else "numbers"


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
        raise InputError(_bad_number(array, int(bad), semiring, name))
    return Survey(low, high, bool(any_zero)) if any_finite else Survey(math.inf, -math.inf, bool(any_zero))


def _bad_number(array: NDArray[Any], bad: int, semiring: Semiring, name: str) -> str:
    place = place_of(bad, array.shape)
    number = array.reshape(-1)[bad]
    if np.isnan(number):
        return f"{name}[{place}] is NaN (no number): give numbers only"
    hint = "give finite numbers" if semiring == REAL else f"its infinity is {semiring.zero}"
    return f"{name}[{place}] is {number}, which {semiring.name} does not have: {hint}"


def place_of(at: int, shape: tuple[int, ...]) -> str:
    """Return the indices of a number in an array as text, without the index of a single matrix."""
    indices = [int(k) for k in np.unravel_index(at, shape)]
    return ", ".join(str(k) for k in (indices[1:] if len(shape) == 3 and shape[0] == 1 else indices))


#: Type for computing if the bounds of a type do not suffice.
WIDER = {"float16": "float32", "float32": "float64", "int16": "int32", "int32": "float64"}


def narrowed(c: NDArray[Any], dtype: np.dtype[Any], semiring: Semiring) -> NDArray[Any]:
    """Return a result in its type; raises InputError for a number that the type cannot hold, and names one that can."""
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
