"""Options of multiple alignments, and their defaults by effort.

The module does not import NumPy, so that the command line can list names before anything is computed.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal, get_args

from tropalign.errors import TropalignWarning, UsageError, named
from tropalign.options.option import E_VALUE, Options, but, number, option, whole
from tropalign.resources.limits import whole_number

EffortName = Literal["default", "accurate", "fast"]
RulesName = Literal["tropalign", "quickprobs1", "quickprobs2"]
RowOrder = Literal["input", "tree"]
StrandName = Literal["plus", "adjust"]
#: Rules for pair models, consistency and refinement (docs/msa.md).
RULES = get_args(RulesName)
#: Orders of the rows of an alignment.
ORDERS = get_args(RowOrder)
#: Strand of nucleotides that is aligned: the given one, or that of the family (family.py).
STRANDS = get_args(StrandName)
#: Larger families are aligned with effort "fast" if no effort is named: effort default would take more than about
#: 20 seconds of a core and 2 GB for sequences of 250, and does not find more columns on families of known history.
MOST_SEQUENCES = 500
#: Defaults of larger families; more passes and refinement cost time there, and do more harm than good column by
#: column.
MANY_SEQUENCES, OF_MANY = 50, {"consistency": 1, "refine": 0}
#: Maximum of the integer options; higher values would change nothing.
MOST = {"consistency": 20, "through": 1_000_000, "refine": 100_000, "seed": 2**63 - 1}
_DEFAULT: dict[str, Any] = {
    "rules": "tropalign", "consistency": 2, "through": 32, "refine": 30, "cutoff": 0.01, "keep": 0.0
}  # fmt: skip
#: Default options of each effort.
EFFORTS: dict[EffortName, dict[str, Any]] = {
    "default": _DEFAULT,
    "accurate": _DEFAULT,
    "fast": {**_DEFAULT, "consistency": 1, "refine": 10},
}


class ConsistencyOptions(Options, group="method"):
    """Options of alignment by consistency; None stands for the effort's default."""

    effort: EffortName | None = option(
        default=None,
        choices=EFFORTS,
        is_common=True,
        help=f"compromise between speed and accuracy (default: default, or fast for more than {MOST_SEQUENCES} "
        "sequences)",
    )
    rules: RulesName | None = option(
        default=None,
        choices=RULES,
        label="Rules of program",
        help="program whose parameters, consistency and refinement are used (default: by --effort)",
    )
    consistency: int | None = option(
        default=None,
        kind=whole(0),
        metavar="N",
        label="Consistency passes",
        help="number of consistency passes (default: by --effort)",
    )
    through: int | None = option(
        default=None,
        kind=whole(0),
        metavar="N",
        label="Third sequences per pass",
        help="number of third sequences through which each pair is compared in a pass of consistency, each standing "
        "for similar ones; 0: all (default: by --effort)",
    )
    refine: int | None = option(
        default=None,
        kind=whole(0),
        metavar="N",
        label="Refinement rounds",
        help="number of refinement rounds (default: by --effort)",
    )
    cutoff: float | None = option(
        default=None,
        kind=number(1e-4, 0.5),
        metavar="P",
        label="Posterior cutoff",
        help="drop posteriors below this value (default: by --effort)",
    )
    keep: float | None = option(
        default=None,
        kind=number(0, 1),
        metavar="F",
        label="Fraction kept",
        help="keep this fraction of the elements of each posterior matrix, instead of applying --cutoff; 0: apply "
        "--cutoff (default: by --effort)",
    )
    seed: int | None = option(
        default=None,
        kind=whole(0),
        metavar="N",
        label="Random seed",
        help="seed of the random choices of refinement (default: 0)",
    )

    drop_foreign: bool = option(
        default=False,
        is_common=True,
        label="Leave out members that do not belong",
        help="leave out members that do not seem to belong to the family; a warning names them in either case",
    )

    no_anchors: bool = option(
        default=False,
        label="Align without anchors",
        help="align whole sequences, even if the family is so similar that it can be cut at certain columns; "
        "with --add, compare whole rows",
    )

    def for_family(self, n_sequences: int = 0) -> MsaOptions:
        """Return the checked options for a family of `n_sequences`, by `options_of`."""
        return options_of(n_sequences=n_sequences, **self.shared_with(ConsistencyOptions))


class TurningOption(Options, group="input"):
    """Treatment of sequences from the opposite strand."""

    strand: StrandName = option(
        default="plus",
        choices=STRANDS,
        is_common=True,
        help="adjust: reverse-complement the nucleotide sequences that are on the opposite strand of most of the "
        "family, and note it in their descriptions (default: plus)",
    )


class RowOrderOption(Options, group="results"):
    """Order of the rows."""

    row_order: RowOrder = option(
        default="input",
        choices=ORDERS,
        is_common=True,
        help="order of the rows: as in the input (default), or by the guide tree",
    )


