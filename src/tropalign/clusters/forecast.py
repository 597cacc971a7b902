"""What clusters will take, from clusters of ever more of the sequences.

sequences     32    64    128   256   ...        n
alignments    a     b     c     d    - - - - -   ?     as they grew from sample to sample

How many sequences become representatives, and how many pairs bounds leave out, only clustering can tell. A
random sample has as many of each kind as the whole, in proportion.
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

#: Sequences of the first sample at most, fewer where all pairs of these have more cells than this; each further sample
#: has twice as many, until one takes so long.
FIRST_SAMPLE, FIRST_CELLS, SAMPLE_SECONDS = 32, 500_000_000, 0.5


@dataclass(frozen=True)
class Work:
    """What clustering so many sequences takes.

    Attributes
    ----------
    aligned, bounded
        Alignments, and pairs that bounds were asked of.
    seconds
        Of what is neither.
    """

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
    """What clustering a set will take.

    Parameters
    ----------
    devices
        The last one, the processor where there are several, is what is tried.
    most_sampled
        No more sequences are tried than this; as many as there is time for by default.

    Returns
    -------
    n_pairs, n_cells : int
        Alignments.
    seconds : float

    Raises
    ------
    TropalignError
        What is wrong with the set, as when it is clustered.
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
    if few >= FIRST_SAMPLE:  # beside long sequences it is nothing
        _work(batch[chance[:size]], options, devices, n_threads, memory_bytes)  # warms up: what is loaded once
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
    """Clusters a sample."""
    begin = time.perf_counter()
    comparison = Comparison(batch, options, devices[-1:], memory_bytes // 2)
    candidates = CandidateFilter(options, batch.alphabet, resolve_threads(n_threads))
    clustered(comparison, candidates, memory_bytes)
    others = time.perf_counter() - begin - comparison.tally.seconds - candidates.tally.seconds
    return Work(len(batch), comparison.tally, candidates.tally, others)


def _counts(samples: Sequence[Work]) -> tuple[list[int], list[int], list[int]]:
    """Pairs and cells of alignments, and cells that bounds were asked of, of each sample."""
    return (
        [sample.aligned.n_pairs for sample in samples],
        [sample.aligned.n_cells for sample in samples],
        [sample.bounded.n_cells for sample in samples],
    )


def growth(sizes: Sequence[int], values: Sequence[int], n: int, method: str) -> float:
    """How many times as much n sequences take as the last of some samples.

    Linkages that keep distances compare all pairs. Greedy clusters compare each sequence with the representatives
    before it: work grows as the number of sequences where these are few and known, as its square where all sequences
    become one, and as a power in between, that of the last two doublings. By single linkage alignments grow so, too.

    Examples
    --------
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
