"""A family, and how it is aligned: the input of the pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tropalign.msa.guide_tree import GuideTree
    from tropalign.msa.models import PairModel
    from tropalign.msa.options import MsaOptions
    from tropalign.sequences.batch import SequenceBatch


@dataclass(frozen=True)
class FamilyInput:
    """A family, and how it is aligned.

    `order`: "input" or "tree", of the rows. `model`: pair model, by default that of the rules. `n_shards`: number
    of parts in which the posteriors are computed. `n_homologs`: how many sequences at the end are homologs of the
    family, which help to align it; `keeps_homologs` keeps them as rows of the result. `is_calibrated`: the confidence
    is that of aligned pieces, which is calibrated already.
    """

    batch: SequenceBatch
    options: MsaOptions
    tree: GuideTree | None = None
    order: str = "input"
    wants_confidence: bool = True
    model: PairModel | None = None
    n_shards: int = 1
    n_homologs: int = 0
    keeps_homologs: bool = False
    is_calibrated: bool = False
