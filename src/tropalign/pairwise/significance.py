"""Significance of the scores of a run: bits, E-values, and the least scores that pass filters by these."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import log2
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
#: Largest table of least scores, in pairs of lengths (8 bytes each).
MOST_CLASSES = 1 << 20


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
        """Return the statistics of a run; None if alignments are not local, whose scores have no such statistics.

        Translated targets (`frames`) count as one frame each, a third of their nucleotides, as in BLAST.
        """
        if not options.is_local:
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


class LeastScores:
    """The whole score that a pair needs to be kept, by the filters of a run.

    Used are `min_score`, `min_bits` and `max_evalue` of `options`. `stretch` relaxes the filters: `max_evalue` is
    multiplied by it, and `min_bits` reduced accordingly.
    """

    def __init__(
        self,
        options: PairOptions,
        queries: SequenceBatch,
        targets: SequenceBatch,
        significance: Significance | None,
        stretch: float = 1.0,
    ) -> None:
        whole = options.whole
        self._lengths = queries.lengths, targets.lengths
        self._significance, self._scale, self._evalue = significance, whole.scale, None
        #: Minimum for every pair.
        self._floor = -MOST
        if whole.min_score is not None:
            self._floor = min(max(whole.min_score, -MOST), MOST)
        if significance is not None and options.min_bits is not None:
            bits = options.min_bits - log2(stretch)
            self._floor = max(self._floor, significance.least_of_bits(bits, whole.scale))
        if significance is not None and options.sought_evalue is not None:
            self._evalue = options.sought_evalue * stretch

    @classmethod
    def of_run(
        cls,
        options: PairOptions,
        queries: SequenceBatch,
        targets: SequenceBatch,
        significance: Significance | None,
        stretch: float = 1.0,
    ) -> LeastScores | None:
        """Return None if any score is kept."""
        by_significance = None if significance is None else (options.min_bits, options.max_evalue)
        if options.whole.min_score is None and by_significance in (None, (None, None)):
            return None
        return cls(options, queries, targets, significance, stretch)

    def of(self, query: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the least scores of pairs, by query and target; int64, shape (n,)."""
        if self._evalue is None:
            return np.full(len(query), self._floor, np.int64)
        (query_lengths, of_query), (target_lengths, of_target) = self._classes
        n = len(target_lengths)
        both = of_query[query] * n + of_target[target]
        if len(query_lengths) * n > MOST_CLASSES:
            each, both = np.unique(both, return_inverse=True)
            return self._of_lengths(query_lengths[each // n], target_lengths[each % n])[both]
        least: NDArray[np.int64] = np.zeros(len(query_lengths) * n, np.int64)
        least[both] = 1  # marks lengths that occur, in a tenth of the time of sorting
        each = np.flatnonzero(least)
        least[each] = self._of_lengths(query_lengths[each // n], target_lengths[each % n])
        found: NDArray[np.int64] = least[both]
        return found

    @cached_property
    def _classes(self) -> list[Any]:
        """Distinct lengths of queries and of targets (one if irrelevant), with the index of each sequence's."""
        knows_targets = self._significance is not None and self._significance.knows_targets
        queries, targets = self._lengths
        sides = queries, targets if knows_targets else np.ones_like(targets)
        return [np.unique(lengths, return_inverse=True) for lengths in sides]

    def by_class(self, begin: int, end: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the least scores of queries [begin, end) by classes of targets, and the class of each target.

        int32, shape (n_queries, n_classes); int32, shape (n_targets,).
        """
        if self._evalue is None:
            return np.full((end - begin, 1), self._floor, np.int32), np.zeros(len(self._lengths[1]), np.int32)
        (query_lengths, of_query), (target_lengths, of_target) = self._classes
        each, place = np.unique(of_query[begin:end], return_inverse=True)
        rows = [self._of_lengths(np.full_like(target_lengths, m), target_lengths) for m in query_lengths[each]]
        table = np.array(rows, np.int32).reshape(len(each), len(target_lengths))
        return table[place], of_target.astype(np.int32)

    def _of_lengths(self, query: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
        assert self._significance is not None
        assert self._evalue is not None
        least = self._significance.least_of_evalue(self._evalue, query, target, self._scale)
        return np.maximum(least, self._floor)
