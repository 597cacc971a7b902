"""Options of clustering and of chimera detection, and their checks."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.errors import UsageError, named
from tropalign.options.option import AMOUNT, FRACTION, POSITIVE, Options, argument, but, number, option, whole
from tropalign.pairwise.options import IDENTITY_HELP, IdentityOptions, PlusOrBoth, StrandOption
from tropalign.resources.limits import decimal_number, whole_number
from tropalign.results.names import AmbiguousRule, checked_definition

if TYPE_CHECKING:
    from tropalign.pairwise import PairOptions

MethodName = Literal["greedy", "single", "complete", "average"]
OrderName = Literal["length", "abundance", "input"]
Choice = Literal["best", "first"]
#: Greedy, or a linkage of all pairs.
METHODS = get_args(MethodName)
#: Sequences of which coverage may be a share.
CoverageOf = Literal["longer", "shorter", "member", "representative"]
#: Default of the minimum identity.
MIN_IDENTITY = 0.97


class ClusterStrandOption(StrandOption, group="alignment"):
    """Strands on which sequences join clusters."""

    strand: PlusOrBoth = but(
        StrandOption,
        "strand",
        default="plus",
        choices=get_args(PlusOrBoth),
        help="strand of nucleotide queries: plus, or the better of both (plus if equal); default: plus",
    )


class ClusteringOptions(Options, group="clusters"):
    """Criteria for similarity, and the clustering method."""

    min_identity: float = option(
        default=MIN_IDENTITY,
        kind=FRACTION,
        metavar="F",
        label="Minimum identity",
        is_common=True,
        help="minimum identity of a sequence with its representative, or cut height of linkages (default: "
        f"{MIN_IDENTITY})",
    )
    identity: str = but(
        IdentityOptions, "identity", default="shorter", group="clusters", help=IDENTITY_HELP.format(default="shorter")
    )
    ambiguous: AmbiguousRule = but(IdentityOptions, "ambiguous", default="differ", group="clusters")
    min_coverage: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Minimum coverage",
        is_common=True,
        help="minimum fraction of a sequence's residues that are aligned with a residue; --coverage-of selects the "
        "sequence",
    )
    coverage_of: CoverageOf = option(
        default="longer",
        choices=get_args(CoverageOf),
        label="Sequence for coverage",
        help="sequence that --min-coverage applies to; member and representative need --method greedy (default: "
        "longer)",
    )
    method: MethodName = option(
        default="greedy",
        choices=METHODS,
        is_common=True,
        help="greedy (default): in the order of --order, each sequence joins a representative that is similar "
        "enough, or becomes one; others: linkage of all pairs",
    )
    order: OrderName = option(
        default="length",
        choices=get_args(OrderName),
        is_common=True,
        help="sequences that become representatives first: the longest (default), the most abundant (;size=N in the "
        "name), or those that come first in the input; ties are in input order",
    )
    assign: Choice = option(
        default="best",
        choices=get_args(Choice),
        label="Choice of representative",
        help="representative that a sequence joins: the most similar one (default; the earliest of equals), or the "
        "first that is similar enough",
    )


class ClusterOptions(ClusteringOptions):
    """Checked options of clustering; raises UsageError for a value that does not exist or is out of range.

    pairs: with report "alignment", without limits on what is reported. n_given: number of sequences at the beginning
    that are the only representatives; 0: representatives are chosen.
    """

    pairs: PairOptions = argument(kw_only=False)
    n_given: int = argument(default=0, kw_only=True)

    def settle(self) -> None:
        """Check the values and replace the definition of identity by its name."""
        self.set("identity", checked_definition(self.identity))
        self.check_choices()
        if self.pairs.strand not in get_args(PlusOrBoth):
            raise UsageError(f"strand {self.pairs.strand!r} is not one of {', '.join(get_args(PlusOrBoth))}")
        _check_share("min_identity", self.min_identity)
        if self.min_coverage is not None:
            _check_share("min_coverage", self.min_coverage)
        if self.method != "greedy" and self.coverage_of in ("member", "representative"):
            raise UsageError(
                f"coverage of the {self.coverage_of} needs method greedy, because linkages have no representatives: "
                "choose longer or shorter"
            )
        if self.n_given and self.method != "greedy":
            raise UsageError(f"{named('to')} gives the representatives: leave {named('method')} out")
        if self.pairs.is_local and not self.min_coverage and self.identity not in ("shorter", "longer", "openings"):
            raise UsageError(
                "a local alignment of two sequences may consist of a few identical residues: give "
                f"{named('min_coverage')}, or choose {named('mode')} global"
            )

    def parameters(self) -> dict[str, str]:
        """Return the parameters for headers of results."""
        words = {name: text for name, text in self.pairs.parameters().items() if name != "report"}
        words |= {"method": self.method, "min_identity": str(self.min_identity), "identity": self.identity}
        if not self.n_given:
            words["order"] = self.order
        if self.method == "greedy":
            words["assign"] = self.assign
        if self.min_coverage is not None:
            words |= {"min_coverage": str(self.min_coverage), "coverage_of": self.coverage_of}
        return words


def _check_share(name: str, share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:  # type: ignore[operator]
        raise UsageError(f"{named(name)} {share!r} is not a fraction between 0 and 1")


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
