"""Web report of shortest paths: the graph with routes on a click, distances, and a searchable table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.pages.web_page import Report, write_report_page
from tropalign.formats.paths.context import PathsContext
from tropalign.formats.paths.layout import places

PAGE = "paths"
SCRIPTS = ("viewer/pictures.js", "graph.js", "paths.js")
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
