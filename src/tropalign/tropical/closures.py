"""Closures of matrices: the sums of all powers; over min-plus the lengths of shortest paths between all vertices."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, UsageError, shown
from tropalign.machine.numbers import checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.tropical.arrays import Survey, checked_matrix, surveyed
from tropalign.tropical.potentials import closed_by_potentials
from tropalign.tropical.semirings import BOOL, LOG, MAX_PLUS, MIN_PLUS, REAL, Semiring, checked_semiring
from tropalign.tropical.where import devices_for

if TYPE_CHECKING:
    from tropalign.execution.task import Device

#: Called now and then with the number of vertices that are done.
Progress = Callable[[int], object]

#: Types in which a closure over min-plus is computed, each followed by those that hold more.
_WIDER = {
    "float16": ("float32", "float64"), "float32": ("float32", "float64"), "float64": ("float64",),
    "int16": ("int16", "int32", "float64"), "int32": ("int32", "float64"),
}  # fmt: skip
#: Vertices of a cycle that an error lists.
_SHOWN_VERTICES = 12


class NegativeCycle(InputError):
    """A cycle that makes paths ever better, so that there is no best one.

    Parameters
    ----------
    vertices
        Those of the cycle, in the order of its edges.
    weight
        The sum of its edges.
    is_max
        Whether paths are to be long, so that the cycle is positive.
    names
        The names of all vertices; their numbers are shown where there are none.
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
            f"the cycle {' -> '.join(labels)} is {sign} (its weight is {weight:g}), so that paths through it can be "
            f"made as {better} as one likes: change one of its edges"
        )


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
    """The closure of a square matrix: the identity, A, A A, A A A and so on, summed.

    Over min-plus (max-plus) it holds the weights of the shortest (longest) paths between all pairs of vertices, found
    by a Floyd-Warshall of blocks [1]_; over `BOOL`, which vertices can be reached; over `REAL` and `LOG`, the inverse
    of the identity less A, where the sum has a limit.

    Parameters
    ----------
    A
        Weights, n x n: float16, float32, float64, int16 or int32; bool for `BOOL`. Infinity, which of an integer type
        is its highest number (over max-plus its lowest), means no edge. What stands on the diagonal is ignored unless
        it is a negative cycle.
    semiring
        `MIN_PLUS`, `MAX_PLUS`, `BOOL`, `REAL` or `LOG`.
    predecessors
        Whether to return the predecessors, too; over min-plus and max-plus only. It doubles the time.
    n_threads
        0 for as many as there are.
    device
        "cpu", "cuda:0", "opencl:0.0" or several of them, the first GPU of which computes; "auto" takes one where n^3 is
        10^11 or more. GPUs have kernels for float32, and for int16 and int32 without negative weights, over min-plus
        and max-plus, without predecessors. Integers are the same; floats are other roundings of the same sums.
    progress
        Called now and then with a number that goes up to n.

    Returns
    -------
    numpy.ndarray
        The closure, n x n, of A's dtype. Over min-plus its diagonal is 0, and infinity means that there is no path.
    numpy.ndarray
        With ``predecessors=True``: int32, n x n; the vertex before j on a path from i to j that has this weight, -1
        where there is no path and for i itself. Of several such paths, one is found that depends on the numbers of the
        vertices alone: not on threads, nor on the processor. The predecessors of a row make a tree.

    Raises
    ------
    InputError
        A is not square; it has NaN or -inf in it; it has a negative cycle (over max-plus a positive one), which is
        named; its type does not hold the result, and the one that does is named; a sum over `REAL` or `LOG` has no
        limit.
    UsageError
        The semiring is not computed in A's type, or has no predecessors.
    DeviceError
        A GPU that was named is not there, or has no kernel for this matrix.

    Notes
    -----
    Sums of integers are never wrong: where a type might not hold them they are computed in a wider one. A cycle of
    floats counts as negative where its weight is below what rounding explains: n times the type's epsilon times the
    highest weight. Cycles of weight 0 that rounding makes negative are computed with weights that potentials have made
    positive (Johnson 1977).

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
    threads = resolve_threads(checked_threads(n_threads))
    matrix = checked_matrix(A, semiring, is_square=True)
    without = _without_kernel(matrix.dtype, semiring, predecessors)
    devices = devices_for(device, threads, len(matrix) ** 3, without)
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


def _without_kernel(dtype: np.dtype[Any], semiring: Semiring, predecessors: bool) -> str | None:
    """What closures these are, where GPUs have no kernel for them."""
    if semiring not in (MIN_PLUS, MAX_PLUS):
        return f"closures over {semiring.name}"
    if dtype not in (np.float32, np.int16, np.int32):
        return f"closures of {dtype}"
    return "closures with predecessors" if predecessors else None


@dataclass(frozen=True)
class _Reach:
    """How far sums of weights of n vertices may go: the highest magnitudes of one edge and of a path.

    Attributes
    ----------
    edge, path : float
        The highest magnitude of a weight, and of a path of all vertices.
    has_negative : bool
        Whether a weight makes paths better by itself.
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
        """Whether a computation in this type does not go beyond what it holds, infinite distances aside."""
        if dtype == "float64":
            return self.path <= 1e308
        if dtype == "float32":
            return self.path <= 3e38
        return self.path <= _most(dtype, True) if self.has_negative else self.edge <= _most(dtype, False)

    def proves(self, dtype: str) -> bool:
        """Whether what a computation in this type finds to be infinite surely is."""
        return dtype.startswith("float") or self.path <= _most(dtype, self.has_negative)


