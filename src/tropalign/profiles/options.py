"""Options of a search that decide what is computed: filters and random numbers."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

from tropalign.errors import UsageError, named
from tropalign.options.option import FRACTION, P_VALUE, POSITIVE, Options, argument, number, option, whole
from tropalign.resources.limits import whole_number

#: Contents of a file of queries; "auto" is judged by content.
QueryKind = Literal["auto", "models", "alignment", "sequences"]
#: Kind of queries that are alignments or sequences; "auto": proteins, unless all letters are those of nucleotides.
QueryAlphabet = Literal["auto", "protein"]

#: Seeds have 32 bits.
MOST_SEED = (1 << 32) - 1


class ForeignOption(Options):
    """Treatment of nucleotide models."""

    skip_foreign: bool = option(
        default=False,
        label="Leave out models of nucleotides",
        help="leave out models of nucleotides with a warning that counts them, instead of an error",
    )


class SearchOptions(Options, group="filters"):
    """Options that decide which targets reach the last stage of a search, and how it computes. Checked when created.

    Parameters
    ----------
    f1, f2, f3
        P-values up to which targets pass the filters MSV, Viterbi and Forward.
    bias_filter
        MSV scores are also compared with the score that a target of such composition reaches by chance.
    null2
        Scores are corrected for biased composition.
    seed
        Seed of the random numbers that separate overlapping domains; 0: another one in each run, for each target.

    Raises
    ------
    UsageError
        An invalid value.

    Examples
    --------
    >>> SearchOptions(f3=1e-4).f3
    0.0001
    """

    f1: float = option(
        default=0.02,
        kw_only=False,
        flags=("--F1",),
        kind=P_VALUE,
        metavar="P",
        label="MSV filter",
        help="maximum P-value to pass the MSV filter (default: 0.02)",
    )
    f2: float = option(
        default=1e-3,
        kw_only=False,
        flags=("--F2",),
        kind=P_VALUE,
        metavar="P",
        label="Viterbi filter",
        help="maximum P-value to pass the Viterbi filter (default: 0.001)",
    )
    f3: float = option(
        default=1e-5,
        kw_only=False,
        flags=("--F3",),
        kind=P_VALUE,
        metavar="P",
        label="Forward filter",
        help="maximum P-value to pass the Forward filter (default: 0.00001)",
    )
    bias_filter: bool = argument(default=True, kw_only=False)
    null2: bool = argument(default=True, kw_only=False)
    seed: int = option(
        default=42,
        kw_only=False,
        kind=whole(0, MOST_SEED),
        metavar="N",
        label="Random seed",
        help="seed of the random numbers that separate overlapping domains (default: 42; 0: a different one in each "
        "run)",
    )

    def settle(self) -> None:
        """Check the values and convert numbers to float or int."""
        for name in ("f1", "f2", "f3"):
            value = getattr(self, name)
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise UsageError(f"{named(name)} {value!r} is not a number") from None
            if math.isnan(number) or number < 0:
                raise UsageError(
                    f"{named(name)} {number:g} is out of range: give a P-value, from 0 (none passes) to 1 (all pass)"
                )
            self.set(name, number)
        for name in ("bias_filter", "null2"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} {getattr(self, name)!r} is not True or False")
        self.set("seed", whole_number("seed", self.seed, 0, MOST_SEED))

    @classmethod
    def unfiltered(cls, *, null2: bool = True, seed: int = 42) -> SearchOptions:
        """Return options without filters: every target reaches the last stage (hmmsearch's ``--max``).

        Parameters
        ----------
        null2, seed
            As in the class.

        Returns
        -------
        SearchOptions

        Raises
        ------
        UsageError
            As in the class.

        Examples
        --------
        >>> SearchOptions.unfiltered().f3
        1.0
        """
        return cls(1.0, 1.0, 1.0, bias_filter=False, null2=null2, seed=seed)

    def numbers(self) -> tuple[float, float, float, bool, bool, int]:
        """Return the fields in order, as native code takes them.

        Returns
        -------
        tuple

        Examples
        --------
        >>> SearchOptions().numbers()
        (0.02, 0.001, 1e-05, True, True, 42)
        """
        return self.f1, self.f2, self.f3, self.bias_filter, self.null2, self.seed


#: Option values, and their names in HMMER's builder.
ColumnsName = Literal["occupied", "reference"]
WeightsName = Literal["position", "tree", "blosum", "none", "given"]
EffectiveName = Literal["entropy", "exponent", "clusters", "none"]
PriorName = Literal["mixture", "laplace", "none"]
AlphabetName = Literal["auto", "protein", "dna", "rna"]
COLUMNS: dict[ColumnsName, str] = {"occupied": "fast", "reference": "hand"}
WEIGHTS: dict[WeightsName, str] = {
    "position": "pb",
    "tree": "gsc",
    "blosum": "blosum",
    "none": "none",
    "given": "given",
}
EFFECTIVE: dict[EffectiveName, str] = {"entropy": "entropy", "exponent": "exp", "clusters": "clust", "none": "none"}
PRIORS: dict[PriorName, str | None] = {"mixture": "alphabet", "laplace": "laplace", "none": None}
#: Alphabets of alignments, and their names in Easel; "auto" is judged by content.
ALPHABETS: dict[AlphabetName, str | None] = {"auto": None, "protein": "amino", "dna": "dna", "rna": "rna"}
#: Matrices for models of single protein sequences that HMMER's builder supports.
MatrixName = Literal[
    "BLOSUM62", "BLOSUM45", "BLOSUM50", "BLOSUM80", "BLOSUM90", "PAM30", "PAM70", "PAM120", "PAM240",
]  # fmt: skip
#: Options that are fractions, and options that are above 0.
_FRACTIONS = (
    "occupancy", "fragments", "weights_identity", "clusters_identity", "gap_open_probability", "gap_extend_probability"
)  # fmt: skip
_POSITIVE = ("entropy", "sigma", "effective_number")


class BuildOptions(Options, group="model construction"):
    """Options for building a model from an alignment. Checked when created.

    Parameters
    ----------
    nodes
        "occupied": columns in which enough rows have a residue become nodes; "reference": columns that the
        alignment's line RF marks.
    occupancy
        The weighted share of residues from which on a column is a node.
    fragments
        A row with residues in at most this share of the columns is a fragment: its ends are unknown and not gaps.
    weights
        Weights of rows: "position" (Henikoff and Henikoff), "tree" (Gerstein, Sonnhammer and Chothia), "blosum"
        (clusters), "none", "given" (the alignment's own, WT of Stockholm).
    weights_identity
        Identity from which on rows belong to one cluster, for weights "blosum".
    effective
        The effective number of sequences: "entropy" (chosen so that the mean information per node reaches a
        target), "exponent", "clusters", or "none" (the number of sequences).
    effective_number
        The effective number itself; overrides `effective`.
    entropy
        The target of "entropy" in bits per node; None: by the alphabet.
    sigma
        Minimum target of "entropy" in bits for the whole model.
    clusters_identity
        Identity from which on rows belong to one cluster, for effective "clusters".
    prior
        "mixture" (of Dirichlet densities), "laplace" (one pseudocount each), "none" (unchanged frequencies).
    single
        Build the model of a single row as phmmer does, by a substitution matrix.
    matrix, gap_open_probability, gap_extend_probability
        The matrix, and the probabilities of gaps; None: 0.02 and 0.4 for proteins, 0.03125 and 0.75 for
        nucleotides.
    seed
        Seed of the random sequences for calibration.

    Raises
    ------
    UsageError
        An invalid value.

    Examples
    --------
    >>> BuildOptions(occupancy=0.7, weights="tree").occupancy
    0.7
    """

    nodes: ColumnsName = option(
        default="occupied",
        choices=COLUMNS,
        label="Columns that become nodes",
        is_common=True,
        help="columns that become nodes: occupied (default), those in which at least --occupancy of the rows have a "
        "residue; reference, those that the RF line of Stockholm marks (hmmbuild's --fast and --hand)",
    )
    occupancy: float = option(
        default=0.5,
        kind=FRACTION,
        metavar="X",
        label="Occupancy of a node",
        is_common=True,
        help="minimum weighted fraction of residues for a column to become a node (hmmbuild's --symfrac; default: 0.5)",
    )
    fragments: float = option(
        default=0.5,
        kind=FRACTION,
        metavar="X",
        label="Length of a fragment",
        help="rows with residues in at most this fraction of the columns are fragments: their ends count as unknown, "
        "not as gaps (hmmbuild's --fragthresh; default: 0.5)",
    )
    weights: WeightsName = option(
        default="position",
        choices=WEIGHTS,
        label="Weights of rows",
        help="weights of rows: position (default; Henikoff and Henikoff), tree (Gerstein, Sonnhammer and Chothia), "
        "blosum (clusters), none, given (WT of Stockholm); hmmbuild's --wpb, --wgsc, --wblosum, --wnone, --wgiven",
    )
    weights_identity: float = option(
        default=0.62,
        kind=FRACTION,
        metavar="X",
        label="Cluster identity for weights",
        help="with --weights blosum: minimum identity of rows in a cluster (hmmbuild's --wid; default: 0.62)",
    )
    effective: EffectiveName = option(
        default="entropy",
        choices=EFFECTIVE,
        label="Effective number of sequences",
        help="method for the effective number of sequences: entropy (default), exponent, clusters, none (hmmbuild's "
        "--eent, --eentexp, --eclust, --enone)",
    )
    effective_number: float | None = option(
        default=None,
        kind=POSITIVE,
        metavar="X",
        label="Given effective number",
        help="effective number of sequences that overrides --effective (hmmbuild's --eset)",
    )
    entropy: float | None = option(
        default=None,
        kind=number(1e-9, 100),
        metavar="BITS",
        label="Bits per node",
        help="with --effective entropy: target of the mean information per node, in bits (hmmbuild's --ere; default: "
        "0.59 for proteins, 0.62 for nucleotides)",
    )
    sigma: float = option(
        default=45.0,
        kind=number(1e-9, 1e6),
        metavar="BITS",
        label="Bits per model",
        help="with --effective entropy: target of the information of a short model, in bits (hmmbuild's --esigma; "
        "default: 45)",
    )
    clusters_identity: float = option(
        default=0.62,
        kind=FRACTION,
        metavar="X",
        label="Cluster identity for the effective number",
        help="with --effective clusters: minimum identity of rows in a cluster (hmmbuild's --eid; default: 0.62)",
    )
    prior: PriorName = option(
        default="mixture",
        choices=PRIORS,
        help="prior of probabilities: mixture (default; a Dirichlet mixture), laplace (one pseudocount each), none "
        "(hmmbuild's --plaplace, --pnone)",
    )
    single: bool = option(
        default=False,
        label="Single sequences by a matrix",
        help="build the model of a single row from a substitution matrix, as phmmer does (hmmbuild's --singlemx)",
    )
    matrix: MatrixName | None = option(
        default=None,
        choices=get_args(MatrixName),
        help="with --single: substitution matrix for proteins (hmmbuild's --mx; default: BLOSUM62)",
    )
    gap_open_probability: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="P",
        label="Gap opening probability",
        help="with --single: probability of opening a gap, below 0.5 (hmmbuild's --popen; default: 0.02 for "
        "proteins, 0.03125 for nucleotides)",
    )
    gap_extend_probability: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="P",
        label="Gap extension probability",
        help="with --single: probability of extending a gap, below 1 (hmmbuild's --pextend; default: 0.4 for "
        "proteins, 0.75 for nucleotides)",
    )
    seed: int = option(
        default=42,
        kind=whole(1, MOST_SEED),
        metavar="N",
        label="Random seed",
        help="seed of the random sequences for calibration (default: 42)",
    )

    def settle(self) -> None:
        """Check the values and convert numbers to float or int."""
        self.check_choices()
        for name in (*_FRACTIONS, *_POSITIVE):
            value = getattr(self, name)
            if value is not None:
                self.set(name, _number(name, value, 1.0 if name in _FRACTIONS else math.inf))
        for name, bound in (("gap_open_probability", 0.5), ("gap_extend_probability", 1.0)):
            if getattr(self, name) is not None and getattr(self, name) >= bound:
                raise UsageError(f"{named(name)} {getattr(self, name):g} is not below {bound:g}")
        self.set("seed", whole_number("seed", self.seed, 1, MOST_SEED))

    def check_company(self) -> None:
        """Reject an option that has no effect given the others.

        Raises
        ------
        UsageError
            An option has no effect.

        Examples
        --------
        >>> BuildOptions(weights="blosum", weights_identity=0.8).check_company()
        """
        by_number, by_entropy = self.effective_number is not None, self.effective in ("entropy", "exponent")
        for is_in_vain, names, remedy in (
            (by_number, ("effective", "entropy", "sigma", "clusters_identity"), "effective_number is given"),
            (not by_entropy, ("entropy", "sigma"), "effective is not entropy or exponent"),
            (self.effective != "clusters", ("clusters_identity",), "effective is not clusters"),
            (self.weights != "blosum", ("weights_identity",), "weights is not blosum"),
            (self.nodes == "reference", ("occupancy",), "nodes is reference"),
            (not self.single, ("matrix", "gap_open_probability", "gap_extend_probability"), "single is not given"),
        ):
            for name in names if is_in_vain else ():
                if getattr(self, name) != self.declared()[name].default:
                    option, _, rest = remedy.partition(" ")
                    raise UsageError(f"{named(name)} has no effect if {named(option)} {rest}: leave it out")

    def of_builder(self) -> dict[str, Any]:
        """Return the values as arguments of HMMER's builder.

        Returns
        -------
        dict

        Examples
        --------
        >>> BuildOptions(weights="tree").of_builder()["weighting"]
        'gsc'
        """
        effective = EFFECTIVE[self.effective] if self.effective_number is None else self.effective_number
        return {
            "architecture": COLUMNS[self.nodes],
            "symfrac": self.occupancy,
            "fragthresh": self.fragments,
            "weighting": WEIGHTS[self.weights],
            "wid": self.weights_identity,
            "effective_number": effective,
            "ere": self.entropy,
            "esigma": self.sigma,
            "eid": self.clusters_identity,
            "prior_scheme": PRIORS[self.prior],
            "score_matrix": self.matrix,
            "popen": self.gap_open_probability,
            "pextend": self.gap_extend_probability,
            "seed": self.seed,
        }


def _number(name: str, value: Any, most: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{named(name)} {value!r} is not a number") from None
    if not 0 <= number <= most or (most == math.inf and number in (0, most)):
        what = "a fraction between 0 and 1" if most == 1 else "a number above 0"
        raise UsageError(f"{named(name)} {number:g} is not {what}")
    return number
