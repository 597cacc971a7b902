"""Options of CLUSTALW's alignment method."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

from tropalign.errors import UsageError, named
from tropalign.options.called import documented
from tropalign.options.option import TEXT, Options, but, number, option, whole

Clustering = Literal["nj", "upgma"]
Series = Literal["gonnet", "blosum", "pam", "id"]
NucleotideMatrix = Literal["iub", "clustalw"]
PROTEIN_SERIES = get_args(Series)
#: Default costs of proteins and nucleotides: between profiles, then (pw) between two sequences.
DEFAULTS: dict[str, tuple[float, float]] = {
    "gap_open": (10.0, 15.0),
    "gap_extend": (0.2, 6.66),
    "pw_gap_open": (10.0, 15.0),
    "pw_gap_extend": (0.1, 6.66),
}
#: CLUSTALW's own limits.
MOST: dict[str, float] = {"gap_open": 100.0, "gap_extend": 10.0, "pw_gap_open": 100.0, "pw_gap_extend": 10.0}
#: Defaults of quick distances for proteins and nucleotides; the excess of the default word_gap over a given
#: word_length; and the longest k-mers.
WORDS: dict[str, tuple[int, int]] = {
    "word_length": (1, 2),
    "word_gap": (3, 5),
    "n_diagonals": (5, 4),
    "diagonal_window": (5, 4),
}
MORE_THAN_WORD, LONGEST_WORD = (3, 4), (2, 4)
#: Minimum and maximum of the integer options.
RANGES: dict[str, tuple[int, int]] = {
    "delay": (0, 100),
    "gap_distance": (0, 100),
    "word_length": (1, 4),
    "word_gap": (1, 500),
    "n_diagonals": (1, 50),
    "diagonal_window": (0, 50),
}


class ClustalwChoices(Options, group="method clustalw"):
    """Command-line options of CLUSTALW's method; None stands for the default of `ClustalwOptions`."""

    compat: bool = option(
        default=False,
        label="Identical to ClustalW",
        help="round frequencies and weights as CLUSTAL W 2.1 does, to reproduce its alignment exactly",
    )
    quicktree: bool = option(default=False, label="Quick tree", help="distances from k-mers instead of alignments")
    word_length: int | None = option(
        default=None,
        kind=whole(0),
        needs="quicktree",
        metavar="K",
        help="residues of a k-mer for --quicktree (default: 1, nucleotides 2)",
    )
    word_gap: int | None = option(
        default=None,
        kind=whole(0),
        needs="quicktree",
        metavar="C",
        label="Cost of changing the diagonal",
        help="cost of changing the diagonal in a chain of k-mers (default: 3, nucleotides 5; if --word-length is "
        "given, 3 or 4 more than that)",
    )
    n_diagonals: int | None = option(
        default=None,
        kind=whole(0),
        needs="quicktree",
        metavar="N",
        label="Best diagonals",
        help="number of diagonals to use, those with most k-mers (default: 5, nucleotides 4)",
    )
    diagonal_window: int | None = option(
        default=None,
        kind=whole(0),
        needs="quicktree",
        metavar="N",
        help="number of diagonals to use on either side of each of --n-diagonals (default: 5, nucleotides 4)",
    )
    clustering: Clustering | None = option(
        default=None,
        choices=get_args(Clustering),
        label="Guide tree method",
        help="method for the guide tree (default: nj)",
    )
    series: Series | None = option(
        default=None,
        choices=PROTEIN_SERIES,
        label="Protein matrices",
        help="series of matrices for proteins (default: gonnet)",
    )
    nucleotide_matrix: NucleotideMatrix | None = option(
        default=None, choices=get_args(NucleotideMatrix), help="matrix for nucleotides (default: iub)"
    )
    gap_open: float | None = option(
        default=None,
        kind=number(0, MOST["gap_open"]),
        metavar="C",
        label="Gap opening cost",
        help="cost of a gap between profiles, which CLUSTALW scales by lengths, matrix and column (default: 10, "
        "nucleotides 15)",
    )
    gap_extend: float | None = option(
        default=None,
        kind=number(0, MOST["gap_extend"]),
        metavar="C",
        label="Gap extension cost",
        help="cost of each residue of a gap between profiles, also scaled (default: 0.2, nucleotides 6.66)",
    )
    pw_gap_open: float | None = option(
        default=None,
        kind=number(0, MOST["pw_gap_open"]),
        metavar="C",
        label="Pairwise gap opening cost",
        help="cost of a gap between two sequences, which CLUSTALW scales by length and matrix (default: 10, "
        "nucleotides 15)",
    )
    pw_gap_extend: float | None = option(
        default=None,
        kind=number(0, MOST["pw_gap_extend"]),
        metavar="C",
        label="Pairwise gap extension cost",
        help="cost of each residue of a gap between two sequences, also scaled (default: 0.1, nucleotides 6.66)",
    )
    delay: int | None = option(
        default=None,
        kind=whole(0),
        metavar="PERCENT",
        label="Delay divergent sequences",
        help="align a sequence last if its highest identity with another sequence is at most this percentage "
        "(default: 30)",
    )
    gap_distance: int | None = option(
        default=None,
        kind=whole(0),
        metavar="N",
        label="Gap separation",
        help="within this number of columns of a gap, a new gap costs more; 0: never (default: 4)",
    )
    hydrophilic: str | None = option(
        default=None,
        kind=TEXT,
        metavar="LETTERS",
        label="Hydrophilic residues",
        help="amino acids whose runs make gaps cheaper (default: GPSNDQEKR)",
    )
    no_hydrophilic_gaps: bool = option(
        default=False,
        label="Gaps in hydrophilic runs cost the same",
        help="gaps in runs of hydrophilic residues cost the same as others",
        doc="Whether gaps cost less in runs of hydrophilic residues.",
    )
    no_residue_gaps: bool = option(
        default=False,
        help="gap costs do not depend on the residues next to the gap",
        doc="Whether gap costs depend on the residues of a column.",
    )
    transition_weight: float | None = option(
        default=None,
        kind=number(0, 1),
        metavar="W",
        help="score of a transition between nucleotides, as a fraction of a match (default: 0.5)",
    )
    end_gaps: bool = option(default=False, help="gaps at the ends cost the same as others")
    count_end_gaps: bool = option(
        default=False,
        help="count gaps at the ends as gaps of their columns, which makes further gaps next to them cheaper",
    )
    negative_matrix: bool = option(
        default=False, help="allow negative scores in matrices (default: all scores are raised to 0 or more)"
    )
    no_weights: bool = option(
        default=False, help="give all sequences the same weight", doc="Whether sequences are weighted by the tree."
    )

    def settled(self) -> ClustalwOptions:
        """Return the checked options."""
        chosen = {name: value for name, value in self.shared_with(ClustalwOptions).items() if value is not None}
        return ClustalwOptions(
            **chosen,
            is_compat=self.compat,
            has_end_gaps=self.end_gaps,
            counts_end_gaps=self.count_end_gaps,
            has_hydrophilic_gaps=not self.no_hydrophilic_gaps,
            has_residue_gaps=not self.no_residue_gaps,
            has_weights=not self.no_weights,
        )


