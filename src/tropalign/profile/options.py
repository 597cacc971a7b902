"""Options of a search that decide what is computed: filters and random numbers."""

from __future__ import annotations

import math
from typing import Any, Literal

from tropalign.errors import UsageError, named
from tropalign.machine.numbers import whole_number
from tropalign.options.kinds import P_VALUE, whole
from tropalign.options.option import Options, argument, option
from tropalign.results.threshold_options import Thresholds

#: Contents of a file of queries; "auto" is judged by content.
QueryKind = Literal["auto", "models", "alignment", "sequences"]
#: Kind of queries that are alignments or sequences; "auto": proteins, unless all letters are nucleotides'.
QueryAlphabet = Literal["auto", "protein"]

#: Seeds have 32 bits.
MOST_SEED = (1 << 32) - 1


class ForeignOption(Options):
    """Treatment of nucleotide models."""

    skip_foreign: bool = option(
        default=False,
        label="Leave models of nucleotides out",
        help="leave models of nucleotides out, and count them in a warning",
        doc="Leaves models of nucleotides out, and counts them in a warning, instead of raising.",
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
        help="P-value up to which MSV passes (default: 0.02)",
    )
    f2: float = option(
        default=1e-3,
        kw_only=False,
        flags=("--F2",),
        kind=P_VALUE,
        metavar="P",
        label="Viterbi filter",
        help="P-value up to which Viterbi passes (default: 0.001)",
    )
    f3: float = option(
        default=1e-5,
        kw_only=False,
        flags=("--F3",),
        kind=P_VALUE,
        metavar="P",
        label="Forward filter",
        help="P-value up to which Forward passes (default: 0.00001)",
    )
    bias_filter: bool = argument(default=True, kw_only=False)
    null2: bool = argument(default=True, kw_only=False)
    seed: int = option(
        default=42,
        kw_only=False,
        kind=whole(0, MOST_SEED),
        metavar="N",
        label="Random seed",
        help="seed of the random numbers that tell apart overlapping domains (default: 42; 0: others in each run)",
    )

    def settle(self) -> None:
        """Check the values and convert numbers to float or int."""
        for name in ("f1", "f2", "f3"):
            self.set(name, _p_value(name, getattr(self, name)))
        for name in ("bias_filter", "null2"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} {getattr(self, name)!r} is neither True nor False")
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


def _p_value(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{named(name)} {value!r} is not a number") from None
    if math.isnan(number) or number < 0:
        raise UsageError(
            f"{named(name)} {number:g} is out of range: give a P-value, from 0 (none passes) to 1 (all pass)"
        )
    return number


__all__ = ["SearchOptions", "Thresholds"]