def _most(dtype: str, has_negative: bool) -> int:
    """The highest distance that native code tells from infinity (`highest_distance` in native/tropical/closure.hpp)."""
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
) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """`closure` over min-plus or max-plus of a matrix that `checked_matrix` has seen.

    Parameters
    ----------
    n_left
        Of a graph of two parts, between which all edges are: the vertices of the first part, which come first; the
        smaller part makes less work. 0 for any graph.
    devices
        What may compute; None for the processor. GPUs know nothing of two parts, nor of predecessors.

    Raises
    ------
    InputError
        As `closure`; `NegativeCycle` for one of those.
    """
    n = len(matrix)
    reach = _Reach.of(surveyed(matrix, semiring), n, semiring.is_max)
    for dtype in _WIDER[matrix.dtype.name]:
        if not reach.fits(dtype):
            continue
        job = _Job(matrix, semiring, dtype, n_left, wants_predecessors, n_threads, devices, progress)
        tolerance = n * float(np.finfo(dtype).eps) * reach.edge if dtype[0] == "f" and reach.has_negative else 0.0
        try:
            values, before, any_infinite = job.closed(tolerance)
        except _Rounded:
            values, before = job.closed_by_potentials(tolerance)
            return _narrowed(values, matrix.dtype, semiring), before
        if not any_infinite or reach.proves(dtype):
            return _narrowed(values, matrix.dtype, semiring), before
    raise InputError(
        f"weights as large as {reach.edge:g} make paths of {n} vertices that no type holds: divide all by a number"
    )


class _Rounded(Exception):
    """Rounding made a cycle of weight 0 negative."""


@dataclass(frozen=True)
class _Job:
    """A closure in a type of numbers.

    Attributes
    ----------
    matrix, semiring, n_left, wants_predecessors, n_threads, devices, progress
        As `tropical_closure`'s.
    dtype
        In which it is computed.
    """

    matrix: NDArray[Any]
    semiring: Semiring
    dtype: str
    n_left: int
    wants_predecessors: bool
    n_threads: int
    devices: Sequence[Device] | None
    progress: Progress | None

    def closed(self, tolerance: float) -> tuple[NDArray[Any], NDArray[np.int32] | None, bool]:
        """Distances, predecessors, and whether a distance is infinite.

        Raises
        ------
        NegativeCycle
            There is one, below -tolerance.
        _Rounded
            Rounding made one.
        """
        values, via, vertex, any_infinite = self._run(self.wants_predecessors, tolerance, self.progress)
        if vertex >= 0:
            if via is None:  # once more up to there, with paths
                _, via, vertex, _ = self._run(True, tolerance, None)
            assert via is not None
            raise self._cycle([int(v) for v in _native.negative_cycle(via, vertex)], tolerance)
        return values, None if via is None else self._predecessors(values, via), any_infinite

    def closed_by_potentials(self, tolerance: float) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
        """The same where rounding made a cycle negative. Raises InputError where the weights are beyond that, too."""
        weights = _converted(self.matrix, self.semiring, "float64")
        if self.semiring.is_max:
            np.negative(weights, out=weights)
        found = closed_by_potentials(
            weights,
            tolerance,
            n_left=self.n_left,
            wants_predecessors=self.wants_predecessors,
            n_threads=self.n_threads,
            progress=self.progress,
        )
        if found is None:
            raise InputError(
                "cycles are negative by no more than rounding explains, or by little more: give the weights as whole "
                "numbers of a type of integers"
            )
        distances, via, reduced = found
        before = None if via is None or reduced is None else self._predecessors(reduced, via, MIN_PLUS)
        return 0.0 - distances if self.semiring.is_max else distances, before

    def _run(
        self, wants_via: bool, tolerance: float, progress: Progress | None
    ) -> tuple[NDArray[Any], NDArray[np.int32] | None, int, bool]:
        values = _converted(self.matrix, self.semiring, self.dtype)
        if self.devices is not None and not wants_via:
            from tropalign.tropical.closure_on_gpu import close_on

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

    def _cycle(self, vertices: list[int], tolerance: float) -> Exception:
        """The error that names a cycle."""
        following = [*vertices[1:], vertices[0]]
        weight = math.fsum(float(self.matrix[i, j]) for i, j in zip(vertices, following, strict=True))
        if self.dtype[0] == "f" and (-weight if self.semiring.is_max else weight) >= -tolerance:
            return _Rounded()
        return NegativeCycle(vertices, weight, is_max=self.semiring.is_max)


