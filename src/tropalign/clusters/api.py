"""Python API of clustering."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tropalign.clusters.candidates import Tally, check_set
from tropalign.clusters.methods import check_memory, cluster_batch, clustered, compared_on, with_given
from tropalign.clusters.options import MIN_IDENTITY, ClusteringOptions, ClusterOptions, ClusterStrandOption
from tropalign.devices.registry import ComputeArguments, device_names
from tropalign.errors import UsageError
from tropalign.execution.task import Device, checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.pairwise.api import AlphabetArgument, ProgressArgument, ScoringArguments, SequencesArgument
from tropalign.pairwise.options import ModeName, ModeOption, PairOptions
from tropalign.pairwise.tracks import TrackArguments, with_tracks
from tropalign.resources.limits import checked_memory, checked_threads, default_budget
from tropalign.results.clusters import Clusters
from tropalign.scoring import default_scoring
from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import Sequences
from tropalign.sequences.reader import batch_of

Progress = Callable[[int], object]


class ClusterArguments(
    ClusteringOptions,
    ModeOption,
    ScoringArguments,
    TrackArguments,
    ClusterStrandOption,
    ComputeArguments,
    AlphabetArgument,
    ProgressArgument,
    SequencesArgument,
):
    """Arguments of `cluster`."""

    min_identity: float = but(ClusteringOptions, "min_identity", default=MIN_IDENTITY, kw_only=False)
    identity: str | int = but(ClusteringOptions, "identity", default="shorter")  # type: ignore[assignment]  # numbers, too
    mode: ModeName = but(ModeOption, "mode", default="global")
    to: Sequences | None = argument(
        default=None,
        kw_only=True,
        doc="The only representatives, as `sequences`: each sequence joins the most similar of these, or none (label "
        "-1). `order` is ignored.",
    )
    progress: Progress | None = but(
        ProgressArgument,
        "progress",
        default=None,
        doc="Called with the number of finished sequences. An exception that it raises stops the work and is "
        "passed on.",
    )


@called_with(ClusterArguments)
def cluster(call: ClusterArguments) -> Clusters:
    """Cluster similar sequences by exact alignments.

    Returns
    -------
    Clusters
        Clusters, equal for any device and number of threads.

    Raises
    ------
    InputError
        Sequences cannot be used, or order "abundance" without abundances, or `to` is of another alphabet.
    UsageError, ScoringError
        An option does not exist or excludes another, or a matrix or gap cost does not fit.
    ResourceError, DeviceError
        Memory does not suffice, or a device cannot compute.

    Examples
    --------
    >>> found = tropalign.cluster({"a": "ACGTACGTACGTT", "b": "ACGTACGTACGT", "c": "GGGCCCTTTAAA"}, 0.9)
    >>> found.labels.tolist(), found.representatives.names
    ([0, 0, 1], ('a', 'c'))
    >>> found = tropalign.cluster({"a": "ACGTACGTACGTT", "c": "GGGCCCTTTAAA"}, 0.9, to={"otu": "ACGTACGTACGT"})
    >>> found.members(0), found.unmapped.names
    (['otu', 'a'], ('c',))
    """
    batch, progress = batch_of(call.sequences, call.alphabet), checked_progress(call.progress)
    n_given = 0
    if call.to is not None and (call.track is not None or call.track_matrix is not None):
        raise UsageError("to has no second track: leave to or track out")
    (batch, _), scores = with_tracks((batch, None), call.track, call.track_matrix, call.track_weight)
    if call.to is not None:
        batch, n_given = with_given(batch_of(call.to, call.alphabet), batch)
    matrix, gap = default_scoring(batch.alphabet, call.matrix, call.gap)
    how: dict[str, Any] = {"mode": call.mode, "strand": call.strand, "free_ends": call.free_ends}
    how |= {"ambiguous": call.ambiguous, "track_matrix": scores, "track_weight": call.track_weight}
    pairs = PairOptions(matrix, gap, end_gap=call.end_gap, **how)
    options = ClusterOptions(**{**call.shared_with(ClusterOptions), "pairs": pairs, "n_given": n_given})
    threads, memory = checked_threads(call.n_threads), checked_memory(call.memory_bytes)
    memory_bytes = default_budget() if memory is None else memory
    return cluster_batch(batch, options, threads, memory_bytes, device_names(call.device), progress)


#: Size of the first sample, or less if all its pairs have more cells than FIRST_CELLS. Each further sample is twice
#: as large, until one takes SAMPLE_SECONDS.
FIRST_SAMPLE, FIRST_CELLS, SAMPLE_SECONDS = 32, 500_000_000, 0.5


# sequences     32    64    128   256   ...        n
# alignments    a     b     c     d    - - - - -   ?     extrapolated from sample to sample
#
# Only clustering itself shows how many sequences become representatives and how many pairs the bounds exclude. A
# random sample contains each kind in proportion to the whole.
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
    n_given = options.n_given
    n = len(batch) - n_given
    check_set(batch, options)
    if options.method != "greedy":
        check_memory(n, options.method, memory_bytes // 2)
    chance, most = np.random.default_rng(1).permutation(n) + n_given, min(n, most_sampled or n)
    given = np.arange(n_given)  # part of each sample
    samples: list[Work] = []
    few = math.sqrt(2 * FIRST_CELLS) / float(batch.lengths.mean())
    size, took = min(max(2, min(FIRST_SAMPLE, int(few))), most), 0.0
    if few >= FIRST_SAMPLE:  # negligible compared with long sequences
        _work(
            batch[np.concatenate([given, chance[:size]])], options, devices, n_threads, memory_bytes
        )  # warm up: one-time loading
    while not samples or (size > samples[-1].n_sequences and took < SAMPLE_SECONDS):
        begin = time.perf_counter()
        samples.append(
            _work(batch[np.concatenate([given, np.sort(chance[:size])])], options, devices, n_threads, memory_bytes)
        )
        size, took = min(2 * size, most), time.perf_counter() - begin
    sizes = [sample.n_sequences for sample in samples]
    counts = [(sample.aligned.n_pairs, sample.aligned.n_cells, sample.bounded.n_cells) for sample in samples]
    pairs, cells, bounded = (growth(sizes, values, n, options.method) for values in zip(*counts, strict=True))
    last = samples[-1]
    others = (n / last.n_sequences) ** (1 if options.method == "greedy" else 2)
    seconds = last.aligned.seconds * cells + last.bounded.seconds * bounded + last.seconds * others
    return round(last.aligned.n_pairs * pairs), round(last.aligned.n_cells * cells), seconds


def _work(
    batch: SequenceBatch, options: ClusterOptions, devices: Sequence[Device], n_threads: int, memory_bytes: int
) -> Work:
    """Cluster a sample and return its cost."""
    begin = time.perf_counter()
    comparison, candidates = compared_on(devices[-1:], batch, options, n_threads, memory_bytes)
    clustered(comparison, candidates, memory_bytes)
    others = time.perf_counter() - begin - comparison.tally.seconds - candidates.tally.seconds
    return Work(len(batch) - options.n_given, comparison.tally, candidates.tally, others)


def growth(sizes: Sequence[int], values: Sequence[int], n: int, method: str) -> float:
    """Return how many times as long n sequences take as the last of some samples.

    Linkages with distances compare all pairs. Greedy clusters compare each sequence with earlier representatives: work
    grows linearly if these are few and found early, quadratically if all sequences become one, else as a power between,
    that of the last two doublings. So do the alignments of single linkage.

    >>> from tropalign.clusters.api import growth
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
