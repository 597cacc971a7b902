"""Identical residues of all pairs, for CLUSTALW's distances, from the engine of `tropalign pairs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.clustalw.pair_scoring import PairScoring
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Progress
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask, least_bytes
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences.batch import SequenceBatch

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

#: Most and fewest pairs per task (memory decides), and bytes per pair: its indices, sorted and ordered.
MOST_TASK_PAIRS, LEAST_TASK_PAIRS, TASK_PAIR_BYTES = 200_000, 4_000, 160
#: Share of the remaining memory for the pairs of a task.
TASK_SHARE = 0.25


def row_begins(n: int) -> NDArray[np.int64]:
    """Return the row offsets of a condensed table: the pair i < j of n is at index ``row_begins(n)[i] + j``."""
    i = np.arange(n, dtype=np.int64)
    return i * n - i * (i + 1) // 2 - i - 1


def engine_bytes(batch: SequenceBatch) -> int:
    """Return the minimum memory of `aligned_identities` in bytes, excluding its result."""
    n_pairs = len(batch) * (len(batch) - 1) // 2
    return least_bytes([batch]) + min(n_pairs, LEAST_TASK_PAIRS) * TASK_PAIR_BYTES


def aligned_identities(
    batch: SequenceBatch,
    scoring: PairScoring,
    matrix_name: str,
    devices: Sequence[Device],
    *,
    memory_bytes: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int32]:
    """Count the identical columns of the best local alignment of each pair.

    int32, shape (n (n - 1) / 2,), in the order (0, 1), (0, 2), ..., (1, 2), ... `scoring` uses the codes of the
    batch's alphabet; `memory_bytes` excludes the result. Pairs with equal gap costs are aligned together.
    """
    n = len(batch)
    found = np.empty(n * (n - 1) // 2, np.int32)
    begins = row_begins(n)
    matrix = SubstitutionMatrix(matrix_name, batch.alphabet, scoring.scores, batch.alphabet.letters)
    most = MOST_TASK_PAIRS
    if memory_bytes is not None:
        spare = memory_bytes - least_bytes([batch])
        most = max(LEAST_TASK_PAIRS, min(most, int(spare * TASK_SHARE) // TASK_PAIR_BYTES))
        memory_bytes -= min(most, len(found)) * TASK_PAIR_BYTES

    def tasks() -> Iterator[PairsTask]:
        for cost, pairs in pairs_by_cost(scoring.gap_open[batch.lengths], most):
            options = PairOptions(matrix, Gap(cost, scoring.gap_extend))
            yield PairsTask(batch, None, options, pairs, memory_bytes)

    for _, _, (query, target, identical) in Scheduler(devices, progress).run(tasks(), finish=_identical):
        found[begins[query] + target] = identical
    return found


def _identical(table: AlignmentTable) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int32]]:
    """Return the columns of a table that are kept, which is all that remote workers send."""
    return table.query_index, table.target_index, table.n_identical


def pairs_by_cost(cost: NDArray[np.int32], most: int = MOST_TASK_PAIRS) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield all pairs i < j grouped by cost, about `most` at a time; a pair's cost is the lower one of both sequences.

    (cost, pairs): pairs are int64, shape (n_pairs, 2).
    """
    for value in distinct(cost):
        own, others = np.flatnonzero(cost == value), np.flatnonzero(cost > value)
        for rows in np.array_split(own, max(1, len(own) * (len(own) + len(others)) // most)):
            parts = [np.stack(np.broadcast_arrays(rows[:, None], others), axis=-1).reshape(-1, 2)]
            parts += [np.stack(np.broadcast_arrays(i, own[own > i]), axis=-1).reshape(-1, 2) for i in rows]
            pairs = np.sort(np.concatenate(parts), axis=1)
            if len(pairs):
                yield int(value), pairs
