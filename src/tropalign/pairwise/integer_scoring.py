"""Scores and costs in the form that engines need: integers, a common factor times the user's."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.scoring.scores import PARTS, least_factor

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix


Pieces = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class WholeScoring:
    """A matrix and gap costs times the smallest factor that makes all of them integers.

    scale: the factor; 1 without decimals.
    scores: int32, shape (32, 32), contiguous.
    gap, end_gap: open and extend of both pieces, within the sequences and at their ends.
    min_score: least score that is kept, rounded up, since scores are integers.
    """

    scale: int
    scores: NDArray[np.int32]
    gap: Pieces
    end_gap: Pieces
    min_score: int | None

    @classmethod
    def of(
        cls, matrix: SubstitutionMatrix, gap: Gap, min_score: float | None = None, end_gap: Gap | None = None
    ) -> WholeScoring:
        """Make the scoring of a matrix and gap costs. Raises ScoringError if the numbers become too large."""
        costs = [round(cost * PARTS) for some in (gap, gap if end_gap is None else end_gap) for cost in some.pieces]
        scale = lcm(matrix.scale, least_factor(costs))
        pieces = [cost * scale // PARTS for cost in costs]
        least = None if min_score is None else _least(min_score, scale)
        return cls(scale, matrix.scaled(scale), tuple(pieces[:4]), tuple(pieces[4:]), least)  # type: ignore[arg-type]

    @property
    def gap_open(self) -> int:
        """Opening cost of affine gaps."""
        return self.gap[0]

    @property
    def gap_extend(self) -> int:
        """Extension cost of affine gaps."""
        return self.gap[1]

    @property
    def is_affine(self) -> bool:
        """True if every gap costs open + k * extend, at any position."""
        return self.gap == self.end_gap and self.gap[:2] == self.gap[2:]

    def given(self, score: NDArray[np.int32]) -> NDArray[Any]:
        """Convert engine scores to the user's units: int32 unchanged, or float64 if there are decimals."""
        return score if self.scale == 1 else score / self.scale


def _least(min_score: float, scale: int) -> int:
    """Return the smallest integer score that is at least the user's, which may have decimals."""
    from fractions import Fraction

    return ceil(Fraction(str(min_score)) * scale)
