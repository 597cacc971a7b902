"""Closures of matrices: the sums of all powers; over min-plus the lengths of shortest paths between all vertices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import devices_for
from tropalign.errors import InputError, UsageError
from tropalign.execution.task import checked_progress
from tropalign.machine.numbers import checked_choice, checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.semirings.matrices import checked_matrix, surveyed
from tropalign.semirings.semirings import BOOL, LOG, MAX_PLUS, MIN_PLUS, REAL, Semiring, checked_semiring
from tropalign.semirings.tropical_closures import Progress, tropical_closure


@overload
def closure(
    A: Any,
    semiring: Semiring = ...,
    *,
    predecessors: Literal[False] = ...,
    n_threads: int = ...,
    device: str | Iterable[str] = ...,
    progress: Progress | None = ...,
) -> NDArray[Any]: ...


@overload
def closure(
    A: Any,
    semiring: Semiring = ...,
    *,
    predecessors: Literal[True],
    n_threads: int = ...,
    device: str | Iterable[str] = ...,
    progress: Progress | None = ...,
) -> tuple[NDArray[Any], NDArray[np.int32]]: ...


def closure(
    A: Any,
    semiring: Semiring = MIN_PLUS,
    *,
    predecessors: bool = False,
    n_threads: int = 0,
    device: str | Iterable[str] = "auto",
    progress: Progress | None = None,
) -> NDArray[Any] | tuple[NDArray[Any], NDArray[np.int32]]:
    """Compute the closure of a square matrix: the sum of the identity, A, A A, A A A and so on.

    Over min-plus (max-plus) it holds the weights of the shortest (longest) paths between all pairs of vertices,
    found by a blocked Floyd-Warshall algorithm [1]_; over `BOOL`, which vertices can be reached; over `REAL` and
    `LOG`, the inverse of the identity minus A, if the sum converges.

    Parameters
    ----------
    A
        Weights, n x n: float16, float32, float64, int16 or int32; bool for `BOOL`. Infinity, which for an integer
        type is its highest number (over max-plus its lowest), means no edge. The diagonal is ignored unless it
        contains a negative cycle.
    semiring
        `MIN_PLUS`, `MAX_PLUS`, `BOOL`, `REAL` or `LOG`.
    predecessors
        Whether to return the predecessors as well; over min-plus and max-plus only. It doubles the time.
    n_threads
        0 for all available.
    device
        "cpu", "cuda:0", "opencl:0.0" or several of them, the first GPU of which computes; "auto" uses one for
        integers if n^3 is 10^11 or more. GPUs have kernels for float32, and for int16 and int32 without negative
        weights, over min-plus and max-plus, without predecessors. Integers are the same; floats are other
        roundings of the same sums.
    progress
        Called now and then with a number that goes up to n.

    Returns
    -------
    numpy.ndarray
        The closure, n x n, of A's dtype. Over min-plus its diagonal is 0, and infinity means that there is no
        path.
    numpy.ndarray
        With ``predecessors=True``: int32, n x n; the vertex before j on a path from i to j that has this weight,
        -1 if there is no path and for i itself. Of several such paths, the choice depends only on the numbers of
        the vertices: not on threads, nor on the processor. The predecessors of a row form a tree.

    Raises
    ------
    InputError
        A is not square; it contains NaN or -inf; it has a negative cycle (over max-plus a positive one), which is
        named; its type does not hold the result, and the one that does is named; a sum over `REAL` or `LOG` does
        not converge.
    UsageError
        The semiring does not support A's type, or has no predecessors.
    DeviceError
        A named GPU does not exist, or has no kernel for this matrix.

    Notes
    -----
    Sums of integers are never wrong: if a type might not hold them they are computed in a wider one. A cycle of
    floats counts as negative if its weight is below what rounding explains: n times the type's epsilon times the
    highest weight. Cycles of weight 0 that rounding makes negative are computed with weights that potentials have
    made positive (Johnson 1977).

    References
    ----------
    .. [1] J.-S. Park, M. Penner, V. K. Prasanna. Optimizing graph algorithms for improved cache performance. IEEE
       Transactions on Parallel and Distributed Systems 15 (2004) 769-782.

    Examples
    --------
    >>> import numpy as np
    >>> from tropalign.tropical import closure
    >>> inf = np.inf
    >>> closure([[0, 3, 8], [inf, 0, 2], [1, inf, 0]])
    array([[0., 3., 5.],
           [3., 0., 2.],
           [1., 4., 0.]])
    """
    semiring = checked_semiring(semiring)
    checked_choice("predecessors", predecessors)
    threads, progress = resolve_threads(checked_threads(n_threads)), checked_progress(progress)
    matrix = checked_matrix(A, semiring, is_square=True)
    without = without_kernel(matrix.dtype, semiring, predecessors)
    devices = devices_for(device, threads, len(matrix) ** 3, without, is_same=matrix.dtype.kind == "i")
    if semiring in (MIN_PLUS, MAX_PLUS):
        found, before = tropical_closure(
            matrix, semiring, wants_predecessors=predecessors, n_threads=threads, devices=devices, progress=progress
        )
        return found if before is None else (found, before)
    if predecessors:
        raise UsageError(f"{semiring.name} has no predecessors: leave predecessors out, or choose MIN_PLUS or MAX_PLUS")
    if semiring == BOOL:
        return _reached(matrix, threads, progress)
    return _star(matrix, semiring)


def without_kernel(dtype: np.dtype[Any], semiring: Semiring, predecessors: bool) -> str | None:
    """Return the name of these closures if GPUs have no kernel for them, else None."""
    if semiring not in (MIN_PLUS, MAX_PLUS):
        return f"closures over {semiring.name}"
    if dtype not in (np.float32, np.int16, np.int32):
        return f"closures of {dtype}"
    return "closures with predecessors" if predecessors else None


def _reached(matrix: NDArray[np.bool_], n_threads: int, progress: Progress | None) -> NDArray[np.bool_]:
    """Return the transitive closure, from rows of bits."""
    n = len(matrix)
    n_words = (n + 511) // 512 * 8
    bits = np.zeros((n, n_words * 8), np.uint8)
    packed = np.packbits(matrix, axis=1, bitorder="little")
    bits[:, : packed.shape[1]] = packed
    words = bits.view("<u8").astype(np.uint64, copy=False)
    _native.closure_bits(words, n, n_threads, progress)
    return np.unpackbits(words.view(np.uint8), axis=1, count=n, bitorder="little").view(np.bool_)


def _star(matrix: NDArray[Any], semiring: Semiring) -> NDArray[Any]:
    """Return the limit of I + A + A A + ... over numbers: the inverse of I - A, if all eigenvalues are below 1."""
    surveyed(matrix, semiring)
    if semiring == REAL and matrix.dtype.kind != "f":
        raise UsageError(
            f"the closure over {semiring.name} has fractions, which {matrix.dtype} does not hold: convert A to float64"
        )
    real = matrix.astype(np.float64)
    if semiring == LOG:
        with np.errstate(over="ignore"):
            real = np.exp(real)
    radius = _spectral_radius(real)
    if not radius < 1:
        raise InputError(
            f"the sum of A's powers has no limit: its largest eigenvalue is {radius:g} in size, and has to be below 1"
        )
    star = np.linalg.inv(np.eye(len(real)) - real)
    if semiring == LOG:
        with np.errstate(divide="ignore"):
            star = np.log(np.maximum(star, 0))
    return np.ascontiguousarray(star.astype(matrix.dtype))


def _spectral_radius(matrix: NDArray[np.float64]) -> float:
    """Return the absolute value of the largest eigenvalue, or a bound on it below 1."""
    if not matrix.size:
        return 0.0
    sizes = np.abs(matrix)
    if not np.isfinite(sizes).all():
        return math.inf
    bound = float(min(sizes.sum(0).max(), sizes.sum(1).max()))
    return bound if bound < 1 else float(np.abs(np.linalg.eigvals(matrix)).max())
