"""``Graph``, edges with weights, and ``DenseGraph``, a matrix of weights, also from files and other libraries."""

from __future__ import annotations

import io
import math
import re
from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignError, UsageError, damage, shown
from tropalign.resources.limits import whole_number
from tropalign.results.columns import Result
from tropalign.results.paths import Vertices
from tropalign.sequences.files import BYTE_ORDER_MARK, Source, file_name, opened, with_line_ends
from tropalign.sequences.texts import decoded
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


#: First bytes of a file in Matrix Market's coordinate format (Boisvert, Pozo and Remington 1996). It is read here
#: because SciPy's reader ends the process at some damaged files.
MATRIX_MARKET = b"%%MatrixMarket"
_FIELDS = {b"real": float, b"double": float, b"integer": int, b"unsigned-integer": int, b"pattern": int}
#: A longer line is not an entry or edge, and the file is not a list of them.
MOST_LINE_BYTES = 1 << 20
#: Largest magnitude up to which float64 holds all integers.
_MOST_WHOLE = 2**53

#: Number of vertices, rows and columns from 0, values, and whether these are integers.
Entries = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], bool]


def read_entries(stream: BinaryIO, file: str) -> Entries:
    """Read the entries of a square matrix, those of a symmetric one both ways; InputError names the line."""
    text = _text_lines(stream, file)
    head = next(text, (1, b""))[1].lower().split()
    if len(head) != 5 or head[1] != b"matrix" or head[2] != b"coordinate":
        raise InputError("this is not a matrix in coordinate format: save it in that format", file=file, line=1)
    if head[3] not in _FIELDS or head[4] not in (b"general", b"symmetric", b"skew-symmetric"):
        kind = shown(b" ".join(head[3:]).decode(errors="backslashreplace"))[:40]
        raise InputError(f"a {kind} matrix cannot be read as a graph: save real numbers or integers", file=file, line=1)
    lines = ((number, fields) for number, line in text if not line.startswith(b"%") and (fields := line.split()))
    number, fields = next(lines, (1, []))
    if len(fields) != 3 or not all(field.isdigit() and len(field) < 18 for field in fields):
        raise InputError("this line must give the numbers of rows, columns and entries", file=file, line=number)
    n, n_columns, n_entries = map(int, fields)
    if n != n_columns:
        raise InputError(f"the matrix has shape {(n, n_columns)}: it must be square", file=file, line=number)
    read, is_pattern = _FIELDS[head[3]], head[3] == b"pattern"
    ends, values = array("q"), array("d")
    for number, fields in lines:
        try:
            if any(b"_" in field for field in fields):  # int() reads 1_0 as 10
                raise ValueError
            i, j, value = int(fields[0]) - 1, int(fields[1]) - 1, 1 if is_pattern else read(fields[2])
            if len(fields) != (2 if is_pattern else 3) or not (0 <= i < n and 0 <= j < n) or abs(value) == float("inf"):
                raise ValueError
        except (ValueError, IndexError):
            raise InputError(
                "the line is not an entry: give row, column and a finite number", file=file, line=number
            ) from None
        if isinstance(value, int) and abs(value) > _MOST_WHOLE:
            raise InputError("the weight is beyond 2^53, which float64 cannot hold exactly", file=file, line=number)
        ends.extend((i, j))
        values.append(value)
    if len(values) != n_entries:
        raise InputError(f"the file holds {len(values)} entries instead of {n_entries}", file=file)
    pairs = np.frombuffer(ends, np.int64).reshape(-1, 2)
    weights = np.frombuffer(values, np.float64)
    row, column = pairs[:, 0], pairs[:, 1]
    if head[4] != b"general":
        is_off = row != column
        mirrored = weights[is_off] if head[4] == b"symmetric" else -weights[is_off]
        row, column = np.concatenate([row, column[is_off]]), np.concatenate([column, row[is_off]])
        weights = np.concatenate([weights, mirrored])
    return n, row, column, weights, read is int


def _text_lines(stream: BinaryIO, file: str) -> Iterator[tuple[int, bytes]]:
    """Yield line numbers, and lines without their ends."""
    for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE_BYTES), b""), 1):
        if len(line) == MOST_LINE_BYTES:
            problem = f"the line has {MOST_LINE_BYTES:,} bytes or more: give a graph file"
            raise InputError(problem, file=file, line=number)
        yield number, line.rstrip(b"\r\n")


ZIP = b"PK\x03\x04"
#: Maximum vertices of a matrix file: each takes some hundred bytes.
MOST_VERTICES = 10_000_000
#: First words of a line of column names, for edges without weights.
HEADER_WORDS = ("from", "source", "node1", "u")
#: Two names and a weight with a decimal comma, between blanks, commas or semicolons.
_DECIMAL_COMMA = re.compile(
    rb"\s*[^\s,;]+(?:\s+|\s*[,;]\s*)[^\s,;]+(?:\s+|\s*[,;]\s*)([+-]?\d[\d.]*,\d+(?:[eE][+-]?\d+)?)\s*"
)
#: Bounds within which distances of integers surely stay: they are computed in the smallest type that holds them.
_BOUNDS = {"int16": 2**14 - 2, "int32": 2**30 - 2}


