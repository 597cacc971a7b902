"""What the scores of a run mean: bits, E-values, and the least scores that filters by these ask for."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.properties import cached_property

if TYPE_CHECKING:
    from tropalign.pairwise.options import PairOptions
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.scoring.statistics import ScoreStatistics
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.translation import Frames

#: No score is higher.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Significance:
    """Statistics of local alignments of queries with a set of targets.

    Parameters
    ----------
    scoring
        Matrix and gap cost, whose statistics are looked up when they are first asked for.
    n_residues, n_sequences
        The search space: of all targets.
    """

    scoring: tuple[SubstitutionMatrix, Gap]
    n_residues: int
    n_sequences: int

    @classmethod
    def of_run(cls, options: PairOptions, targets: SequenceBatch, frames: Frames | None = None) -> Significance | None:
        """What the scores of a run mean; None where alignments are not local, whose scores have no such statistics.

        Translated targets (`frames`) count as one frame each, a third of their nucleotides, as BLAST counts them.
        """
        if not options.is_local:
            return None
        n_residues = int(targets.offsets[-1]) if frames is None else int(frames.source.offsets[-1]) // 3
        n_sequences = len(targets if frames is None else frames.source)
        return cls((options.matrix, options.gap), options.db_size or n_residues, n_sequences)

    @cached_property
    def statistics(self) -> ScoreStatistics:
        """Parameters of bits and E-values. Raises ScoringError where scores have none."""
        from tropalign.pairwise.score_statistics import score_statistics

        return score_statistics(*self.scoring)

    def bits(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Scores in bits; float64, shape (n,)."""
        return self.statistics.bits(scores)

    def evalues(self, scores: NDArray[Any], query_lengths: NDArray[Any]) -> NDArray[np.float64]:
        """E-values of scores of queries so long; float64, shape (n,)."""
        return self.statistics.evalues(scores, query_lengths, self.n_residues, self.n_sequences)

    def least_of_bits(self, bits: float, scale: int) -> int:
        """The least whole score with so many bits; `scale` whole ones are one of the user's units."""
        return bisect_left(range(MOST), bits, key=lambda score: float(self.bits(np.array(score / scale))))

    def least_of_evalue(self, evalue: float, query_lengths: NDArray[Any], scale: int) -> NDArray[np.int64]:
        """The least whole score with at most that E-value, for each query; int64, shape (n,)."""
        lengths, place = np.unique(query_lengths, return_inverse=True)
        low, high = np.zeros(len(lengths), np.int64), np.full(len(lengths), MOST)
        while (low < high).any():  # E-values fall as scores grow
            middle = (low + high) // 2
            suffices = self.evalues(middle / scale, lengths) <= evalue
            low, high = np.where(suffices, low, middle + 1), np.where(suffices, middle, high)
        least: NDArray[np.int64] = low[place]
        return least


def least_scores(
    options: PairOptions, queries: SequenceBatch, significance: Significance | None
) -> NDArray[np.int64] | None:
    """The whole score that an alignment of each query needs to be kept; int64, shape (n,); None if any is kept."""
    least: list[NDArray[np.int64]] = []
    whole = options.whole
    if whole.min_score is not None:
        least.append(np.full(len(queries), min(max(whole.min_score, -MOST), MOST), np.int64))
    if significance is not None and options.min_bits is not None:
        least.append(np.full(len(queries), significance.least_of_bits(options.min_bits, whole.scale), np.int64))
    if significance is not None and options.max_evalue is not None:
        least.append(significance.least_of_evalue(options.max_evalue, queries.lengths, whole.scale))
    return np.max(least, axis=0) if least else None
