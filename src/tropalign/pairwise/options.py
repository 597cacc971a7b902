"""What to compute for each pair, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from tropalign.errors import ScoringError, UsageError
from tropalign.scoring import Gap, SubstitutionMatrix

MODES = ("local", "global", "semiglobal")
REPORTS = ("score", "ends", "alignment")
#: Ends at which residues of that sequence may hang over at no cost (semiglobal).
FREE_ENDS = ("query-start", "query-end", "target-start", "target-end")


@dataclass(frozen=True)
class PairOptions:
    """How pairs are aligned, and which of them are kept.

    Parameters
    ----------
    mode
        "local" (Smith and Waterman), "global" (Needleman and Wunsch) or "semiglobal" (global with freed ends).
    matrix, gap
        Scoring; a gap of k residues costs ``gap.open + k * gap.extend``.
    report
        "score", "ends" (coordinates too) or "alignment" (CIGAR and counts too).
    free_ends
        With "semiglobal": the ends that are free, of FREE_ENDS; all four by default.
    strand
        "plus", or "both": the query's better strand (plus when equal; nucleotides only).
    top
        Only the `top` best targets of each query (the earlier target when equal).
    min_score, min_identity
        Only rows with at least this score, or this fraction of identical columns.
    """

    matrix: SubstitutionMatrix
    gap: Gap
    mode: str = "local"
    report: str = "alignment"
    free_ends: frozenset[str] = frozenset(FREE_ENDS)
    strand: str = "plus"
    top: int | None = None
    min_score: int | None = None
    min_identity: float | None = None

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("mode", self.mode, MODES),
            ("report", self.report, REPORTS),
            ("strand", self.strand, ("plus", "both")),
        ):
            if value not in allowed:
                raise UsageError(f"{name} {value!r} is none of {', '.join(allowed)}")
        unknown = sorted(set(self.free_ends) - set(FREE_ENDS))
        if unknown:
            raise UsageError(f"free end {unknown[0]!r} is none of {', '.join(FREE_ENDS)}")
        if self.top is not None and self.top < 1:
            raise UsageError(f"top {self.top}: at least one target a query has to be kept")
        if self.min_identity is not None and not 0 <= self.min_identity <= 1:
            raise UsageError(f"min-identity {self.min_identity} is no fraction between 0 and 1")
        if self.min_identity is not None and self.report != "alignment":
            raise UsageError("min-identity needs report 'alignment'")

    def check_range(self, longest: int) -> None:
        """Raises ScoringError when a score of sequences this long may not fit 32 bits."""
        worst = int(abs(self.matrix.scores).max()) + self.gap.open + 2 * self.gap.extend
        if worst * (2 * longest + 2) >= 2**31:
            raise ScoringError(
                f"scores of sequences of {longest} residues may pass 2147483647 with this matrix and these gap costs: "
                "divide all of them by a common factor"
            )

    def parameters(self) -> dict[str, str]:
        """What the headers of results say, and what a resumed run has to share."""
        words = {
            "mode": self.mode,
            "matrix": self.matrix.name,
            "gap_cost": f"{self.gap.open} + {self.gap.extend} * residues",
            "report": self.report,
        }
        if self.mode == "semiglobal":
            words["free_ends"] = ",".join(end for end in FREE_ENDS if end in self.free_ends)
        if self.strand != "plus":
            words["strand"] = self.strand
        for name in ("top", "min_score", "min_identity"):
            if getattr(self, name) is not None:
                words[name] = str(getattr(self, name))
        return words
