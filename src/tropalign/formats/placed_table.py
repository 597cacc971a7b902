"""The table of placed reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results.placements import Placements

COLUMNS = (
    "read", "branch", "clade", "score", "second_score", "ties", "strand", "start", "end", "inserted", "unaligned",
)  # fmt: skip


def table_columns(placements: Placements, clades: list[str]) -> dict[str, list[Any] | NDArray[Any]]:
    """The table's columns by name; a read that was not placed has branch -1 and no clade."""
    start, end, inserted, unaligned = placements.spans()
    return {
        "read": list(placements.names),
        "branch": placements.branch,
        "clade": [clades[branch] if branch >= 0 else "*" for branch in placements.branch.tolist()],
        "score": placements.score,
        "second_score": placements.second_score,
        "ties": placements.ties,
        "strand": ["+" if strand > 0 else "-" for strand in placements.strand.tolist()],
        "start": start,
        "end": end,
        "inserted": inserted,
        "unaligned": unaligned,
    }


def table_rows(placements: Placements, clades: list[str]) -> str:
    """The rows of the TSV."""
    columns = [
        map(str, column.tolist()) if isinstance(column, np.ndarray) else column
        for column in table_columns(placements, clades).values()
    ]
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))
