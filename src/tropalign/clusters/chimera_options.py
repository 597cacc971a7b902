"""Options of chimera detection and their checks."""

from __future__ import annotations

from typing import Literal, get_args

from tropalign.errors import UsageError, named
from tropalign.options.option import AMOUNT, POSITIVE, Options, number, option, whole
from tropalign.resources.limits import decimal_number, whole_number

RuleName = Literal["uchime", "uchime2", "uchime3"]
#: Default abundance ratio of parents to their chimera.
SKEWS: dict[RuleName, int] = {"uchime": 2, "uchime2": 2, "uchime3": 16}
#: Range of the weight and the pseudo-count of votes.
VOTES = number(1e-6, 1e6)


class ChimeraOptions(Options, group="chimeras"):
    """Criteria for a chimera."""

    rule: RuleName = option(
        default="uchime",
        choices=get_args(RuleName),
        is_common=True,
        help="rule for chimeras: uchime (default; by score, divergence and differences), uchime2 (two parents "
        "explain the read without a difference, and neither does alone) or uchime3 (like uchime2, with parents at "
        "least 16 times as abundant; for denoised reads)",
    )
    abskew: float | None = option(
        default=None,
        kind=POSITIVE,
        metavar="F",
        label="Abundance skew",
        is_common=True,
        help="minimum abundance ratio of parents to their chimera, if there is no reference database (default: 2, or "
        "16 with rule uchime3)",
    )
    minh: float = option(
        default=0.28,
        kind=AMOUNT,
        metavar="F",
        label="Minimum score",
        help="with rule uchime: minimum score of a chimera (default: 0.28)",
    )
    mindiv: float = option(
        default=0.8,
        kind=number(0, 100),
        metavar="F",
        label="Minimum divergence",
        help="with rule uchime: minimum number of percentage points by which a chimera is more similar to its model "
        "than to either parent; below it, the sequence is borderline (default: 0.8)",
    )
    mindiffs: int = option(
        default=3,
        kind=whole(1),
        metavar="N",
        label="Minimum differences",
        help="with rule uchime: minimum number of voting columns on each side of the breakpoint; below it, the "
        "sequence is borderline (default: 3)",
    )
    xn: float = option(
        default=8.0, kind=VOTES, metavar="F", label="Weight of a no vote", help="weight of a no vote (default: 8)"
    )
    dn: float = option(
        default=1.4,
        kind=VOTES,
        metavar="F",
        label="Pseudo-count of no votes",
        help="pseudo-count of no votes on each side (default: 1.4)",
    )


class ChimeraRules(ChimeraOptions):
    """Checked criteria for a chimera; raises UsageError for a value that does not exist or is out of range."""

    def settle(self) -> None:
        """Check the values and convert numbers to int or float."""
        self.check_choices()
        for name in ("minh", "mindiv", "xn", "dn", *(["abskew"] if self.abskew is not None else [])):
            self.set(name, decimal_number(name, getattr(self, name)))
        self.set("mindiffs", whole_number("mindiffs", self.mindiffs, 1))
        if self.abskew is not None and self.abskew < 1:
            raise UsageError(
                f"{named('abskew')} {self.abskew} is below 1: parents are at least as abundant as their chimera"
            )

    @property
    def skew(self) -> float:
        """Minimum abundance ratio of parents to their chimera."""
        return SKEWS[self.rule] if self.abskew is None else self.abskew

    def parameters(self, is_de_novo: bool) -> dict[str, str]:
        """Return the parameters for headers of results."""
        words = {"rule": self.rule, "xn": f"{self.xn:g}", "dn": f"{self.dn:g}"}
        if is_de_novo:
            words["abskew"] = f"{self.skew:g}"
        if self.rule == "uchime":
            words |= {"minh": f"{self.minh:g}", "mindiv": f"{self.mindiv:g}", "mindiffs": str(self.mindiffs)}
        return words
