"""``shortest_paths``: distances between the vertices of a graph, by the fastest method for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.registry import device_names, devices_for
from tropalign.errors import InputError, UsageError, named
from tropalign.execution.task import checked_progress
from tropalign.resources.limits import (
    checked_choice,
    checked_memory,
    checked_threads,
    default_budget,
    require,
    resolve_threads,
)
from tropalign.results.paths import ShortestPaths, Vertices
from tropalign.tropical.closures import NegativeCycle, Progress, tropical_closure, without_kernel
from tropalign.tropical.graphs import DTYPES, DenseGraph, Graph, checked_names, dense_weights, graph_of
from tropalign.tropical.semirings import MIN_PLUS, checked_matrix, zero_of

#: Sums per nanosecond of a closure on a processor's core with AVX-512, measured with 1024 to 8192 vertices.
_CLOSURE_RATES = {"int16": 110.0, "int32": 60.0, "float32": 38.0, "float64": 21.0}


def shortest_paths(
    graph: Any = None,
    *,
    bipartite: tuple[Any, Any] | None = None,
    names: Sequence[Hashable] | None = None,
    sources: Sequence[Hashable] | None = None,
    predecessors: bool = False,
    n_threads: int = 0,
    device: str | Iterable[str] = "auto",
    memory_bytes: int | None = None,
    progress: Progress | None = None,
) -> ShortestPaths:
    """Find the lengths of shortest paths between the vertices of a graph, and such paths.

    A matrix is closed by a blocked Floyd-Warshall algorithm (`closure`). A graph of few edges, or with few
    sources, is passed to SciPy's Dijkstra, or to Johnson's algorithm if weights are negative, if that takes less
    time by measured rates. ``method`` of the result names the method.

    Parameters
    ----------
    graph
        A matrix of weights (infinity, for an integer type its highest number, means no edge; any other number is
        an edge, including 0); a sparse matrix of SciPy (stored numbers are edges, including 0); a graph of
        networkx, with the attribute ``weight`` of its edges, or 1; a `Graph`. Integers and floats of any type are
        accepted.
    bipartite
        Instead of a graph: the weights from p vertices to q others, p x q, and from these back, q x p. Vertices
        are numbered consecutively, the p first. It takes at most about (2 p (p + q))^2 / (p + q)^3 of a closure's
        time [1]_.
    names
        Names of the vertices. A matrix without names has numbers, from 0.
    sources
        The vertices, by name or else by number, from which distances are requested; all by default.
    predecessors
        Whether to find the paths at once. Otherwise they are found on first use.
    n_threads
        Threads of a closure; 0 for all available.
    device
        As in `closure`: a named GPU computes the closure of a graph, if it has kernels for it.
    memory_bytes
        Memory limit for the result and the work; by default 60 % of the free memory.
    progress
        Called now and then with a number that goes up to the number of vertices.

    Returns
    -------
    ShortestPaths
        Its distances have the type of the weights if this is float32, float64, int16 or int32. They are float32 for
        float16, and float64 for all others, such as int64. ``infinity`` means that there is no path: ``inf``, or the
        highest number of int16 and int32.

    Raises
    ------
    InputError
        Not a graph; a negative cycle, which is named; a type that does not hold the distances.
    ResourceError
        The distances take more memory than allowed.
    DeviceError
        A named GPU does not exist, or has no kernel for this graph.
    UsageError
        Neither a graph nor a bipartite one is given, or both; an unsupported type of weights.

    References
    ----------
    .. [1] S. Torgasin, K.-H. Zimmermann. An all-pairs shortest path algorithm for bipartite graphs. Central
       European Journal of Computer Science 3 (2013) 149-157.

    Examples
    --------
    >>> import numpy as np
    >>> from tropalign.tropical import shortest_paths
    >>> found = shortest_paths(bipartite=([[1.0], [5.0]], [[2.0, np.inf]]))
    >>> found.distances
    array([[ 0., inf,  1.],
           [ 7.,  0.,  5.],
           [ 2., inf,  0.]])
    """
    if (graph is None) == (bipartite is None):
        raise UsageError("give either a graph or the two matrices of a bipartite graph")
    checked_choice("predecessors", predecessors)
    allowed = checked_memory(memory_bytes)
    allowed = default_budget() if allowed is None else allowed
    told, threads = checked_progress(progress), resolve_threads(checked_threads(n_threads))
    given = bipartite if isinstance(bipartite, tuple | list) else [graph]
    types = [one.dtype.newbyteorder("=").name if isinstance(one, np.ndarray) else "" for one in given]
    keeps_type = isinstance(graph, Graph | DenseGraph) or all(name in DTYPES for name in types)
    work = _Work(predecessors, threads, device_names(device), allowed, told, keeps_type)
    if bipartite is not None:
        return _from_bipartite(bipartite, names, sources, work)
    if isinstance(graph, DenseGraph):
        closing = _Closing(
            graph.matrix, graph.n, graph.weights.dtype, _labels(names, graph.n) or graph.names, graph.notes
        )
        return closing.paths(_rows(sources, closing.names, graph.n), work)
    edges = graph_of(graph, names)
    if edges is None:
        (held,) = dense_weights(graph)
        matrix = checked_matrix(held, MIN_PLUS, "the graph", is_square=True)
        labels = _labels(names, len(matrix))
        closing = _Closing(lambda: matrix, len(matrix), matrix.dtype, labels)
        return closing.paths(_rows(sources, labels, len(matrix)), work)
    rows = _rows(sources, edges.names, edges.n)
    names_gpu = any(name not in ("auto", "cpu") for name in work.devices)
    # Without machine-dependent data, so that the method, and with it the last digits of floats, is always the same.
    closure_seconds = edges.n**3 * 1e-9 / _CLOSURE_RATES[edges.weights.dtype.name]
    if not names_gpu and search_seconds(edges, len(rows)) < closure_seconds:
        return _searched(edges, rows, work)
    closing = _Closing(edges.matrix, edges.n, edges.weights.dtype, edges.names, edges.notes)
    return closing.paths(rows, work)


@dataclass(frozen=True)
class _Work:
    """Options of a request, excluding the graph."""

    wants_predecessors: bool
    n_threads: int
    devices: Sequence[str]
    allowed_bytes: int
    progress: Progress | None
    #: True if the weights have a type in which distances are returned.
    keeps_type: bool

    def typed(self, distances: NDArray[Any]) -> NDArray[Any]:
        """Return distances in the type of the weights; in float64 if they were integers of another type."""
        if self.keeps_type or distances.dtype.kind == "f":
            return distances
        return np.where(distances == zero_of(MIN_PLUS, distances.dtype), np.inf, distances)

    def require(self, n_bytes: int, n: int) -> None:
        """Raise ResourceError if the memory does not suffice."""
        require(
            n_bytes,
            self.allowed_bytes,
            f"a matrix of the distances of {n} vertices",
            f"allow more with {named('memory_bytes')}, ask for fewer sources, or use a smaller type",
        )


def _labels(names: Sequence[Hashable] | None, n: int) -> tuple[Hashable, ...] | None:
    labels = checked_names(names)
    if labels is not None and len(labels) != n:
        raise InputError(f"{len(labels)} names are given for {n} vertices")
    return labels


def _rows(sources: Sequence[Hashable] | None, names: tuple[Hashable, ...] | None, n: int) -> NDArray[np.int64]:
    """Return the numbers of the vertices from which distances are requested."""
    if sources is None:
        return np.arange(n)
    if isinstance(sources, str):
        raise UsageError("sources is a single string: give a list of vertices")
    if not isinstance(sources, Iterable):
        raise UsageError(f"sources is of type {type(sources).__name__}: give a list of vertices")
    vertices = Vertices(n, names)
    return np.array([vertices.number(source) for source in sources], np.int64)


@dataclass(frozen=True)
class _Closing:
    """A graph to be closed.

    `matrix` returns the weights. `notes`: of its edges. `n_left`, `turn`: for a bipartite graph, the number of
    vertices of the first part, and the number of positions by which vertices are rotated for the result, since the
    smaller part may come last there.
    """

    matrix: Callable[[], NDArray[Any]]
    n: int
    dtype: np.dtype[Any]
    names: tuple[Hashable, ...] | None
    notes: tuple[str, ...] = ()
    n_left: int = 0
    turn: int = 0

    def closed(
        self, wants_predecessors: bool, work: _Work, devices: Sequence[str]
    ) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        """Return distances and predecessors of all vertices."""
        without = "closures of two parts" if self.n_left else without_kernel(self.dtype, MIN_PLUS, wants_predecessors)
        opened = devices_for(devices, work.n_threads, self.n**3, without, is_same=self.dtype.kind == "i")
        own = self.n**2 * (self.dtype.itemsize if work.keeps_type else 8)
        work.require(2 * own + 8 * self.n**2 * wants_predecessors, self.n)  # before the matrix is made
        try:
            distances, before = tropical_closure(
                self.matrix(),
                MIN_PLUS,
                n_left=self.n_left,
                wants_predecessors=wants_predecessors,
                n_threads=work.n_threads,
                devices=opened,
                progress=work.progress,
                require_bytes=lambda n_bytes: work.require(own + n_bytes, self.n),
            )
        except NegativeCycle as cycle:
            vertices = [(v + self.turn) % self.n for v in cycle.vertices]
            raise NegativeCycle(vertices, cycle.weight, names=self.names) from None
        if self.turn:
            distances = np.roll(distances, (self.turn, self.turn), (0, 1))
            if before is not None:
                turned = np.where(before < 0, -1, (before + self.turn) % self.n).astype(np.int32)
                before = np.roll(turned, (self.turn, self.turn), (0, 1))
        return distances, before

    def paths(self, rows: NDArray[np.int64], work: _Work) -> ShortestPaths:
        """Return the requested rows."""
        is_whole = len(rows) == self.n and bool((rows == np.arange(self.n)).all())
        distances, before = self.closed(work.wants_predecessors, work, work.devices)

        def find_predecessors() -> NDArray[np.int32]:
            found = self.closed(True, work, ["cpu"])[1] if before is None else before
            assert found is not None
            return found if is_whole else found[rows]

        return ShortestPaths(
            work.typed(distances if is_whole else distances[rows]),
            rows,
            self.names,
            "bipartite closure" if self.n_left else "closure",
            self.notes,
            find_predecessors,
        )


def _searched(graph: Graph, rows: NDArray[np.int64], work: _Work) -> ShortestPaths:
    """Compute by SciPy, with a search from each source."""
    n = graph.n
    work.require(len(rows) * n * (8 + 2 * graph.weights.dtype.itemsize + 8 * work.wants_predecessors), n)
    distances, before, method = searched(graph, rows, work.wants_predecessors, work.progress)

    def find_predecessors() -> NDArray[np.int32]:
        work.require(len(rows) * n * 24, n)
        _, found, _ = searched(graph, rows, True)
        assert found is not None
        return found

    return ShortestPaths(
        work.typed(distances), rows, graph.names, method, graph.notes, find_predecessors if before is None else before
    )


def _from_bipartite(
    parts: tuple[Any, Any],
    names: Sequence[Hashable] | None,
    sources: Sequence[Hashable] | None,
    work: _Work,
) -> ShortestPaths:
    if not isinstance(parts, tuple | list) or len(parts) != 2:
        raise UsageError(
            "bipartite must be a pair of matrices: the weights from the first part to the second, and back"
        )
    held = dense_weights(*parts)
    there, back = (checked_matrix(part, MIN_PLUS, name) for part, name in zip(held, ("M1", "M2"), strict=True))
    if there.shape != back.shape[::-1]:
        raise InputError(f"M1 has shape {there.shape} and M2 {back.shape}: give p x q and q x p")
    if there.dtype != back.dtype:
        raise UsageError(f"M1 has type {there.dtype} and M2 {back.dtype}: convert one of them")
    p, q = there.shape
    n, labels = p + q, _labels(names, p + q)
    is_turned = p > q  # the smaller part comes first
    first, second, n_left = (back, there, q) if is_turned else (there, back, p)

    def matrix() -> NDArray[Any]:
        found = np.full((n, n), zero_of(MIN_PLUS, there.dtype), there.dtype)
        if n_left:
            found[:n_left, n_left:], found[n_left:, :n_left] = first, second
        return found

    closing = _Closing(matrix, n, there.dtype, labels, n_left=n_left, turn=p if is_turned else 0)
    return closing.paths(_rows(sources, labels, n), work)


#: Nanoseconds of SciPy's Dijkstra per edge, and per vertex and bit of their number (its heap), for each source;
#: measured with 300 to 3000 vertices of 2 to 128 edges each.
_PER_EDGE, _PER_VERTEX = 3.4, 20.0
#: Approximate seconds of one call to SciPy, for some sources: stopping the run waits for the call.
_SECONDS_AT_ONCE = 0.5
#: Float64 holds sums of weights up to here.
_MOST = 1e308


def search_seconds(graph: Graph, n_sources: int) -> float:
    """Estimate the seconds of searches from this number of vertices."""
    per_source = _PER_EDGE * len(graph.weights) + _PER_VERTEX * graph.n * math.log2(max(graph.n, 2))
    return n_sources * per_source * 1e-9


def searched(
    graph: Graph, rows: NDArray[np.int64], wants_predecessors: bool, progress: Progress | None = None
) -> tuple[NDArray[Any], NDArray[np.int32] | None, str]:
    """Compute distances and predecessors from the vertices `rows` by SciPy's Dijkstra; also return the method's name.

    Potentials make negative weights positive first (Johnson 1977). SciPy's own `johnson` is not used: for cycles of
    weight 0 that rounding makes negative it raises an error, or never ends.

    Raises InputError for a negative cycle, and for distances that the type of the weights does not hold.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    edge = float(np.abs(graph.weights.astype(np.float64)).max(initial=0))
    if edge * max(graph.n - 1, 1) > _MOST:
        raise InputError(
            f"paths of {graph.n} vertices with weights of up to {edge:g} exceed every type: scale all weights down"
        )
    is_negative = bool((graph.weights < 0).any())
    potential = _potentials(graph, edge) if is_negative else np.zeros(graph.n)
    weights = graph.weights + potential[graph.sources] - potential[graph.targets]
    matrix = csr_array((np.maximum(weights, 0), (graph.sources, graph.targets)), shape=(graph.n, graph.n))
    n_rows = max(1, int(_SECONDS_AT_ONCE / search_seconds(graph, 1))) if graph.n else 1
    distances = np.empty((len(rows), graph.n))
    before = np.empty((len(rows), graph.n), np.int32) if wants_predecessors else None
    for row in range(0, len(rows), n_rows):
        part = slice(row, row + n_rows)
        found = dijkstra(matrix, directed=True, indices=rows[part], return_predecessors=wants_predecessors)
        if before is None:
            distances[part] = found
        else:
            distances[part], before[part] = found[0], np.where(found[1] < 0, -1, found[1])
        if progress:
            progress(graph.n * min(row + n_rows, len(rows)) // len(rows))
    if is_negative:
        distances += potential
        distances -= potential[rows, None]
        distances[np.arange(len(rows)), rows] = 0
    dtype, method = graph.weights.dtype, "johnson" if is_negative else "dijkstra"
    if dtype == np.float64:
        return distances, before, method
    is_infinite = np.isinf(distances)
    finite = np.where(is_infinite, 0, distances)
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    highest = float(limits.max) - (dtype.kind == "i")  # the highest integer is infinity
    if finite.max(initial=0) > highest or finite.min(initial=0) < limits.min:
        worst = finite.flat[int(np.argmax(np.abs(finite)))]
        raise InputError(f"path weights reach {worst:g}, which {dtype} cannot hold: convert the weights to float64")
    of_type = finite.astype(dtype)
    of_type[is_infinite] = np.inf if dtype.kind == "f" else limits.max
    return of_type, before, method


def _potentials(graph: Graph, edge: float) -> NDArray[np.float64]:
    """Return the distance of each vertex from one with edges of weight 0 to all, by Bellman and Ford's method.

    Integers are exact. A cycle of floats counts as negative below -n e w, for the type's epsilon e and the highest
    weight w (`edge`), as in `tropical_closure`; one that is less negative may make potentials fall in every round.
    Raises NegativeCycle.
    """
    is_float = graph.weights.dtype.kind == "f"
    tolerance = graph.n * float(np.finfo(graph.weights.dtype).eps) * edge if is_float else 0.0
    weights = graph.weights.astype(np.float64)
    order = np.argsort(graph.targets, kind="stable")
    sources, targets, weights = graph.sources[order], graph.targets[order], weights[order]
    firsts = np.flatnonzero(np.diff(targets, prepend=-1))
    ends = targets[firsts]
    potential = np.zeros(graph.n)
    before = np.full(graph.n, -1, np.int64)
    for round_ in range(graph.n + 1):
        offered = potential[sources] + weights
        lightest = potential.copy()
        lightest[ends] = np.minimum(potential[ends], np.minimum.reduceat(offered, firsts))
        is_better = (offered == lightest[targets]) & (lightest < potential)[targets]
        if not is_better.any():
            break
        before[targets[is_better]] = sources[is_better]
        potential = lightest
        if (round_ & (round_ + 1)) == 0 or round_ == graph.n:
            _refuse_circles(graph, before, tolerance)
    return potential


def _refuse_circles(graph: Graph, before: NDArray[np.int64], tolerance: float) -> None:
    """Raise NegativeCycle if predecessors form a circle that is more negative than the tolerance.

    Every vertex that still gets lighter after n rounds has a negative cycle before it, which appears as such a
    circle.
    """
    seen, steps = np.full(len(before), -1, np.int64).tolist(), before.tolist()
    weight_of: dict[tuple[int, int], float] = {}
    for start in np.flatnonzero(before >= 0).tolist():
        v = start
        walk: list[int] = []
        while v >= 0 and seen[v] < 0:
            seen[v] = start
            walk.append(v)
            v = steps[v]
        if v < 0 or seen[v] != start:
            continue
        circle = walk[walk.index(v) :][::-1]  # in the order of its edges
        if not weight_of:
            edges = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
            weight_of = dict(zip(edges, graph.weights.tolist(), strict=True))
        weight = math.fsum(weight_of[pair] for pair in zip(circle, [*circle[1:], *circle[:1]], strict=True))
        if weight < -tolerance:
            raise NegativeCycle(circle, weight, names=graph.names)
