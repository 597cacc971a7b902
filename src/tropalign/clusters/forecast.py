"""Forecast of the work of clustering, extrapolated from growing samples of the sequences.

sequences     32    64    128   256   ...        n
alignments    a     b     c     d    - - - - -   ?     extrapolated from sample to sample

Only clustering itself shows how many sequences become representatives and how many pairs the bounds exclude. A
random sample contains each kind in proportion to the whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tropalign.clusters.api import clustered
from tropalign.clusters.candidates import CandidateFilter
from tropalign.clusters.comparison import Comparison, Tally, processing_order, warn_of_giant
from tropalign.clusters.linkage import check_memory
from tropalign.clusters.options import ClusterOptions
from tropalign.execution.task import Device
from tropalign.machine.threads import resolve_threads
from tropalign.sequences import SequenceBatch
from tropalign.sequences.counts import counts_of

#: Size of the first sample, or less if all its pairs have more cells than FIRST_CELLS. Each further sample is twice
#: as large, until one takes SAMPLE_SECONDS.
FIRST_SAMPLE, FIRST_CELLS, SAMPLE_SECONDS = 32, 500_000_000, 0.5


@dataclass(frozen=True)
class Work:
    """Cost of clustering a sample: alignments, pairs checked by bounds, and seconds of everything else."""

    n_sequences: int
    aligned: Tally
    bounded: Tally
    seconds: float


def foretold(
    batch: SequenceBatch,
    options: ClusterOptions,
    devices: Sequence[Device],
    n_threads: int,
    memory_bytes: int,
    most_sampled: int | None = None,
) -> tuple[int, int, float]:
    """Forecast alignments (pairs and cells) and seconds of clustering a set; raises the same errors as clustering.

    devices: only the last one is tried, the CPU if there are several. most_sampled: limit of sequences to try; by
    default as many as time permits.
    """
    n = len(batch)
    warn_of_giant(batch, options)
    options.pairs.matrix.check(batch)
    options.pairs.check_range(int(batch.lengths.max()))
    processing_order(batch, counts_of(batch.names), options.order)
    if options.method != "greedy":
        check_memory(n, options.method, memory_bytes // 2)
    chance, most = np.random.default_rng(1).permutation(n), min(n, most_sampled or n)
    samples: list[Work] = []
    few = math.sqrt(2 * FIRST_CELLS) / float(batch.lengths.mean())
    size, took = min(max(2, min(FIRST_SAMPLE, int(few))), most), 0.0
    if few >= FIRST_SAMPLE:  # negligible compared with long sequences
        _work(batch[chance[:size]], options, devices, n_threads, memory_bytes)  # warm up: one-time loading
    while not samples or (size > samples[-1].n_sequences and took < SAMPLE_SECONDS):
        begin = time.perf_counter()
        samples.append(_work(batch[np.sort(chance[:size])], options, devices, n_threads, memory_bytes))
        size, took = min(2 * size, most), time.perf_counter() - begin
    grown = [
        growth([sample.n_sequences for sample in samples], values, n, options.method) for values in _counts(samples)
    ]
    pairs, cells, bounded = grown
    last = samples[-1]
    others = (n / last.n_sequences) ** (1 if options.method == "greedy" else 2)
    seconds = last.aligned.seconds * cells + last.bounded.seconds * bounded + last.seconds * others
    return round(last.aligned.n_pairs * pairs), round(last.aligned.n_cells * cells), seconds


def _work(
    batch: SequenceBatch, options: ClusterOptions, devices: Sequence[Device], n_threads: int, memory_bytes: int
) -> Work:
    """Cluster a sample and return its cost."""
    begin = time.perf_counter()
    comparison = Comparison(batch, options, devices[-1:], memory_bytes // 2)
    candidates = CandidateFilter(options, batch.alphabet, resolve_threads(n_threads))
    clustered(comparison, candidates, memory_bytes)
    others = time.perf_counter() - begin - comparison.tally.seconds - candidates.tally.seconds
    return Work(len(batch), comparison.tally, candidates.tally, others)


def _counts(samples: Sequence[Work]) -> tuple[list[int], list[int], list[int]]:
    """Return pairs and cells of alignments, and cells of pairs checked by bounds, of each sample."""
    return (
        [sample.aligned.n_pairs for sample in samples],
        [sample.aligned.n_cells for sample in samples],
        [sample.bounded.n_cells for sample in samples],
    )


def growth(sizes: Sequence[int], values: Sequence[int], n: int, method: str) -> float:
    """Return how many times the work of the last sample n sequences take.

    Linkages that keep distances compare all pairs. Greedy clustering compares each sequence with the representatives
    before it: work is linear if they are few and known, quadratic if all sequences become representatives, and
    otherwise a power in between, taken from the last two doublings. Alignments of single linkage grow in the same
    way.

    >>> from tropalign.clusters.forecast import growth
    >>> growth([32, 64, 128], [320, 640, 1280], 1024, "greedy"), growth([32, 64, 128], [100, 400, 1600], 1024, "greedy")
    (8.0, 64.0)
    """
    last = sizes[-1]
    if n == last:
        return 1.0
    if method not in ("greedy", "single"):
        return n * (n - 1) / max(last * (last - 1), 1)
    if len(sizes) == 1 or not values[-1]:
        return (n / last) ** 2
    earlier = max(-3, -len(sizes))
    power = math.log(values[-1] / max(values[earlier], 1)) / math.log(last / sizes[earlier])
    return float((n / last) ** min(max(power, 1.0), 2.0))
