"""Affine gap costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real

from tropalign.errors import ScoringError


@dataclass(frozen=True)
class Gap:
    """A gap of k residues costs ``open + k * extend``, in units of the substitution matrix (Gotoh 1982).

    Parameters
    ----------
    open
        Cost of a gap beside its residues, 0 or more.
    extend
        Cost of each of its residues, 0 or more.

    Raises
    ------
    ScoringError
        A cost that is negative or no whole number.

    Examples
    --------
    >>> gap = tropalign.Gap(open=11, extend=1)
    >>> gap.open + 3 * gap.extend  # what a gap of three residues costs
    14
    """

    open: int
    extend: int

    def __post_init__(self) -> None:
        for name, cost in (("open", self.open), ("extend", self.extend)):
            if not _is_whole(cost):
                raise ScoringError(
                    f"the gap {name} cost {cost} is no whole number: multiply the matrix and both costs by ten or so"
                )
            if cost < 0:
                raise ScoringError(f"the gap {name} cost {cost} is negative: costs are given as positive numbers")
            if cost > 1_000_000:
                raise ScoringError(f"the gap {name} cost {cost} is above 1000000, which no alignment needs")
            object.__setattr__(self, name, int(cost))

    @classmethod
    def from_first_residue(cls, first: int, following: int) -> Gap:
        """Costs as tools state them whose opening cost is the whole cost of the first residue.

        Parameters
        ----------
        first
            The whole cost of a gap's first residue.
        following
            That of each further residue.

        Returns
        -------
        Gap
            ``Gap(first - following, following)``.

        Raises
        ------
        ScoringError
            As :class:`Gap`, or a first residue that costs less than those that follow it.

        Examples
        --------
        >>> tropalign.Gap.from_first_residue(12, 1)
        Gap(open=11, extend=1)
        """
        if not (_is_whole(first) and _is_whole(following)):
            return cls(first, following)  # which says what is wrong
        if 0 <= first < following:
            raise ScoringError(
                f"the first residue of a gap costs {first}, less than the {following} of each that follows: "
                "give the first one's whole cost"
            )
        return cls(first - following, following)


def _is_whole(cost: object) -> bool:
    if isinstance(cost, Integral):
        return not isinstance(cost, bool)
    return isinstance(cost, Real) and isfinite(cost) and float(cost).is_integer()
