"""The class `ShortestPaths`: distances between vertices of a graph, and the paths of these lengths."""

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
    """The n vertices of a graph and their names; None if they have only numbers."""

    def __init__(self, n: int, names: Sequence[Hashable] | None) -> None:
        self.n = n
        self._numbers = None if names is None else {name: k for k, name in enumerate(names)}

    def number(self, name: Hashable) -> int:
        """Return the number of a vertex by its name, or by its number if vertices have no names.

        Raises InputError if there is no such vertex, UsageError if vertices have no names and `name` is not an
        integer.
        """
        if self._numbers is not None:
            try:
                return self._numbers[name]
            except (KeyError, TypeError):
                raise InputError(f"there is no vertex {shown(repr(name))} in the graph") from None
        if isinstance(name, bool) or not isinstance(name, int | np.integer):
            raise UsageError(f"{name!r} is not a vertex number, and the vertices have no names")
        if not 0 <= name < self.n:
            raise InputError(f"there is no vertex {name}: they are numbered from 0 to {self.n - 1}")
        return int(name)


class ShortestPaths(Result):
    """Distances from some vertices of a graph to all vertices, as returned by `tropalign.tropical.shortest_paths`.

    Parameters
    ----------
    distances
        A row per source, a column per vertex.
    sources
        Vertex at which each row starts, int64.
    names
        Names of all vertices, in the order of the columns; None if they have only numbers.
    method
        How the distances were found.
    notes
        How unusual edges were treated, a sentence each.
    find_predecessors
        Function that finds the predecessors on first use; or the predecessors themselves.

    Attributes
    ----------
    distances : numpy.ndarray
        Shape (n_sources, n), with the dtype of the weights, or float64 for int64 and others. Pairs without a path
        have the value `infinity`: ``inf``, or the highest value of int16 and int32, which have no infinity.
    sources : numpy.ndarray
        int64, shape (n_sources,): the vertex at which each row starts.
    names : tuple or None
        Names of the n vertices, in the order of the columns.
    method : str
        "closure" (blocked Floyd-Warshall), "bipartite closure", "dijkstra" or "johnson" (SciPy's).
    notes : tuple of str
        How loops and double edges were treated.

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
        """Return the state with the predecessors instead of the function that finds them, so they are computed now."""
        return {**vars(self), "_find_predecessors": self.predecessors}

    def _content(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("distances", "sources", "names")}

    def __repr__(self) -> str:
        n_sources, n = self.distances.shape
        return f"<ShortestPaths from {n_sources} to {n} vertices, by {self.method}, {self.distances.dtype}>"

    @cached_property
    def predecessors(self) -> NDArray[np.int32]:
        """Predecessor of each vertex on its path from the source, int32, shape (n_sources, n), or -1.

        Computed on first use, unless `shortest_paths` was asked to do so; this takes about twice as long as the
        distances.
        """
        found = self._find_predecessors
        return found() if callable(found) else found

    @property
    def infinity(self) -> float:
        """Value in `distances` of pairs without a path: ``distances == infinity`` finds them."""
        dtype = self.distances.dtype
        return float("inf") if dtype.kind == "f" else int(np.iinfo(dtype).max)

    def distance(self, source: Hashable, target: Hashable) -> float:
        """Return the length of a shortest path between two vertices, by name or, without names, by number.

        Without a path, the result is ``inf`` for any type of `distances`. Raises the same errors as `path`.
        """
        value = self.distances[self._row_of(source), self.vertex(target)]
        return float("inf") if value == self.infinity else value.item()

    def path(self, source: Hashable, target: Hashable) -> list[Any]:
        """Return the vertices of a shortest path, including source and target; empty if there is no path.

        Parameters
        ----------
        source, target
            Vertices, by name or, without names, by number.

        Returns
        -------
        list
            Names or numbers.

        Raises
        ------
        InputError
            There is no such vertex, or no row starts at the source.
        """
        vertices = self.path_vertices(self._row_of(source), self.vertex(target))
        return vertices if self.names is None else [self.names[v] for v in vertices]

    def path_vertices(self, row: int, target: int) -> list[int]:
        """Return the vertex numbers of the path from a row's source to a vertex; empty if there is no path."""
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
        """Return the paths from a row's source to many vertices at once.

        Parameters
        ----------
        row
            Row of the distances.
        targets
            Vertex numbers, int64.

        Returns
        -------
        vertices : numpy.ndarray
            int64: vertices of all paths, concatenated.
        lengths : numpy.ndarray
            int64: number of vertices of each path, 0 if there is no path.
        """
        before = self.predecessors[row].astype(np.int64)
        lengths = self.path_lengths(row, targets)
        ends = np.cumsum(lengths)
        vertices = np.empty(int(lengths.sum()), np.int64)
        is_path = lengths > 0
        first, at, last = (ends - lengths)[is_path], ends[is_path] - 1, targets[is_path]
        while len(at):  # each path from its end, one step at a time
            vertices[at] = last
            goes_on = at > first
            first, at, last = first[goes_on], at[goes_on] - 1, before[last[goes_on]]
        return vertices, lengths

    def path_lengths(self, row: int, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of vertices of the paths from a row's source to some vertices, 0 if there is no path.

        Pointer jumping: each vertex stores an earlier vertex on its path and the number of edges to it; following
        that vertex's own pointer doubles the distance:

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
        """Return the number of a vertex. Raises InputError if it does not exist."""
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
            raise InputError(f"distances from {shown(str(source))} were not computed: add it to the sources")
        return self._rows[vertex]
