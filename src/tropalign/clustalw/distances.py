"""Pairwise distances of a family, from which CLUSTALW's guide tree is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.clustalw.matrices import LETTERS, PairScoring, clustalw_codes, compat_scoring, pair_scoring
from tropalign.clustalw.options import ClustalwOptions
from tropalign.devices.registry import CpuDevice
from tropalign.errors import named
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Progress
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.plan import least_bytes
from tropalign.pairwise.task import PairsTask
from tropalign.resources.limits import require
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences.batch import SequenceBatch

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

#: Codes of nucleotides in k-mers, by code of `LETTERS`: A, C, G, T and U (as T) are 0 to 3, others 4. Proteins
#: keep their codes.
WORD_CODES = np.full(len(LETTERS), 4, np.uint8)
WORD_CODES[[LETTERS.index(letter) for letter in "ACGTU"]] = 0, 1, 2, 3, 3
#: Alphabet sizes of k-mers: proteins, nucleotides.
WORD_LETTERS = (len(LETTERS), 4)
#: Bytes per pair: the distance and its intermediate values.
PAIR_BYTES = 20


def pair_distances(
    batch: SequenceBatch,
    options: ClustalwOptions,
    *,
    n_threads: int = 1,
    memory_bytes: int | None = None,
    devices: Sequence[Device] = (),
    progress: Callable[[float], object] | None = None,
) -> NDArray[np.float64]:
    """Return the distances of all pairs: the share of the shorter sequence that is not identical, 0 to 1.

    float64, shape (n (n - 1) / 2,), in the order (0, 1), (0, 2), ..., (1, 2), ... From local alignments (Thompson,
    Higgins and Gibson 1994), or with ``options.quicktree`` from common k-mers (Wilbur and Lipman 1983).
    """
    n = len(batch)
    n_pairs = n * (n - 1) // 2
    if memory_bytes is not None:
        remedy = f"allow more with {named('memory_bytes')}, or align clusters of the sequences separately"
        needed = PAIR_BYTES * n_pairs + (0 if options.quicktree or options.is_compat else engine_bytes(batch))
        require(needed, memory_bytes, f"a distance table of {n:,} sequences", remedy)
    is_nucleotide = batch.alphabet.name == "nucleotide"
    if options.quicktree:  # 1 - residues of the best chain of k-mers per residue of the shorter sequence
        codes, rules = clustalw_codes(batch), (WORD_LETTERS[is_nucleotide], *options.words(is_nucleotide))
        if is_nucleotide:
            codes = WORD_CODES[codes]

        def report_rows(n_begun: int) -> None:
            left = n - n_begun  # later rows have fewer pairs
            if progress is not None:
                progress(1 - left * (left - 1) / (n * (n - 1)))

        count = _native.clustalw_word_scores_compat if options.is_compat else _native.clustalw_word_scores
        scores = count(codes, batch.offsets, *rules, n_threads, None if progress is None else report_rows)
        return (100.0 - _per_residue(scores.astype(np.float64), batch.lengths) * 100.0) / 100.0

    def told(n_begun: int) -> None:
        if progress is not None:
            progress(n_begun / n_pairs)

    watch = None if progress is None else told
    if options.is_compat:  # CLUSTALW rounds to percent and float32
        scoring = compat_scoring(options, is_nucleotide, int(batch.lengths.max()))
        costs = scoring.gap_open, scoring.gap_extend
        codes = clustalw_codes(batch)
        identities = _native.clustalw_identities(codes, batch.offsets, scoring.scores, *costs, n_threads, watch)
        percent = _per_residue(np.float32(100) * identities.astype(np.float32), batch.lengths)
        return ((np.float32(100) - percent) / np.float32(100)).astype(np.float64)
    name, scoring = pair_scoring(options, batch.alphabet, int(batch.lengths.max()))
    devices = devices or [CpuDevice(n_threads)]
    left = None if memory_bytes is None else memory_bytes - PAIR_BYTES * n_pairs
    identities = aligned_identities(batch, scoring, name, devices, memory_bytes=left, progress=watch)
    distances: NDArray[np.float64] = _per_residue(identities.astype(np.float64), batch.lengths)
    np.subtract(1.0, distances, out=distances)
    return distances


def _per_residue(values: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Divide the values of all pairs in place by the length of the shorter sequence."""
    begin = 0
    for i in range(len(lengths) - 1):
        row = values[begin : begin + len(lengths) - 1 - i]
        row /= np.minimum(lengths[i], lengths[i + 1 :]).astype(values.dtype)
        begin += len(row)
    return values


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
    """Select the columns that remote workers send."""
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
