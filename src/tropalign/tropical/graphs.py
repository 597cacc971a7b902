"""``Graph``, edges with weights, and ``DenseGraph``, a matrix of weights; both also from other libraries' graphs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, shown
from tropalign.resources.limits import whole_number
from tropalign.results.columns import Result
from tropalign.results.paths import Vertices
from tropalign.tropical.closures import NegativeCycle
from tropalign.tropical.semirings import MIN_PLUS, checked_matrix, surveyed, zero_of

#: Supported types of weights.
DTYPES = ("float32", "float64", "int16", "int32")


@dataclass(frozen=True, eq=False)
class Graph(Result):
    """A directed graph with weights, each edge once.

    Attributes
    ----------
    n : int
        Number of vertices, which are numbered from 0.
    sources, targets : numpy.ndarray
        int64, an entry per edge: the vertices where it starts and ends.
    weights : numpy.ndarray
        The weight of each edge, float32, float64, int16 or int32; all finite.
    names : tuple or None
        Names of the vertices.
    notes : tuple of str
        Changes to loops and duplicate edges, a sentence each.

    Examples
    --------
    >>> from tropalign.tropical import Graph
    >>> graph = Graph.from_edges([0, 1], [1, 2], [2.5, 1.0], n=3, names=["a", "b", "c"])
    >>> graph.n, len(graph.weights), float(graph.matrix()[0, 1])
    (3, 2, 2.5)
    """

    n: int
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[Any]
    names: tuple[Hashable, ...] | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return _described("Graph", self.n, self.n_edges)

    @classmethod
    def from_edges(
        cls,
        sources: Any,
        targets: Any,
        weights: Any,
        *,
        n: int | None = None,
        names: Sequence[Hashable] | None = None,
        is_directed: bool = True,
    ) -> Graph:
        """Create a graph from a list of edges.

        Loops are left out, and of several edges between the same vertices the lightest is kept; a note says so.

        Parameters
        ----------
        sources, targets
            Vertices, numbered from 0.
        weights
            A number per edge; edges of infinite weight are left out.
        n
            Number of vertices; by default the number of names, or the highest vertex number plus 1.
        names
            Names of the vertices, all different.
        is_directed
            Whether an edge leads from its source to its target only, and not back.

        Raises
        ------
        InputError
            Vertex numbers or weights that are not valid; a negative loop, or an undirected edge of negative
            weight, each of which is a negative cycle.
        UsageError
            A type of weights for which distances are not supported.
        """
        start, end = _vertices(sources, "sources"), _vertices(targets, "targets")
        values = _array(weights, "weights")
        if not start.shape == end.shape == values.shape:
            raise InputError("sources, targets and weights have different lengths: give one of each per edge")
        labels = checked_names(names)
        least = int(max(start.max(initial=-1), end.max(initial=-1))) + 1
        count = whole_number("n", n, 0) if n is not None else len(labels) if labels is not None else least
        if count < least:
            raise InputError(f"vertex {least - 1} is not among the graph's {count} vertices, which are numbered from 0")
        if labels is not None and len(labels) != count:
            raise InputError(f"{len(labels)} names are given for {count} vertices")
        return _cleaned(count, start, end, _checked_weights(values), labels, is_directed)

    def matrix(self) -> NDArray[Any]:
        """Return the weights as a matrix, n x n: infinity (for integers the highest number) means no edge."""
        dtype = self.weights.dtype
        infinity = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
        found = np.full((self.n, self.n), infinity, dtype)
        found[self.sources, self.targets] = self.weights
        np.fill_diagonal(found, 0)
        return found

    @property
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Source, target and weight of each edge: two arrays of int64, and one of the type of the weights.

        Examples
        --------
        >>> from tropalign.tropical import Graph
        >>> [each.tolist() for each in Graph.from_edges([0, 1], [1, 0], [2.5, 1.0]).edges]
        [[0, 1], [1, 0], [2.5, 1.0]]
        """
        return self.sources, self.targets, self.weights

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.weights)

    def numbers(self, vertices: Sequence[Hashable] | None) -> Sequence[int]:
        """Return the numbers of vertices given by name, or by number if they have no names; None stands for all.

        Raises
        ------
        InputError
            The vertex does not exist.
        """
        return _numbers(vertices, self.n, self.names)


