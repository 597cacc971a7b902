"""Scores and costs as engines take them: whole numbers, a factor times what the user gave."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.scoring.decimals import PARTS, least_factor

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix


Pieces = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class WholeScoring:
    """A matrix and gap cost times the least factor that makes all of their numbers whole.

    Attributes
    ----------
    scale
        The factor; 1 where no number has decimals.
    scores : int32, shape (32, 32)
        Contiguous.
    gap, end_gap
        Open and extend of both pieces, within the sequences and at their ends.
    min_score
        The least score that is kept, rounded up: no score lies between.
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
        """The scoring of a matrix and gap costs. Raises ScoringError where the numbers become too large."""
        costs = [round(cost * PARTS) for some in (gap, gap if end_gap is None else end_gap) for cost in some.pieces]
        scale = lcm(matrix.scale, least_factor(costs))
        pieces = [cost * scale // PARTS for cost in costs]
        least = None if min_score is None else _least(min_score, scale)
        return cls(scale, matrix.scaled(scale), tuple(pieces[:4]), tuple(pieces[4:]), least)  # type: ignore[arg-type]

    @property
    def gap_open(self) -> int:
        """The opening cost of affine gaps."""
        return self.gap[0]

    @property
    def gap_extend(self) -> int:
        """The extension cost of affine gaps."""
        return self.gap[1]

    @property
    def is_affine(self) -> bool:
        """Whether every gap costs open + k * extend, wherever it is."""
        return self.gap == self.end_gap and self.gap[:2] == self.gap[2:]

    def given(self, score: NDArray[np.int32]) -> NDArray[Any]:
        """Scores of engines in the units of the user: int32 as they are, or float64 where there are decimals."""
        return score if self.scale == 1 else score / self.scale


def _least(min_score: float, scale: int) -> int:
    """The least whole score that is one of the user's, which may have decimals, or more."""
    from fractions import Fraction

    return ceil(Fraction(str(min_score)) * scale)
