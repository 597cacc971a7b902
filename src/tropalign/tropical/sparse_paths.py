"""Shortest paths in graphs of few edges: SciPy's Dijkstra, and when it takes less time than a closure.

Potentials make negative weights positive first (Johnson 1977). SciPy's own `johnson` is not used: for cycles of
weight 0 that rounding makes negative it raises an error, or never ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.tropical.closures import NegativeCycle
from tropalign.tropical.graphs import Graph

Progress = Callable[[int], object]
#: Nanoseconds of SciPy's Dijkstra per edge, and per vertex and bit of their number (its heap), for each source;
#: measured with 300 to 3000 vertices of 2 to 128 edges each.
_PER_EDGE, _PER_VERTEX = 3.4, 20.0
#: Approximate seconds of the sources that are searched from at once: a stop of the run waits for them.
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
    """Return distances and predecessors from the vertices `rows`, and the name of the method.

    Raises InputError for a negative cycle, and for distances that the type of the weights does not hold.
    """
    edge = float(np.abs(graph.weights.astype(np.float64)).max(initial=0))
    if edge * max(graph.n - 1, 1) > _MOST:
        raise InputError(
            f"weights as large as {edge:g} make paths of {graph.n} vertices that no type holds: divide all by a number"
        )
    is_negative = bool((graph.weights < 0).any())
    potential = _potentials(graph, edge) if is_negative else np.zeros(graph.n)
    weights = graph.weights + potential[graph.sources] - potential[graph.targets]
    lifted = replace(graph, weights=np.maximum(weights, 0))
    n_rows = max(1, int(_SECONDS_AT_ONCE / search_seconds(graph, 1))) if graph.n else 1
    distances = np.empty((len(rows), graph.n))
    before = np.empty((len(rows), graph.n), np.int32) if wants_predecessors else None
    for row in range(0, len(rows), n_rows):
        part = slice(row, row + n_rows)
        distances[part], found = _dijkstra(lifted, rows[part], wants_predecessors)
        if before is not None and found is not None:
            before[part] = found
        if progress:
            progress(graph.n * min(row + n_rows, len(rows)) // len(rows))
    if is_negative:
        distances += potential
        distances -= potential[rows, None]
        distances[np.arange(len(rows)), rows] = 0
    return _as_type(distances, graph.weights.dtype), before, "johnson" if is_negative else "dijkstra"


def _dijkstra(
    graph: Graph, rows: NDArray[np.int64], wants_predecessors: bool
) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    matrix = csr_array((graph.weights, (graph.sources, graph.targets)), shape=(graph.n, graph.n))
    found = dijkstra(matrix, directed=True, indices=rows, return_predecessors=wants_predecessors)
    distances, before = found if wants_predecessors else (found, None)
    return distances, None if before is None else np.where(before < 0, -1, before).astype(np.int32)


def _as_type(distances: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype == np.float64:
        return distances
    is_infinite = np.isinf(distances)
    finite = np.where(is_infinite, 0, distances)
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    highest = float(limits.max) - (dtype.kind == "i")  # the highest integer is infinity
    if finite.max(initial=0) > highest or finite.min(initial=0) < limits.min:
        worst = finite.flat[int(np.argmax(np.abs(finite)))]
        raise InputError(f"the weights of paths reach {worst:g}, which {dtype} does not hold: convert them to float64")
    found = finite.astype(dtype)
    found[is_infinite] = np.inf if dtype.kind == "f" else limits.max
    return found


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
    circles = list(_circles(before))
    if not circles:
        return
    edges = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    weight_of = dict(zip(edges, graph.weights.tolist(), strict=True))
    for circle in circles:
        weight = math.fsum(weight_of[pair] for pair in zip(circle, [*circle[1:], *circle[:1]], strict=True))
        if weight < -tolerance:
            raise NegativeCycle(circle, weight, names=graph.names)


def _circles(before: NDArray[np.int64]) -> Iterator[list[int]]:
    """Yield the vertices of each circle of predecessors, in the order of its edges."""
    seen, steps = np.full(len(before), -1, np.int64).tolist(), before.tolist()
    for start in np.flatnonzero(before >= 0).tolist():
        v = start
        walk: list[int] = []
        while v >= 0 and seen[v] < 0:
            seen[v] = start
            walk.append(v)
            v = steps[v]
        if v >= 0 and seen[v] == start:
            yield walk[walk.index(v) :][::-1]