def _described(kind: str, n: int, n_edges: int) -> str:
    return f"<{kind}: {n:,} vertices, {n_edges:,} edge{'s' * (n_edges != 1)}>"


@dataclass(frozen=True, eq=False)
class DenseGraph(Result):
    """A directed graph as a matrix of weights.

    Attributes
    ----------
    weights : numpy.ndarray
        n x n, float32, float64, int16 or int32: infinity (for integers the highest number) means no edge.
    names : tuple or None
        Names of the vertices.
    notes : tuple of str
        Changes to loops, a sentence each.

    Examples
    --------
    >>> from tropalign.tropical import DenseGraph
    >>> graph = DenseGraph.from_matrix([[0.0, 2.0], [float("inf"), 0.0]], is_directed=False)
    >>> graph.n, graph.matrix().tolist()
    (2, [[0.0, 2.0], [2.0, 0.0]])
    """

    weights: NDArray[Any]
    names: tuple[Hashable, ...] | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return _described("DenseGraph", self.n, self.n_edges)

    @classmethod
    def from_matrix(
        cls, weights: Any, *, names: Sequence[Hashable] | None = None, is_directed: bool = True
    ) -> DenseGraph:
        """Create a graph from a matrix, without its loops.

        Parameters
        ----------
        weights
            n x n: infinity, for an integer type its highest number, means no edge.
        names
            Names of the vertices; by default 0, 1, 2 and so on.
        is_directed
            Whether an edge leads one way only. Otherwise the lighter one of two between the same vertices counts.

        Raises
        ------
        InputError
            Not a square matrix, NaN, a negative loop; an undirected edge of negative weight, which is a negative
            cycle.
        UsageError
            A type of weights for which distances are not supported.
        """
        (values,) = dense_weights(_array(weights, "the matrix of weights"))
        if values.dtype.kind == "b":
            values = _shortest_integers(values)
        matrix = checked_matrix(values, MIN_PLUS, "the matrix of weights", is_square=True)
        n = len(matrix)
        labels = tuple(map(str, range(n))) if names is None else checked_names(names)
        if labels is not None and len(labels) != n:
            raise InputError(f"{len(labels)} names are given for {n} vertices")
        survey = surveyed(matrix, MIN_PLUS, "the matrix of weights")
        infinity = zero_of(MIN_PLUS, matrix.dtype)
        loops = np.diagonal(matrix)
        bad = np.argwhere(matrix < 0)[:1] if not is_directed and survey.lowest < 0 else np.argwhere(loops < 0)[:1]
        if len(bad):
            ends = sorted({int(v) for v in bad[0]})
            raise NegativeCycle(ends, float(matrix[ends[0], ends[-1]]) * len(ends), names=labels)
        n_loops = int(((loops > 0) & (loops != infinity)).sum())
        notes = (f"{_count(n_loops, 'loop')} left out",) if n_loops else ()
        return cls(matrix if is_directed else np.minimum(matrix, matrix.T), labels, notes)

    @property
    def n(self) -> int:
        """Number of vertices, which are numbered from 0."""
        return len(self.weights)

    @property
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Source, target and weight of each edge: two arrays of int64, and one of the type of the weights.

        Examples
        --------
        >>> from tropalign.tropical import DenseGraph
        >>> [each.tolist() for each in DenseGraph.from_matrix([[0, 2.5], [1, 0]]).edges]
        [[0, 1], [1, 0], [2.5, 1.0]]
        """
        is_edge = self.weights != zero_of(MIN_PLUS, self.weights.dtype)
        np.fill_diagonal(is_edge, False)
        sources, targets = np.nonzero(is_edge)
        return sources, targets, self.weights[sources, targets]

    @property
    def n_edges(self) -> int:
        """Number of edges, excluding loops."""
        is_edge = self.weights != zero_of(MIN_PLUS, self.weights.dtype)
        return int(np.count_nonzero(is_edge) - np.count_nonzero(np.diagonal(is_edge)))

    def matrix(self) -> NDArray[Any]:
        """Return the weights."""
        return self.weights

    def numbers(self, vertices: Sequence[Hashable] | None) -> Sequence[int]:
        """Return the numbers of vertices, as `Graph.numbers` does."""
        return _numbers(vertices, self.n, self.names)


def _numbers(vertices: Sequence[Hashable] | None, n: int, names: tuple[Hashable, ...] | None) -> Sequence[int]:
    if vertices is None:
        return range(n)
    known = Vertices(n, names)
    return [known.number(vertex) for vertex in vertices]


def _vertices(numbers: Any, name: str) -> NDArray[np.int64]:
    array = _array(numbers, name)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputError(f"{name} is not a list of integers")
    if array.size and array.min() < 0:
        raise InputError(f"{name} contains {int(array.min())}: vertices are numbered from 0")
    return array.astype(np.int64)


def _array(value: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths") from None


def checked_names(names: Sequence[Hashable] | None) -> tuple[Hashable, ...] | None:
    """Return the names of vertices as a tuple; raises InputError if two are equal."""
    if names is None:
        return None
    if isinstance(names, str):
        raise UsageError("names is a single string: give a list with a name per vertex")
    try:
        labels = tuple(names)
        n_different = len(set(labels))
    except TypeError:
        raise UsageError(f"names is of type {type(names).__name__}: give a list of strings or numbers") from None
    if n_different < len(labels):
        seen: set[Hashable] = set()
        twice = next(name for name in labels if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"two vertices have the name {shown(str(twice))}: give each its own name")
    return labels


def _checked_weights(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    if values.dtype.kind in "iub" and values.dtype.name not in DTYPES:
        values = _shortest_integers(values)
    if values.dtype.newbyteorder("=").name not in DTYPES:
        if values.size:
            raise UsageError(f"weights have type {values.dtype}: convert them to one of {', '.join(DTYPES)}")
        values = values.astype(np.float64)
    if np.isnan(values).any():
        raise InputError(f"the weight of edge {int(np.argmax(np.isnan(values)))} is NaN: give finite weights")
    if values.dtype.kind == "f" and np.isneginf(values).any():
        raise InputError(f"the weight of edge {int(np.argmax(np.isneginf(values)))} is -inf: give finite weights")
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _shortest_integers(values: NDArray[Any]) -> NDArray[Any]:
    """Convert integers of another type to int32, or to float64 if that does not hold them."""
    if values.size and (values.min() <= -(2**31) or values.max() >= 2**31 - 1):
        if max(-int(values.min()), int(values.max())) > 2**53:
            raise InputError("weights exceed 2^53, which float64 cannot hold exactly: scale them down")
        return values.astype(np.float64)
    return values.astype(np.int32)


def dense_weights(*matrices: Any) -> list[Any]:
    """Return the weight matrices of one graph in a type for distances; infinity stays infinity.

    Integers of other types become int32 if that holds all distances, else float64. Arguments that are not arrays
    of such numbers are returned unchanged. Raises InputError if float64 does not hold a weight exactly.
    """
    if not all(isinstance(one, np.ndarray) and not isinstance(one, np.ma.MaskedArray) for one in matrices):
        return list(matrices)
    if all(one.dtype.kind in "iu" for one in matrices):
        if all(one.dtype.newbyteorder("=").name in DTYPES for one in matrices):
            return list(matrices)
        infinite = [one == np.iinfo(one.dtype).max for one in matrices]
        finite = [np.where(mask, 0, one) for mask, one in zip(infinite, matrices, strict=True)]
        most = max(max(-int(one.min(initial=0)), int(one.max(initial=0))) for one in finite)
        if most > 2**53:
            raise InputError("weights exceed 2^53, which float64 cannot hold exactly: scale them down")
        dtype = np.dtype(np.int32 if 2 * most * sum(map(len, matrices)) < 2**30 else np.float64)
        zero = zero_of(MIN_PLUS, dtype)
        return [np.where(mask, zero, one).astype(dtype) for mask, one in zip(infinite, finite, strict=True)]
    found = []
    for one in matrices:
        held = one
        if one.dtype.kind == "f" and one.dtype.newbyteorder("=").name not in DTYPES:
            held = one.astype(np.float32 if one.dtype.itemsize < 4 else np.float64)
            if not np.array_equal(held, one, equal_nan=True):
                raise InputError(f"float64 cannot hold these weights of {one.dtype} exactly: round them to float64")
        found.append(held)
    return found


def _cleaned(
    n: int,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    weights: NDArray[Any],
    names: tuple[Hashable, ...] | None,
    is_directed: bool,
) -> Graph:
    """Create a graph without loops, each edge once, and both ways if edges have no direction."""
    notes = []
    is_edge = weights != (np.inf if weights.dtype.kind == "f" else np.iinfo(weights.dtype).max)
    if not is_edge.all():
        notes.append(f"{_count(int((~is_edge).sum()), 'edge')} of infinite weight left out")
    is_loop = sources == targets
    bad = is_edge & (weights < 0) & (is_loop | (not is_directed))
    if bad.any():
        k = int(np.argmax(bad))
        ends = [int(sources[k])] if is_loop[k] else [int(sources[k]), int(targets[k])]
        raise NegativeCycle(ends, float(weights[k]) * len(ends), names=names)
    if (is_edge & is_loop).any():
        notes.append(f"{_count(int((is_edge & is_loop).sum()), 'loop')} left out")
    keep = is_edge & ~is_loop
    sources, targets, weights = sources[keep], targets[keep], weights[keep]
    if not is_directed:
        sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
        weights = np.concatenate([weights, weights])
    order = np.lexsort((weights, targets, sources))
    sources, targets, weights = sources[order], targets[order], weights[order]
    first = np.ones(len(order), bool)
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    n_double = int((~first).sum()) // (1 if is_directed else 2)
    if n_double:
        notes.append(
            f"{_count(n_double, 'edge')} left out in favour of a lighter or equal one between the same vertices"
        )
    return Graph(n, sources[first], targets[first], weights[first], names, tuple(notes))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def graph_of(value: Any, names: Sequence[Hashable] | None = None) -> Graph | None:
    """Convert a graph of networkx or a sparse matrix of SciPy to a `Graph`; None for anything else.

    `names` replace the graph's own.
    """
    if isinstance(value, Graph):
        return value
    if hasattr(value, "tocoo"):
        if value.ndim != 2 or value.shape[0] != value.shape[1]:
            raise InputError(f"the sparse matrix has shape {value.shape}: it must be square")
        entries = value.tocoo()
        data = entries.data
        if data.dtype.kind in "iub" and data.dtype.name not in DTYPES:
            data = _shortest_integers(data)
        row, column = (np.asarray(index, np.int64) for index in (entries.row, entries.col))
        return Graph.from_edges(row, column, data, n=value.shape[0], names=names)
    if hasattr(value, "is_directed") and hasattr(value, "edges") and hasattr(value, "nodes"):
        return _of_networkx(value, names)
    return None


def _of_networkx(value: Any, names: Sequence[Hashable] | None) -> Graph:
    nodes = list(value.nodes)
    number = {node: k for k, node in enumerate(nodes)}
    edges = [(number[a], number[b], data.get("weight", 1)) for a, b, data in value.edges(data=True)]
    try:
        weights = np.array([float(weight) for _, _, weight in edges])
    except (TypeError, ValueError):
        weights = np.array([math.nan])
    if np.isnan(weights).any():
        a, b, weight = next(edge for edge in edges if not _is_number(edge[2]))
        raise InputError(
            f"the weight of the edge from {shown(str(nodes[a]))} to {shown(str(nodes[b]))} is "
            f"{shown(repr(weight))} and not a number"
        )
    if all(isinstance(weight, int | np.integer) for _, _, weight in edges) and edges:
        weights = _shortest_integers(np.array([int(weight) for _, _, weight in edges]))
    ends = np.array([edge[:2] for edge in edges], np.int64).reshape(-1, 2)
    return Graph.from_edges(
        ends[:, 0],
        ends[:, 1],
        weights,
        n=len(nodes),
        names=nodes if names is None else names,
        is_directed=value.is_directed(),
    )


def _is_number(value: Any) -> bool:
    try:
        return not math.isnan(float(value))
    except (TypeError, ValueError):
        return False
