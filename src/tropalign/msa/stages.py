"""Costs of the stages of a multiple alignment, for its progress; and `Checkpoint`, the interface of stored stages."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.progress import StageProgress
from tropalign.execution.task import Progress
from tropalign.msa.options import MsaOptions

#: Costs in cells of stage I (measured): per pair, third sequence and residue of a consistency pass; per pair and
#: residue of all profiles; per cell of two profiles.
THIRD_CELLS, PROFILE_CELLS, COLUMN_CELLS = 6.0, 12.0, 1.0
#: Costs of effort fast: per cell of each sequence with itself; and per cell of all pairs, for common
#: subsequences.
GROUP_CELLS, KINSHIP_CELLS = 28.0, 0.001
#: Costs of a refinement round, and of the confidence, in progressive alignments.
ROUND_SHARE, CONFIDENCE_SHARE = 0.07, 1.5
#: Number of models that vote with the first one for effort accurate (pipeline.py), for proteins.
N_OTHERS = 2


def stage_costs(lengths: NDArray[np.int64], options: MsaOptions) -> dict[str, float]:
    """Return the expected cost of each stage in cells of stage I; consistency includes all passes."""
    n, mean = len(lengths), float(lengths.mean())
    total, squares = float(lengths.sum()), float((lengths.astype(np.float64) ** 2).sum())
    pairs = n * (n - 1) / 2
    profiles = PROFILE_CELLS * pairs * mean
    costs = {
        "posteriors": (total * total - squares) / 2,
        "tree": COLUMN_CELLS * n * n,
        "consistency": options.consistency * THIRD_CELLS * pairs * min(n, options.through or n) * mean,
        "alignment": profiles + COLUMN_CELLS * (n - 1) * mean * mean,
        "refinement": options.refine * (ROUND_SHARE * profiles + COLUMN_CELLS * mean * mean),
    }
    if options.votes:
        costs["other models"] = N_OTHERS * sum(costs.values())
    return {**costs, "confidence": CONFIDENCE_SHARE * profiles}


def work_cells(lengths: NDArray[np.int64], options: MsaOptions) -> float:
    """Return the expected total cost of a family, in cells of stage I."""
    if options.effort == "fast":
        squares = float((lengths.astype(np.float64) ** 2).sum())
        return GROUP_CELLS * squares + KINSHIP_CELLS * float(lengths.sum()) ** 2 / 2
    return sum(stage_costs(lengths, options).values())


class Meter:
    """Conversion of the items of stages to the share of all work done.

    `costs`: by stage, in order; a stage that is entered several times (passes) has equal parts of its cost.
    """

    def __init__(self, costs: dict[str, float], progress: StageProgress | None) -> None:
        self._costs, self._progress = costs, progress
        self._total = max(sum(costs.values()), 1.0)
        self._entered: dict[str, int] = {}

    def stage(self, name: str, n_items: int, times: int = 1) -> Progress | None:
        """Enter a stage, which is entered `times` times in total; return the callback for its items started."""
        if self._progress is None:
            return None
        progress, number = self._progress, self._entered.get(name, 0)
        self._entered[name] = number + 1
        before = sum(cost for other, cost in self._costs.items() if list(self._costs).index(other) < self._place(name))
        share = self._costs[name] / times
        title = name if times == 1 else f"{name} {number + 1}/{times}"

        def begun(items: int) -> None:
            progress(title, min(1.0, (before + share * (number + items / max(n_items, 1))) / self._total))

        begun(0)
        return begun

    def _place(self, name: str) -> int:
        return list(self._costs).index(name)


#: Sections per part.
N_SECTIONS = 4


class Checkpoint(Protocol):
    """Stages stored by earlier runs and by this one; parts of a stage are numbered from 0."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return the sections of a part, or None if it is not stored."""

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Store a part."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """True if all parts of a stage are stored."""

    def forget(self, stage: int) -> None:
        """Delete the parts of a stage that no later stage needs."""

    def of_model(self, number: int) -> Checkpoint:
        """Return the storage for the same family under another pair model, numbered from 1."""


class NoCheckpoint:
    """No storage, for runs that cannot be resumed or finish in a moment."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return None."""
        return None

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Store nothing."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """Return False."""
        return False

    def forget(self, stage: int) -> None:
        """Delete nothing."""

    def of_model(self, number: int) -> Checkpoint:
        """Return no storage."""
        return NoCheckpoint()
