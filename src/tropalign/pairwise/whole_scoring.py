"""Scores and costs as engines take them: whole numbers, a factor times what the user gave."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.scoring.decimals import PARTS, least_factor

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix


@dataclass(frozen=True, eq=False)
class WholeScoring:
    """A matrix and gap cost times the least factor that makes all of their numbers whole.

    Attributes
    ----------
    scale
        The factor; 1 where no number has decimals.
    scores : int32, shape (32, 32)
        Contiguous.
    gap_open, gap_extend
        Costs.
    min_score
        The least score that is kept, rounded up: no score lies between.
    """

    scale: int
    scores: NDArray[np.int32]
    gap_open: int
    gap_extend: int
    min_score: int | None

    @classmethod
    def of(cls, matrix: SubstitutionMatrix, gap: Gap, min_score: float | None = None) -> WholeScoring:
        """That of a matrix and gap cost. Raises ScoringError where the numbers become too large."""
        costs = round(gap.open * PARTS), round(gap.extend * PARTS)
        scale = lcm(matrix.scale, least_factor(costs))
        gap_open, gap_extend = (cost * scale // PARTS for cost in costs)
        least = None if min_score is None else ceil(Fraction(str(min_score)) * scale)
        return cls(scale, matrix.scaled(scale), gap_open, gap_extend, least)

    def given(self, score: NDArray[np.int32]) -> NDArray[Any]:
        """Scores of engines in the units of the user: int32 as they are, or float64 where there are decimals."""
        return score if self.scale == 1 else score / self.scale
