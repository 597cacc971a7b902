"""Exact pairwise alignment: every pair of a set, a set against another, or a list of pairs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tropalign.pairwise.options import FREE_ENDS, MODES, REPORTS, STRANDS, PairOptions

if TYPE_CHECKING:
    from tropalign.pairwise.api import align, align_all, align_many
    from tropalign.pairwise.task import PairsTask

_HOMES = {"align": "api", "align_all": "api", "align_many": "api", "PairsTask": "task"}

__all__ = ["FREE_ENDS", "MODES", "REPORTS", "STRANDS", "PairOptions", "PairsTask", "align", "align_all", "align_many"]


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use: the command line reads `MODES` without loading NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.pairwise' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.pairwise.{_HOMES[name]}"), name)
