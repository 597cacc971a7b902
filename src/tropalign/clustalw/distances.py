"""Pairwise distances of a family, from which CLUSTALW's guide tree is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.clustalw.matrices import LETTERS, clustalw_codes
from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.pair_identities import aligned_identities, engine_bytes
from tropalign.clustalw.pair_scoring import compat_scoring, pair_scoring
from tropalign.devices.registry import CpuDevice
from tropalign.errors import named
from tropalign.execution.task import Device, Progress
from tropalign.machine.memory import require
from tropalign.sequences.batch import SequenceBatch

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
        remedy = f"allow more with {named('memory_bytes')}, or align clusters of the sequences apart"
        needed = PAIR_BYTES * n_pairs + (0 if options.quicktree or options.is_compat else engine_bytes(batch))
        require(needed, memory_bytes, f"a table of distances of {n:,} sequences", remedy)
    told = None if progress is None else _share_of(progress, n_pairs)
    if options.quicktree:
        return _by_words(batch, options, n_threads, None if progress is None else _share_of_rows(progress, n))
    if options.is_compat:
        scoring = compat_scoring(options, _is_nucleotide(batch), int(batch.lengths.max()))
        codes = clustalw_codes(batch)
        costs = scoring.gap_open, scoring.gap_extend
        identities = _native.clustalw_identities(codes, batch.offsets, scoring.scores, *costs, n_threads, told)
        return _rounded(identities, batch.lengths)
    name, scoring = pair_scoring(options, batch.alphabet, int(batch.lengths.max()))
    devices = devices or [CpuDevice(n_threads)]
    left = None if memory_bytes is None else memory_bytes - PAIR_BYTES * n_pairs
    identities = aligned_identities(batch, scoring, name, devices, memory_bytes=left, progress=told)
    distances: NDArray[np.float64] = _per_residue(identities.astype(np.float64), batch.lengths)
    np.subtract(1.0, distances, out=distances)
    return distances


def _share_of(progress: Callable[[float], object], n_items: int) -> Progress:
    """Return a callback that passes the number of items started to `progress` as a share of the work."""

    def told(n_begun: int) -> None:
        progress(n_begun / n_items)

    return told


def _share_of_rows(progress: Callable[[float], object], n: int) -> Progress:
    """Return a callback that passes the rows started to `progress` as a share of all pairs; rows get shorter."""

    def told(n_begun: int) -> None:
        left = n - n_begun
        progress(1 - left * (left - 1) / (n * (n - 1)))

    return told


def _is_nucleotide(batch: SequenceBatch) -> bool:
    return batch.alphabet.name == "nucleotide"


def _per_residue(values: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Divide the values of all pairs in place by the length of the shorter sequence."""
    begin = 0
    for i in range(len(lengths) - 1):
        row = values[begin : begin + len(lengths) - 1 - i]
        row /= np.minimum(lengths[i], lengths[i + 1 :]).astype(values.dtype)
        begin += len(row)
    return values


def _rounded(identities: NDArray[np.int32], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 - identities per residue with CLUSTALW's roundings: in percent and float32."""
    percent = _per_residue(np.float32(100) * identities.astype(np.float32), lengths)
    return ((np.float32(100) - percent) / np.float32(100)).astype(np.float64)


def _by_words(
    batch: SequenceBatch, options: ClustalwOptions, n_threads: int, told: Progress | None
) -> NDArray[np.float64]:
    """Return 1 - residues of the best chain of k-mers per residue of the shorter sequence."""
    is_nucleotide = _is_nucleotide(batch)
    codes, rules = clustalw_codes(batch), (WORD_LETTERS[is_nucleotide], *options.words(is_nucleotide))
    if is_nucleotide:
        codes = WORD_CODES[codes]
    count = _native.clustalw_word_scores_compat if options.is_compat else _native.clustalw_word_scores
    scores = count(codes, batch.offsets, *rules, n_threads, told)
    return (100.0 - _per_residue(scores.astype(np.float64), batch.lengths) * 100.0) / 100.0
