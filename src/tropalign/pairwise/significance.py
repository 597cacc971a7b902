"""Bits and E-values of a run's scores, by the size of its search space (formulas: scoring/statistics.py)."""

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

#: Highest score.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Significance:
    """Statistics of local alignments of queries with a set of targets.

    `scoring` is matrix and gap cost, whose statistics are looked up on first use; `n_residues` and `n_sequences`
    are the search space of all targets.
    """

    scoring: tuple[SubstitutionMatrix, Gap]
    n_residues: int
    n_sequences: int

    @classmethod
    def of_run(cls, options: PairOptions, targets: SequenceBatch, frames: Frames | None = None) -> Significance | None:
        """Return the statistics of a run; None if scores have none: those of two tracks, and not of local alignments.

        Translated targets (`frames`) count as one frame each, a third of their nucleotides, as in BLAST.
        """
        if not options.is_local or options.has_track:
            return None
        n_residues = int(targets.offsets[-1]) if frames is None else int(frames.source.offsets[-1]) // 3
        n_sequences = len(targets if frames is None else frames.source)
        return cls((options.matrix, options.gap), options.db_size or n_residues, n_sequences)

    @cached_property
    def statistics(self) -> ScoreStatistics:
        """Parameters of bits and E-values. Raises ScoringError if scores have no statistics."""
        from tropalign.pairwise.score_statistics import score_statistics

        return score_statistics(*self.scoring)

    def bits(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return scores in bits; float64, shape (n,)."""
        return self.statistics.bits(scores)

    def evalues(
        self, scores: NDArray[Any], query_lengths: NDArray[Any], target_lengths: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return E-values of scores for queries and targets of these lengths; float64, shape (n,)."""
        return self.statistics.evalues(scores, query_lengths, self.n_residues, self.n_sequences, target_lengths)

    @property
    def knows_targets(self) -> bool:
        """True if E-values depend on the length of the target."""
        return self.statistics.lengths is not None

    def least_of_bits(self, bits: float, scale: int) -> int:
        """Return the least whole score with this many bits; `scale` is the number of whole units per user unit."""
        return bisect_left(range(MOST), bits, key=lambda score: float(self.bits(np.array(score / scale))))

    def least_of_evalue(
        self, evalue: float, query_lengths: NDArray[Any], target_lengths: NDArray[Any], scale: int
    ) -> NDArray[np.int64]:
        """Return the least whole score with at most that E-value, for each pair of lengths; int64, shape (n,)."""
        space = self.n_residues, self.n_sequences, target_lengths
        least: NDArray[np.float64] = np.rint(self.statistics.least_score(evalue, query_lengths, *space) * scale)
        whole: NDArray[np.int64] = np.minimum(least, MOST).astype(np.int64)
        return whole
