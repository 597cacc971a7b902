"""Products of matrices over semirings.

Over min-plus and max-plus they are computed in types in which no number wraps around; over real numbers and logarithms
by BLAS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import devices_for, require_processor
from tropalign.errors import InputError, UsageError
from tropalign.execution.task import Progress, checked_progress
from tropalign.resources.limits import (
    checked_choice,
    checked_threads,
    default_budget,
    require,
    resolve_threads,
    whole_number,
)
from tropalign.tropical.intervals import matrix_chain
from tropalign.tropical.semirings import (
    BOOL,
    LOG,
    MIN_PLUS,
    REAL,
    WIDER,
    Semiring,
    Survey,
    checked_matrix,
    checked_semiring,
    narrowed,
    place_of,
    surveyed,
    zero_of,
)

if TYPE_CHECKING:
    from tropalign.execution.task import Device


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
        from tropalign.tropical.gpu import Encoding, product_on

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


#: Matrices per block of `scan`.
_BLOCK = 32
#: Sums that take less time than querying the number of threads.
_LITTLE_SUMS = 2_000_000
#: Results up to this size are allocated without a check of the memory.
_LITTLE_BYTES = 1 << 26


@overload
def matmul(
    A: Any,
    B: Any,
    semiring: Semiring = ...,
    *,
    argbest: Literal[False] = False,
    n_threads: int = 0,
    device: str | Iterable[str] = "auto",
    progress: Progress | None = None,
) -> NDArray[Any]: ...
@overload
def matmul(
    A: Any,
    B: Any,
    semiring: Semiring = ...,
    *,
    argbest: Literal[True],
    n_threads: int = 0,
    device: str | Iterable[str] = "auto",
    progress: Progress | None = None,
) -> tuple[NDArray[Any], NDArray[np.int32]]: ...


def matmul(
    A: Any,
    B: Any,
    semiring: Semiring = MIN_PLUS,
    *,
    argbest: bool = False,
    n_threads: int = 0,
    device: str | Iterable[str] = "auto",
    progress: Progress | None = None,
) -> NDArray[Any] | tuple[NDArray[Any], NDArray[np.int32]]:
    """Compute the product of two matrices over a semiring, or of many matrices at once.

    Under min-plus C[i, j] is the lowest of A[i, k] + B[k, j] for all k: the length of the shortest way from i to j
    over one of the k.

    Parameters
    ----------
    A
        An array of (m, k) numbers, or (p, m, k) for p products.
    B
        An array of (k, n) numbers of the same type, or (p, k, n). If one has p matrices and the other is a single
        one, the single one is used p times.
    semiring
        The semiring; min-plus by default.
    argbest
        Whether to return the first best k as well; for `MIN_PLUS` and `MAX_PLUS`.
    n_threads
        Threads, 0 for all available. `REAL` and `LOG` leave this to NumPy's BLAS.
    device
        "cpu", "cuda:0", "opencl:0.0" or several of them, which share the rows; "auto" uses the CPU, and also the
        GPUs if there are 10^11 sums or more. GPUs have kernels for `MIN_PLUS` and `MAX_PLUS` in float32, int16 and
        int32, without `argbest`; the result is the same (but zeros have no sign).
    progress
        Called now and then with a number that goes up; not over `REAL` and `LOG`. An exception that it raises
        stops the work and is passed on.

    Returns
    -------
    numpy.ndarray or tuple of two
        (m, n) or (p, m, n) numbers of the same type; with `argbest` also int32 indices k, -1 if C[i, j] is the
        semiring's zero.

    Raises
    ------
    InputError
        Arguments that are not matrices or do not fit, a number that is not of the semiring (NaN), or a type that
        cannot hold a number of the result; the error names a type that can.
    UsageError
        Not a semiring, an unsupported type, matrices of two types, or an option that does not apply.
    ResourceError
        Not enough memory for the result.
    DeviceError
        A named GPU does not exist, or has no kernel for these matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from tropalign.tropical import matmul
    >>> roads = np.array([[0, 7, np.inf], [7, 0, 2], [np.inf, 2, 0]])
    >>> matmul(roads, roads)
    array([[0., 7., 9.],
           [7., 0., 2.],
           [9., 2., 0.]])
    >>> matmul(roads, roads, argbest=True)[1][0].tolist()
    [0, 0, 1]
    """
    semiring = checked_semiring(semiring)
    n_threads = checked_threads(n_threads)
    checked_choice("argbest", argbest)
    if argbest and not semiring.is_tropical:
        raise UsageError(f"argbest supports only MIN_PLUS and MAX_PLUS, not {semiring.name}")
    a = checked_matrix(A, semiring, "A", n_dims=(2, 3))
    b = checked_matrix(B, semiring, "B", n_dims=(2, 3))
    check_fit(a, b)
    is_flat = a.ndim == b.ndim == 2
    a, b = (matrix if matrix.ndim == 3 else matrix[None] for matrix in (a, b))
    without = _without_kernel(a.dtype, semiring, argbest)
    sums = max(len(a), len(b)) * a.shape[1] * a.shape[2] * b.shape[2]
    if sums >= _LITTLE_SUMS:
        n_threads = resolve_threads(n_threads)
    devices = devices_for(device, n_threads, sums, without)
    how: dict[str, Any] = {"argbest": argbest, "devices": devices, "progress": checked_progress(progress)}
    c, best_k = product(a, b, semiring, n_threads=n_threads or 1, **how)
    if is_flat:
        c, best_k = c[0], best_k if best_k is None else best_k[0]
    return c if best_k is None else (c, best_k)


def check_fit(a: NDArray[Any], b: NDArray[Any], names: tuple[str, str] = ("A", "B")) -> None:
    """Raise an error if the sizes or types of two factors do not fit."""
    if a.shape[-1] != b.shape[-2]:
        left, right = names
        raise InputError(f"{left} has {a.shape[-1]} columns, but {right} has {b.shape[-2]} rows: both must be equal")
    if a.ndim == b.ndim == 3 and a.shape[0] != b.shape[0] and 1 not in (a.shape[0], b.shape[0]):
        raise InputError(f"A has {a.shape[0]} matrices and B {b.shape[0]}: give equal numbers, or one matrix")
    if a.dtype != b.dtype:
        raise UsageError(f"{names[0]} has type {a.dtype} and {names[1]} {b.dtype}: convert one of them")


def _without_kernel(dtype: np.dtype[Any], semiring: Semiring, argbest: bool) -> str | None:
    """Return the name of the requested products if GPUs have no kernel for them, else None."""
    if not semiring.is_tropical:
        return f"products over {semiring.name}"
    if dtype not in (np.float32, np.int16, np.int32):
        return f"products of {dtype}"
    return "products with argbest" if argbest else None


def product(
    a: NDArray[Any],
    b: NDArray[Any],
    semiring: Semiring,
    *,
    argbest: bool = False,
    n_threads: int = 1,
    devices: Sequence[Device] | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Multiply matrices (p, m, k) and (p, k, n); everything except the numbers has been checked."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    n_numbers = max(len(a), len(b)) * a.shape[1] * b.shape[2]
    n_bytes = n_numbers * (3 * 8 if semiring == LOG else a.dtype.itemsize + 4 * argbest)
    if n_bytes > _LITTLE_BYTES:  # for small results the query would cost as much as they do
        require(n_bytes, default_budget(), f"a product of {n_numbers} numbers", "multiply it in parts")
    if semiring.is_tropical:
        return tropical_product(
            a, b, semiring, argbest=argbest, n_threads=n_threads, devices=devices, progress=progress
        )
    if semiring == BOOL:
        return _native.truth_product(a, b, n_threads, progress), None
    return (real_product if semiring == REAL else log_product)(a, b), None


def identity(n: int, semiring: Semiring, dtype: Any) -> NDArray[Any]:
    """Return the identity matrix: the semiring's one on the diagonal, its zero elsewhere."""
    made = np.full((n, n), zero_of(semiring, dtype))
    np.fill_diagonal(made, semiring.one)
    return made


