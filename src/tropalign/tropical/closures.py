"""Closures of matrices: the sums of all powers; over min-plus the lengths of shortest paths between all vertices."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import devices_for
from tropalign.errors import InputError, UsageError, shown
from tropalign.execution.task import checked_progress
from tropalign.resources.limits import checked_choice, checked_threads, resolve_threads
from tropalign.tropical.products import matmul
from tropalign.tropical.semirings import (
    BOOL,
    LOG,
    MAX_PLUS,
    MIN_PLUS,
    REAL,
    Semiring,
    Survey,
    checked_matrix,
    checked_semiring,
    surveyed,
    zero_of,
)

if TYPE_CHECKING:
    from tropalign.execution.task import Device

#: Vertices of a cycle that an error lists.
_SHOWN_VERTICES = 12


class NegativeCycle(InputError):
    """A cycle that improves paths without limit, so that no best path exists.

    `vertices`: those of the cycle, in the order of its edges. `weight`: sum of its edges. `is_max`: longest paths
    are sought, so that the cycle is positive. `names`: of all vertices; numbers are shown without names.
    """

    def __init__(
        self, vertices: list[int], weight: float, *, is_max: bool = False, names: tuple[Hashable, ...] | None = None
    ) -> None:
        self.vertices, self.weight, self.is_max = vertices, weight, is_max
        labels = [str(v) if names is None else shown(str(names[v])) for v in [*vertices, vertices[0]]]
        if len(labels) > _SHOWN_VERTICES:
            labels = [*labels[: _SHOWN_VERTICES - 2], "...", labels[-1]]
        sign, better = ("positive", "long") if is_max else ("negative", "short")
        super().__init__(
            f"the cycle {' -> '.join(labels)} is {sign} (its weight is {weight:g}), so paths through it can "
            f"become arbitrarily {better}: change one of its edges"
        )


#: Called now and then with the number of vertices that are done.
Progress = Callable[[int], object]

#: Types in which a closure over min-plus is computed, by type of the matrix, in the order in which they are tried.
_WIDER = {
    "float16": ("float32", "float64"), "float32": ("float32", "float64"), "float64": ("float64",),
    "int16": ("int16", "int32", "float64"), "int32": ("int32", "float64"),
}  # fmt: skip
#: Numbers that are converted at once.
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class _Reach:
    """Range of the sums of weights along paths of at most n vertices.

    `edge`, `path`: highest magnitude of a weight, and of a path of all vertices. `has_negative`: True if some
    weight by itself makes paths better.
    """

    edge: float
    path: float
    has_negative: bool

    @classmethod
    def of(cls, survey: Survey, n: int, is_max: bool) -> _Reach:
        low, high = (-survey.highest, -survey.lowest) if is_max else (survey.lowest, survey.highest)
        if math.isinf(low) and low > 0:  # no edge at all
            low = high = 0.0
        edge = max(abs(low), abs(high))
        return cls(edge, edge * max(n - 1, 1), low < 0)

    def fits(self, dtype: str) -> bool:
        """True if a computation in this type stays within its range, except for infinite distances."""
        if dtype == "float64":
            return self.path <= 1e308
        if dtype == "float32":
            return self.path <= 3e38
        return self.path <= _most(dtype, True) if self.has_negative else self.edge <= _most(dtype, False)

    def proves(self, dtype: str) -> bool:
        """True if every distance that a computation in this type finds infinite is really infinite."""
        return dtype.startswith("float") or self.path <= _most(dtype, self.has_negative)


def _most(dtype: str, has_negative: bool) -> int:
    """Return the highest distance that native code tells from infinity (`highest_distance` of native/tropical)."""
    unreachable = (1 << (8 * np.dtype(dtype).itemsize - 2)) - 1
    return unreachable // 2 - 1 if has_negative else unreachable - 1


def tropical_closure(
    matrix: NDArray[Any],
    semiring: Semiring,
    *,
    n_left: int = 0,
    wants_predecessors: bool = False,
    n_threads: int = 1,
    devices: Sequence[Device] | None = None,
    progress: Progress | None = None,
    require_bytes: Callable[[int], None] = lambda n_bytes: None,
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Compute `closure` over min-plus or max-plus of a matrix from `checked_matrix`.

    `n_left`: for a bipartite graph, the number of vertices of the first part, which come first (a smaller part
    makes less work); 0 for any graph. `devices`: None for the CPU; GPUs support neither bipartite graphs nor
    predecessors. `require_bytes` receives the memory to be allocated in addition to the matrix, and raises if it
    is too much.
    """
    n = len(matrix)
    reach = _Reach.of(surveyed(matrix, semiring), n, semiring.is_max)
    for dtype in _WIDER[matrix.dtype.name]:
        if not reach.fits(dtype):
            continue
        # Distances in the computed and the requested type, and two matrices for paths.
        each = np.dtype(dtype).itemsize + (matrix.itemsize if matrix.dtype.name != dtype else 0)
        require_bytes(matrix.size * (each + 8 * wants_predecessors))
        job = _ClosureInput(matrix, semiring, dtype, n_left, wants_predecessors, n_threads, devices, progress)
        tolerance = n * float(np.finfo(dtype).eps) * reach.edge if dtype[0] == "f" and reach.has_negative else 0.0
        try:
            values, before, any_infinite = job.closed(tolerance)
        except _Rounded:
            values, before = job.closed_by_potentials(tolerance)
            return _narrowed(values, matrix.dtype, semiring), before
        if not any_infinite or reach.proves(dtype):
            return _narrowed(values, matrix.dtype, semiring), before
    raise InputError(
        f"paths of {n} vertices with weights of up to {reach.edge:g} exceed every type: scale all weights down"
    )


