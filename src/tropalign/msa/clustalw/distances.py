"""CLUSTALW's distances of all pairs of a family, from which its guide tree is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.execution.task import Device
from tropalign.machine.memory import require
from tropalign.msa.clustalw.letters import LETTERS, clustalw_codes
from tropalign.msa.clustalw.options import ClustalwOptions
from tropalign.msa.clustalw.pair_scoring import compat_scoring
from tropalign.sequences.batch import SequenceBatch

#: Of nucleotides only A, C, G, T and U (as T) are in words; of proteins all letters.
WORD_CODES = np.full(len(LETTERS), 4, np.uint8)
WORD_CODES[[LETTERS.index(letter) for letter in "ACGTU"]] = 0, 1, 2, 3, 3
#: Letters in words; a word's length, what a change of the diagonal costs, diagonals that are taken, neighbours of each.
PROTEIN_WORDS, NUCLEOTIDE_WORDS = (25, 1, 3, 5, 5), (4, 2, 5, 4, 4)
#: What a pair takes: the distance, and what it is made of.
PAIR_BYTES = 12


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
        `is_compat`, `quicktree`, `pw_gap_open`, `pw_gap_extend`, `series` and `nucleotide_matrix` count.
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
        remedy = "allow more with --memory, or align clusters of the sequences apart"
        require(PAIR_BYTES * n_pairs, memory_bytes, f"a table of distances of {n:,} sequences", remedy)
    told = None if progress is None else lambda done: progress(done / max(n_pairs, 1))
    is_nucleotide = batch.alphabet.name == "nucleotide"
    lengths = batch.lengths
    if options.quicktree:
        return _by_words(batch, options, is_nucleotide, n_threads, told)
    scoring = compat_scoring(options, is_nucleotide, int(lengths.max(initial=0)))
    identities = _native.clustalw_identities(
        clustalw_codes(batch), batch.offsets, scoring.scores, scoring.gap_open, scoring.gap_extend, n_threads, told
    )
    return _distances(identities, lengths)


def _distances(identities: NDArray[np.int32], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - identities / residues of the shorter sequence, rounded as CLUSTALW does: percent, in float32."""
    percent = np.float32(100) * identities.astype(np.float32)
    begin = 0
    for i in range(len(lengths) - 1):
        row = percent[begin : begin + len(lengths) - 1 - i]
        row /= np.minimum(lengths[i], lengths[i + 1 :]).astype(np.float32)
        begin += len(row)
    return ((np.float32(100) - percent) / np.float32(100)).astype(np.float64)


def _by_words(
    batch: SequenceBatch,
    options: ClustalwOptions,
    is_nucleotide: bool,
    n_threads: int,
    told: Callable[[int], object] | None,
) -> NDArray[np.float64]:
    """1 - residues of the best chain of words / residues of the shorter sequence."""
    rules = NUCLEOTIDE_WORDS if is_nucleotide else PROTEIN_WORDS
    codes = clustalw_codes(batch)
    if is_nucleotide:
        codes = WORD_CODES[codes]
    scores = _native.clustalw_word_scores_compat(codes, batch.offsets, *rules, n_threads, told)
    lengths, shares, begin = batch.lengths, scores.astype(np.float64), 0
    for i in range(len(lengths) - 1):
        row = shares[begin : begin + len(lengths) - 1 - i]
        row /= np.minimum(lengths[i], lengths[i + 1 :])
        begin += len(row)
    return (100.0 - shares * 100.0) / 100.0
