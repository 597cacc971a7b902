"""What clusters take at the most: the alignment of every pair, from a second of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tropalign.clusters.linkage import check_memory
from tropalign.clusters.options import ClusterOptions
from tropalign.clusters.processing_order import processing_order
from tropalign.execution.forecast import forecast
from tropalign.execution.task import Device
from tropalign.pairwise.task import PairsTask
from tropalign.sequences import SequenceBatch
from tropalign.sequences.counts import counts_of


@dataclass(frozen=True)
class _Alignments:
    """The alignment of all pairs as what is foretold; results are measured, and nothing is written."""

    task: PairsTask

    def encoded(self, result: Any) -> list[bytes]:
        return []


def most_work(
    batch: SequenceBatch, options: ClusterOptions, devices: Sequence[Device], memory_bytes: int
) -> tuple[int, int, float | None]:
    """The most that clustering a set may take.

    Each pair is aligned once at the most, and each member once more with its representative for the output; pairs that
    cannot be similar enough are spared, how many is not known beforehand.

    Returns
    -------
    n_pairs, n_cells : int
    seconds : float or None
        None where no piece of the work was small enough to be tried.

    Raises
    ------
    TropalignError
        What is wrong with the set, as when it is clustered.
    """
    options.pairs.matrix.check(batch)
    options.pairs.check_range(int(batch.lengths.max()))
    processing_order(batch, counts_of(batch.names), options.order)
    if len(batch) == 1:
        return 0, 0, 0.0
    if options.method != "greedy":
        check_memory(len(batch), options.method, memory_bytes // 2)
    task = PairsTask(batch, None, options.pairs, None, memory_bytes // 2)
    found = forecast(_Alignments(task), devices[-1])  # the processor is the last where there are several
    n_strands = 2 if options.pairs.strand == "both" else 1
    n_cells = task.n_cells + int(batch.lengths.sum()) * int(batch.lengths.max())
    seconds = None if found.seconds is None else found.seconds * n_cells / task.n_cells
    return task.n_pairs + len(batch) - 1, n_strands * n_cells, seconds
