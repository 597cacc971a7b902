"""The result of placing reads: a row per read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
#: Branches of equal score that jplace lists of a read at most.
JPLACE_BRANCHES = 7


@dataclass(frozen=True, eq=False)
class Placements:
    """Reads and the branches that they were placed on, a row a read.

    Attributes
    ----------
    names : tuple of str
    letters : uint8
        Of all reads, on the strand that was placed, as they were written, without gaps.
    offsets : int64, shape (n + 1,)
        Read k's letters are ``letters[offsets[k]:offsets[k + 1]]``.
    branch : int64, shape (n,)
        The best branch, the first of several; -1 for a read without a usable letter.
    score, second_score : int32, shape (n,)
        Of the best branch, and of the next best one (equal where several are best).
    ties : int64, shape (n,)
        Branches with the best score.
    strand : int8, shape (n,)
        1, or -1 where the read was reverse-complemented.
    tied : tuple of int64 arrays
        Of each read the first JPLACE_BRANCHES of its best branches.
    column : int32, shape of `letters`
        The reference column of each letter, 0-based; -1 where it was inserted or hangs over an end.
    """

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    offsets: Int64
    branch: Int64
    score: NDArray[np.int32]
    second_score: NDArray[np.int32]
    ties: Int64
    strand: NDArray[np.int8]
    tied: tuple[Int64, ...]
    column: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.names)

    def read(self, k: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Letters of read k, and their columns."""
        own = slice(int(self.offsets[k]), int(self.offsets[k + 1]))
        return self.letters[own], self.column[own]

    def spans(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Of each read: first column, one past the last, letters inserted between columns, letters beyond its ends."""
        out = np.zeros((4, len(self)), np.int64)
        for k in range(len(self)):
            columns = self.read(k)[1]
            placed = np.flatnonzero(columns >= 0)
            if not len(placed):
                out[3, k] = len(columns)
                continue
            first, last = int(placed[0]), int(placed[-1])
            inside = last - first + 1
            out[:, k] = columns[first], columns[last] + 1, inside - len(placed), len(columns) - inside
        return out[0], out[1], out[2], out[3]


def concatenate(parts: Sequence[Placements]) -> Placements:
    """The reads of several, one after another. Raises ValueError when there is nothing to concatenate."""
    if not parts:
        raise ValueError("there are no placements to concatenate")
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("letters", "branch", "score", "second_score", "ties", "strand", "column")
    }
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    return Placements(
        names=tuple(name for part in parts for name in part.names),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        tied=tuple(branches for part in parts for branches in part.tied),
        **columns,
    )
