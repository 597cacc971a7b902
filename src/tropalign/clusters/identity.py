"""Coverage of alignments, as required by clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.results.identity import lengths

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

Reals = NDArray[np.float64]


def coverages(table: AlignmentTable, of: str) -> Reals:
    """Return the share of aligned residues per row of full alignments, float64; members are the queries."""
    return (table.n_columns - table.n_gaps) / covered_length(*lengths(table), of)


def covered_length(member: NDArray[np.int64], representative: NDArray[np.int64], of: str) -> NDArray[np.int64]:
    """Return the length of the sequence of which coverage is a share."""
    if of == "member":
        return member
    if of == "representative":
        return representative
    return np.maximum(member, representative) if of == "longer" else np.minimum(member, representative)
