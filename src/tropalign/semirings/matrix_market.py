"""Graphs in Matrix Market's coordinate format (Boisvert, Pozo and Remington 1996).

Read here, as SciPy's reader ends the process at some damaged files.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown

#: Of the first line, and of a file.
MARK = b"%%MatrixMarket"
_FIELDS = {b"real": float, b"double": float, b"integer": int, b"unsigned-integer": int, b"pattern": int}
#: A longer line holds no entry.
_MOST_LINE_BYTES = 1 << 20
#: An integer that float64 holds.
_MOST = 2**53

#: Vertices, rows and columns counted from 0, values, and whether these are whole numbers.
Entries = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], bool]


def read_entries(stream: BinaryIO, file: str) -> Entries:
    """The entries of a square matrix; those of a symmetric one both ways.

    Raises
    ------
    InputError
        What is no such file, with the line.
    """
    head = stream.readline(_MOST_LINE_BYTES).lower().split()
    if len(head) != 5 or head[1] != b"matrix" or head[2] != b"coordinate":
        raise InputError(
            "this is no matrix of coordinates: write one that says where its entries are", file=file, line=1
        )
    if head[3] not in _FIELDS or head[4] not in (b"general", b"symmetric", b"skew-symmetric"):
        kind = shown(b" ".join(head[3:]).decode(errors="backslashreplace"))[:40]
        raise InputError(f"a {kind} matrix makes no graph: write real numbers or integers", file=file, line=1)
    lines = _lines(stream)
    number, fields = next(lines, (1, []))
    if len(fields) != 3 or not all(field.isdigit() and len(field) < 18 for field in fields):
        raise InputError("the line does not say how many rows, columns and entries there are", file=file, line=number)
    n, n_columns, n_entries = map(int, fields)
    if n != n_columns:
        raise InputError(f"the matrix is of shape {(n, n_columns)}: it has to be square", file=file, line=number)
    read, is_pattern = _FIELDS[head[3]], head[3] == b"pattern"
    ends, values = array("q"), array("d")
    for number, fields in lines:
        try:
            i, j, value = int(fields[0]) - 1, int(fields[1]) - 1, 1 if is_pattern else read(fields[2])
            if len(fields) != (2 if is_pattern else 3) or not (0 <= i < n and 0 <= j < n) or abs(value) == float("inf"):
                raise ValueError
        except (ValueError, IndexError):
            raise InputError(
                "the line is no entry: give row, column and a finite number", file=file, line=number
            ) from None
        if isinstance(value, int) and abs(value) > _MOST:
            raise InputError("the weight is beyond 2^53, which float64 does not hold exactly", file=file, line=number)
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


def _lines(stream: BinaryIO) -> Iterator[tuple[int, list[bytes]]]:
    """Lines that are no comment and not empty, as their numbers and fields."""
    for number, line in enumerate(iter(lambda: stream.readline(_MOST_LINE_BYTES), b""), 2):
        if not line.startswith(b"%") and (fields := line.split()):
            yield number, fields
