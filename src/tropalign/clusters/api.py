"""Clusters from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.candidates import CandidateFilter
from tropalign.clusters.comparison import Comparison
from tropalign.clusters.greedy import Greedy
from tropalign.clusters.linkage import linkage_labels
from tropalign.clusters.options import MIN_IDENTITY, ClusterOptions
from tropalign.devices.names import DeviceLike, device_names
from tropalign.devices.registry import open_devices
from tropalign.execution.task import checked_progress
from tropalign.machine.memory import default_budget
from tropalign.machine.numbers import checked_memory, checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.pairwise.api import Sequences, batch_of, default_scoring
from tropalign.pairwise.options import FREE_ENDS, PairOptions
from tropalign.results.clusters import Clusters
from tropalign.scoring import Gap, MatrixLike
from tropalign.sequences import Alphabet, SequenceBatch


def cluster(
    sequences: Sequences,
    min_identity: float = MIN_IDENTITY,
    *,
    identity: str | int = "shorter",
    min_coverage: float | None = None,
    coverage_of: str = "longer",
    method: str = "greedy",
    order: str = "length",
    assign: str = "best",
    mode: str = "global",
    matrix: MatrixLike | None = None,
    gap: Gap | None = None,
    end_gap: Gap | None = None,
    free_ends: Iterable[str] = FREE_ENDS,
    strand: str = "plus",
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "auto",
    alphabet: Alphabet | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Clusters:
    """Clusters of similar sequences, from exact alignments.

    Parameters
    ----------
    sequences
        As of `align_all`. ``;size=N`` in a name says how many reads it stands for.
    min_identity
        What a sequence shares with its representative (greedy), or the height at which linkages are cut.
    identity : {"shorter", "columns", "internal", "openings", "blast"} or their numbers in vsearch
        Identical columns per residue of the shorter sequence (0, CD-HIT's); per column (1, 4); per column between the
        first and the last pair of residues (2, vsearch's default); 1 - (mismatches + gaps, each once) per residue of
        the longer sequence (3).
    min_coverage
        The share of the residues of `coverage_of` that stand beside a residue, at the least.
    coverage_of : {"longer", "shorter", "member", "representative"}
        The last two with method "greedy".
    method : {"greedy", "single", "complete", "average"}
        Greedy: in `order`, each sequence joins a representative that is similar enough, or becomes one. Or linkage of
        all pairs.
    order : {"length", "abundance", "input"}
        The longest, the most abundant or the first sequences first; as in the input where equal. The first one of a
        cluster is its representative.
    assign : {"best", "first"}
        Which representative a sequence joins: the most similar one (the earliest where equal), or the first that is
        similar enough.
    mode, matrix, gap, end_gap, free_ends, strand, n_threads, memory_bytes, device, alphabet
        As of `align_all`; the mode is global by default.
    progress
        Receives the number of sequences done; what it raises ends the work.

    Returns
    -------
    Clusters
        The same for any device and number of threads.

    Raises
    ------
    InputError
        Sequences that cannot be used; order "abundance" without abundances.
    ScoringError, UsageError
        A matrix or gap cost that does not fit; an option that does not exist.
    ResourceError, DeviceError
        Memory that does not suffice; a device that cannot compute.

    Examples
    --------
    >>> found = tropalign.cluster({"a": "ACGTACGTACGTT", "b": "ACGTACGTACGT", "c": "GGGCCCTTTAAA"}, 0.9)
    >>> found.labels.tolist(), found.representatives.names
    ([0, 0, 1], ('a', 'c'))
    """
    batch, progress = batch_of(sequences, alphabet), checked_progress(progress)
    scores, cost = default_scoring(batch.alphabet, matrix, gap)
    pairs = PairOptions(scores, cost, mode, "alignment", free_ends, strand, end_gap=end_gap)  # type: ignore[arg-type]
    options = ClusterOptions(pairs, min_identity, str(identity), min_coverage, coverage_of, method, order, assign)
    threads, memory = checked_threads(n_threads), checked_memory(memory_bytes)
    return cluster_batch(
        batch, options, threads, default_budget() if memory is None else memory, device_names(device), progress
    )


def cluster_batch(
    batch: SequenceBatch,
    options: ClusterOptions,
    n_threads: int,
    memory_bytes: int,
    devices: Iterable[str],
    progress: Callable[[int], object] | None = None,
) -> Clusters:
    """Clusters of a batch, by options that are checked."""
    return clustered(*compared_by(batch, options, n_threads, memory_bytes, devices), memory_bytes, progress)


def clustered(
    comparison: Comparison,
    candidates: CandidateFilter,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> Clusters:
    """Clusters of the set that is compared."""
    options = comparison.options
    if options.method == "greedy":
        labels, representatives = Greedy(comparison, candidates, comparison.order, memory_bytes, progress).run()
        return _with_alignments(comparison, labels, representatives)
    return linked(comparison, linkage_labels(comparison, candidates, memory_bytes // 2, progress))


def compared_by(
    batch: SequenceBatch, options: ClusterOptions, n_threads: int, memory_bytes: int, devices: Iterable[str]
) -> tuple[Comparison, CandidateFilter]:
    """What aligns pairs of the set, and what leaves pairs out."""
    options.pairs.matrix.check(batch)
    options.pairs.check_range(int(batch.lengths.max()))
    opened = open_devices(list(devices), n_threads, int(batch.lengths.sum()) ** 2 // 8, memory_bytes)
    candidates = CandidateFilter(options, batch.alphabet, resolve_threads(n_threads))
    return Comparison(batch, options, opened, memory_bytes // 2), candidates


def linked(comparison: Comparison, labels: NDArray[np.int64]) -> Clusters:
    """The clusters that a linkage has found, with their representatives."""
    labels, representatives = _in_order(labels, comparison.order)
    return _with_alignments(comparison, labels, representatives)


def _in_order(labels: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Clusters numbered by the first of their sequences in the order, and these."""
    _, first = np.unique(labels[order], return_index=True)
    firsts = np.sort(first)
    number = np.zeros(len(firsts), np.int64)
    number[labels[order[firsts]]] = np.arange(len(firsts))
    return number[labels], order[firsts]


def _with_alignments(comparison: Comparison, labels: NDArray[np.int64], representatives: NDArray[np.int64]) -> Clusters:
    """The clusters, and how each member aligns with its representative."""
    n = len(labels)
    members = np.flatnonzero(representatives[labels] != np.arange(n))
    columns: dict[str, Any] = {
        "identity": np.ones(n),
        "strand": np.ones(n, np.int8),
        "score": np.zeros(n, np.int32),
        "cigars": [None] * n,
    }
    begin = 0
    for table, identity in comparison.alignments(members, representatives[labels[members]]):
        some = members[begin : begin + len(table)]
        begin += len(table)
        columns["identity"][some] = identity
        columns["score"] = columns["score"].astype(table.score.dtype, copy=False)
        columns["score"][some] = table.score
        if table.strand is not None:
            columns["strand"][some] = table.strand
        for k, cigar in zip(some.tolist(), table.cigars(), strict=True):
            columns["cigars"][k] = cigar
    return Clusters(comparison.batch, labels, representatives, comparison.rank, comparison.sizes, **columns)
