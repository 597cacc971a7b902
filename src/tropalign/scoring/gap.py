"""Affine gap costs."""

from __future__ import annotations

from dataclasses import dataclass

from tropalign.errors import ScoringError
from tropalign.scoring.decimals import number

#: The largest cost.
MOST = 1_000_000


@dataclass(frozen=True)
class Gap:
    """A gap of k residues costs ``open + k * extend``, in units of the substitution matrix (Gotoh 1982).

    Parameters
    ----------
    open
        Cost of a gap beside its residues, 0 or more; with up to four decimals, as ``extend``.
    extend
        Cost of each of its residues, 0 or more.

    Raises
    ------
    ScoringError
        A cost that is negative, no number, beyond 1,000,000 or with more decimals.

    Examples
    --------
    >>> gap = tropalign.Gap(open=11, extend=1)
    >>> gap.open + 3 * gap.extend  # what a gap of three residues costs
    14
    >>> tropalign.Gap.from_first_residue(10, 0.5)  # EMBOSS's default
    Gap(open=9.5, extend=0.5)
    """

    open: float
    extend: float

    def __post_init__(self) -> None:
        for name, given in (("open", self.open), ("extend", self.extend)):
            cost = number(given, f"the gap {name} cost", MOST)
            if cost < 0:
                raise ScoringError(f"the gap {name} cost {cost} is negative: costs are given as positive numbers")
            object.__setattr__(self, name, cost)

    @classmethod
    def from_first_residue(cls, first: float, following: float) -> Gap:
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
        first, following = (number(cost, "the cost of a gap's residue", MOST) for cost in (first, following))
        if 0 <= first < following:
            raise ScoringError(
                f"the first residue of a gap costs {first}, less than the {following} of each that follows: "
                "give the first one's whole cost"
            )
        return cls(first - following, following)
