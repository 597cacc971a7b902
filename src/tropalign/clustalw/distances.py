"""CLUSTALW's distances of all pairs of a family, from which its guide tree is made."""

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

#: Letters of words: of nucleotides A, C, G, T and U (as T), of proteins all.
WORD_CODES = np.full(len(LETTERS), 4, np.uint8)
WORD_CODES[[LETTERS.index(letter) for letter in "ACGTU"]] = 0, 1, 2, 3, 3
#: Letters in words, of proteins and of nucleotides.
WORD_LETTERS = (len(LETTERS), 4)
#: What a pair takes: the distance, and what it is made of.
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
    """Distances of all pairs: the share of the shorter sequence that is not identical.

    Sequences are aligned locally, and identical columns of the alignment counted (Thompson, Higgins and Gibson 1994);
    with ``options.quicktree`` the distance is made of words that both have (Wilbur and Lipman 1983).

    Parameters
    ----------
    batch
        The family; two sequences or more.
    options
        `is_compat`, `quicktree` and the rules for words, `pw_gap_open`, `pw_gap_extend`, `series` and
        `nucleotide_matrix` count.
    n_threads
        The result does not depend on it.
    memory_bytes
        What may be taken.
    progress
        Receives the share of the work that is done, 0 to 1; what it raises ends the work.

    Returns
    -------
    float64, shape (n (n - 1) / 2,)
        Pairs i < j in the order (0, 1), (0, 2), ..., (1, 2), ...; 0 is the same, 1 nothing in common.

    Raises
    ------
    UsageError
        Words of proteins of more than 2 residues.
    ResourceError
        Memory that does not suffice.

    Examples
    --------
    >>> batch = tropalign.SequenceBatch.from_strings(["MKVLAWMKT", "MKILAWMT", "GGGGG"])
    >>> pair_distances(batch, ClustalwOptions()).round(3).tolist()
    [0.25, 1.0, 1.0]
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
    """Tells the share of the work that so many items are."""

    def told(n_begun: int) -> None:
        progress(n_begun / n_items)

    return told


def _share_of_rows(progress: Callable[[float], object], n: int) -> Progress:
    """Tells the share of the work that rows of all pairs are, of which each has one pair fewer."""

    def told(n_begun: int) -> None:
        left = n - n_begun
        progress(1 - left * (left - 1) / (n * (n - 1)))

    return told


def _is_nucleotide(batch: SequenceBatch) -> bool:
    return batch.alphabet.name == "nucleotide"


def _per_residue(values: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Values of all pairs, divided in place by the residues of the shorter sequence."""
    begin = 0
    for i in range(len(lengths) - 1):
        row = values[begin : begin + len(lengths) - 1 - i]
        row /= np.minimum(lengths[i], lengths[i + 1 :]).astype(values.dtype)
        begin += len(row)
    return values


def _rounded(identities: NDArray[np.int32], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - identities per residue as CLUSTALW has it: in percent, and float32."""
    percent = _per_residue(np.float32(100) * identities.astype(np.float32), lengths)
    return ((np.float32(100) - percent) / np.float32(100)).astype(np.float64)


def _by_words(
    batch: SequenceBatch, options: ClustalwOptions, n_threads: int, told: Progress | None
) -> NDArray[np.float64]:
    """1 - residues of the best chain of words per residue of the shorter sequence."""
    is_nucleotide = _is_nucleotide(batch)
    codes, rules = clustalw_codes(batch), (WORD_LETTERS[is_nucleotide], *options.words(is_nucleotide))
    if is_nucleotide:
        codes = WORD_CODES[codes]
    count = _native.clustalw_word_scores_compat if options.is_compat else _native.clustalw_word_scores
    scores = count(codes, batch.offsets, *rules, n_threads, told)
    return (100.0 - _per_residue(scores.astype(np.float64), batch.lengths) * 100.0) / 100.0
