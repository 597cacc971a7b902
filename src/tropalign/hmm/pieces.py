"""Cutting of sequences at long runs of missing letters, which carry no information for any model.

A missing letter has emission 1 in every state. A few of them are read with the letters around them. Along a run,
the best path would follow the most probable steps regardless of their meaning: a gap of an assembly would become a
segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct

#: Minimum number of successive missing letters that cut a sequence. GenBank uses ten N for a gap of an assembly,
#: and fewer for letters that were not read well.
LEAST_RUN = 10
#: Letters that are processed at once.
CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class Pieces:
    """Sequences without their long runs of missing letters.

    `codes`: uint8, shape (n_kept,), of all pieces, one after another. `offsets`: int64, shape (n_pieces + 1,);
    pieces are not empty. `sequence`, `begin`: int64, shape (n_pieces,), index of the piece's sequence, and its
    start in that. `n_unlabelled`: int64, shape (n_sequences,), letters of each sequence that are in no piece.
    """

    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    sequence: NDArray[np.int64]
    begin: NDArray[np.int64]
    n_unlabelled: NDArray[np.int64]

    def per_sequence(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over the pieces of each sequence, in their order; 0 for sequences without pieces."""
        return np.bincount(self.sequence, values, minlength=len(self.n_unlabelled)).astype(np.float64, copy=False)

    def kept_before(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices among the codes of positions of the first and only sequence."""
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
    """Cut sequences into pieces, which are moved together within `codes` if something is left out.

    `missing`: code of a missing letter. `require` receives the number of runs left out, and raises if they do not
    fit.
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
    """Return start and end of each run that cuts a sequence, int64, shape (n_runs, 2), each within one sequence.

    `values`: uint8, letters or codes of all sequences. `is_missing`: bool, shape (256,), values of missing
    letters.
    """
    runs = np.concatenate([np.zeros((0, 2), np.int64), *_long_runs(values, is_missing)])
    inner = distinct(offsets)
    run = np.searchsorted(runs[:, 0], inner, side="right") - 1
    inner = inner[(run >= 0) & (inner < runs[run, 1]) & (inner > runs[run, 0])] if len(runs) else inner[:0]
    begins, ends = np.sort(np.concatenate([runs[:, 0], inner])), np.sort(np.concatenate([runs[:, 1], inner]))
    is_long = ends - begins >= LEAST_RUN
    return np.stack([begins[is_long], ends[is_long]], axis=1)


def _long_runs(values: NDArray[np.uint8], is_missing: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Yield long runs in all values as one sequence, in chunks: a chromosome's mask would be as large as itself."""
    begun: int | None = None  # start of a run that has not ended yet
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
    """Move the kept codes together over the runs, within their own array; the rest of the array is undefined."""
    if not len(runs):
        return codes
    at = first = int(runs[0, 0])
    for begin in range(first, len(codes), CHUNK):
        end = min(begin + CHUNK, len(codes))
        few = runs[np.searchsorted(runs[:, 1], begin, side="right") : np.searchsorted(runs[:, 0], end)]
        steps = np.zeros(end - begin + 1, np.int8)  # +1 at the start of a run, -1 at its end
        steps[np.maximum(few[:, 0], begin) - begin] += 1
        steps[np.minimum(few[:, 1], end) - begin] -= 1
        kept = codes[begin:end][np.cumsum(steps[:-1], dtype=np.int8) == 0]
        codes[at : at + len(kept)] = kept
        at += len(kept)
    return codes