class _Rounded(Exception):
    """Error: rounding made a cycle of weight 0 negative."""


@dataclass(frozen=True)
class _ClosureInput:
    """A closure computed in `dtype`; other attributes as in `tropical_closure`."""

    matrix: NDArray[Any]
    semiring: Semiring
    dtype: str
    n_left: int
    wants_predecessors: bool
    n_threads: int
    devices: Sequence[Device] | None
    progress: Progress | None

    def closed(self, tolerance: float) -> tuple[NDArray[Any], NDArray[np.int32] | None, bool]:
        """Return distances, predecessors, and whether a distance is infinite.

        Raises NegativeCycle for a cycle below -tolerance, and _Rounded if rounding made one.
        """
        values, via, vertex, any_infinite = self._run(self.wants_predecessors, tolerance, self.progress)
        if vertex >= 0:
            if via is None:  # repeat it up to that vertex, with paths
                _, via, vertex, _ = self._run(True, tolerance, None)
            if via is None or vertex < 0:  # a GPU rounds differently
                raise _Rounded
            cycle = [int(v) for v in _native.negative_cycle(via, vertex)]
            weight = math.fsum(float(self.matrix[i, j]) for i, j in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
            if self.dtype[0] == "f" and (-weight if self.semiring.is_max else weight) >= -tolerance:
                raise _Rounded
            raise NegativeCycle(cycle, weight, is_max=self.semiring.is_max)
        return values, None if via is None else self._predecessors(values, via), any_infinite

    def closed_by_potentials(self, tolerance: float) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
        """Return the closure after rounding made a cycle negative; raises InputError if that is not possible.

        Each vertex gets the potential h(v), its distance from a vertex with edges of weight 0 to all. Then w(u, v) +
        h(u) - h(v) is 0 or more, up to rounding, and every path between two vertices becomes longer by the same amount
        (Johnson 1977). No sum of such weights is smaller than its terms, however it is rounded. Potentials that fall
        by at most the tolerance are accepted.
        """
        n, weights = len(self.matrix), _converted(self.matrix, self.semiring, "float64")
        if self.semiring.is_max:
            np.negative(weights, out=weights)
        np.fill_diagonal(weights, 0)
        potential = np.zeros((1, n))
        for _ in range(n + 1):
            lower = np.minimum(potential, matmul(potential, weights, n_threads=self.n_threads))
            fall = float((potential - lower).max(initial=0))
            potential = lower
            if fall <= tolerance:
                break
        else:
            raise InputError(
                "some cycles are so slightly negative that rounding may be the cause: give the weights as integers"
            )
        weights += potential.T
        weights -= potential
        np.maximum(weights, 0, out=weights)
        via = np.empty((n, n), np.int32) if self.wants_predecessors else None
        _native.closure(weights, via, False, self.n_left, 0.0, self.n_threads, self.progress)
        distances = weights - potential.T
        distances += potential
        np.fill_diagonal(distances, 0)
        before = None if via is None else self._predecessors(weights, via, MIN_PLUS)
        return 0.0 - distances if self.semiring.is_max else distances, before

    def _run(
        self, wants_via: bool, tolerance: float, progress: Progress | None
    ) -> tuple[NDArray[Any], NDArray[np.int32] | None, int, bool]:
        values = _converted(self.matrix, self.semiring, self.dtype)
        if self.devices is not None and not wants_via:
            from tropalign.tropical.gpu import close_on

            closed = close_on(self.devices, values, self.semiring, tolerance, progress)
            if closed is not None:
                return values, None, *closed
        via = np.empty(values.shape, np.int32) if wants_via else None
        vertex, any_infinite = _native.closure(
            values, via, self.semiring.is_max, self.n_left, tolerance, self.n_threads, progress
        )
        return values, via, vertex, any_infinite

    def _predecessors(
        self, values: NDArray[Any], via: NDArray[np.int32], semiring: Semiring | None = None
    ) -> NDArray[np.int32]:
        found = np.empty_like(via)
        is_max = (semiring or self.semiring).is_max
        if not _native.path_predecessors(values, via, is_max, found, self.n_threads, self.progress):
            raise _Rounded
        return found


def _converted(matrix: NDArray[Any], semiring: Semiring, dtype: str) -> NDArray[Any]:
    """Return a copy of the matrix in another type; infinity stays infinity."""
    copied = matrix.astype(dtype, order="C", copy=True)
    if matrix.dtype.kind == "i" and matrix.dtype != copied.dtype:
        copied[matrix == zero_of(semiring, matrix.dtype)] = zero_of(semiring, dtype)
    return copied


def _narrowed(values: NDArray[Any], dtype: np.dtype[Any], semiring: Semiring) -> NDArray[Any]:
    """Return the result in the given type; raises InputError if a number does not fit it."""
    if values.dtype == dtype:
        return values
    narrow = np.empty(values.shape, dtype)
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    infinity, no_path = zero_of(semiring, values.dtype), zero_of(semiring, dtype)
    worst = 0.0
    step = max(1, _AT_ONCE // max(1, len(values)))
    for row in range(0, len(values), step):
        part = values[row : row + step]
        is_infinite = part == infinity
        finite = np.where(is_infinite, 0, part)
        is_beyond = (finite > limits.max) | (finite < limits.min) | (~is_infinite & (finite == no_path))
        if is_beyond.any():
            worst = max(worst, float(np.abs(finite).max()))
            continue
        narrow[row : row + step] = np.where(is_infinite, no_path, finite)
    if worst:
        types = [name for name in _WIDER[dtype.name] if name != dtype.name]
        wider = next(name for name in types if name[0] == "f" or worst < np.iinfo(name).max)
        raise InputError(f"path weights reach {worst:g}, which {dtype} cannot hold: convert the matrix to {wider}")
    return narrow


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
        "cpu", "cuda:0", "opencl:0.0" or several of them; their first GPU computes; "auto" uses one for
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
        n = len(matrix)
        packed = np.packbits(matrix, axis=1, bitorder="little")
        bits = np.zeros((n, (n + 511) // 512 * 64), np.uint8)
        bits[:, : packed.shape[1]] = packed
        words = bits.view("<u8").astype(np.uint64, copy=False)
        _native.closure_bits(words, n, threads, progress)
        return np.unpackbits(words.view(np.uint8), axis=1, count=n, bitorder="little").view(np.bool_)
    return _star(matrix, semiring)


def without_kernel(dtype: np.dtype[Any], semiring: Semiring, predecessors: bool) -> str | None:
    """Return the name of the requested closures if GPUs have no kernel for them, else None."""
    if semiring not in (MIN_PLUS, MAX_PLUS):
        return f"closures over {semiring.name}"
    if dtype not in (np.float32, np.int16, np.int32):
        return f"closures of {dtype}"
    return "closures with predecessors" if predecessors else None


def _star(matrix: NDArray[Any], semiring: Semiring) -> NDArray[Any]:
    """Return the limit of I + A + A A + ... over numbers: the inverse of I - A, if all eigenvalues are below 1."""
    surveyed(matrix, semiring)
    if semiring == REAL and matrix.dtype.kind != "f":
        raise UsageError(
            f"the closure over {semiring.name} has fractions, which {matrix.dtype} cannot hold: convert A to float64"
        )
    real = matrix.astype(np.float64)
    if semiring == LOG:
        with np.errstate(over="ignore"):
            real = np.exp(real)
    sizes = np.abs(real)
    if not np.isfinite(sizes).all():
        radius = math.inf
    else:  # a norm below 1 spares the eigenvalues
        radius = min(sizes.sum(0).max(initial=0), sizes.sum(1).max(initial=0))
        radius = radius if radius < 1 else np.abs(np.linalg.eigvals(real)).max()
    if not radius < 1:
        raise InputError(
            f"the sum of A's powers diverges: its largest absolute eigenvalue is {radius:g}, but must be below 1"
        )
    star = np.linalg.inv(np.eye(len(real)) - real)
    if semiring == LOG:
        with np.errstate(divide="ignore"):
            star = np.log(np.maximum(star, 0))
    return np.ascontiguousarray(star.astype(matrix.dtype))
