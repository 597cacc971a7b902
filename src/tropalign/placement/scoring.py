"""Options of placement: strand and minimum score of reads, and scores and costs of a read on a branch."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, get_args

from tropalign.errors import ScoringError, UsageError, named
from tropalign.options.called import documented
from tropalign.options.option import Option, Options, argument, but, option, whole

Scheme = Literal["program", "paper"]
StrandName = Literal["plus", "both", "adjust"]
#: Rules for the gap columns of branches.
GapFlags = Literal["compat", "exact", "discrete"]
GAP_FLAGS = get_args(GapFlags)
#: Scores and costs of PaPaRa 2.5, and of the kernel of Alachiotis, Berger and Stamatakis 2012 (its penalties are
#: negative here).
PROGRAM = {
    "match": 2, "mismatch": 0, "on_gap": -3, "gap_open": 3, "gap_extend": 1, "insert_open": 3, "insert_extend": 1
}  # fmt: skip
PAPER = {
    "match": 0, "mismatch": -3, "on_gap": -3, "gap_open": 4, "gap_extend": 1, "insert_open": 3, "insert_extend": 3
}  # fmt: skip


def _score(name: str, label: str, meaning: str, doc: str = "") -> Any:
    """Declare a score, whose default is that of the scheme."""
    return Option(
        default=None,
        kind=whole(),
        metavar="N",
        label=label,
        help=f"{meaning} (default: {PROGRAM[name]}; {PAPER[name]} with --scheme paper)",
        doc=doc or f"{meaning[:1].upper()}{meaning[1:]}.",
    )


class ReadOptions(Options, group="scoring"):
    """Strands of reads, and the score that they need."""

    strand: StrandName = option(
        default="plus",
        choices=get_args(StrandName),
        is_common=True,
        help="both: the better of a read's two strands; adjust: turn reads that clearly share more k-mers with the "
        "opposite strand of the reference (default: plus)",
        doc="both: the better of a nucleotide read's two strands; plus if they are equal. adjust: "
        "reads that clearly share more k-mers with the opposite strand of the reference are turned.",
    )
    min_score: int | None = option(
        default=None,
        kind=whole(),
        metavar="N",
        label="Minimum score",
        help="minimum score for a read to be placed; others have branch -1 in tables (default: none)",
        doc="Minimum score for a read to be placed; the others have branch -1.",
    )


class ScoreOptions(Options, group="scoring"):
    """A scheme, and the values that differ from it."""

    scheme: Scheme = option(
        default="program",
        choices=get_args(Scheme),
        label="Scoring scheme",
        is_common=True,
        help="PaPaRa 2.5's scores (default), or those of the paper",
    )
    match: int | None = _score("match", "Match score", "score of a base in a column that may hold it")
    mismatch: int | None = _score("mismatch", "Mismatch score", "score of a base in any other column")
    on_gap: int | None = _score("on_gap", "Score on a gap", "added if the branch has a gap in the column of a base")
    gap_open: int | None = _score(
        "gap_open",
        "Gap opening cost",
        "total cost of the first column that the read skips; --gap-extend is not added, unlike in tropalign pairs",
        "Cost of the first column that the read skips; columns with the gap flag cost nothing.",
    )
    gap_extend: int | None = _score(
        "gap_extend", "Gap extension cost", "cost of each further column that the read skips"
    )
    insert_open: int | None = _score(
        "insert_open", "Insertion opening cost", "total cost of the first base inserted between two columns"
    )
    insert_extend: int | None = _score(
        "insert_extend", "Insertion extension cost", "cost of each further inserted base"
    )

    def scoring(self) -> PlacementScoring:
        """Return the scheme with the given scores and costs in place of its own; raises ScoringError."""
        given = {name: value for name in PROGRAM if (value := getattr(self, name)) is not None}
        return SCHEMES[self.scheme].replaced(**given)


@documented
class PlacementScoring(Options):
    """Scores of a base on a column, and costs of gaps; alignments maximise the sum.

    Raises
    ------
    ScoringError
        Values that are not valid together.

    Examples
    --------
    >>> tropalign.PlacementScoring(match=3, mismatch=-1, on_gap=-4).gap_open
    3
    """

    match: int = but(ScoreOptions, "match", default=PROGRAM["match"], kw_only=False)
    mismatch: int = but(ScoreOptions, "mismatch", default=PROGRAM["mismatch"], kw_only=False)
    on_gap: int = but(ScoreOptions, "on_gap", default=PROGRAM["on_gap"], kw_only=False)
    gap_open: int = but(ScoreOptions, "gap_open", default=PROGRAM["gap_open"], kw_only=False)
    gap_extend: int = but(ScoreOptions, "gap_extend", default=PROGRAM["gap_extend"], kw_only=False)
    insert_open: int = but(ScoreOptions, "insert_open", default=PROGRAM["insert_open"], kw_only=False)
    insert_extend: int = but(ScoreOptions, "insert_extend", default=PROGRAM["insert_extend"], kw_only=False)
    whole_read: bool = argument(
        default=False,
        kw_only=False,
        doc="Align the whole read: its ends are not free, and base k lies in column k or later, with a column "
        "left for each base after it. Otherwise overhangs at both ends cost nothing, so that no score is "
        "negative.",
    )

    def settle(self) -> None:
        """Check the values and convert them to int and bool."""
        for name in PROGRAM:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise ScoringError(f"{named(name)} must be an integer, not {value!r}")
            self.set(name, int(value))
        if not isinstance(self.whole_read, bool):
            import numpy as np

            if not isinstance(self.whole_read, np.bool_):
                raise ScoringError(f"{named('whole_read')} must be True or False, not {self.whole_read!r}")
        self.set("whole_read", bool(self.whole_read))
        if self.match <= self.mismatch:
            raise ScoringError(f"a match ({self.match}) must score more than a mismatch ({self.mismatch})")
        if self.mismatch > 0 or self.on_gap > 0:
            raise ScoringError("scores of mismatches and of bases in gap columns must be at most 0")
        if min(self.gap_open, self.gap_extend, self.insert_open, self.insert_extend) < 0:
            raise ScoringError("gap and insertion costs must be at least 0")
        if max(abs(value) for value in self.numbers()) > 10_000:
            raise ScoringError("scores and costs must be at most 10,000")
        if not self.whole_read and self.match + self.on_gap >= 0:
            raise ScoringError(
                f"a match in a gap column ({self.match} {self.on_gap:+d}) must score below 0, or alignments would "
                f"run through gaps"
            )

    def numbers(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Return the eight numbers in the order of the fields, as native code takes them.

        Returns
        -------
        tuple of int
            The last one is 1 if the whole read must be used, else 0.

        Examples
        --------
        >>> tropalign.PlacementScoring().numbers()
        (2, 0, -3, 3, 1, 3, 1, 0)
        """
        scores = (self.match, self.mismatch, self.on_gap)
        return (*scores, self.gap_open, self.gap_extend, self.insert_open, self.insert_extend, int(self.whole_read))

    def parameters(self) -> dict[str, str]:
        """Return the texts on gaps for headers of results, since gaps are not charged as in pairwise alignments.

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


SCHEMES: dict[Scheme, PlacementScoring] = {
    "program": PlacementScoring(),
    "paper": PlacementScoring(**PAPER, whole_read=True),
}


def scheme_of(scoring: PlacementScoring | Scheme) -> PlacementScoring:
    """Return the scoring, or the scheme of that name; raises UsageError for an unknown one."""
    if isinstance(scoring, PlacementScoring):
        return scoring
    if not isinstance(scoring, str):
        raise UsageError(
            f"an object of type {type(scoring).__name__} is neither a PlacementScoring nor the name of a scheme"
        )
    if scoring not in SCHEMES:
        raise UsageError(f"the scheme {scoring!r} is not one of {', '.join(SCHEMES)}")
    return SCHEMES[scoring]
