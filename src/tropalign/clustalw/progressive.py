"""CLUSTALW's progressive stage: from a guide tree and weights to columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.clustalw.matrices import LETTERS, clustalw_codes, profile_matrix, series_of
from tropalign.clustalw.options import ClustalwOptions
from tropalign.errors import ResourceError
from tropalign.msa.guide_tree import GuideTree
from tropalign.sequences.batch import SequenceBatch

#: The largest weight, unless weights are those of the original.
WEIGHT_ONE = 1 << 16
#: Bytes per thread for the steps of an alignment; steps that do not fit are computed twice.
STEP_BYTES = 32 << 20


@dataclass(frozen=True)
class ProgressiveColumns:
    """The column of each residue of a family.

    `columns`: int32, shape (n_residues,). `order`: int32, shape (n,), sequences in the order in which they were
    added, delayed ones last.
    """

    columns: NDArray[np.int32]
    n_columns: int
    order: NDArray[np.int32]


def align_along_tree(
    batch: SequenceBatch,
    options: ClustalwOptions,
    tree: GuideTree,
    weights: NDArray[np.float64] | NDArray[np.int32],
    distances: NDArray[np.float64] | None = None,
    *,
    n_threads: int = 1,
    step_bytes: int = STEP_BYTES,
    progress: Callable[[float], object] | None = None,
) -> ProgressiveColumns:
    """Align a family along its guide tree, then add the sequences that resemble no other, one by one.

    `weights`, shape (n,): integers are used as they are, floats relative to the largest. `distances`, shape
    (n (n - 1) / 2,), replace those of the tree. No sequence may be empty.
    """
    is_nucleotide = batch.alphabet.name == "nucleotide"
    series = series_of(options, is_nucleotide)
    matrices = [profile_matrix(entry.name, options) for entry in series]
    n_joins = len(batch) - 1
    try:
        columns, n_columns, order = _native.clustalw_progressive(
            clustalw_codes(batch),
            batch.offsets,
            np.ascontiguousarray(tree.children),
            np.ascontiguousarray(tree.branch_lengths),
            whole_weights(weights),
            distances,
            np.array([entry.above for entry in series], np.float64),
            np.array([entry.shorter_than for entry in series], np.int32),
            np.array([entry.scale for entry in series], np.float32),
            np.array([matrix.mismatch for matrix in matrices], np.int32),
            np.stack([matrix.scores for matrix in matrices]),
            is_compat=options.is_compat,
            is_nucleotide=is_nucleotide,
            gap_open=options.cost("gap_open", is_nucleotide),
            gap_extend=options.cost("gap_extend", is_nucleotide),
            gap_distance=options.gap_distance,
            hydrophilic=sum(1 << LETTERS.index(letter) for letter in set(options.hydrophilic.upper()) & set(LETTERS)),
            delay=options.delay,
            has_hydrophilic_gaps=options.has_hydrophilic_gaps,
            has_residue_gaps=options.has_residue_gaps,
            has_end_gaps=options.has_end_gaps,
            counts_end_gaps=options.counts_end_gaps,
            negative_matrix=options.negative_matrix,
            has_weights=options.has_weights,
            step_bytes=step_bytes,
            n_threads=n_threads,
            progress=None if progress is None else lambda done: progress(done / n_joins),
        )
    except OverflowError:
        remedy = "leave out the longest sequences, or those unrelated to all others"
        raise ResourceError(f"scores of the family's profiles do not fit 32 bits: {remedy}") from None
    return ProgressiveColumns(columns, n_columns, order)


def whole_weights(weights: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the weights as integers from 1; floats are scaled so that the largest becomes WEIGHT_ONE."""
    if weights.dtype.kind == "i":
        return np.ascontiguousarray(weights, np.int32)
    highest = float(weights.max(initial=0.0)) or 1.0
    return np.maximum(np.rint(weights / highest * WEIGHT_ONE), 1).astype(np.int32)
