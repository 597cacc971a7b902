"""Web report of shortest paths: the graph with routes on a click, distances, and a searchable table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, write_report_page
from tropalign.formats.paths.tables import PathsContext

PAGE = "paths"
SCRIPTS = ("graph.js", "paths.js")
#: Limits: vertices of a drawn graph, its edges, and rows of the table.
MOST_VERTICES, MOST_EDGES, MOST_ROWS = 500, 4_000, 250_000
Arrays = dict[str, NDArray[Any]]


def encode(part: range, context: PathsContext) -> bytes:
    """Return an empty part; the page is made from the results in memory."""
    return b""


def edges_of(context: PathsContext) -> tuple[Arrays, int]:
    """Return the edges to draw, the lightest ones if there are too many, and the number of all.

    Two edges of equal weight between the same vertices are drawn as one without an arrow.
    """
    assert context.edges is not None
    sources, targets, weights = context.edges
    weight_of = dict(zip(zip(sources.tolist(), targets.tolist(), strict=True), weights.tolist(), strict=True))
    drawn = [
        (value, source, target, weight_of.get((target, source)) == value)
        for (source, target), value in weight_of.items()
        if source < target or weight_of.get((target, source)) != value
    ]
    drawn.sort()
    kept = drawn[:MOST_EDGES]
    columns: Arrays = {
        "edge_weight": np.array([edge[0] for edge in kept], np.float64),
        "edge_source": np.array([edge[1] for edge in kept], np.int64),
        "edge_target": np.array([edge[2] for edge in kept], np.int64),
        "edge_is_both": np.array([edge[3] for edge in kept], np.uint8),
    }
    return columns, len(drawn)


def report_of(context: PathsContext) -> Report:
    """Return the page without its frame."""
    paths, targets = context.paths, context.targets
    n = len(context.names)
    n_sources = len(paths.sources)
    kept = n_sources if context.edges is not None else min(n_sources, max(1, MOST_ROWS // max(1, len(targets))))
    n_targets = min(len(targets), MOST_ROWS) if kept else 0
    distances = context.distances(range(kept))[:, :n_targets]
    plain = np.where(distances == paths.infinity, np.inf, distances.astype(np.float64))
    arrays: Arrays = {"distance": plain.ravel()}
    arrays |= {"source": paths.sources[:kept], "target": targets[:n_targets]}
    data: dict[str, Any] = {
        "n_vertices": n,
        "n_edges": None if context.edges is None else len(context.edges[0]),
        "n_pairs": n_sources * len(targets),
        "is_drawn": context.edges is not None,
        "most_vertices": MOST_VERTICES,
        "digits": 7 if distances.dtype == np.float32 else 15,
    }
    if data["is_drawn"]:
        edges, data["n_drawable"] = edges_of(context)
        where = places(edges["edge_source"], edges["edge_target"], n)
        arrays |= {**edges, "x": where[:, 0].astype(np.float32), "y": where[:, 1].astype(np.float32)}
        arrays["before"] = paths.predecessors.ravel().astype(np.int64)
        data["names"] = context.names
    else:
        used = np.unique(np.concatenate([arrays["source"], arrays["target"]]))
        arrays |= {name: np.searchsorted(used, arrays[name]) for name in ("source", "target")}
        data["names"] = [context.names[k] for k in used.tolist()]
    return Report(PAGE, SCRIPTS, "Shortest paths", data, arrays)


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PathsContext) -> None:
    """Write the page."""
    for _ in parts:
        pass
    write_report_page(out, report_of(context), header)


HTML = Codec(encode, assemble, is_binary=True)


Reals = NDArray[np.float64]
#: Rounds of majorization; and a perturbation of equal distances, so that the best plane is unique.
ROUNDS, UNEVEN = 100, 1e-3
#: Distance of unconnected vertices, relative to the width of the graph.
APART = 1.25


# Minimises the sum of ``(|x_i - x_j| - d_ij)^2 / d_ij^2`` by majorization (Gansner, Koren and North 2005, Graph
# drawing by stress majorization), starting from the plane that fits the distances best (classical scaling).
def places(sources: NDArray[np.int64], targets: NDArray[np.int64], n: int) -> Reals:
    """Return positions of n vertices, float64, shape (n, 2), from 0 to 1, the wider side filled; edges are undirected.

    >>> import numpy as np
    >>> places(np.array([0, 1]), np.array([1, 2]), 3).round(1)[[0, 2], 0].tolist() in ([0.0, 1.0], [1.0, 0.0])
    True
    """
    if n < 2:
        return np.full((n, 2), 0.5)
    distances = _steps(sources, targets, n)
    found = _scaled(distances)
    weights = 1 / np.where(distances > 0, distances, 1) ** 2
    np.fill_diagonal(weights, 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights)
    for _ in range(ROUNDS):
        lengths = np.hypot(*(found[:, None, axis] - found[None, :, axis] for axis in (0, 1)))
        ratios = np.where(lengths > 0, weights * distances / np.where(lengths > 0, lengths, 1), 0)
        found = inverse @ (ratios.sum(1)[:, None] * found - ratios @ found)
    found = found - found.min(0)
    return np.asarray(found / max(found.max(), 1e-12))


def _steps(sources: NDArray[np.int64], targets: NDArray[np.int64], n: int) -> Reals:
    """Return the smallest number of edges between all vertices, slightly perturbed."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    graph = coo_array((np.ones(len(sources)), (sources, targets)), shape=(n, n)).tocsr()
    found = shortest_path(graph, directed=False, unweighted=True)
    found[np.isinf(found)] = APART * max(1.0, found[np.isfinite(found)].max())
    turn = np.cos(np.arange(n) * 2.399963)  # multiples of the golden angle, which do not repeat
    return np.asarray(found * (1 + UNEVEN * (turn[:, None] + turn[None, :])))


def _scaled(distances: Reals) -> Reals:
    """Return the plane of classical scaling, with axes signed so that the farthest vertex is positive."""
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(centred)
    found = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0))
    signs = np.sign(found[np.abs(found).argmax(0), np.arange(found.shape[1])])
    return np.asarray(found * np.where(signs == 0, 1, signs))