@documented
class ClustalwOptions(Options):
    """Options of CLUSTALW's alignment method.

    Raises
    ------
    UsageError
        A choice or number that an option does not accept.

    Examples
    --------
    >>> options = ClustalwOptions(gap_open=8, series="blosum", quicktree=True)
    >>> options.gap_open, options.clustering
    (8, 'nj')
    """

    is_compat: bool = but(ClustalwChoices, "compat", default=False, kw_only=False)
    quicktree: bool = but(ClustalwChoices, "quicktree", default=False, kw_only=False)
    word_length: int | None = but(ClustalwChoices, "word_length", default=None, kw_only=False)
    word_gap: int | None = but(ClustalwChoices, "word_gap", default=None, kw_only=False)
    n_diagonals: int | None = but(ClustalwChoices, "n_diagonals", default=None, kw_only=False)
    diagonal_window: int | None = but(ClustalwChoices, "diagonal_window", default=None, kw_only=False)
    clustering: Clustering = but(ClustalwChoices, "clustering", default="nj", kw_only=False)
    gap_open: float | None = but(ClustalwChoices, "gap_open", default=None, kw_only=False)
    gap_extend: float | None = but(ClustalwChoices, "gap_extend", default=None, kw_only=False)
    pw_gap_open: float | None = but(ClustalwChoices, "pw_gap_open", default=None, kw_only=False)
    pw_gap_extend: float | None = but(ClustalwChoices, "pw_gap_extend", default=None, kw_only=False)
    series: Series = but(ClustalwChoices, "series", default="gonnet", kw_only=False)
    nucleotide_matrix: NucleotideMatrix = but(ClustalwChoices, "nucleotide_matrix", default="iub", kw_only=False)
    delay: int = but(ClustalwChoices, "delay", default=30, kw_only=False)
    gap_distance: int = but(ClustalwChoices, "gap_distance", default=4, kw_only=False)
    hydrophilic: str = but(ClustalwChoices, "hydrophilic", default="GPSNDQEKR", kw_only=False)
    has_hydrophilic_gaps: bool = but(ClustalwChoices, "no_hydrophilic_gaps", default=True, kw_only=False)
    has_residue_gaps: bool = but(ClustalwChoices, "no_residue_gaps", default=True, kw_only=False)
    transition_weight: float = but(ClustalwChoices, "transition_weight", default=0.5, kw_only=False)
    has_end_gaps: bool = but(ClustalwChoices, "end_gaps", default=False, kw_only=False)
    counts_end_gaps: bool = but(ClustalwChoices, "count_end_gaps", default=False, kw_only=False)
    negative_matrix: bool = but(ClustalwChoices, "negative_matrix", default=False, kw_only=False)
    has_weights: bool = but(ClustalwChoices, "no_weights", default=True, kw_only=False)

    def settle(self) -> None:
        """Check the values."""
        self.check_choices()
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
            raise UsageError(
                f"hydrophilic {self.hydrophilic!r} is not a string of amino acids: give their letters, "
                "such as 'GPSNDQEKR'"
            )

    def cost(self, name: str, is_nucleotide: bool) -> float:
        """Return a gap cost: the given one, or the default for this kind of sequence.

        Parameters
        ----------
        name : {"gap_open", "gap_extend", "pw_gap_open", "pw_gap_extend"}
            Name of the cost.
        is_nucleotide
            True for nucleotides, False for proteins.

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
        """Return the k-mer parameters of quick distances.

        Parameters
        ----------
        is_nucleotide
            True for nucleotides, False for proteins.

        Returns
        -------
        tuple of int
            word_length, word_gap, n_diagonals and diagonal_window.

        Raises
        ------
        UsageError
            Protein k-mers of more than 2 residues.

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
                    f"{named('word_length')} {self.word_length} is too large: k-mers of {kind} have at most {longest} "
                    "residues"
                )
            chosen["word_gap"] = self.word_length + MORE_THAN_WORD[is_nucleotide]
        given = {name: getattr(self, name) for name in WORDS if getattr(self, name) is not None}
        length, gap, n_diagonals, window = (chosen | given).values()
        return length, gap, n_diagonals, window

    def parameters(self) -> dict[str, str]:
        """Return all options as text, for file headers.

        Returns
        -------
        dict
            By name, "method" first.

        Examples
        --------
        >>> ClustalwOptions(gap_open=8).parameters()["gap_open"]
        '8'
        """
        return {"method": "clustalw"} | {name: str(value) for name, value in self.values().items()}


def _check_number(name: str, value: Any, most: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= most:
        raise UsageError(f"{named(name)} {value!r} is not a number from 0 to {most:g}")