class KeepLengthOption(Options, group="into an alignment"):
    """Fixed width of an extended alignment."""

    keep_length: bool = option(
        default=False,
        help="keep the columns as they are: residues of the added sequences that fit no column are left out",
    )


class MsaOptions(ConsistencyOptions):
    """Checked options of an alignment; create them with `options_of`, which applies the effort's defaults."""

    effort: EffortName = but(ConsistencyOptions, "effort", default="default")
    rules: RulesName = but(ConsistencyOptions, "rules", default=_DEFAULT["rules"])
    consistency: int = but(ConsistencyOptions, "consistency", default=_DEFAULT["consistency"])
    through: int = but(ConsistencyOptions, "through", default=_DEFAULT["through"])
    refine: int = but(ConsistencyOptions, "refine", default=_DEFAULT["refine"])
    cutoff: float = but(ConsistencyOptions, "cutoff", default=_DEFAULT["cutoff"])
    keep: float = but(ConsistencyOptions, "keep", default=_DEFAULT["keep"])
    seed: int = but(ConsistencyOptions, "seed", default=0)
    drop_foreign: bool = but(ConsistencyOptions, "drop_foreign", default=False)
    no_anchors: bool = but(ConsistencyOptions, "no_anchors", default=False)

    def settle(self) -> None:
        """Check the values and convert numbers to int or float."""
        self.check_choices()
        for name, most in MOST.items():
            self.set(name, whole_number(name, getattr(self, name), 0, most))
        for name, low, high in (("cutoff", 1e-4, 0.5), ("keep", 0.0, 1.0)):
            self.set(name, _fraction(name, getattr(self, name), low, high))

    @property
    def votes(self) -> bool:
        """True if alignments by several models vote (pipeline.py)."""
        return self.effort == "accurate" and self.rules == "tropalign"

    @property
    def judges_members(self) -> bool:
        """True if members that do not belong are detected (family.py)."""
        return self.effort != "fast" and self.rules == "tropalign"

    def parameters(self) -> dict[str, str]:
        """Return all options as text by name, for headers and manifests."""
        return {name: str(value) for name, value in self.values().items()}


def _fraction(name: str, value: Any, least: float, most: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise UsageError(f"{named(name)} {value!r} is not a number from {least:g} to {most:g}")
    return float(value)


def options_of(effort: EffortName | None = None, n_sequences: int = 0, **given: Any) -> MsaOptions:
    """Return checked options: the given ones, and for those that are None the defaults of the effort.

    Without an effort, families of more than MOST_SEQUENCES sequences use effort fast, with a warning.
    """
    if effort is None:
        effort = "fast" if n_sequences > MOST_SEQUENCES else "default"
        if effort == "fast":
            text = (
                f"{n_sequences:,} sequences are aligned with effort fast: effort default is more accurate, but takes "
                "longer"
            )
            warnings.warn(text, TropalignWarning, stacklevel=2)
    if not isinstance(effort, str) or effort not in EFFORTS:
        raise UsageError(f"{named('effort')} {effort!r} is not one of {', '.join(EFFORTS)}")
    known = set(MsaOptions.declared())
    if unknown := set(given) - known:
        raise UsageError(f"unknown option {', '.join(sorted(unknown))}: the options are {', '.join(sorted(known))}")
    of_many = OF_MANY if n_sequences > MANY_SEQUENCES else {}
    chosen = {name: value for name, value in given.items() if value is not None}
    return MsaOptions(**{"effort": effort, **EFFORTS[effort], **of_many, **chosen})


#: Homologs per member: the default maximum, and a limit above any family's.
PER_MEMBER, MOST_PER_MEMBER = 20, 10_000
#: Default maximum E-value of a homolog.
EVALUE = 1e-3


class HomologOptions(Options, group="homologs"):
    """Selection of the homologs that take part in an alignment."""

    max_homologs: int | None = option(
        default=None,
        kind=whole(1),
        metavar="N",
        label="Homologs of a member",
        help=f"maximum number of homologs per member (default: {PER_MEMBER})",
    )
    homolog_evalue: float | None = option(
        default=None,
        kind=E_VALUE,
        metavar="E",
        label="E-value of a homolog",
        help=f"maximum E-value of a homolog, in the search with the member most similar to it (default: {EVALUE:g})",
    )
    keep_homologs: bool = option(
        default=False,
        label="Keep homologs",
        help="keep homologs as rows below the family",
    )

    @property
    def most_per_member(self) -> int:
        """Maximum number of homologs per member."""
        given = self.max_homologs
        return PER_MEMBER if given is None else whole_number("max_homologs", given, 1, MOST_PER_MEMBER)

    @property
    def most_evalue(self) -> float:
        """Maximum E-value of a homolog."""
        given = EVALUE if self.homolog_evalue is None else self.homolog_evalue
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
            raise UsageError(f"{named('homolog_evalue')} {given!r} is not a number above 0")
        return float(given)