class _Products:
    """Successive products, with the number done for a progress callback."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._n_done = checked_progress(progress), 0

    def product(self, a: NDArray[Any], b: NDArray[Any], semiring: Semiring, **how: Any) -> NDArray[Any]:
        """Multiply two matrices; the progress callback is also called during the product, and can stop it."""
        found: NDArray[Any] = matmul(a, b, semiring, progress=None if self._progress is None else self._tell, **how)
        self._n_done += 1
        self._tell()
        return found

    def _tell(self, _n_rows: int = 0) -> None:
        if self._progress is not None:
            self._progress(self._n_done)


def power(
    A: Any, n: int, semiring: Semiring = MIN_PLUS, *, n_threads: int = 0, progress: Progress | None = None
) -> NDArray[Any]:
    """Multiply a matrix n times with itself, by squaring.

    Parameters
    ----------
    A
        A square array.
    n
        Number of factors; 0 gives the semiring's identity.
    semiring
        The semiring; min-plus by default, for which the result has the lengths of the shortest ways of n steps.
    n_threads
        Threads, 0 for all available.
    progress
        Called now and then with the number of products done. An exception that it raises stops the work and is
        passed on.

    Returns
    -------
    numpy.ndarray
        A matrix of the same size and type.

    Raises
    ------
    InputError
        Not a square matrix, a number that the semiring does not have, or a result that the type cannot hold.
    UsageError
        Not a semiring, an unsupported type, or n below 0.
    ResourceError
        Not enough memory for a result.

    Examples
    --------
    >>> import numpy as np
    >>> from tropalign.tropical import power
    >>> ring = np.array([[np.inf, 1, np.inf], [np.inf, np.inf, 1], [5, np.inf, np.inf]])
    >>> power(ring, 3)[0].tolist()
    [7.0, inf, inf]
    """
    semiring = checked_semiring(semiring)
    exponent = whole_number("n", n, 0)
    square = checked_matrix(A, semiring, is_square=True)
    surveyed(square, semiring)
    if exponent == 0:
        return identity(len(square), semiring, square.dtype)
    result: NDArray[Any] | None = None
    told = _Products(progress)
    while exponent:
        if exponent & 1:
            result = square.copy() if result is None else told.product(result, square, semiring, n_threads=n_threads)
        exponent >>= 1
        if exponent:
            square = told.product(square, square, semiring, n_threads=n_threads)
    assert result is not None
    return result


def chain(
    matrices: Iterable[Any],
    semiring: Semiring = MIN_PLUS,
    *,
    n_threads: int = 0,
    device: str | Iterable[str] = "auto",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Compute the product of several matrices, in the order with the fewest steps (see `matrix_chain`).

    Parameters
    ----------
    matrices
        At least one, of fitting sizes and the same type.
    semiring
        The semiring; min-plus by default.
    n_threads
        Threads, 0 for all available.
    device
        "cpu", "cuda:0", "opencl:0.0" or several of them; their first GPU computes; "auto" uses one for
        10^11 sums and more. GPUs multiply several pairs of neighbours at once, if the matrices are square, of one
        size and of the kinds that GPUs support for `matmul`. Sums of floats are then rounded in another order.
    progress
        Called now and then with the number of products done. An exception that it raises stops the work and is
        passed on.

    Returns
    -------
    numpy.ndarray
        With the rows of the first matrix and the columns of the last one.

    Raises
    ------
    InputError
        No matrix is given, two neighbours do not fit, a number is not of the semiring, or the type cannot hold a
        result.
    UsageError
        Not a semiring, or an unsupported type.
    ResourceError
        Not enough memory for a result.
    DeviceError
        A named GPU does not exist, or has no kernel for these matrices.

    Examples
    --------
    >>> from tropalign.tropical import chain
    >>> chain([[[1.0, 5.0]], [[2.0], [3.0]], [[0.0, 10.0]]]).tolist()
    [[3.0, 13.0]]
    """
    semiring = checked_semiring(semiring)
    n_threads = resolve_threads(n_threads)
    try:
        given = list(matrices)
    except TypeError:
        raise UsageError(f"{type(matrices).__name__} is not a list of matrices") from None
    if not given:
        raise InputError("there are no matrices: give at least one")
    factors = [checked_matrix(matrix, semiring, f"matrices[{k}]") for k, matrix in enumerate(given)]
    for k, (left, right) in enumerate(pairwise(factors)):
        check_fit(left, right, (f"matrices[{k}]", f"matrices[{k + 1}]"))
    if len(factors) == 1:
        surveyed(factors[0], semiring, "matrices[0]")
        return factors[0].copy()
    sizes = [factors[0].shape[0], *(factor.shape[1] for factor in factors)]
    without = "chains of matrices of several sizes" if len(set(sizes)) > 1 else None
    without = _without_kernel(factors[0].dtype, semiring, False) or without
    n_sums = len(factors) * sizes[0] ** 3
    is_same = factors[0].dtype.kind == "i"
    if (devices := devices_for(device, n_threads, n_sums, without, is_same=is_same)) is not None:
        from tropalign.tropical.gpu import chain_on

        if (found := chain_on(devices, factors, semiring)) is not None:
            return found
    products, told = dict(enumerate(factors)), _Products(progress)
    how: dict[str, Any] = {"n_threads": n_threads, "device": "cpu"}
    for i, k in reversed(_order(sizes)):
        products[i] = told.product(products[i], products.pop(k + 1), semiring, **how)
    return products[0]


