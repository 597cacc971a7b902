"""What reads and branches are scored by."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tropalign.errors import ScoringError, named


@dataclass(frozen=True)
class PlacementScoring:
    """Scores of a base on a column, and costs of gaps; alignments maximise the sum.

    Parameters
    ----------
    match, mismatch
        A base on a column whose state set holds it, or not.
    on_gap
        Added where a base stands on a column with the gap flag.
    gap_open, gap_extend
        Costs of the first and of every further column that the read leaves out; columns with the gap flag cost nothing.
    insert_open, insert_extend
        Costs of the first and of every further base between two columns.
    whole_read
        The read's ends are not free: all its bases have to be used, base k in column k or later, and so that the rest
        fits. Otherwise what hangs over at any end costs nothing, so that no score is below zero.

    Raises
    ------
    ScoringError
        Values that make no sense together.

    Examples
    --------
    >>> tropalign.PlacementScoring(match=3, mismatch=-1, on_gap=-4).gap_open
    3
    """

    match: int = 2
    mismatch: int = 0
    on_gap: int = -3
    gap_open: int = 3
    gap_extend: int = 1
    insert_open: int = 3
    insert_extend: int = 1
    whole_read: bool = False

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            is_flag = entry.name == "whole_read"
            if not isinstance(value, bool | np.bool_ if is_flag else int | np.integer) or (
                not is_flag and isinstance(value, bool)
            ):
                kind = "True or False" if is_flag else "a whole number"
                raise ScoringError(f"{named(entry.name)} has to be {kind}, not {value!r}")
            object.__setattr__(self, entry.name, bool(value) if is_flag else int(value))
        if self.match <= self.mismatch:
            raise ScoringError(f"a match ({self.match}) has to score more than a mismatch ({self.mismatch})")
        if self.mismatch > 0 or self.on_gap > 0:
            raise ScoringError("mismatches and bases on gap columns score zero or less")
        if min(self.gap_open, self.gap_extend, self.insert_open, self.insert_extend) < 0:
            raise ScoringError("gap and insertion costs are zero or more")
        if max(abs(value) for value in self.numbers()) > 10_000:
            raise ScoringError("scores and costs are at most 10,000")
        if not self.whole_read and self.match + self.on_gap >= 0:
            raise ScoringError(
                f"a match on a gap column ({self.match} {self.on_gap:+d}) has to score below zero, "
                "else reads run through gaps"
            )

    def numbers(self) -> tuple[int, int, int, int, int, int, int, int]:
        """The eight numbers in the order of the fields, as native code takes them.

        Returns
        -------
        tuple of int
            The last one is 1 where the whole read has to be used, else 0.

        Examples
        --------
        >>> tropalign.PlacementScoring().numbers()
        (2, 0, -3, 3, 1, 3, 1, 0)
        """
        scores = (self.match, self.mismatch, self.on_gap)
        return (*scores, self.gap_open, self.gap_extend, self.insert_open, self.insert_extend, int(self.whole_read))

    def parameters(self) -> dict[str, str]:
        """What the headers of results say of gaps, whose costs are not counted as in pairwise alignments.

        Returns
        -------
        dict
            Sentences by name.

        Examples
        --------
        >>> tropalign.PlacementScoring().parameters()["gaps"]
        '3 for the first column, 1 for each further one'
        """
        return {
            "gaps": f"{self.gap_open} for the first column, {self.gap_extend} for each further one",
            "insertions": f"{self.insert_open} for the first base, {self.insert_extend} for each further one",
        }


#: PaPaRa 2.5's, and those of the kernel of Alachiotis, Berger and Stamatakis 2012 (penalties there, negative here).
SCHEMES = {
    "program": PlacementScoring(),
    "paper": PlacementScoring(0, -3, -3, 4, 1, 3, 3, whole_read=True),
}
