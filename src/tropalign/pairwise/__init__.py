"""Exact pairwise alignment: every pair of a set, a set against another, or a list of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.pairwise.api import align as align
    from tropalign.pairwise.api import align_all as align_all
    from tropalign.pairwise.api import align_many as align_many
    from tropalign.pairwise.options import FREE_ENDS as FREE_ENDS
    from tropalign.pairwise.options import MODES as MODES
    from tropalign.pairwise.options import REPORTS as REPORTS
    from tropalign.pairwise.options import STRANDS as STRANDS
    from tropalign.pairwise.options import PairOptions as PairOptions
    from tropalign.pairwise.task import PairsTask as PairsTask

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "api": "align align_all align_many",
        "options": "FREE_ENDS MODES REPORTS STRANDS PairOptions",
        "task": "PairsTask",
    },
)