def _order(sizes: list[int]) -> list[tuple[int, int]]:
    """Return (i, k) per product, the last one first: matrix i starts the first factor, matrix k + 1 the second."""
    if len(set(sizes)) == 1:  # no order is cheaper than that from the left
        return [(0, k) for k in reversed(range(len(sizes) - 2))]
    return [(i, k) for i, k, _ in matrix_chain(sizes, n_threads=1).cuts.tolist()]


def scan(
    matrices: Any, semiring: Semiring = MIN_PLUS, *, n_threads: int = 0, progress: Progress | None = None
) -> NDArray[Any]:
    """Compute the products of the first one, two, three ... of many matrices.

    Parameters
    ----------
    matrices
        An array of (n, l, l) numbers.
    semiring
        The semiring; min-plus by default.
    n_threads
        Threads, 0 for all available.
    progress
        Called now and then during each product, with a number that restarts with each product. An exception that
        it raises stops the work and is passed on.

    Returns
    -------
    numpy.ndarray
        (n, l, l): entry k is the product of the matrices 0 to k.

    Raises
    ------
    InputError
        Arguments that are not square matrices, a number that the semiring does not have, or a result that the type
        cannot hold.
    UsageError
        Not a semiring, or an unsupported type.
    ResourceError
        Not enough memory for a result.

    Examples
    --------
    >>> import numpy as np
    >>> from tropalign.tropical import scan
    >>> scan(np.array([[[1.0]], [[2.0]], [[3.0]]])).ravel().tolist()
    [1.0, 3.0, 6.0]
    """
    semiring = checked_semiring(semiring)
    n_threads, told = resolve_threads(n_threads), checked_progress(progress)
    steps = checked_matrix(matrices, semiring, "matrices", n_dims=(3,), is_square=True)
    if not steps.size:
        return steps.copy()
    bounds = surveyed(steps, semiring, "matrices")
    if steps.dtype.kind != "i" or not semiring.is_tropical:
        return _scanned(steps, semiring, n_threads, told)
    # Products within the blocks may exceed the type even if those from the first matrix on do not.
    most = len(steps) * max(abs(bounds.lowest), abs(bounds.highest), 0) if bounds.lowest <= bounds.highest else 0
    if most <= bounded_infinity(steps.dtype) // 2:
        return _scanned(steps, semiring, n_threads, told)
    return narrowed(_scanned(widened(steps, semiring), semiring, n_threads, told), steps.dtype, semiring)


