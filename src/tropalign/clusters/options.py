"""Options of clustering and their checks."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.errors import UsageError, named
from tropalign.options.option import FRACTION, Options, argument, but, option
from tropalign.pairwise.options import IDENTITY_HELP, IdentityOptions
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


class ClusteringOptions(Options, group="clusters"):
    """Criteria for similarity, and the clustering method."""

    min_identity: float = option(
        default=MIN_IDENTITY,
        kind=FRACTION,
        metavar="F",
        label="Minimum identity",
        is_common=True,
        help=f"what a sequence shares with its representative at the least, or linkages are cut at (default: "
        f"{MIN_IDENTITY})",
        doc="What a sequence shares with its representative (greedy), or the height at which linkages are cut.",
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
        help="only if at least this fraction of a sequence's residues stands beside a residue",
        doc="The share of the residues of `coverage_of` that stand beside a residue, at the least.",
    )
    coverage_of: CoverageOf = option(
        default="longer",
        choices=get_args(CoverageOf),
        label="Coverage of which sequence",
        help="of which sequence --min-coverage speaks (default: longer)",
        doc='Of which sequence `min_coverage` speaks; the last two with method "greedy".',
    )
    method: MethodName = option(
        default="greedy",
        choices=METHODS,
        is_common=True,
        help="each sequence beside a representative (default), or linkage of all pairs",
        doc="Greedy: in `order`, each sequence joins a representative that is similar enough, or becomes one. Or "
        "linkage of all pairs.",
    )
    order: OrderName = option(
        default="length",
        choices=get_args(OrderName),
        is_common=True,
        help="which sequences become representatives first: the longest (default), the most abundant (;size=N in the "
        "name), or those that come first",
        doc="The longest, the most abundant or the first sequences first; as in the input where equal. The first one "
        "of a cluster is its representative.",
    )
    assign: Choice = option(
        default="best",
        choices=get_args(Choice),
        label="Which representative",
        help="a sequence joins the most similar representative (default), or the first that is similar enough",
        doc="Which representative a sequence joins: the most similar one (the earliest where equal), or the first that "
        "is similar enough.",
    )


class ClusterOptions(ClusteringOptions):
    """Checked options of clustering; raises UsageError for a value that does not exist or is out of range.

    pairs: with report "alignment", without limits on what is reported.
    """

    pairs: PairOptions = argument(kw_only=False)

    def settle(self) -> None:
        """Check the values and replace the definition of identity by its name."""
        self.set("identity", checked_definition(self.identity))
        self.check_choices()
        _check_share("min_identity", self.min_identity)
        if self.min_coverage is not None:
            _check_share("min_coverage", self.min_coverage)
        if self.method != "greedy" and self.coverage_of in ("member", "representative"):
            raise UsageError(
                f"coverage of the {self.coverage_of} belongs to method greedy: linkages know neither, so choose "
                "longer or shorter"
            )
        if self.pairs.is_local and not self.min_coverage and self.identity not in ("shorter", "longer", "openings"):
            raise UsageError(
                "the local alignment of any two sequences may be a few identical letters: give "
                f"{named('min_coverage')}, or choose {named('mode')} global"
            )

    def parameters(self) -> dict[str, str]:
        """Return the parameters for headers of results."""
        words = {name: text for name, text in self.pairs.parameters().items() if name != "report"}
        words |= {"method": self.method, "min_identity": str(self.min_identity), "identity": self.identity}
        words["order"] = self.order
        if self.method == "greedy":
            words["assign"] = self.assign
        if self.min_coverage is not None:
            words |= {"min_coverage": str(self.min_coverage), "coverage_of": self.coverage_of}
        return words


def _check_share(name: str, share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:  # type: ignore[operator]
        raise UsageError(f"{named(name)} {share!r} is not a fraction between 0 and 1")
