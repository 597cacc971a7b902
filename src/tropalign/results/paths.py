"""``ShortestPaths``: distances between the vertices of a graph, and paths of these lengths."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, shown
from tropalign.properties import cached_property
from tropalign.results.columns import Result

#: Finds the predecessors of all rows.
FindPredecessors = Callable[[], NDArray[np.int32]]


class Vertices:
    """The vertices of a graph, which callers name.

    Parameters
    ----------
    n
        How many there are.
    names
        Of each; None where they have numbers only.
    """

    def __init__(self, n: int, names: Sequence[Hashable] | None) -> None:
        self.n = n
        self._numbers = None if names is None else {name: k for k, name in enumerate(names)}

    def number(self, name: Hashable) -> int:
        """The number of a vertex by its name, or by itself where it has none.

        Raises
        ------
        InputError
            There is no such vertex.
        UsageError
            What is given is not a number, and vertices have no names.
        """
        if self._numbers is not None:
            try:
                return self._numbers[name]
            except (KeyError, TypeError):
                raise InputError(f"there is no vertex {shown(repr(name))} in the graph") from None
        if isinstance(name, bool) or not isinstance(name, int | np.integer):
            raise UsageError(f"{name!r} is not a number of a vertex, and the vertices have no names")
        if not 0 <= name < self.n:
            raise InputError(f"there is no vertex {name}: they are numbered from 0 to {self.n - 1}")
        return int(name)


class ShortestPaths(Result):
    """Distances from some vertices of a graph to all of them, as `tropalign.tropical.shortest_paths` finds them.

    Parameters
    ----------
    distances
        A row per source, a column per vertex.
    sources
        The number of the vertex that each row begins at, int64.
    names
        Of all vertices, in the order of the columns; None where they have numbers only.
    method
        How the distances were found.
    notes
        What was done with strange edges, a sentence each.
    find_predecessors
        Finds the predecessors when they are first asked for; or these themselves.

    Attributes
    ----------
    distances : numpy.ndarray
        Shape (n_sources, n), of the dtype of the weights. Where there is no path, `infinity` stands: ``inf``, or the
        highest number of an integer type, which has no infinity.
    sources : numpy.ndarray
        int64, shape (n_sources,): the vertex that each row begins at.
    names : tuple or None
        Of the n vertices, in the order of the columns.
    method : str
        "closure" (Floyd-Warshall of blocks), "bipartite closure", "dijkstra" or "johnson" (SciPy's).
    notes : tuple of str
        What was done with loops and double edges.

    Examples
    --------
    >>> from tropalign.tropical import shortest_paths
    >>> inf = float("inf")
    >>> found = shortest_paths([[0, 3, 8], [inf, 0, 2], [1, inf, 0]], names=["a", "b", "c"])
    >>> found.distance("a", "c"), found.path("a", "c")
    (5.0, ['a', 'b', 'c'])
    """

    def __init__(
        self,
        distances: NDArray[Any],
        sources: NDArray[np.int64],
        names: tuple[Hashable, ...] | None,
        method: str,
        notes: Sequence[str],
        find_predecessors: FindPredecessors | NDArray[np.int32],
    ) -> None:
        self.distances, self.sources, self.names, self.method = distances, sources, names, method
        self.notes = tuple(notes)
        self._find_predecessors = find_predecessors

    def __getstate__(self) -> dict[str, Any]:
        """All but the function that finds predecessors: a pickle has these themselves, so that they are found now."""
        return {**vars(self), "_find_predecessors": self.predecessors}

    def _content(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("distances", "sources", "names")}

    def __repr__(self) -> str:
        n_sources, n = self.distances.shape
        return f"<ShortestPaths from {n_sources} to {n} vertices, by {self.method}, {self.distances.dtype}>"

    @cached_property
    def predecessors(self) -> NDArray[np.int32]:
        """The vertex before each on the path from the row's source, int32, shape (n_sources, n); -1 where none is.

        Found when they are first asked for, unless `shortest_paths` was told to: that takes about twice the time of the
        distances.
        """
        found = self._find_predecessors
        return found() if callable(found) else found

    @property
    def infinity(self) -> float:
        """The value in `distances` of pairs without a path: ``distances == infinity`` finds them."""
        dtype = self.distances.dtype
        return float("inf") if dtype.kind == "f" else int(np.iinfo(dtype).max)

    def distance(self, source: Hashable, target: Hashable) -> float:
        """The length of a shortest path between two vertices, by name or by number where they have none.

        ``inf`` where there is no path, whatever the type of `distances`. Raises what `path` raises.
        """
        value = self.distances[self._row_of(source), self.vertex(target)]
        return float("inf") if value == self.infinity else value.item()

    def path(self, source: Hashable, target: Hashable) -> list[Any]:
        """The vertices of a shortest path, source and target among them; empty where there is no path.

        Parameters
        ----------
        source, target
            Vertices, by name or by number where they have none.

        Returns
        -------
        list
            Names or numbers.

        Raises
        ------
        InputError
            There is no such vertex, or no row begins at the source.
        """
        vertices = self.path_vertices(self._row_of(source), self.vertex(target))
        return vertices if self.names is None else [self.names[v] for v in vertices]

    def path_vertices(self, row: int, target: int) -> list[int]:
        """The numbers of the vertices of the path from a row's source to a vertex; empty where there is no path."""
        source = int(self.sources[row])
        before = self.predecessors[row]
        vertices = [target]
        while vertices[-1] != source:
            vertex = int(before[vertices[-1]])
            if vertex < 0:
                return []
            vertices.append(vertex)
        return vertices[::-1]

    def row_paths(self, row: int, targets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The paths from a row's source to many vertices at once.

        Parameters
        ----------
        row
            Of the distances.
        targets
            Numbers of vertices, int64.

        Returns
        -------
        vertices : numpy.ndarray
            int64: those of all paths, one path after the other.
        lengths : numpy.ndarray
            int64: how many vertices each path has, 0 where there is none.
        """
        before = self.predecessors[row].astype(np.int64)
        lengths = self.path_lengths(row, targets)
        ends = np.cumsum(lengths)
        vertices = np.empty(int(lengths.sum()), np.int64)
        is_path = lengths > 0
        first, at, last = (ends - lengths)[is_path], ends[is_path] - 1, targets[is_path]
        while len(at):  # each path from its end, a step at a time
            vertices[at] = last
            goes_on = at > first
            first, at, last = first[goes_on], at[goes_on] - 1, before[last[goes_on]]
        return vertices, lengths

    def path_lengths(self, row: int, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many vertices the paths from a row's source to some vertices have, 0 where there is none.

        Each vertex knows another one on the way to the source and how many edges are between them; what that one knows
        doubles the way:

            source <- . <- . <- . <- v      v knows the vertex 1 edge before, then 2, then 4
        """
        before = self.predecessors[row].astype(np.int64)
        known = np.where(before < 0, np.arange(len(before)), before)
        n_edges = (before >= 0).astype(np.int64)
        while (further := n_edges[known]).any():
            n_edges += further
            known = known[known]
        return np.where((before >= 0) | (np.arange(len(before)) == self.sources[row]), n_edges + 1, 0)[targets]

    def vertex(self, name: Hashable) -> int:
        """The number of a vertex. Raises InputError where there is none of this name or number."""
        return self._vertices.number(name)

    @cached_property
    def _vertices(self) -> Vertices:
        return Vertices(self.distances.shape[1], self.names)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {int(vertex): row for row, vertex in enumerate(self.sources)}

    def _row_of(self, source: Hashable) -> int:
        vertex = self.vertex(source)
        if vertex not in self._rows:
            raise InputError(f"no distances from {shown(str(source))} were asked for: name it among the sources")
        return self._rows[vertex]
