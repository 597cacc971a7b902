"""Gap costs: affine, or the minimum of two affine costs."""

from __future__ import annotations

from dataclasses import dataclass

from tropalign.errors import ScoringError
from tropalign.scoring.scores import number

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
            raise ScoringError("the second piece of a gap cost has an open and an extend cost: give both")
        for name in ("open", "extend", "open2", "extend2"):
            given = getattr(self, name)
            if given is None and name.endswith("2"):
                continue
            cost = number(given, f"the gap {name} cost", MOST)
            if cost < 0:
                raise ScoringError(f"the gap {name} cost {cost} is negative: costs are given as positive numbers")
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
                f"the first residue of a gap costs {first}, less than the {following} of each that follows: "
                "give the first one's whole cost"
            )
        return cls(first - following, following)
