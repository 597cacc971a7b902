"""Options for cutting sequences by a hidden Markov model, and for keeping segments."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, get_args

from tropalign.errors import UsageError, named
from tropalign.options.option import FRACTION, TEXT, Options, argument, option, whole
from tropalign.resources.limits import decimal_number, whole_number

Way = Literal["viterbi", "posterior"]
#: Ways to choose the label of a position: that of the best path's state, or the one with the highest posterior.
WAYS = get_args(Way)
PartName = Literal["start", "transition", "emission"]
#: Parts of a model.
PARTS = get_args(PartName)


class CutOptions(Options, group="segments"):
    """Choice of the labels of positions."""

    by: Way = option(
        default="viterbi",
        choices=WAYS,
        label="Segments by",
        is_common=True,
        help="label of a position: that of the most probable path (default), or the one with the highest posterior",
    )


class LengthOptions(Options, group="segments"):
    """Limits for segments that are kept."""

    min_length: int = option(
        default=1,
        kind=whole(0),
        metavar="N",
        label="Minimum length",
        is_common=True,
        help="minimum number of positions of a segment (default: 1)",
    )
    min_support: float = option(
        default=0.0,
        kind=FRACTION,
        metavar="P",
        label="Minimum support",
        is_common=True,
        help="minimum mean posterior of a segment, from 0 to 1 (default: 0)",
    )


class LabelOption(Options, group="segments"):
    """Labels that are kept, on the command line."""

    label: list[str] | None = option(
        default=None,
        kind=TEXT,
        many="append",
        metavar="LABEL",
        label="Labels",
        help="write segments with this label; may be repeated (default: the labels that the model reports)",
    )


class SegmentOptions(CutOptions, LabelOption, LengthOptions):
    """Segmentation options of the command line."""


class DecodeOptions(CutOptions, LengthOptions):
    """Checked options for cutting sequences and keeping segments.

    `labels`: labels that are kept; empty for those that the model reports.
    """

    labels: Collection[str] = argument(
        default=(), kw_only=True, doc="Labels to keep; empty for those that the model reports."
    )

    def settle(self) -> None:
        """Check the values."""
        self.check_choices()
        whole_number("min_length", self.min_length, 0)
        if not isinstance(self.labels, Collection):
            raise UsageError(f"labels must be a list of strings, not {type(self.labels).__name__}")
        if not 0 <= decimal_number("min_support", self.min_support) <= 1:
            raise UsageError(f"{named('min_support')} {self.min_support!r} is not a number from 0 to 1")
