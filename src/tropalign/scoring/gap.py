"""Gap costs: affine, or the minimum of two affine costs; and the scoring of a run, a matrix with gap costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError
from tropalign.scoring.matrix import SubstitutionMatrix
from tropalign.scoring.scores import PARTS, least_factor, number
from tropalign.sequences import Alphabet

#: Largest cost.
MOST = 1_000_000


@dataclass(frozen=True)
class Gap:
    """Gap cost of ``open + k * extend`` for k residues, in units of the substitution matrix (Gotoh 1982).

    With a second piece, the cost is the minimum of two affine costs,
    ``min(open + k * extend, open2 + k * extend2)``, so that long gaps cost little more than short ones (Gotoh
    1990; the dual affine costs of minimap2 and WFA2).

    Parameters
    ----------
    open
        Cost of a gap in addition to that of its residues, 0 or more; with up to four decimals, like ``extend``.
    extend
        Cost of each residue in the gap, 0 or more.
    open2, extend2
        The second piece; omitted by default.

    Raises
    ------
    ScoringError
        A cost is negative, not a number, above 1,000,000 or has more decimals; or half of a second piece is
        missing.

    Examples
    --------
    >>> gap = tropalign.Gap(open=11, extend=1)
    >>> gap.open + 3 * gap.extend  # what a gap of three residues costs
    14
    >>> tropalign.Gap.from_first_residue(10, 0.5)  # EMBOSS's default
    Gap(open=9.5, extend=0.5)
    >>> gap = tropalign.Gap(4, 2, 24, 1)
    >>> gap.cost(10), gap.cost(30)
    (24, 54)
    """

    open: float
    extend: float
    open2: float | None = None
    extend2: float | None = None

    def __post_init__(self) -> None:
        if (self.open2 is None) != (self.extend2 is None):
            raise ScoringError("the second piece of a gap cost needs both an open and an extend cost: give both")
        for name in ("open", "extend", "open2", "extend2"):
            given = getattr(self, name)
            if given is None and name.endswith("2"):
                continue
            cost = number(given, f"the gap {name} cost", MOST)
            if cost < 0:
                raise ScoringError(f"the gap {name} cost {cost} is negative: give costs as positive numbers")
            object.__setattr__(self, name, cost)

    def __repr__(self) -> str:
        second = "" if self.open2 is None else f", open2={self.open2!r}, extend2={self.extend2!r}"
        return f"Gap(open={self.open!r}, extend={self.extend!r}{second})"

    @property
    def has_two_pieces(self) -> bool:
        """True if the cost of a gap is the minimum of two pieces.

        Examples
        --------
        >>> tropalign.Gap(4, 2, 24, 1).has_two_pieces, tropalign.Gap(11, 1).has_two_pieces
        (True, False)
        """
        return self.open2 is not None

    @property
    def pieces(self) -> tuple[float, float, float, float]:
        """Open and extend costs of both pieces; a single piece is repeated.

        Examples
        --------
        >>> tropalign.Gap(11, 1).pieces
        (11, 1, 11, 1)
        """
        second = (self.open, self.extend) if self.open2 is None or self.extend2 is None else (self.open2, self.extend2)
        return (self.open, self.extend, *second)

    @property
    def formula(self) -> str:
        """The cost of a gap as a formula, for output headers.

        Examples
        --------
        >>> tropalign.Gap(4, 2, 24, 1).formula
        'min(4 + 2 * residues, 24 + 1 * residues)'
        """
        first = f"{self.open} + {self.extend} * residues"
        return first if self.open2 is None else f"min({first}, {self.open2} + {self.extend2} * residues)"

    def cost(self, residues: int) -> float:
        """Return the cost of a gap.

        Parameters
        ----------
        residues
            Length of the gap, 1 or more.

        Returns
        -------
        int or float

        Examples
        --------
        >>> tropalign.Gap(11, 1).cost(3)
        14
        """
        open1, extend1, open2, extend2 = self.pieces
        return min(open1 + residues * extend1, open2 + residues * extend2)

    @classmethod
    def from_first_residue(cls, first: float, following: float) -> Gap:
        """Convert from the convention in which the opening cost is the whole cost of the first residue.

        Parameters
        ----------
        first
            Whole cost of the first residue of a gap.
        following
            Cost of each further residue.

        Returns
        -------
        Gap
            ``Gap(first - following, following)``.

        Raises
        ------
        ScoringError
            :class:`Gap` rejects a cost, or the first residue costs less than the following ones.

        Examples
        --------
        >>> tropalign.Gap.from_first_residue(12, 1)
        Gap(open=11, extend=1)
        """
        first, following = (number(cost, "the cost of a gap's residue", MOST) for cost in (first, following))
        if 0 <= first < following:
            raise ScoringError(
                f"the first residue of a gap costs {first}, less than each following residue ({following}): give the "
                "total cost of the first residue"
            )
        return cls(first - following, following)


def default_scoring(alphabet: Alphabet, matrix: Any, gap: Gap | None) -> tuple[SubstitutionMatrix, Gap]:
    """Return the given matrix (see `SubstitutionMatrix.of`) and gap cost, or the alphabet's default for None."""
    scores = SubstitutionMatrix.default(alphabet) if matrix is None else SubstitutionMatrix.of(matrix, alphabet)
    return scores, Gap(*alphabet.gap_cost) if gap is None else gap


@dataclass(frozen=True, eq=False)
class WholeScoring:
    """A matrix and gap costs times the smallest factor that makes all of them integers.

    scale: the factor; 1 without decimals.
    scores: int32, shape (32, 32), contiguous.
    gap, end_gap: open and extend of both pieces, within the sequences and at their ends.
    min_score: least integer score that is kept: the user's, which may have decimals, rounded up.
    track_scores: int32, shape (32, 32), contiguous: scores of a second track, which are added; None without one.
    """

    scale: int
    scores: NDArray[np.int32]
    gap: tuple[int, int, int, int]
    end_gap: tuple[int, int, int, int]
    min_score: int | None
    track_scores: NDArray[np.int32] | None = None

    @classmethod
    def of(
        cls,
        matrix: SubstitutionMatrix,
        gap: Gap,
        min_score: float | None = None,
        end_gap: Gap | None = None,
        track: tuple[SubstitutionMatrix, float] | None = None,
    ) -> WholeScoring:
        """Make the scoring of a matrix and gap costs, and of a second track: its matrix and weight.

        Weighted scores of a track are rounded to the units of the matrix and the gap costs, to the even one of two that
        are equally near. Raises ScoringError if the numbers become too large.
        """
        costs = [round(cost * PARTS) for some in (gap, gap if end_gap is None else end_gap) for cost in some.pieces]
        scale = lcm(matrix.scale, least_factor(costs))
        pieces = [cost * scale // PARTS for cost in costs]
        least = None
        if min_score is not None:
            from fractions import Fraction

            least = ceil(Fraction(str(min_score)) * scale)
        added = None
        if track is not None:
            scores, weight = track
            weighted = np.rint(scores.scores.astype(np.float64) * weight * scale)
            if np.abs(weighted).max() > MOST:
                raise ScoringError(
                    f"the scores of the track matrix {scores.name} times the weight {weight:g} exceed the maximum of "
                    f"{MOST / scale:g}: give a lower weight"
                )
            added = weighted.astype(np.int32)
        return cls(scale, matrix.scaled(scale), tuple(pieces[:4]), tuple(pieces[4:]), least, added)  # type: ignore[arg-type]

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
