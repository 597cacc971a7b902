"""Coordinates of aligned frames in the nucleotides that they were translated from, for output.

Residues a to b (0-based, half-open) of a frame of L nucleotides are, forward:

    frame +f:       f - 1 + 3 a   to       f - 1 + 3 b
    frame -f:   L - (f - 1) - 3 b   to   L - (f - 1) - 3 a
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.results.aligned_pairs import AlignedPairs
from tropalign.sequences import SequenceBatch
from tropalign.sequences.translation import Frames


def _frames(table: AlignedPairs, side: str) -> Frames | None:
    return table.query_frames if side == "query" else table.target_frames


def _aligned(table: AlignedPairs, side: str) -> tuple[SequenceBatch, NDArray[np.int64]]:
    """Return the aligned sequences of a side, "query" or "target", and the index of each row in them."""
    return (table.queries, table.query_index) if side == "query" else (table.targets, table.target_index)


def given(table: AlignedPairs, side: str) -> tuple[SequenceBatch, NDArray[np.int64]]:
    """Return the input sequences of a side, "query" or "target", and the index of each row in them."""
    batch, index = _aligned(table, side)
    frames = _frames(table, side)
    return (batch, index) if frames is None else (frames.source, frames.index[index])


def lengths(table: AlignedPairs, side: str) -> NDArray[np.int64]:
    """Return the length of each row's input sequence, in nucleotides if it was translated; int64, shape (n,)."""
    batch, index = given(table, side)
    return batch.lengths[index]


def frame(table: AlignedPairs, side: str) -> NDArray[np.int8]:
    """Return the frame of each row, 0 if the side was not translated; int8, shape (n,)."""
    frames = _frames(table, side)
    return np.zeros(len(table), np.int8) if frames is None else frames.frame[_aligned(table, side)[1]]


def strand(table: AlignedPairs) -> NDArray[np.int8]:
    """Return -1 if query and target are on opposite strands, else 1; int8, shape (n,)."""
    if table.query_frames is None and table.target_frames is None:
        return np.ones(len(table), np.int8) if table.strand is None else table.strand
    is_minus = (frame(table, "query") < 0) != (frame(table, "target") < 0)
    return np.where(is_minus, -1, 1).astype(np.int8)


def span(table: AlignedPairs, side: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return start and end of the aligned part in the input sequence, 0-based, half-open; int32, shape (n,) each."""
    begin, end = getattr(table, f"{side}_start"), getattr(table, f"{side}_end")
    if _frames(table, side) is None:
        return begin, end
    number = frame(table, side)
    shift = np.abs(number).astype(np.int64) - 1
    forward, length = number > 0, lengths(table, side)
    first = np.where(forward, shift + 3 * begin.astype(np.int64), length - shift - 3 * end.astype(np.int64))
    return first.astype(np.int32), (first + 3 * (end - begin)).astype(np.int32)
