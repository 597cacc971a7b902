"""``tropalign paths``: shortest paths between all vertices of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tropalign.formats.format import format_names
from tropalign.options.option import TEXT, Options, input_file, option, output_file
from tropalign.verbs.command import (
    Command,
    CommentOptions,
    DeviceOptions,
    MemoryOptions,
    OutputOptions,
    Served,
    checked_progress,
    header_of,
    naming,
    output_of,
)

if TYPE_CHECKING:
    from tropalign.formats.paths.tables import PathsContext

#: Distances, and vertices of paths, that are written at a time.
_AT_ONCE = 1 << 18
#: Memory of a vertex in a path while it is written: bytes, and copies of its name.
_STEP_BYTES, _NAME_COPIES = 40, 5
#: Memory of a vertex and an edge of the graph while it is read, with names and numbers.
_VERTEX_BYTES, _EDGE_BYTES = 300, 100


class PathOptions(Options, group="selected distances"):
    """Selection and format of the distances."""

    sources: list[str] | None = option(
        default=None,
        flags=("--from",),
        kind=TEXT,
        many="append",
        metavar="VERTEX",
        label="From these vertices",
        is_common=True,
        help="report only distances from this vertex; may be repeated; @FILE for those of a file, one per line",
    )
    targets: list[str] | None = option(
        default=None,
        flags=("--to",),
        kind=TEXT,
        many="append",
        metavar="VERTEX",
        label="To these vertices",
        is_common=True,
        help="report only distances to this vertex; may be repeated; @FILE for those of a file, one per line",
    )
    paths: bool = option(
        default=False, label="Vertices of each path", is_common=True, help="also report the vertices of each path"
    )
    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("paths"),
        role="machine",
        help="output format (default: by the suffix of -o, else tsv)",
    )
    report: str | None = output_file(
        output="report",
        flags=("--html",),
        suffix=".html",
        metavar="FILE",
        help="HTML report in addition to the output: the graph with its routes, and a table of distances",
    )


class Paths(Command, PathOptions, OutputOptions, CommentOptions, DeviceOptions, MemoryOptions):
    """Shortest paths between all vertices of a graph."""

    verb = "paths"
    summary = "shortest paths between all vertices of a graph"
    description = (
        "Compute the distances between all vertices of a graph, and the paths: by a blocked Floyd-Warshall "
        "algorithm, or by Dijkstra's algorithm if the graph has few edges."
    )
    example = """example:
  tropalign paths edges.tsv -o distances.tsv
  tropalign paths roads.tsv.gz --undirected --paths --from Ulm -o from_ulm.tsv
  tropalign paths graph.mtx -o distances.npz --html distances.html
  cut -f 1,2,5 table.tsv | tropalign paths - -f matrix > matrix.tsv

