"""Columns, paths and sequences for reports and plots of pairs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.array_files import part_arrays
from tropalign.formats.pages import leb128
from tropalign.formats.pairs.context import Labels, PairsContext
from tropalign.results.aligned_pairs import DEPTH_COLUMNS
from tropalign.results.alignments import AlignmentTable
from tropalign.sequences.batch import in_memory

Columns = dict[str, NDArray[Any]]
"""Columns of pairs by name; `paths` has all paths, and `path_sizes` how many bytes each takes."""

#: Rows whose paths are packed at once, which takes some 60 bytes per run of a CIGAR.
ROWS = 4096


def columns_of(table: AlignmentTable, has_paths: bool = False) -> Columns:
    """Return indices, score and the columns of the table's depth; also the identity if it is not per column."""
    names = ("query_index", "target_index", "score", *DEPTH_COLUMNS[table.depth])
    columns: Columns = {name: getattr(table, name) for name in names}
    for name in ("hsp", "strand"):
        if (values := getattr(table, name)) is not None:
            columns[name] = values
    if table.depth == "alignment" and table.identity_definition not in ("columns", "blast"):
        columns["identity"] = table.identity
    if has_paths:
        columns["paths"], columns["path_sizes"] = packed_paths(table)
    return columns


def packed(columns: Columns) -> bytes:
    """Return columns as .npz."""
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **columns)
    return sink.getvalue()


def unpacked(part: bytes) -> Columns:
    """Return the columns of a part. Raises InputError if it is damaged."""
    with part_arrays(part) as arrays:
        return dict(arrays)


def joined(pieces: Sequence[Columns], depth: str) -> Columns:
    """Concatenate pieces, which are consumed; without pieces, return empty columns of this depth."""
    names = ("query_index", "target_index", "score", *DEPTH_COLUMNS[depth], "paths", "path_sizes")
    pieces = pieces or [{name: np.zeros(0, np.int64) for name in names}]
    # Only one column at a time exists twice.
    return {name: np.concatenate([piece.pop(name) for piece in pieces]) for name in list(pieces[0])}


def identity_of(columns: Columns) -> NDArray[np.float64]:
    """Return the identity of each row, equal to that of the run's other outputs."""
    if "identity" in columns:
        return columns["identity"]
    share: NDArray[np.float64] = columns["n_identical"] / np.maximum(columns["n_columns"], 1)
    return share


def near_of(columns: Columns) -> NDArray[np.float64]:
    """Return the identity; if only scores are known, the score over the highest, and 0 for negative scores."""
    if "n_identical" in columns:
        return identity_of(columns)
    score = columns["score"].astype(np.float64)
    shares: NDArray[np.float64] = np.clip(score / max(score.max(initial=0), 1e-9), 0, 1)
    return shares


def of_used(columns: Columns, context: PairsContext) -> tuple[list[Labels], Columns]:
    """Drop unused sequences; return those of both sides (one list for a set), and the columns with new indices."""
    query, target = columns["query_index"], columns["target_index"]
    is_one_set = context.targets is context.queries
    named = [np.union1d(query, target)] if is_one_set else [np.unique(query), np.unique(target)]
    sides = [_chosen(batch, used) for batch, used in zip((context.queries, context.targets), named, strict=False)]
    places = {"query_index": np.searchsorted(named[0], query), "target_index": np.searchsorted(named[-1], target)}
    return sides, {**columns, **places}


def _chosen(batch: Any, used: NDArray[np.int64]) -> Labels:
    """Return names, lengths and letters of some sequences of a SequenceBatch or of Labels."""
    batch, used = in_memory(batch, used)
    lengths = batch.lengths[used]
    names = tuple(batch.names[k] for k in used.tolist())
    letters = getattr(batch, "letters", None)
    if letters is None or len(letters) != batch.lengths.sum():
        return Labels(names, lengths)
    begins = (np.cumsum(batch.lengths) - batch.lengths)[used]
    places = np.repeat(begins - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
    return Labels(names, lengths, letters[places], batch.alphabet)


#: Kinds of the BAM operations I, D, = and X.
_KINDS = np.zeros(16, np.uint32)
_KINDS[1], _KINDS[2] = 1, 2


def packed_paths(table: AlignmentTable) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pack the paths of all rows for a page that has the residues, without distinguishing equal and different pairs.

    Returns numbers ``length << 2 | kind`` in LEB128, uint8, with kind 0 (two residues), 1 (one of the query) or 2
    (one of the target); and the bytes of each row's path, int64, shape (n,).
    """
    found = [_packed(table.slice(row, row + ROWS)) for row in range(0, len(table), ROWS)]
    texts, sizes = zip(*found, strict=True) if found else ((np.zeros(0, np.uint8),), (np.zeros(0, np.int64),))
    return np.concatenate(texts), np.concatenate(sizes)


def _packed(table: AlignmentTable) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    ops, offsets = table.cigar_ops, table.cigar_offsets
    if not len(ops):
        return np.zeros(0, np.uint8), np.zeros(len(table), np.int64)
    kinds, lengths = _KINDS[ops & 15], (ops >> 4).astype(np.uint64)
    begins = np.ones(len(ops), bool)
    begins[1:] = kinds[1:] != kinds[:-1]
    begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    firsts = np.flatnonzero(begins)
    numbers = np.add.reduceat(lengths, firsts) << np.uint64(2) | kinds[firsts]
    text, sizes = leb128(numbers)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    n_runs = np.concatenate([[0], np.cumsum(begins)])  # before each operation
    return text, np.diff(ends[n_runs[offsets]])
