"""The best branches of reads, out of their scores against all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.phylo.reference import ReferencePackage
from tropalign.phylo.scorer import Scores

#: How many best scores have to be right: outputs show the second one.
N_BEST = 2
NOT_COMPUTED = -(2**31)
#: The arrays of `Best`.
_ARRAYS = ("score", "second", "row", "ties", "windows", "strands")


@dataclass(frozen=True, eq=False)
class Best:
    """Per read: the best score, the first vector that has it, and what else outputs show.

    Attributes
    ----------
    score, second : int32, shape (n,)
        The best score and the next one (equal where several branches are best).
    row : int64, shape (n,)
        The first distinct vector with the best score.
    ties : int64, shape (n,)
        Branches with the best score.
    windows : int32, shape (n, 2)
        The columns in which the best alignments with that vector lie.
    tied : list of int64 arrays
        All branches with the best score, ascending.
    strands : int8, shape (n,)
        1 where the other strand is the better one, else 0.
    """

    score: NDArray[np.int32]
    second: NDArray[np.int32]
    row: NDArray[np.int64]
    ties: NDArray[np.int64]
    windows: NDArray[np.int32]
    tied: list[NDArray[np.int64]]
    strands: NDArray[np.int8]

    def take(self, which: NDArray[np.int64]) -> Best:
        """Those of the reads with these indices, in that order."""
        arrays = {name: getattr(self, name)[which] for name in _ARRAYS}
        return Best(**arrays, tied=[self.tied[k] for k in which.tolist()])


class Ranking:
    """Finds the best branches; made once per reference."""

    def __init__(self, package: ReferencePackage) -> None:
        self._multiplicity = package.multiplicity
        self._by_vector = np.argsort(package.distinct, kind="stable")  # branches
        self._begin = np.concatenate([[0], np.cumsum(package.multiplicity)])

    def best(self, scores: Scores) -> Best:
        """The best branches of the reads that were scored."""
        n = len(scores.values)
        score, second = np.zeros(n, np.int32), np.zeros(n, np.int32)
        row, ties = np.zeros(n, np.int64), np.zeros(n, np.int64)
        tied: list[NDArray[np.int64]] = []
        for k, of_read in enumerate(scores.values):
            score[k], row[k], second[k], ties[k], branches = self._of_read(of_read)
            tied.append(branches)
        return Best(score, second, row, ties, scores.windows, tied, scores.strands)

    def _of_read(self, scores: NDArray[np.int32]) -> tuple[int, int, int, int, NDArray[np.int64]]:
        row = int(scores.argmax())
        best = int(scores[row])
        rows = np.flatnonzero(scores == best)
        ties = int(self._multiplicity[rows].sum())
        second = best if ties > 1 else int(scores[scores < best].max(initial=NOT_COMPUTED))
        branches = np.concatenate([self._by_vector[self._begin[r] : self._begin[r + 1]] for r in rows.tolist()])
        return best, row, max(second, NOT_COMPUTED + 1), ties, np.sort(branches)


def joined(parts: list[Best]) -> Best:
    """One after another."""
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS}
    return Best(**arrays, tied=[branches for part in parts for branches in part.tied])