def _converted(matrix: NDArray[Any], semiring: Semiring, dtype: str) -> NDArray[Any]:
    """A copy of the matrix as another type, whose infinity stays one."""
    copied = matrix.astype(dtype, order="C", copy=True)
    if matrix.dtype.kind == "i" and matrix.dtype != copied.dtype:
        limits = np.iinfo(matrix.dtype)
        infinity: float
        if copied.dtype.kind == "f":
            infinity = -np.inf if semiring.is_max else np.inf
        else:
            infinity = np.iinfo(copied.dtype).min if semiring.is_max else np.iinfo(copied.dtype).max
        copied[matrix == (limits.min if semiring.is_max else limits.max)] = infinity
    return copied


def _narrowed(values: NDArray[Any], dtype: np.dtype[Any], semiring: Semiring) -> NDArray[Any]:
    """The result as the type that was given. Raises InputError where that does not hold it."""
    if values.dtype == dtype:
        return values
    is_float = values.dtype.kind == "f"
    infinite = np.isinf(values) if is_float else values == (-(2**31) if semiring.is_max else 2**31 - 1)
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    margin = 0 if dtype.kind == "f" else 1  # its own infinity
    low, high = (limits.min + margin, limits.max) if semiring.is_max else (limits.min, limits.max - margin)
    finite = np.where(infinite, 0, values)
    worst = max(float(finite.max(initial=0)), -float(finite.min(initial=0)))
    if finite.min(initial=0) < low or finite.max(initial=0) > high:
        wider = next(
            name
            for name in _WIDER[dtype.name][1 if dtype.name in _WIDER[dtype.name] else 0 :]
            if name[0] == "f" or worst < 2**31 - 1
        )
        raise InputError(
            f"the weights of paths reach {worst:g}, which {dtype} does not hold: convert the matrix to {wider}"
        )
    narrow = np.where(infinite, 0, values).astype(dtype) if dtype.kind == "i" else values.astype(dtype)
    if dtype.kind == "i":
        narrow[infinite] = limits.min if semiring.is_max else limits.max
    return narrow


def _reached(matrix: NDArray[np.bool_], n_threads: int, progress: Progress | None) -> NDArray[np.bool_]:
    """The transitive closure, from rows of bits."""
    n = len(matrix)
    n_words = (n + 511) // 512 * 8
    bits = np.zeros((n, n_words * 8), np.uint8)
    packed = np.packbits(matrix, axis=1, bitorder="little")
    bits[:, : packed.shape[1]] = packed
    words = bits.view("<u8").astype(np.uint64, copy=False)
    _native.closure_bits(words, n, n_threads, progress)
    return np.unpackbits(words.view(np.uint8), axis=1, count=n, bitorder="little").view(np.bool_)


def _star(matrix: NDArray[Any], semiring: Semiring) -> NDArray[Any]:
    """The limit of I + A + A A + ... of ordinary numbers: the inverse of I - A, where all eigenvalues are below 1."""
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
    """The size of the largest eigenvalue, or a bound below 1."""
    if not matrix.size:
        return 0.0
    sizes = np.abs(matrix)
    if not np.isfinite(sizes).all():
        return math.inf
    bound = float(min(sizes.sum(0).max(), sizes.sum(1).max()))
    return bound if bound < 1 else float(np.abs(np.linalg.eigvals(matrix)).max())