def read_graph(source: Source, *, is_directed: bool = True) -> Graph | DenseGraph:
    """Read a graph from a file.

    Text has an edge per line: from, to, and a weight (1 if no line has any), separated by tabs, else by commas,
    else by spaces; ``#`` starts a comment, and a first line whose weight is not a number names the columns.
    ``.npz`` holds a sparse matrix of SciPy, or a matrix ``weights`` (or the only square one) with ``names``.
    Matrix Market holds coordinates. Vertices without names are called 0, 1, 2 and so on; those of Matrix Market 1,
    2, 3.

    Parameters
    ----------
    source
        A file's name, "-" for standard input, or an open file; compressed or not.
    is_directed
        Whether an edge leads from its first to its second vertex only.

    Returns
    -------
    Graph or DenseGraph
        A DenseGraph for a matrix in ``.npz``. Integer weights have the smallest integer type that surely holds all
        distances; others are float64, those of arrays keep their type.

    Raises
    ------
    InputError
        A file that cannot be read or holds no edge, a bad line with its number, a negative loop.

    Examples
    --------
    >>> import io
    >>> from tropalign.tropical import read_graph
    >>> graph = read_graph(io.BytesIO(b"Paris,Lyon,2.5"))
    >>> graph.names, float(graph.matrix()[0, 1])
    (('Paris', 'Lyon'), 2.5)
    """
    file = file_name(source)
    with opened(source) as stream:
        first = stream.peek(16)
        try:
            if first.startswith(ZIP):
                return _from_npz(stream.read(), file, is_directed)
            stream = with_line_ends(stream)
            if first.startswith(MATRIX_MARKET):
                n, row, column, values, is_whole = read_entries(stream, file)
                return _numbered(n, row, column, _smallest(values, n, is_whole), 1, file, is_directed)
            return _from_text(stream, file, is_directed)
        except InputError as error:
            if error.file is not None:
                raise
            error.args = (f"{shown(file)}: {error}",)
            raise


def _from_text(stream: io.BufferedReader, file: str, is_directed: bool) -> Graph:
    numbers: dict[str, int] = {}
    ends, weights = array("q"), array("d")
    is_whole = True
    n_fields = 0
    for line_number, fields in _edges(stream, file):
        if not n_fields:
            n_fields = len(fields)
        if len(fields) != n_fields:
            raise InputError(f"the line has {len(fields)} fields instead of {n_fields}", file=file, line=line_number)
        weight = 1.0
        if n_fields == 3:
            text = fields[2]
            try:
                weight = float(text) if "_" not in text else math.nan
            except ValueError:
                weight = math.nan
            if math.isnan(weight) or weight == -math.inf:
                remedy = ": write a decimal point instead of the comma" if re.fullmatch(r"[+-]?\d*,\d+", text) else ""
                raise InputError(f"the weight {text[:40]!r} is not a number{remedy}", file=file, line=line_number)
            text_is_whole = text.lstrip("+-").isdecimal()
            if abs(weight) >= _MOST_WHOLE and text_is_whole:
                problem = "the weight is 2^53 or more, which float64 cannot hold exactly"
                raise InputError(problem, file=file, line=line_number)
            is_whole = is_whole and text_is_whole
        if fields[0] == fields[1] and weight < 0:
            raise InputError(
                f"the loop at {shown(fields[0])} is negative, so paths through it can become arbitrarily short: "
                f"change its weight",
                file=file,
                line=line_number,
            )
        for name in fields[:2]:
            ends.append(numbers.setdefault(name, len(numbers)))
        weights.append(weight)
    if not weights:
        raise InputError("the file holds no edges: give lines of from, to and weight", file=file)
    pairs = np.frombuffer(ends, np.int64).reshape(-1, 2)
    values = _smallest(np.frombuffer(weights, np.float64), len(numbers), is_whole)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], values, names=tuple(numbers), is_directed=is_directed)


