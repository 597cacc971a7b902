"""Pairs that are each other's best: found by scores, before any of them is aligned.

                 t0   t1   t2     best of the query
q0               50   80   80     t1, t2
q1               90   85   30     t0
best of target   q1   q1   q0     each other's best: q0 with t2, q1 with t0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.scheduler import Scheduler
from tropalign.pairwise.options import SHARES
from tropalign.results import nucleotides

if TYPE_CHECKING:
    from tropalign.execution.task import Device, Progress
    from tropalign.pairwise.options import PairOptions, ReportName
    from tropalign.pairwise.task import PairsTask
    from tropalign.results.alignments import AlignmentTable

Index = NDArray[np.int64]


def first_options(options: PairOptions) -> PairOptions:
    """Return options for the comparison: the best alignment of each passing pair, no deeper than necessary."""
    is_whole = any(getattr(options, name) is not None for name in SHARES)
    report: ReportName = "alignment" if is_whole else "score"
    alone: dict[str, Any] = {"max_hsps": 1, "sum_statistics": False, "max_intron": None, "culling": None}
    alone["top_first"] = False
    return replace(options, report=report, top=None, max_evalue=options.sought_evalue, reciprocal=False, **alone)


def reciprocal_pairs(task: PairsTask, devices: Sequence[Device], progress: Progress | None = None) -> Index:
    """Return the pairs of a task that score at least as high as all others of their query and of their target.

    `task` has `first_options`. The result is int64, shape (n, 2): ascending indices of the original queries and
    targets; all ties are included.
    """
    given = (task.queries, task.targets) if task.frames is None else task.frames.given(task.queries, task.targets)
    found = _Best(len(given[0]), None if task.targets is task.queries else len(given[1]), task.options.is_local)
    for result in Scheduler(devices, progress).run([task]):
        found.add(result.value)
    return found.pairs()


class _Best:
    """The best score of each sequence so far, and the pairs that have it on both sides.

    In a single set (`n_targets` is None), a sequence has one best score, whether it is query or target.
    """

    def __init__(self, n_queries: int, n_targets: int | None, is_local: bool) -> None:
        self._of_query = np.full(n_queries, -np.inf)
        self._of_target = self._of_query if n_targets is None else np.full(n_targets, -np.inf)
        self._is_local = is_local
        self._query, self._target, self._score = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)

    def add(self, table: AlignmentTable) -> None:
        """Add pairs. Local scores of 0 mean that there is no alignment."""
        query, target = (nucleotides.given(table, side)[1] for side in ("query", "target"))
        score = np.asarray(table.score if table.corrected_score is None else table.corrected_score, np.float64)
        if self._is_local:
            is_one = score > 0
            query, target, score = query[is_one], target[is_one], score[is_one]
        np.maximum.at(self._of_query, query, score)
        np.maximum.at(self._of_target, target, score)
        query, target = np.concatenate([self._query, query]), np.concatenate([self._target, target])
        score = np.concatenate([self._score, score])
        is_best = (score == self._of_query[query]) & (score == self._of_target[target])
        self._query, self._target, self._score = query[is_best], target[is_best], score[is_best]

    def pairs(self) -> Index:
        """Return the pairs, sorted by query, then by target."""
        return np.unique(np.stack([self._query, self._target], 1), axis=0)
