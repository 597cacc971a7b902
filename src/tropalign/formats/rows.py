"""Columns of an AlignmentTable as the native row joiner takes them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.table import AlignmentTable
from tropalign.sequences import SequenceBatch

Spec = tuple[Any, ...]


@lru_cache(maxsize=8)
def _names(batch: SequenceBatch) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    encoded = [name.encode() for name in batch.names]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded) or b"\0", np.uint8), offsets


def names(batch: SequenceBatch, index: NDArray[np.int64], prefix: str = "") -> Spec:
    """Names of the indexed sequences."""
    data, offsets = _names(batch)
    return ("text", data, offsets, np.ascontiguousarray(index), prefix)


def numbers(values: NDArray[Any], prefix: str = "") -> Spec:
    """Whole numbers."""
    kind = "int32" if values.dtype == np.int32 else "int64"
    return (kind, np.ascontiguousarray(values, np.int32 if kind == "int32" else np.int64), prefix)


def fractions(values: NDArray[Any]) -> Spec:
    """Four decimals."""
    return ("real", np.ascontiguousarray(values, np.float64), 4, "")


def choices(values: NDArray[Any], words: list[str]) -> Spec:
    """For each value the word at that place."""
    data = np.frombuffer("".join(words).encode(), np.uint8)
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    return ("text", data, offsets, np.ascontiguousarray(values, np.int64), "")


def texts(values: list[str]) -> Spec:
    """A text a row."""
    encoded = [value.encode("latin-1") for value in values]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    return ("text", np.frombuffer(b"".join(encoded) or b"\0", np.uint8), offsets, None, "")


def cigars(table: AlignmentTable, prefix: str = "") -> Spec:
    """CIGARs of the rows."""
    return ("cigar", table.cigar_ops if len(table.cigar_ops) else np.zeros(1, np.uint32), table.cigar_offsets, prefix)


def constant(text: str) -> Spec:
    """The same text in every row."""
    return ("constant", text)


def strands(table: AlignmentTable) -> Spec:
    """``+`` or ``-``."""
    minus = np.zeros(len(table), np.int64) if table.strand is None else (table.strand < 0).astype(np.int64)
    return choices(minus, ["+", "-"])


def join(columns: list[Spec], n_rows: int) -> bytes:
    """Tab-separated rows, each ended by a newline."""
    from tropalign import _native

    return bytes(_native.join_rows(columns, n_rows)) if n_rows else b""
