"""Graphs from files: edges as text, SciPy's and NumPy's ``.npz``, Matrix Market; compression and format by content."""

from __future__ import annotations

import io
import math
import re
from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignError, damage, shown
from tropalign.sequences.files import BYTE_ORDER_MARK, Source, file_name, opened, with_line_ends
from tropalign.sequences.texts import decoded
from tropalign.tropical.graphs import DenseGraph, Graph

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
