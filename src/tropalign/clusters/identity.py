"""How alike two aligned sequences are: the definitions of identity and coverage that clusters are made by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.results import gapped

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

Reals = NDArray[np.float64]


def identities(table: AlignmentTable, definition: str) -> Reals:
    """Identity of each row of whole alignments; 0 for one without a pair of residues.

    Returns
    -------
    float64, shape (n_rows,)
    """
    identical = table.n_identical.astype(np.float64)
    if definition in ("columns", "blast"):
        return identical / np.maximum(table.n_columns, 1)
    query, target = lengths(table)
    if definition == "shorter":
        return identical / np.minimum(query, target)
    # From the first pair of residues to the last one.
    internal: NDArray[np.int64] = table.n_columns - gapped.terminal_gaps(table)
    if definition == "internal":
        return identical / np.maximum(internal, 1)
    mismatches = table.n_columns - table.n_gaps - table.n_identical
    longer = np.maximum(query, target)
    # One division, so that 2 of 10 is 0.2 and no less: 1 - 8/10 is not.
    found = (longer - mismatches - gapped.gap_openings(table) - _overhangs(table)) / longer
    return np.where(internal > 0, found, 0.0)


def coverages(table: AlignmentTable, of: str) -> Reals:
    """The share of a sequence's residues that stand beside a residue, per row of whole alignments.

    Parameters
    ----------
    of : {"longer", "shorter", "member", "representative"}
        Members are the queries.

    Returns
    -------
    float64, shape (n_rows,)
    """
    return (table.n_columns - table.n_gaps) / covered_length(*lengths(table), of)


def covered_length(member: NDArray[np.int64], representative: NDArray[np.int64], of: str) -> NDArray[np.int64]:
    """The residues that coverage is a share of."""
    if of == "member":
        return member
    if of == "representative":
        return representative
    return np.maximum(member, representative) if of == "longer" else np.minimum(member, representative)


def lengths(table: AlignmentTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Residues of the queries and targets of all rows."""
    return table.queries.lengths[table.query_index], table.targets.lengths[table.target_index]


def _overhangs(table: AlignmentTable) -> NDArray[np.int64]:
    """Ends of either sequence that are not aligned, each as good as a gap."""
    query, target = lengths(table)
    bare = (table.query_start > 0, table.query_end < query, table.target_start > 0, table.target_end < target)
    found: NDArray[np.int64] = np.sum(bare, axis=0)
    return found