def _scanned(steps: NDArray[Any], semiring: Semiring, n_threads: int, progress: Progress | None) -> NDArray[Any]:
    """Compute the products within blocks together, then those of whole blocks in the same way, then combine both.

    steps       a b c d | e f g h | i j         blocks of _BLOCK
    in blocks   a ab abc abcd | e ef efg efgh | i ij
    of blocks   abcd  abcdefgh
    """
    n, size = steps.shape[:2]
    n_blocks = -(-n // _BLOCK)
    found = steps.copy()
    for k in range(1, min(n, _BLOCK)):
        at = slice(k, None, _BLOCK)
        found[at] = product(found[k - 1 : n - 1 : _BLOCK], steps[at], semiring, n_threads=n_threads, progress=progress)[
            0
        ]
    if n_blocks > 1:
        totals = _scanned(found[_BLOCK - 1 : (n_blocks - 1) * _BLOCK : _BLOCK], semiring, n_threads, progress)
        n_full = (n // _BLOCK - 1) * _BLOCK
        # The matrices of a block are placed in one row, so that one product serves them all.
        after = found[_BLOCK : _BLOCK + n_full]
        blocks = after.reshape(-1, _BLOCK, size, size).swapaxes(1, 2).reshape(-1, size, _BLOCK * size)
        carried = product(totals[: len(blocks)], blocks, semiring, n_threads=n_threads, progress=progress)[0]
        after[:] = carried.reshape(-1, size, _BLOCK, size).swapaxes(1, 2).reshape(-1, size, size)
        if n % _BLOCK:
            rest = found[_BLOCK + n_full :]
            rest[:] = product(totals[-1:], rest, semiring, n_threads=n_threads, progress=progress)[0]
    return found