edges.tsv has an edge per line: from, to, weight. The suffix of -o selects the format: .tsv (a row per pair of
vertices), .npz, .parquet, .html (a page); -f matrix writes a matrix as text. Distances are the same for any
number of threads. Exit codes: 0 done, 2 usage, 3 bad input, 4 memory or disk, 130 interrupted."""
    served = Served(
        title="Find shortest paths", kind="paths", example={"graph": "codons.tsv"}, example_options={"undirected": True}
    )
    no_shards = (
        "the rounds of the algorithm depend on each other, so there are no shards: give each machine some --from "
        "vertices"
    )

    graph: str = input_file(
        flags=(),
        metavar="GRAPH",
        holds="graph",
        label="Edges",
        help="edges as text (from, to, weight; separated by tabs, commas or spaces), .npz, Matrix Market; compressed "
        "or not; - is stdin",
    )
    undirected: bool = option(
        default=False, label="Undirected edges", is_common=True, help="treat all edges as undirected"
    )

    def run(self) -> None:
        """Read the graph, find the paths and write them."""
        import warnings

        import numpy as np

        from tropalign.execution.run import memory_allowed, write_outputs
        from tropalign.formats.paths.report import MOST_VERTICES
        from tropalign.formats.paths.tables import PathsContext, check_names
        from tropalign.resources.limits import left_for_job
        from tropalign.sequences.files import file_name
        from tropalign.tropical.graphs import read_graph
        from tropalign.tropical.paths import shortest_paths

        name = self.check()
        lists = [word[1:] for word in [*(self.sources or ()), *(self.targets or ())] if word.startswith("@")]
        self.check_stdin([self.graph, *lists])
        show = checked_progress(self, [self.output, *filter(None, [self.report])], [self.graph, *lists])
        allowed = memory_allowed(self.memory, self.output)
        sources, targets = _listed(self.sources), _listed(self.targets)
        graph = read_graph(self.graph, is_directed=not self.undirected)
        for note in graph.notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        if name in ("tsv", "matrix"):
            check_names(graph.names or (), self.paths)
        is_dense = graph.weights.ndim == 2
        is_drawn = (self.report is not None or name == "html") and graph.n <= MOST_VERTICES
        held = _VERTEX_BYTES * graph.n + (graph.weights.nbytes if is_dense else _EDGE_BYTES * graph.n_edges)
        with naming(file_name(self.graph)), show("vertices", graph.n) as progress:
            columns = graph.numbers(targets)
            found = shortest_paths(
                graph,
                sources=sources,
                predecessors=self.paths or is_drawn,
                n_threads=self.threads,
                device=self.device or "auto",
                memory_bytes=left_for_job(allowed, held),
                progress=progress,
            )
        context = PathsContext(found, np.array(columns, np.int64), self.paths, graph.edges if is_drawn else None)
        parameters = {
            "vertices": str(graph.n),
            "edges": str(graph.n_edges),
            "method": found.method,
            "weights": str(graph.weights.dtype),
        }
        header = header_of(self, parameters, format=None if name == "tsv" else name)
        outputs = [output_of("paths", "paths", self.output, header, context, name)]
        if self.report is not None:
            outputs.append(output_of("report", "paths", self.report, header, context, "html"))
        rows_at_once = _rows_at_once(context, left_for_job(allowed, held))
        parts = (outputs[0].writer.encode(rows) for rows in rows_at_once)
        write_outputs(outputs, lambda output: parts if output is outputs[0] else ())

    def check(self) -> str:
        """Return the format; reject requests that it does not support."""
        from tropalign.formats.format import check_format, format_for_path

        super().check()
        name: str = self.format or format_for_path("paths", self.output)
        check_format("paths", name)
        if name == "matrix" and self.paths:
            self.refuse("a matrix cannot contain paths: choose -f tsv, npz or parquet, or leave --paths out")
        return name


def _rows_at_once(context: PathsContext, allowed: int) -> Iterator[range]:
    """Yield ranges of rows to write at a time; they depend on the graph only.

    Raises ResourceError if the paths of a row take more memory than allowed.
    """
    from tropalign.errors import shown
    from tropalign.resources.limits import require

    n, n_targets = len(context.paths.sources), max(1, len(context.targets))
    if not context.with_paths:
        step = max(1, _AT_ONCE // n_targets)
        yield from (range(row, min(row + step, n)) for row in range(0, n, step))
        return
    name_bytes = sum(map(len, context.names)) / max(1, len(context.names))
    begin, size = 0, 0
    for row in range(n):
        n_vertices = int(context.paths.path_lengths(row, context.targets).sum())
        require(
            int(n_vertices * (_STEP_BYTES + _NAME_COPIES * name_bytes)),
            allowed,
            f"writing {n_vertices:,} vertices of the paths from {shown(context.names[context.paths.sources[row]])}",
            "allow more with --memory, ask for fewer targets with --to, or leave --paths out",
        )
        if size and size + n_targets + n_vertices > _AT_ONCE:
            yield range(begin, row)
            begin, size = row, 0
        size += n_targets + n_vertices
    if n:
        yield range(begin, n)


def _listed(words: list[str] | None) -> list[str] | None:
    """Return the vertices of an option, including those listed in files."""
    from tropalign.errors import InputError
    from tropalign.sequences import read_text

    if words is None:
        return None
    found: list[str] = []
    for word in words:
        if not word.startswith("@"):
            found.append(word)
            continue
        lines = [line.strip() for line in read_text(word[1:]).split("\n")]
        named = [line for line in lines if line and not line.startswith("#")]
        if not named:
            raise InputError("the list contains no vertex: write one per line", file=word[1:])
        found += named
    return list(dict.fromkeys(found))
