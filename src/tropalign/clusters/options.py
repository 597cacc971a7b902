"""How sequences are clustered, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from tropalign.clusters.identity import COVERAGES, DEFINITIONS, definition_of
from tropalign.errors import UsageError, named

if TYPE_CHECKING:
    from tropalign.pairwise import PairOptions

#: Greedy, or a linkage of all pairs.
METHODS = ("greedy", "single", "complete", "average")
ORDERS = ("length", "abundance", "input")
#: Which representative a sequence joins, of those that are similar enough.
CHOICES = ("best", "first")
#: What a pair of sequences has to share at the least where nothing is said.
MIN_IDENTITY = 0.97


@dataclass(frozen=True)
class ClusterOptions:
    """How sequences are clustered.

    Parameters
    ----------
    pairs
        How two sequences are aligned: report "alignment", and nothing left out.
    min_identity
        From 0 to 1: what a sequence shares with its representative, and with linkages the height of the cut.
    identity
        A name of DEFINITIONS, or its number.
    min_coverage, coverage_of
        The share of the residues of one of COVERAGES that stand beside a residue.
    method, order, assign
        Of METHODS, ORDERS and CHOICES.

    Raises
    ------
    UsageError
        A value that does not exist, is of another type or out of range.
    """

    pairs: PairOptions
    min_identity: float = MIN_IDENTITY
    identity: str = "shorter"
    min_coverage: float | None = None
    coverage_of: str = "longer"
    method: str = "greedy"
    order: str = "length"
    assign: str = "best"

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "identity", definition_of(self.identity))
        except KeyError:
            words = ", ".join(f"{number} {name}" for number, name in enumerate(DEFINITIONS))
            raise UsageError(f"{named('identity')} {self.identity!r} is none of {words}") from None
        for name, value, allowed in (
            ("method", self.method, METHODS),
            ("order", self.order, ORDERS),
            ("assign", self.assign, CHOICES),
            ("coverage_of", self.coverage_of, COVERAGES),
        ):
            if not isinstance(value, str) or value not in allowed:
                raise UsageError(f"{named(name)} {value!r} is none of {', '.join(allowed)}")
        _check_share("min_identity", self.min_identity)
        if self.min_coverage is not None:
            _check_share("min_coverage", self.min_coverage)
        if self.method != "greedy" and self.coverage_of in ("member", "representative"):
            raise UsageError(
                f"coverage of the {self.coverage_of} belongs to method greedy: linkages know neither, so choose "
                "longer or shorter"
            )
        if self.pairs.is_local and not self.min_coverage and self.identity not in ("shorter", "openings"):
            raise UsageError(
                "the local alignment of any two sequences may be a few identical letters: give "
                f"{named('min_coverage')}, or choose {named('mode')} global"
            )

    def parameters(self) -> dict[str, str]:
        """What the headers of results say."""
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
        raise UsageError(f"{named(name)} {share!r} is no fraction between 0 and 1")
