"""Thresholds of a search, with HMMER's names, and tables of thresholds per model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from tropalign.errors import InputError, UsageError, counted, named
from tropalign.options.option import BITS, E_VALUE, Options, argument, number, option

#: Kinds of a model's own thresholds, by attribute name.
BIT_CUTOFFS = ("gathering", "noise", "trusted")
#: With this suffix, models without thresholds of the kind are judged by the other limits.
IF_ANY = "-if-any"
Cutoffs = Literal[
    "gathering", "noise", "trusted", "gathering-if-any", "noise-if-any", "trusted-if-any"
]  # fmt: skip
#: Range of the number of searched targets or models.
SEARCHED = number(1e-9, 1e18)


#: Largest score in bits.
MOST_BITS = 1e9


class Thresholds(Options):
    """Thresholds of reporting and inclusion, with HMMER's names.

    Parameters
    ----------
    E, T
        Report hits with an E-value of at most E, or instead with a score of at least T bits.
    domE, domT
        The same limits for domains of reported hits.
    incE, incT, incdomE, incdomT
        Limits of inclusion: included hits count as significant, are aligned and start the next iteration.
    bit_cutoffs : {"gathering", "noise", "trusted"}, one of these with "-if-any", or None
        Instead of all these limits, the thresholds of each model (GA, NC, TC). With "-if-any", these limits apply to
        models without such thresholds, and hits are sorted by P-value.
    Z, domZ
        Size of the search space; by default the number of targets, and the number of reported targets.
    per_model : mapping of str to a pair of float, or None
        Thresholds of some models, by name or accession (with or without its version): the score of a hit, and that of
        a domain, in bits. They precede all other limits.

    Raises
    ------
    UsageError
        A value that is not a number, an E-value or a Z that is not above 0, or unknown cutoffs.

    Examples
    --------
    >>> tropalign.Thresholds(E=1e-3).incE
    0.01
    >>> thresholds = tropalign.Thresholds(per_model={"EFP": (250, 200)})
    >>> len(tropalign.search("examples/efp.hmm", "examples/efp.fasta", thresholds=thresholds))
    22
    """

    E: float = option(
        default=10.0,
        kw_only=False,
        flags=("-E",),
        kind=E_VALUE,
        metavar="X",
        label="Maximum E-value of a hit",
        is_common=True,
        help="report hits with at most this E-value (default: 10)",
    )
    T: float | None = option(
        default=None,
        kw_only=False,
        flags=("-T",),
        kind=BITS,
        metavar="S",
        label="Minimum score of a hit",
        help="report hits with at least this score in bits, instead of by E-value",
    )
    domE: float = option(
        default=10.0,
        kw_only=False,
        kind=E_VALUE,
        metavar="X",
        label="Maximum E-value of a domain",
        is_common=True,
        help="report domains with at most this E-value (default: 10)",
    )
    domT: float | None = option(
        default=None,
        kw_only=False,
        kind=BITS,
        metavar="S",
        label="Minimum score of a domain",
        help="report domains with at least this score in bits, instead of by E-value",
    )
    incE: float = option(
        default=0.01,
        kw_only=False,
        kind=E_VALUE,
        metavar="X",
        label="Significant E-value of a hit",
        help="include hits with at most this E-value (default: 0.01)",
    )
    incT: float | None = option(
        default=None,
        kw_only=False,
        kind=BITS,
        metavar="S",
        label="Significant score of a hit",
        help="include hits with at least this score in bits, instead of by E-value",
    )
    incdomE: float = option(
        default=0.01,
        kw_only=False,
        kind=E_VALUE,
        metavar="X",
        label="Significant E-value of a domain",
        help="include domains with at most this E-value (default: 0.01)",
    )
    incdomT: float | None = option(
        default=None,
        kw_only=False,
        kind=BITS,
        metavar="S",
        label="Significant score of a domain",
        help="include domains with at least this score in bits, instead of by E-value",
    )
    bit_cutoffs: Cutoffs | None = argument(default=None, kw_only=False)
    per_model: Mapping[str, tuple[float, float]] | None = argument(default=None, kw_only=True)
    Z: float | None = option(
        default=None,
        kw_only=False,
        flags=("-Z",),
        kind=SEARCHED,
        metavar="N",
        label="Number of targets",
        help="number of targets for E-values, or of models in scan (default: the actual number)",
    )
    domZ: float | None = option(
        default=None,
        kw_only=False,
        kind=SEARCHED,
        metavar="N",
        label="Number of reported targets",
        help="number of reported targets or models, for E-values of domains (default: the actual number)",
    )

    def settle(self) -> None:
        """Check the values."""
        if self.bit_cutoffs is not None and self.bit_cutoffs not in get_args(Cutoffs):
            raise UsageError(f"bit_cutoffs {self.bit_cutoffs!r} is not one of {', '.join(get_args(Cutoffs))}")
        for name, one in self.declared().items():
            value, is_score = getattr(self, name), name.endswith("T")
            if name in ("bit_cutoffs", "per_model") or (value is None and one.default is None):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
                raise UsageError(f"{named(name)} {value!r} is not a number")
            if not is_score and value <= 0:
                raise UsageError(f"{named(name)} {value!r} is not above 0")
        if self.per_model is not None:
            self.set("per_model", _pairs(self.per_model))

    def __hash__(self) -> int:
        own = {**self.values(), "per_model": tuple((self.per_model or {}).items())}
        return hash(tuple(own.values()))

    @property
    def sorts_by_score(self) -> bool:
        """True if hits are sorted by score rather than P-value, as HMMER does if inclusion is by score."""
        return self.incT is not None or self.requires_cutoffs

    @property
    def requires_cutoffs(self) -> bool:
        """True if every model must have thresholds of the kind of `bit_cutoffs`."""
        return self.bit_cutoffs in BIT_CUTOFFS

    @property
    def is_by_model(self) -> bool:
        """True if models may have thresholds of their own."""
        return self.bit_cutoffs is not None or bool(self.per_model)


def _pairs(given: Any) -> dict[str, tuple[float, float]]:
    """Return the thresholds of models with numbers as float. Raises UsageError for anything else."""
    try:
        if any(isinstance(scores, str) for scores in dict(given).values()):
            raise TypeError
        found = {name: (float(hit), float(domain)) for name, (hit, domain) in dict(given).items()}
    except (TypeError, ValueError, OverflowError):
        raise UsageError("per_model must map names of models to two scores: of a hit, and of a domain") from None
    for name, scores in found.items():
        if not isinstance(name, str) or not name or not all(abs(score) <= MOST_BITS for score in scores):
            raise UsageError(
                f"per_model: {name!r} with {scores} is not the name of a model with two scores from -1e9 to 1e9"
            )
    return found


def keys_of(name: str, accession: str) -> tuple[str, str, str]:
    """Return the keys by which `Thresholds.per_model` may have a model, the first one preferred."""
    return name, accession, accession.partition(".")[0]


#: A larger file is not a table of thresholds.
MOST_BYTES = 1 << 28
#: Line ends; other Unicode line separators may occur in names.
_LINE_END = re.compile(r"\r\n|\r|\n")


class GivenThresholds(NamedTuple):
    """Thresholds by name or accession of a model, as in `Thresholds.per_model`, and the file and line of each."""

    per_model: dict[str, tuple[float, float]]
    places: dict[str, str]


def read_thresholds(path: str) -> GivenThresholds:
    """Read a table; empty lines and lines that start with # are ignored. Raises InputError for any other line."""
    from tropalign.sequences.files import file_name, read_text

    file = file_name(path)
    found = GivenThresholds({}, {})
    for at, line in enumerate(_LINE_END.split(read_text(path, MOST_BYTES).removeprefix("\ufeff")), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{file}, line {at}"
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 3:
            raise InputError(
                f"the line has {counted(len(cells), 'columns')}, not 3: write the name or accession of a model, the "
                "threshold of sequences and that of domains, with tabs between them",
                file=place,
            )
        name, *scores = cells
        if not name:
            raise InputError("the name is empty: write the name or accession of a model", file=place)
        if name in found.per_model:
            raise InputError(f"{name!r} occurs twice ({found.places[name]}): keep one of these lines", file=place)
        for score in scores:
            if not BITS.takes(score):
                raise InputError(
                    f"{score!r} is not a score in bits: correct it, or start a line of headings with #", file=place
                )
        found.per_model[name] = (BITS.parse(scores[0]), BITS.parse(scores[1]))
        found.places[name] = place
    if not found.places:
        raise InputError("the file holds no thresholds: write a line per model", file=file)
    return found
