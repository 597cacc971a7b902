"""What an alignment by CLUSTALW is to be: options, checked once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tropalign.errors import UsageError, named

#: Names of matrices, for proteins and for nucleotides.
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
#: Options of quick distances by default, for proteins and nucleotides; what word_gap is more than a word_length that
#: was given; and the longest words.
WORDS: dict[str, tuple[int, int]] = {
    "word_length": (1, 2),
    "word_gap": (3, 5),
    "n_diagonals": (5, 4),
    "diagonal_window": (5, 4),
}
MORE_THAN_WORD, LONGEST_WORD = (3, 4), (2, 4)
#: Whole numbers: the least and the most.
RANGES: dict[str, tuple[int, int]] = {
    "delay": (0, 100),
    "gap_distance": (0, 100),
    "word_length": (1, 4),
    "word_gap": (1, 500),
    "n_diagonals": (1, 50),
    "diagonal_window": (0, 50),
}


@dataclass(frozen=True)
class ClustalwOptions:
    """How CLUSTALW's method aligns a family.

    Attributes
    ----------
    is_compat
        Rounded frequencies, truncated weights and the splits of the original, so that its alignment comes out.
    quicktree
        Distances from words instead of alignments.
    word_length
        Residues of such a word; 1 (nucleotides 2) when None.
    word_gap
        What it costs a chain of words to change the diagonal; 3 (5) when None, where word_length is given that and 3
        (4).
    n_diagonals
        Diagonals with most words that are taken; 5 (4) when None.
    diagonal_window
        Diagonals that are taken on either side of these; 5 (4) when None.
    clustering : {"nj", "upgma"}
        How the guide tree is made.
    gap_open, gap_extend
        Costs of a gap between profiles and of each of its residues, which CLUSTALW scales by lengths, matrix and
        column; 10 and 0.2 (nucleotides 15 and 6.66) when None.
    pw_gap_open, pw_gap_extend
        The same between two sequences, by length and matrix; 10 and 0.1 (15 and 6.66) when None.
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
    >>> options = ClustalwOptions(gap_open=8, series="blosum", quicktree=True)
    >>> options.gap_open, options.clustering
    (8, 'nj')
    """

    is_compat: bool = False
    quicktree: bool = False
    word_length: int | None = None
    word_gap: int | None = None
    n_diagonals: int | None = None
    diagonal_window: int | None = None
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
                raise UsageError(f"{named(name)} {word!r} is none of {', '.join(known)}")
        for name, most in MOST.items():
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name), most)
        _check_number("transition_weight", self.transition_weight, 1.0)
        for name, (least, most_whole) in RANGES.items():
            value = getattr(self, name)
            if value is None and name in WORDS:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most_whole:
                raise UsageError(f"{named(name)} {value!r} is not a whole number from {least} to {most_whole}")
        if not isinstance(self.hydrophilic, str) or not all(c.isascii() and c.isalpha() for c in self.hydrophilic):
            raise UsageError(f"hydrophilic {self.hydrophilic!r}: give letters of amino acids, such as 'GPSNDQEKR'")

    def cost(self, name: str, is_nucleotide: bool) -> float:
        """Cost of a gap, the default of such sequences where none is given.

        Parameters
        ----------
        name : {"gap_open", "gap_extend", "pw_gap_open", "pw_gap_extend"}
            Of which gap.
        is_nucleotide
            Of nucleotides or of proteins.

        Returns
        -------
        float
            In the units of the option.

        Examples
        --------
        >>> options = ClustalwOptions(gap_open=5)
        >>> options.cost("gap_open", is_nucleotide=True), options.cost("gap_extend", is_nucleotide=True)
        (5.0, 6.66)
        """
        given = getattr(self, name)
        return DEFAULTS[name][is_nucleotide] if given is None else float(given)

    def words(self, is_nucleotide: bool) -> tuple[int, int, int, int]:
        """What quick distances are made with.

        Parameters
        ----------
        is_nucleotide
            Of nucleotides or of proteins.

        Returns
        -------
        tuple of int
            word_length, word_gap, n_diagonals and diagonal_window.

        Raises
        ------
        UsageError
            Words of proteins of more than 2 residues.

        Examples
        --------
        >>> ClustalwOptions().words(is_nucleotide=False), ClustalwOptions(word_length=3).words(is_nucleotide=True)
        ((1, 3, 5, 5), (3, 7, 4, 4))
        """
        chosen = {name: defaults[is_nucleotide] for name, defaults in WORDS.items()}
        if self.word_length is not None:
            longest, kind = LONGEST_WORD[is_nucleotide], ("proteins", "nucleotides")[is_nucleotide]
            if self.word_length > longest:
                raise UsageError(
                    f"{named('word_length')} {self.word_length}: words of {kind} have up to {longest} residues"
                )
            chosen["word_gap"] = self.word_length + MORE_THAN_WORD[is_nucleotide]
        given = {name: getattr(self, name) for name in WORDS if getattr(self, name) is not None}
        length, gap, n_diagonals, window = (chosen | given).values()
        return length, gap, n_diagonals, window

    def parameters(self) -> dict[str, str]:
        """Returns all options as text, for the headers of files.

        Returns
        -------
        dict
            By name, "method" first.

        Examples
        --------
        >>> ClustalwOptions(gap_open=8).parameters()["gap_open"]
        '8'
        """
        return {"method": "clustalw"} | {name: str(value) for name, value in asdict(self).items()}


def _check_number(name: str, value: Any, most: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= most:
        raise UsageError(f"{named(name)} {value!r} is not a number from 0 to {most:g}")
