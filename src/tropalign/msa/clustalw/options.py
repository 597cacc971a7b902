"""What an alignment by CLUSTALW is to be: options, checked once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tropalign.errors import UsageError

#: Of matrices, for proteins and for nucleotides.
PROTEIN_SERIES = ("gonnet", "blosum", "pam", "id")
NUCLEOTIDE_MATRICES = ("iub", "clustalw")
CLUSTERINGS = ("nj", "upgma")
#: Costs where nothing is said, proteins and nucleotides: of profiles, then of pairs of sequences.
DEFAULTS: dict[str, tuple[float, float]] = {
    "gap_open": (10.0, 15.0),
    "gap_extend": (0.2, 6.66),
    "pw_gap_open": (10.0, 15.0),
    "pw_gap_extend": (0.1, 6.66),
}
#: CLUSTALW's own limits.
MOST: dict[str, float] = {"gap_open": 100.0, "gap_extend": 10.0, "pw_gap_open": 100.0, "pw_gap_extend": 10.0}


@dataclass(frozen=True)
class ClustalwOptions:
    """How CLUSTALW's method aligns a family.

    Attributes
    ----------
    is_compat
        Rounded frequencies, truncated weights and the splits of the original, so that its alignment comes out.
    quicktree
        Distances from words instead of alignments.
    clustering : {"nj", "upgma"}
        How the guide tree is made.
    gap_open, gap_extend
        Costs of a gap between profiles; 10 and 0.2 (nucleotides 15 and 6.66) when None.
    pw_gap_open, pw_gap_extend
        Costs of a gap between two sequences; 10 and 0.1 (15 and 6.66) when None.
    series : {"gonnet", "blosum", "pam", "id"}
        Matrices for proteins.
    nucleotide_matrix : {"iub", "clustalw"}
        Matrix for nucleotides.
    delay
        Sequences of at most this percent identity to any other come last.
    gap_distance
        Columns around a gap where another one is dear; 0: none.
    hydrophilic
        Amino acids whose runs make gaps cheap.
    has_hydrophilic_gaps, has_residue_gaps
        Whether gap costs depend on such runs, and on the residues of a column.
    transition_weight
        Score of a transition as a share of a match.
    has_end_gaps
        Gaps at the ends cost what others do.
    counts_end_gaps
        Gaps at the ends of sequences count as gaps of their columns.
    negative_matrix
        Scores are not raised to 0.
    has_weights
        Sequences are weighted by the tree.

    Raises
    ------
    UsageError
        A word or number that an option does not take.

    Examples
    --------
    >>> ClustalwOptions(gap_open=5).cost("gap_open", is_nucleotide=False), ClustalwOptions().cost("gap_extend", True)
    (5.0, 6.66)
    """

    is_compat: bool = False
    quicktree: bool = False
    clustering: str = "nj"
    gap_open: float | None = None
    gap_extend: float | None = None
    pw_gap_open: float | None = None
    pw_gap_extend: float | None = None
    series: str = "gonnet"
    nucleotide_matrix: str = "iub"
    delay: int = 30
    gap_distance: int = 4
    hydrophilic: str = "GPSNDQEKR"
    has_hydrophilic_gaps: bool = True
    has_residue_gaps: bool = True
    transition_weight: float = 0.5
    has_end_gaps: bool = False
    counts_end_gaps: bool = False
    negative_matrix: bool = False
    has_weights: bool = True

    def __post_init__(self) -> None:
        words = {"clustering": CLUSTERINGS, "series": PROTEIN_SERIES, "nucleotide_matrix": NUCLEOTIDE_MATRICES}
        for name, known in words.items():
            word = getattr(self, name)
            if not isinstance(word, str) or word not in known:
                raise UsageError(f"{name} {word!r} is none of {', '.join(known)}")
        for name, most in MOST.items():
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name), most)
        _check_number("transition_weight", self.transition_weight, 1.0)
        for name, limit in (("delay", 100), ("gap_distance", 100)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
                raise UsageError(f"{name} {value!r} is no whole number from 0 to {limit}")
        if not isinstance(self.hydrophilic, str) or not all(c.isascii() and c.isalpha() for c in self.hydrophilic):
            raise UsageError(f"hydrophilic {self.hydrophilic!r}: give letters of amino acids, such as 'GPSNDQEKR'")

    def cost(self, name: str, is_nucleotide: bool) -> float:
        """Cost of a gap: "gap_open", "gap_extend", "pw_gap_open" or "pw_gap_extend"."""
        given = getattr(self, name)
        return DEFAULTS[name][is_nucleotide] if given is None else float(given)

    def parameters(self) -> dict[str, str]:
        """For headers, by name."""
        return {"method": "clustalw"} | {name: str(value) for name, value in asdict(self).items()}


def _check_number(name: str, value: Any, most: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= most:
        raise UsageError(f"{name} {value!r} is no number from 0 to {most:g}")
