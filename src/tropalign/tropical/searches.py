"""Shortest paths in graphs of few edges: SciPy's Dijkstra and Johnson, and when they take less time than a closure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.tropical.cycles import NegativeCycle
from tropalign.tropical.graphs import Graph

#: Nanoseconds of SciPy's Dijkstra per edge, and per vertex and bit of their number (its heap), for each source;
#: measured with 300 to 3000 vertices of 2 to 128 edges each.
_PER_EDGE, _PER_VERTEX = 3.4, 20.0


def search_seconds(graph: Graph, n_sources: int) -> float:
    """About how long searches from so many vertices take."""
    per_source = _PER_EDGE * len(graph.weights) + _PER_VERTEX * graph.n * math.log2(max(graph.n, 2))
    return n_sources * per_source * 1e-9


def searched(
    graph: Graph, rows: NDArray[np.int64], wants_predecessors: bool
) -> tuple[NDArray[Any], NDArray[np.int32] | None, str]:
    """Distances and predecessors from the vertices `rows`, and the method.

    Raises
    ------
    InputError
        A negative cycle; distances that the type of the weights does not hold.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import NegativeCycleError, dijkstra, johnson

    matrix = csr_array((graph.weights.astype(np.float64), (graph.sources, graph.targets)), shape=(graph.n, graph.n))
    is_negative = bool((graph.weights < 0).any())
    method = "johnson" if is_negative else "dijkstra"
    search = johnson if is_negative else dijkstra
    try:
        found = search(matrix, directed=True, indices=rows, return_predecessors=wants_predecessors)
    except NegativeCycleError:
        raise negative_cycle(graph) from None
    distances, before = found if wants_predecessors else (found, None)
    if before is not None:
        before = np.where(before < 0, -1, before).astype(np.int32)
    return _as_type(distances, graph.weights.dtype), before, method


def _as_type(distances: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind == "f":
        return distances.astype(dtype, copy=False)
    is_infinite = np.isinf(distances)
    finite = np.where(is_infinite, 0, distances)
    limits = np.iinfo(dtype)
    worst = finite.flat[int(np.argmax(np.abs(finite)))] if finite.size else 0.0
    if finite.max(initial=0) >= limits.max or finite.min(initial=0) < limits.min:
        raise InputError(f"the weights of paths reach {worst:g}, which {dtype} does not hold: convert them to float64")
    found = finite.astype(dtype)
    found[is_infinite] = limits.max
    return found


def negative_cycle(graph: Graph) -> NegativeCycle:
    """The error that names a negative cycle, found by Bellman and Ford's method.

    All vertices begin at 0. After n rounds every vertex that still gets lighter has a negative cycle before it; the
    predecessors of the lightened show one as soon as they run in a circle, which is looked for as rounds go on.
    """
    distances = np.zeros(graph.n)
    before = np.full(graph.n, -1, np.int64)
    weights = graph.weights.astype(np.float64)
    for round_ in range(graph.n + 1):
        offered = distances[graph.sources] + weights
        lightest = distances.copy()
        np.minimum.at(lightest, graph.targets, offered)
        is_better = (offered == lightest[graph.targets]) & (lightest < distances)[graph.targets]
        before[graph.targets[is_better]] = graph.sources[is_better]
        distances = lightest
        if (round_ & (round_ + 1)) == 0 or round_ == graph.n:
            cycle = _circle(before)
            if cycle:
                break
        if not is_better.any():
            break
    edges = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    weight_of = dict(zip(edges, weights.tolist(), strict=True))
    total = math.fsum(weight_of[pair] for pair in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True))
    return NegativeCycle(cycle, total, names=graph.names)


def _circle(before: NDArray[np.int64]) -> list[int]:
    """The vertices of a circle of predecessors in the order of its edges; empty where there is none."""
    seen = np.zeros(len(before), np.int64)
    for start in np.flatnonzero(before >= 0).tolist():
        v = start
        walk: list[int] = []
        while v >= 0 and seen[v] == 0:
            seen[v] = start + 1
            walk.append(v)
            v = int(before[v])
        if v >= 0 and seen[v] == start + 1 and v in walk:
            return walk[walk.index(v) :][::-1]
    return []
