"""Sequences cut at long runs of missing letters, which no model says anything of.

A missing letter has emission 1 in every state. A few of them are read with the letters around them; along a run, the
best path follows the steps of the highest probability, whatever they mean: a gap of an assembly would become a segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct

#: So many missing letters in a row cut a sequence. GenBank takes ten N for a gap of an assembly, and fewer for letters
#: that were not read well.
LEAST_RUN = 10
#: Letters that are looked at at a time.
CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class Pieces:
    """What is left of sequences without their long runs of missing letters.

    Attributes
    ----------
    codes : uint8, shape (n_kept,)
        Of all pieces, one behind the other.
    offsets : int64, shape (n_pieces + 1,)
        Piece k is ``codes[offsets[k]:offsets[k + 1]]``, which is never empty.
    sequence : int64, shape (n_pieces,)
        The number of its sequence.
    begin : int64, shape (n_pieces,)
        Where it begins in that.
    n_unlabelled : int64, shape (n_sequences,)
        Letters of each sequence that are in no piece.
    """

    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    sequence: NDArray[np.int64]
    begin: NDArray[np.int64]
    n_unlabelled: NDArray[np.int64]

    def per_sequence(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the pieces of each sequence, in their order; 0 for those without a piece."""
        return np.bincount(self.sequence, values, minlength=len(self.n_unlabelled)).astype(np.float64, copy=False)

    def kept_before(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where positions of the first sequence, which is the only one, are among the codes."""
        piece = np.searchsorted(self.begin, positions, side="right") - 1
        if not len(self.begin):
            return np.zeros(len(positions), np.int64)
        lengths = np.diff(self.offsets)[piece]
        within = np.minimum(positions - self.begin[piece], lengths)
        return np.where(piece < 0, 0, self.offsets[piece] + within)


def pieces_of(
    codes: NDArray[np.uint8],
    missing: int,
    offsets: NDArray[np.int64],
    require: Callable[[int], object] = lambda n_runs: None,
) -> Pieces:
    """The pieces of some sequences.

    Parameters
    ----------
    codes : uint8, shape (n_letters,)
        Of all sequences; pieces are moved together within this array where something is left out.
    missing
        The code of a missing letter.
    offsets : int64, shape (n_sequences + 1,)
        Sequence k is ``codes[offsets[k]:offsets[k + 1]]``.
    require
        Told how many runs are left out, and raises where so many do not fit.
    """
    is_missing = np.zeros(256, bool)
    is_missing[missing] = True
    runs = long_runs(codes, is_missing, offsets)
    require(len(runs))
    begins = np.sort(np.concatenate([offsets[:-1], runs[:, 1]]))
    ends = np.sort(np.concatenate([runs[:, 0], offsets[1:]]))
    has_letters = begins < ends
    begins, ends = begins[has_letters], ends[has_letters]
    sequence = np.searchsorted(offsets, begins, side="right") - 1
    kept = np.zeros(len(begins) + 1, np.int64)
    np.cumsum(ends - begins, out=kept[1:])
    of_runs = np.searchsorted(offsets, runs[:, 0], side="right") - 1
    n_unlabelled = np.zeros(len(offsets) - 1, np.int64)
    np.add.at(n_unlabelled, of_runs, runs[:, 1] - runs[:, 0])
    return Pieces(_without(codes, runs)[: kept[-1]], kept, sequence, begins - offsets[sequence], n_unlabelled)


def long_runs(
    values: NDArray[np.uint8], is_missing: NDArray[np.bool_], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Begin and end of each run that cuts a sequence, within one sequence each.

    Parameters
    ----------
    values : uint8, shape (n,)
        Letters or codes of all sequences.
    is_missing : bool, shape (256,)
        Which values are missing letters.
    offsets : int64, shape (n_sequences + 1,)
        Where sequences begin and end.

    Returns
    -------
    int64, shape (n_runs, 2)
    """
    runs = np.concatenate([np.zeros((0, 2), np.int64), *_long_runs(values, is_missing)])
    inner = distinct(offsets)
    run = np.searchsorted(runs[:, 0], inner, side="right") - 1
    inner = inner[(run >= 0) & (inner < runs[run, 1]) & (inner > runs[run, 0])] if len(runs) else inner[:0]
    begins, ends = np.sort(np.concatenate([runs[:, 0], inner])), np.sort(np.concatenate([runs[:, 1], inner]))
    is_long = ends - begins >= LEAST_RUN
    return np.stack([begins[is_long], ends[is_long]], axis=1)


def _long_runs(values: NDArray[np.uint8], is_missing: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Long runs in all values as one sequence, a chunk at a time: a chromosome's mask would be as large as itself."""
    begun: int | None = None  # where a run began that has not ended yet
    for first in range(0, len(values), CHUNK):
        mask = is_missing[values[first : first + CHUNK]]
        if begun is None and not mask.any():
            continue
        changes = np.flatnonzero(mask[1:] != mask[:-1]) + (first + 1)
        if mask[0] != (begun is not None):
            changes = np.concatenate([[first], changes])
        if begun is not None:
            changes = np.concatenate([[begun], changes])
        begun = None
        if mask[-1]:
            begun, changes = int(changes[-1]), changes[:-1]
        runs = changes.reshape(-1, 2)
        yield runs[runs[:, 1] - runs[:, 0] >= LEAST_RUN]
    if begun is not None and len(values) - begun >= LEAST_RUN:
        yield np.array([[begun, len(values)]])


def _without(codes: NDArray[np.uint8], runs: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The codes moved together over the runs, within their own array: what is kept, then what does not matter."""
    if not len(runs):
        return codes
    at = first = int(runs[0, 0])
    for begin in range(first, len(codes), CHUNK):
        end = min(begin + CHUNK, len(codes))
        few = runs[np.searchsorted(runs[:, 1], begin, side="right") : np.searchsorted(runs[:, 0], end)]
        steps = np.zeros(end - begin + 1, np.int8)  # +1 where a run begins, -1 where it ends
        steps[np.maximum(few[:, 0], begin) - begin] += 1
        steps[np.minimum(few[:, 1], end) - begin] -= 1
        kept = codes[begin:end][np.cumsum(steps[:-1], dtype=np.int8) == 0]
        codes[at : at + len(kept)] = kept
        at += len(kept)
    return codes
