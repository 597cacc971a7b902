"""The table of an alignment's confidence, a row per residue."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results.multiple import MultipleAlignment

#: Names of the columns and what they hold.
COLUMNS: dict[str, type] = {
    "sequence": str, "position": np.int64, "residue": str, "column": np.int64, "confidence": np.float64,
    "column_confidence": np.float64,
}  # fmt: skip


def table_columns(alignment: MultipleAlignment) -> dict[str, NDArray[Any]]:
    """The columns by name; of the sequence its row, of the residue its byte. Positions and columns from 0."""
    if alignment.residue_confidence is None or alignment.column_confidence is None:
        raise ValueError("the alignment has no confidence")
    row = alignment.row_index
    return {
        "sequence": row,
        "position": np.arange(len(row)) - alignment.sequences.offsets[row],
        "residue": alignment.sequences.letters,
        "column": alignment.columns.astype(np.int64),
        "confidence": alignment.residue_confidence.astype(np.float64),
        "column_confidence": alignment.column_confidence[alignment.columns].astype(np.float64),
    }
