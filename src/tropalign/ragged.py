"""Rows of different lengths in one array: row k is ``values[offsets[k]:offsets[k + 1]]``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
#: Number of values whose positions `places` computes at a time.
VALUES_AT_A_TIME = 1 << 17


def row_number(k: int, n: int, what: str = "row") -> int:
    """Return row k of n, counted from the end if negative. Raises IndexError if there is no such row."""
    k = index(k)
    if not -n <= k < n:
        raise IndexError(f"{what} {k} of {n}")
    return k % n


def check_offsets(offsets: Int64, name: str, values: NDArray[Any], values_name: str) -> None:
    """Raise ValueError if these offsets do not divide the values into rows."""
    if offsets[0] != 0 or offsets[-1] != len(values):
        raise ValueError(f"{name} must start with 0 and end with the number of {values_name}")
    if (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"{name} must be in ascending order")


def offsets_of(lengths: NDArray[Any] | Sequence[int]) -> Int64:
    """Return the start of each row and the end of the last: int64, shape (n + 1,)."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def lengths_of(offsets: Int64, rows: NDArray[Any]) -> Int64:
    """Return the lengths of these rows, in time proportional to their number."""
    lengths: Int64 = offsets[1:][rows] - offsets[:-1][rows]
    return lengths


def chosen(offsets: Int64, rows: NDArray[Any]) -> tuple[Int64, Int64]:
    """Return the offsets of these rows placed one after another, and the old index of each of their values."""
    lengths = lengths_of(offsets, rows)
    new = offsets_of(lengths)
    return new, np.arange(new[-1]) + np.repeat(offsets[:-1][rows] - new[:-1], lengths)


def places(offsets: Int64, rows: NDArray[Any]) -> Iterator[tuple[slice, Int64 | slice]]:
    """Yield slices of `rows` with the indices of their values, in parts, since an index takes eight bytes."""
    before = offsets_of(lengths_of(offsets, rows))
    first = 0
    while first < len(rows):
        last = max(first + 1, int(np.searchsorted(before, before[first] + VALUES_AT_A_TIME, "right")) - 1)
        some, row = slice(first, last), rows[first]
        yield some, chosen(offsets, rows[some])[1] if last > first + 1 else slice(offsets[row], offsets[row + 1])
        first = last


def gathered(arrays: Sequence[NDArray[Any]], offsets: Int64, rows: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the values of these rows, one row after another, for several arrays with the same offsets."""
    before = offsets_of(lengths_of(offsets, rows))
    found = [np.empty((int(before[-1]), *array.shape[1:]), array.dtype) for array in arrays]
    for some, at in places(offsets, rows):
        for values, array in zip(found, arrays, strict=True):
            values[before[some.start] : before[some.stop]] = array[at]
    return found


def joined(pieces: Sequence[Int64]) -> Int64:
    """Return the offsets of the rows of several arrays placed one after another."""
    return offsets_of(np.concatenate([np.diff(offsets) for offsets in pieces]))


def wanted_rows(rows: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """Return row indices from indices or a mask. Raises IndexError for a mask of another length or non-integers."""
    rows = np.asarray(rows)
    if rows.dtype == np.bool_:
        if rows.shape != (n_rows,):
            raise IndexError(f"a mask of shape {rows.shape} for {n_rows} rows: give one value per row")
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise IndexError("rows must be selected by integers, a slice or a mask")
    return rows.astype(np.int64)
