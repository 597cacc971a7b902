"""Products over the semirings with ordinary sums: of numbers, and of logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.semirings.matrices import place_of, surveyed
from tropalign.semirings.semirings import LOG, REAL

#: Integers up to here are exact in float64.
_EXACT = 2.0**53
#: A sum of exponentials of this size or more has lost nothing that matters: a term 2^53 times smaller than the sum
#: is still above 1e-300, and so are both its factors, which are at most 1.
_LEAST_SUM = 1e-280


def real_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return sums of products, by NumPy's BLAS; raises InputError for a number or result out of range."""
    for matrix, name in ((a, "A"), (b, "B")):
        surveyed(matrix, REAL, name)
    if a.dtype.kind == "i":
        return _whole_product(a, b)
    wide = np.float32 if a.dtype == np.float16 else a.dtype
    with np.errstate(over="ignore", invalid="ignore"):
        product: NDArray[Any] = np.matmul(a.astype(wide, copy=False), b.astype(wide, copy=False))
        found = product.astype(a.dtype, copy=False)
    if not np.isfinite(found).all():
        raise InputError(_too_large(~np.isfinite(found), a.dtype))
    return found


def _whole_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return exact sums of products of integers, multiplied as float64 by BLAS if that is exact."""
    bound = a.shape[-1] * _largest(a) * _largest(b)
    found: NDArray[Any]
    if bound < _EXACT:
        found = np.matmul(a.astype(np.float64), b.astype(np.float64))
    else:
        # int64 wraps around, but stays correct modulo 2^64, and the sum of floats shows whether it has wrapped.
        found = np.matmul(a.astype(np.int64), b.astype(np.int64))
        nearly = np.matmul(a.astype(np.float64), b.astype(np.float64))
        found = np.where(np.abs(nearly) < 2.0**62, found, np.iinfo(np.int64).max)
    limits = np.iinfo(a.dtype)
    is_beyond = (found < limits.min) | (found > limits.max)
    if is_beyond.any():
        raise InputError(_too_large(is_beyond, a.dtype))
    return found.astype(a.dtype)


def _largest(matrix: NDArray[Any]) -> float:
    return float(max(-int(matrix.min(initial=0)), int(matrix.max(initial=0))))


def _too_large(is_beyond: NDArray[np.bool_], dtype: np.dtype[Any]) -> str:
    place = place_of(int(np.argmax(is_beyond)), is_beyond.shape)
    remedy = "divide both by a number" if dtype == np.float64 else "convert the matrices to float64"
    return f"the product's entry [{place}] is beyond {dtype}: {remedy}"


def log_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return logarithms of sums of products, in float64 and rounded once; InputError for a number out of range.

    Each row of `a` and each column of `b` is divided by its largest number, so that exponentials and their product
    by BLAS stay in the range of floats. A sum so small that terms may be below that range is computed again,
    relative to its own largest term.
    """
    for matrix, name in ((a, "A"), (b, "B")):
        surveyed(matrix, LOG, name)
    if not a.shape[-1]:
        return np.full((max(a.shape[0], b.shape[0]), a.shape[1], b.shape[2]), -np.inf, a.dtype)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    rows, columns = wide_a.max(2, keepdims=True), wide_b.max(1, keepdims=True)
    rows[np.isneginf(rows)] = 0
    columns[np.isneginf(columns)] = 0
    sums = np.matmul(np.exp(wide_a - rows), np.exp(wide_b - columns))
    with np.errstate(divide="ignore"):
        found: NDArray[Any] = np.log(sums) + rows + columns
    for p, i, j in _small_sums(sums):
        terms = wide_a[p % len(wide_a), i] + wide_b[p % len(wide_b)][:, j].T
        largest = terms.max(1)
        largest[np.isneginf(largest)] = 0
        with np.errstate(divide="ignore"):
            found[p, i, j] = np.log(np.exp(terms - largest[:, None]).sum(1)) + largest
    return found.astype(a.dtype, copy=False)


def _small_sums(sums: NDArray[np.float64]) -> Any:
    """Yield the positions of small sums: product, row and some columns at a time."""
    is_small = sums < _LEAST_SUM
    for p, i in zip(*np.nonzero(is_small.any(2)), strict=True):
        yield int(p), int(i), np.nonzero(is_small[p, i])[0]
