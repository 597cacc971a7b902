"""The coverages that clusters require."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.results.identity import lengths

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

Reals = NDArray[np.float64]


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
