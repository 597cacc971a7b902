"""Python API of clustering."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.candidates import CandidateFilter
from tropalign.clusters.comparison import Comparison, warn_of_giant
from tropalign.clusters.greedy import Greedy
from tropalign.clusters.linkage import linkage_labels
from tropalign.clusters.options import MIN_IDENTITY, ClusteringOptions, ClusterOptions
from tropalign.devices.arguments import ComputeArguments
from tropalign.devices.names import device_names
from tropalign.devices.registry import open_devices
from tropalign.execution.task import checked_progress
from tropalign.machine.memory import default_budget
from tropalign.machine.numbers import checked_memory, checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.options.called import called_with
from tropalign.options.option import but
from tropalign.pairwise.api import (
    AlphabetArgument,
    ProgressArgument,
    ScoringArguments,
    SequencesArgument,
    batch_of,
)
from tropalign.pairwise.options import ModeName, ModeOption, PairOptions, StrandOption
from tropalign.results.clusters import Clusters
from tropalign.scoring.defaults import default_scoring
from tropalign.sequences import SequenceBatch

Progress = Callable[[int], object]


class ClusterArguments(
    ClusteringOptions,
    ModeOption,
    ScoringArguments,
    StrandOption,
    ComputeArguments,
    AlphabetArgument,
    ProgressArgument,
    SequencesArgument,
):
    """Arguments of `cluster`."""

    min_identity: float = but(ClusteringOptions, "min_identity", default=MIN_IDENTITY, kw_only=False)
    identity: str | int = but(ClusteringOptions, "identity", default="shorter")  # type: ignore[assignment]  # numbers, too
    mode: ModeName = but(ModeOption, "mode", default="global")
    progress: Progress | None = but(
        ProgressArgument,
        "progress",
        default=None,
        doc="Called with the number of sequences done. What it raises ends the work and comes out of the call.",
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
        Sequences cannot be used, or order "abundance" without abundances.
    ScoringError, UsageError
        A matrix or gap cost does not fit, or an option does not exist.
    ResourceError, DeviceError
        Memory does not suffice, or a device cannot compute.

    Examples
    --------
    >>> found = tropalign.cluster({"a": "ACGTACGTACGTT", "b": "ACGTACGTACGT", "c": "GGGCCCTTTAAA"}, 0.9)
    >>> found.labels.tolist(), found.representatives.names
    ([0, 0, 1], ('a', 'c'))
    """
    batch, progress = batch_of(call.sequences, call.alphabet), checked_progress(call.progress)
    matrix, gap = default_scoring(batch.alphabet, call.matrix, call.gap)
    how: dict[str, Any] = {"mode": call.mode, "strand": call.strand, "free_ends": call.free_ends}
    how["ambiguous"] = call.ambiguous
    pairs = PairOptions(matrix, gap, end_gap=call.end_gap, **how)
    options = ClusterOptions(**{**call.shared_with(ClusterOptions), "pairs": pairs})
    threads, memory = checked_threads(call.n_threads), checked_memory(call.memory_bytes)
    memory_bytes = default_budget() if memory is None else memory
    return cluster_batch(batch, options, threads, memory_bytes, device_names(call.device), progress)


def cluster_batch(
    batch: SequenceBatch,
    options: ClusterOptions,
    n_threads: int,
    memory_bytes: int,
    devices: Iterable[str],
    progress: Progress | None = None,
) -> Clusters:
    """Cluster a batch by checked options."""
    return clustered(*compared_by(batch, options, n_threads, memory_bytes, devices), memory_bytes, progress)


def clustered(
    comparison: Comparison,
    candidates: CandidateFilter,
    memory_bytes: int,
    progress: Progress | None = None,
) -> Clusters:
    """Cluster the batch of a comparison."""
    options = comparison.options
    if options.method == "greedy":
        labels, representatives = Greedy(comparison, candidates, comparison.order, memory_bytes, progress).run()
        return _with_alignments(comparison, labels, representatives)
    return linked(comparison, linkage_labels(comparison, candidates, memory_bytes // 2, progress))


def compared_by(
    batch: SequenceBatch, options: ClusterOptions, n_threads: int, memory_bytes: int, devices: Iterable[str]
) -> tuple[Comparison, CandidateFilter]:
    """Return the aligner of pairs and the filter of candidate pairs."""
    warn_of_giant(batch, options)
    options.pairs.matrix.check(batch)
    options.pairs.check_range(int(batch.lengths.max()))
    opened = open_devices(list(devices), n_threads, int(batch.lengths.sum()) ** 2 // 8, memory_bytes)
    candidates = CandidateFilter(options, batch.alphabet, resolve_threads(n_threads))
    return Comparison(batch, options, opened, memory_bytes // 2), candidates


def linked(comparison: Comparison, labels: NDArray[np.int64]) -> Clusters:
    """Return the clusters of a linkage, with their representatives."""
    labels, representatives = _in_order(labels, comparison.order)
    return _with_alignments(comparison, labels, representatives)


def _in_order(labels: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number clusters by their first sequence in `order`; return the labels and these first sequences."""
    _, first = np.unique(labels[order], return_index=True)
    firsts = np.sort(first)
    number = np.zeros(len(firsts), np.int64)
    number[labels[order[firsts]]] = np.arange(len(firsts))
    return number[labels], order[firsts]


def _with_alignments(comparison: Comparison, labels: NDArray[np.int64], representatives: NDArray[np.int64]) -> Clusters:
    """Return the clusters, with the alignment of each member to its representative."""
    n = len(labels)
    members = np.flatnonzero(representatives[labels] != np.arange(n))
    columns: dict[str, Any] = {
        "identity": np.ones(n),
        "strand": np.ones(n, np.int8),
        "score": np.zeros(n, np.int32),
        "cigars": [None] * n,
        "member_start": np.zeros(n, np.int64),
        "representative_start": np.zeros(n, np.int64),
    }
    begin = 0
    for table, identity in comparison.alignments(members, representatives[labels[members]]):
        some = members[begin : begin + len(table)]
        begin += len(table)
        columns["identity"][some] = identity
        columns["member_start"][some], columns["representative_start"][some] = table.query_start, table.target_start
        columns["score"] = columns["score"].astype(table.score.dtype, copy=False)
        columns["score"][some] = table.score
        if table.strand is not None:
            columns["strand"][some] = table.strand
        for k, cigar in zip(some.tolist(), table.cigars(), strict=True):
            columns["cigars"][k] = cigar
    return Clusters(comparison.batch, labels, representatives, comparison.rank, comparison.sizes, **columns)