def _edges(stream: io.BufferedReader, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of each line with an edge."""
    separator: bytes | None = None
    is_first = True
    for number, line in _text_lines(stream, file):
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if line.startswith(b"#") or not line.strip():
            continue
        if b"\0" in line:
            raise InputError("this is not a text file: give lines of from, to and weight", file=file, line=number)
        if is_first:
            separator = next((mark for mark in (b"\t", b",") if mark in line), None)
        if separator == b"," and (match := _DECIMAL_COMMA.fullmatch(line)):
            raise InputError(
                f"the comma of {decoded(match[1])} may be a decimal or a separator: write a decimal point, or "
                f"separate the fields by tabs",
                file=file,
                line=number,
            )
        fields = [decoded(field.strip()) for field in line.split(separator)]
        if len(fields) not in (2, 3) or "" in fields:
            between = {b"\t": "tabs", b",": "commas"}.get(separator or b"", "spaces or tabs")
            raise InputError(
                f"the line {decoded(line)[:40]!r} is not an edge: give from, to and weight, separated by {between}",
                file=file,
                line=number,
            )
        was_first, is_first = is_first, False
        if not (was_first and _is_header(fields)):
            yield number, fields


def _is_header(fields: list[str]) -> bool:
    """True if the first line names the columns: its weight has no digit, and is neither infinity nor NaN."""
    if len(fields) == 2:
        return fields[0].lower() in HEADER_WORDS
    return not re.search(r"\d|^[+-]?(inf|nan)", fields[2], re.IGNORECASE)


def _smallest(weights: NDArray[np.float64], n: int, is_whole: bool) -> NDArray[Any]:
    """Return integers in the smallest type that surely holds all distances; others unchanged."""
    most = float(np.abs(weights).max(initial=0)) * max(n - 1, 1) * 2
    if is_whole:
        for name, bound in _BOUNDS.items():
            if most <= bound:
                return weights.astype(name)
    return weights


def _from_npz(data: bytes, file: str, is_directed: bool) -> Graph | DenseGraph:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            if "format" in arrays and "shape" in arrays:
                return _from_sparse(arrays, file, is_directed)
            names = tuple(arrays["names"].astype(str).tolist()) if "names" in arrays else None
            return DenseGraph.from_matrix(_square(arrays, file), names=names, is_directed=is_directed)
    except TropalignError:
        raise
    except damage() as error:
        raise InputError(
            f"the .npz file is damaged or does not hold a graph ({shown(str(error))})", file=file
        ) from None


def _square(arrays: Any, file: str) -> NDArray[Any]:
    """Return the matrix of weights."""
    if "weights" in arrays:
        matrix: NDArray[Any] = arrays["weights"]
    else:
        shaped = {name: arrays[name] for name in arrays.files}
        square = [name for name, a in shaped.items() if a.ndim == 2 and a.shape[0] == a.shape[1]]
        if len(square) != 1:
            raise InputError(
                f"the file holds {len(square)} square matrices: name the matrix of weights 'weights'", file=file
            )
        matrix = shaped[square[0]]
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix of weights has shape {matrix.shape}: it must be square", file=file)
    if matrix.dtype.kind not in "iuf":
        raise InputError(f"the weights have type {matrix.dtype} and are not numbers", file=file)
    return matrix


def _from_sparse(arrays: Any, file: str, is_directed: bool) -> Graph:
    """Return a graph from the arrays of `save_npz`, whose numbers SciPy itself does not check."""
    form, shape = bytes(arrays["format"].item()).decode(), arrays["shape"]
    if form not in ("csr", "csc", "coo"):
        raise InputError(f"the sparse matrix has SciPy's format {shown(form)}: save it as csr, csc or coo", file=file)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1] or shape[0] < 0:
        raise InputError(f"the matrix has shape {tuple(shape.tolist())}: it must be square", file=file)
    n, values = int(shape[0]), arrays["data"]
    if form == "coo":
        row, column = (arrays["row"], arrays["col"]) if "row" in arrays else arrays["coords"]
    else:
        starts, inner = arrays["indptr"].astype(np.int64), arrays["indices"]
        ends_well = starts.shape == (n + 1,) and starts[0] == 0 and starts[-1] == len(inner)
        if not ends_well or (np.diff(starts) < 0).any():
            raise InputError("the .npz file is damaged: the bounds of its rows are not valid", file=file)
        outer = np.repeat(np.arange(n), np.diff(starts))
        row, column = (outer, inner) if form == "csr" else (inner, outer)
    return _numbered(n, row, column, values, 0, file, is_directed)


def _numbered(n: int, row: Any, column: Any, values: NDArray[Any], first: int, file: str, is_directed: bool) -> Graph:
    """Return a graph whose vertices are named by their numbers, starting with `first`."""
    if n > MOST_VERTICES:
        raise InputError(f"the matrix has {n} rows, more than {MOST_VERTICES}", file=file)
    if values.dtype.kind not in "iufb":
        raise InputError(f"the weights have type {values.dtype} and are not numbers", file=file)
    if values.dtype.kind == "b":
        values = values.astype(np.int32)
    if values.dtype.kind in "iu":
        if values.size and max(abs(int(values.min())), abs(int(values.max()))) > _MOST_WHOLE:
            raise InputError("weights are beyond 2^53, which float64 cannot hold exactly", file=file)
        values = _smallest(values.astype(np.float64), n, True)
    names = tuple(str(k + first) for k in range(n))
    return Graph.from_edges(np.asarray(row), np.asarray(column), values, n=n, names=names, is_directed=is_directed)
