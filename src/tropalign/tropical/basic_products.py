"""Products over one kind of semiring each.

Over min-plus and max-plus they are computed in types in which no number wraps around; over real numbers and logarithms
by BLAS.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import require_processor
from tropalign.errors import InputError
from tropalign.tropical.semirings import LOG, REAL, WIDER, Semiring, Survey, narrowed, place_of, surveyed, zero_of

if TYPE_CHECKING:
    from tropalign.execution.task import Device, Progress


def tropical_product(
    a: NDArray[Any],
    b: NDArray[Any],
    semiring: Semiring,
    *,
    argbest: bool,
    n_threads: int,
    devices: Sequence[Device] | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Multiply matrices (p, m, k) and (p, k, n); raises InputError for a number or result out of range."""
    of_a, of_b = surveyed(a, semiring, "A"), surveyed(b, semiring, "B")
    dtype = a.dtype
    wide = dtype if suffices(dtype, semiring, of_a, of_b) else np.dtype(WIDER.get(dtype.name, dtype.name))
    if wide == dtype == np.float64 and not suffices(dtype, semiring, of_a, of_b):
        raise InputError("sums of A's and B's numbers exceed float64: scale both down")
    limit = float(limit_of(wide, semiring, of_a, of_b)) if wide.kind == "i" else 0.0

    def on_cpu(a: NDArray[Any], b: NDArray[Any], n_threads: int) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        left, right = _bounded(a, wide, semiring, of_a), _bounded(b, wide, semiring, of_b)
        return _native.tropical_product(left, right, semiring.is_max, argbest, limit, n_threads, progress)

    if devices is not None:
        from tropalign.tropical.gpu_matrices import Encoding, product_on

        encode = partial(Encoding.of, dtype if dtype.kind == "i" else wide, semiring, (of_a, of_b))
        shared = product_on(devices, a, b, encode, wide, lambda *given: on_cpu(*given)[0], progress)
        if shared is not None:
            return narrowed(shared, dtype, semiring), None
        require_processor(devices, "products of such large or widely spread numbers")
    c, best_k = on_cpu(a, b, n_threads)
    return narrowed(c, dtype, semiring), best_k


def bounded_infinity(dtype: np.dtype[Any]) -> int:
    """Return native code's infinity: any two numbers of at most this magnitude add up without wrapping around."""
    return int(np.iinfo(dtype).max) // 2


def suffices(dtype: np.dtype[Any], semiring: Semiring, of_a: Survey, of_b: Survey) -> bool:
    """True if sums of two numbers stay within a type, and integers stay apart from its infinity."""
    if dtype == np.float16:
        return False
    low, high = of_a.lowest + of_b.lowest, of_a.highest + of_b.highest  # inf and -inf if there is no finite number
    if dtype.kind == "f":
        largest = float(np.finfo(dtype).max)
        return low > high or (low >= -largest and high <= largest)
    whole = np.iinfo(dtype)
    if low > high:
        low = high = 0
    lowest = min(low, of_a.lowest, of_b.lowest)
    highest = max(high, of_a.highest, of_b.highest)
    bound = bounded_infinity(dtype)
    is_within = lowest > whole.min and highest < whole.max
    if not (of_a.any_zero or of_b.any_zero):
        return bool(is_within)
    limit = limit_of(dtype, semiring, of_a, of_b)
    is_apart = low > limit if semiring.is_max else high < limit
    return bool(is_within and is_apart and lowest >= -bound and highest <= bound)


def limit_of(dtype: np.dtype[Any], semiring: Semiring, of_a: Survey, of_b: Survey) -> int:
    """Return the threshold of infinite integers: infinity plus the finite number that reduces it most."""
    if not (of_a.any_zero or of_b.any_zero):
        return int(zero_of(semiring, dtype))
    bound = bounded_infinity(dtype)
    if semiring.is_max:
        return -bound + int(max(of_a.highest, of_b.highest, 0))
    return bound + int(min(of_a.lowest, of_b.lowest, 0))


def widened(matrix: NDArray[Any], semiring: Semiring) -> NDArray[np.float64]:
    """Return integers as float64, with the semiring's infinity."""
    wide = matrix.astype(np.float64)
    wide[matrix == zero_of(semiring, matrix.dtype)] = semiring.zero
    return wide


def _bounded(matrix: NDArray[Any], dtype: np.dtype[Any], semiring: Semiring, survey: Survey) -> NDArray[Any]:
    """Return the matrix in another type, with native code's infinity."""
    if dtype.kind == "f":
        return matrix.astype(dtype, copy=False) if matrix.dtype.kind == "f" else widened(matrix, semiring)
    if matrix.dtype == dtype:
        return _native.bounded_numbers(matrix, semiring.is_max) if survey.any_zero else matrix
    wide = matrix.astype(dtype)
    if survey.any_zero:
        bound = bounded_infinity(dtype)
        wide[matrix == zero_of(semiring, matrix.dtype)] = -bound if semiring.is_max else bound
    return wide


#: Integers up to here are exact in float64.
_EXACT = 2.0**53
#: A sum of exponentials of this size or more has lost nothing that matters: a term 2^53 times smaller than the sum
#: is still above 1e-300, and so are both its factors, which are at most 1.
_LEAST_SUM = 1e-280


def real_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return sums of products, by NumPy's BLAS; raises InputError for a number or result out of range.

    Sums of integers are exact.
    """
    found: NDArray[Any]
    for matrix, name in ((a, "A"), (b, "B")):
        surveyed(matrix, REAL, name)
    if a.dtype.kind == "f":
        wide = np.float32 if a.dtype == np.float16 else a.dtype
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.matmul(a.astype(wide, copy=False), b.astype(wide, copy=False)).astype(a.dtype, copy=False)
        is_beyond = ~np.isfinite(found)
    else:
        found = np.matmul(a.astype(np.float64), b.astype(np.float64))
        largest, other = (max(-int(one.min(initial=0)), int(one.max(initial=0))) for one in (a, b))
        if a.shape[-1] * largest * other >= _EXACT:
            # int64 wraps around, but stays correct modulo 2^64, and the sum of floats shows whether it has wrapped.
            whole = np.matmul(a.astype(np.int64), b.astype(np.int64))
            found = np.where(np.abs(found) < 2.0**62, whole, np.iinfo(np.int64).max)
        is_beyond = (found < np.iinfo(a.dtype).min) | (found > np.iinfo(a.dtype).max)
    if is_beyond.any():
        place = place_of(int(np.argmax(is_beyond)), is_beyond.shape)
        remedy = "scale both down" if a.dtype == np.float64 else "convert the matrices to float64"
        raise InputError(f"the product's entry [{place}] exceeds {a.dtype}: {remedy}")
    return found.astype(a.dtype, copy=False)


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
    is_small = sums < _LEAST_SUM
    for p, i in zip(*np.nonzero(is_small.any(2)), strict=True):
        j = np.flatnonzero(is_small[p, i])
        terms = wide_a[p % len(wide_a), i] + wide_b[p % len(wide_b)][:, j].T
        largest = terms.max(1)
        largest[np.isneginf(largest)] = 0
        with np.errstate(divide="ignore"):
            found[p, i, j] = np.log(np.exp(terms - largest[:, None]).sum(1)) + largest
    return found.astype(a.dtype, copy=False)
