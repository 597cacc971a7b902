"""Exact pairwise alignment: every pair of a set, a set against another, or a list of pairs."""

from tropalign.pairwise.api import align, align_all
from tropalign.pairwise.options import FREE_ENDS, PairOptions
from tropalign.pairwise.task import PairsTask

__all__ = ["FREE_ENDS", "PairOptions", "PairsTask", "align", "align_all"]
