"""Options of alignments that homologs help. It imports no NumPy, as all options."""

from __future__ import annotations

import math

from tropalign.errors import UsageError, named
from tropalign.machine.numbers import whole_number
from tropalign.options.kinds import E_VALUE, whole
from tropalign.options.option import Options, option

#: Homologs of a member at most, where nothing is said; and more than any family has.
PER_MEMBER, MOST_PER_MEMBER = 20, 10_000
#: E-value of a homolog at most, where nothing is said.
EVALUE = 1e-3


class HomologOptions(Options, group="homologs"):
    """Which relatives of a family's members take part in its alignment."""

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
        """Homologs of a member at most. Raises UsageError."""
        given = self.max_homologs
        return PER_MEMBER if given is None else whole_number("max_homologs", given, 1, MOST_PER_MEMBER)

    @property
    def most_evalue(self) -> float:
        """E-value of a homolog at most. Raises UsageError."""
        given = EVALUE if self.homolog_evalue is None else self.homolog_evalue
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
            raise UsageError(f"{named('homolog_evalue')} {given!r} is not a number above 0")
        return float(given)
