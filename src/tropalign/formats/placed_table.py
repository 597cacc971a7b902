"""The table of placed reads, a row per read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.placed import PlacedContext
from tropalign.results.lineages import Lineage
from tropalign.results.placements import Placements
from tropalign.sequences.counts import counts_of

#: Names of the columns and what they hold.
COLUMNS: dict[str, type] = {
    "read": str, "branch": np.int64, "clade": str, "score": np.int32, "second_score": np.int32, "ties": np.int64,
    "strand": str, "start": np.int64, "end": np.int64, "inserted": np.int64, "unaligned": np.int64, "count": np.int64,
}  # fmt: skip
#: Those that come after them where lineages of the tips are known.
LINEAGE_COLUMNS: dict[str, type] = {"taxon": str, "lineage": str, "support": str}


def columns_of(context: PlacedContext) -> dict[str, type]:
    """The columns of a table, and what they hold."""
    return {**COLUMNS, **LINEAGE_COLUMNS} if context.has_lineages else COLUMNS


def table_columns(placements: Placements, context: PlacedContext) -> dict[str, list[str] | NDArray[Any]]:
    """The columns by name, text and numbers; a read that was not placed has branch -1 and the clade ``*``."""
    start, end, inserted, unaligned = placements.spans()
    clades = (*context.clades, "*")  # the last one is that of branch -1
    found: dict[str, list[str] | NDArray[Any]] = {
        "read": list(placements.names),
        "branch": placements.branch,
        "clade": [clades[branch] for branch in placements.branch.tolist()],
        "score": placements.score,
        "second_score": placements.second_score,
        "ties": placements.ties,
        "strand": ["+" if strand > 0 else "-" for strand in placements.strand.tolist()],
        "start": start,
        "end": end,
        "inserted": inserted,
        "unaligned": unaligned,
        "count": counts_of(placements.names),
    }
    if context.lineages is not None:
        assigned = context.lineages.assign(placements)
        found["taxon"] = [lineage_text(each.common) for each in assigned]
        found["lineage"] = [lineage_text(each.likely) for each in assigned]
        found["support"] = [";".join(f"{share:.4g}" for share in each.support) or "*" for each in assigned]
    return {name: found[name] for name in columns_of(context)}


def lineage_text(lineage: Lineage) -> str:
    """Its ranks with semicolons between them; ``*`` where there is none."""
    return ";".join(lineage) or "*"
