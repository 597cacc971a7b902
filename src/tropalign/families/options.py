"""Options of alignments that homologs help. Like all option modules, it does not import NumPy."""

from __future__ import annotations

import math

from tropalign.errors import UsageError, named
from tropalign.machine.numbers import whole_number
from tropalign.options.kinds import E_VALUE, whole
from tropalign.options.option import Options, option

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
        help=f"homologs of a member at most (default: {PER_MEMBER})",
        doc=f"Homologs of a member at most; {PER_MEMBER} when not given.",
    )
    homolog_evalue: float | None = option(
        default=None,
        kind=E_VALUE,
        metavar="E",
        label="E-value of a homolog",
        help=f"E-value of a homolog at most (default: {EVALUE:g})",
        doc=f"E-value of a homolog at most, in the search with the member that it is most like; {EVALUE:g} when not "
        "given.",
    )
    keep_homologs: bool = option(
        default=False,
        label="Keep homologs",
        help="write homologs, too, below the family",
        doc="Homologs are rows of the result, too, below the family.",
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
