"""Numeric columns that a table of pairs stores.

Output columns are derived from them: ``tropalign.results.output_columns``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: How much of an alignment is computed, in increasing order.
DEPTHS = ("score", "ends", "alignment")


@dataclass(frozen=True)
class KeptColumn:
    """A numeric column of an AlignmentTable.

    dtype: float64 for scores with decimals. depth: the lowest depth that includes the column.
    """

    name: str
    dtype: type
    depth: str


#: Columns that engines return, excluding indices and paths. Columns in `OPTIONAL` exist only on request.
KEPT_COLUMNS = (
    KeptColumn("hsp", np.int32, "score"),
    KeptColumn("strand", np.int8, "score"),
    KeptColumn("score", np.int32, "score"),
    KeptColumn("corrected_score", np.int32, "score"),
    KeptColumn("sum_evalue", np.float64, "alignment"),
    KeptColumn("sum_count", np.int32, "alignment"),
    KeptColumn("query_start", np.int32, "ends"),
    KeptColumn("query_end", np.int32, "ends"),
    KeptColumn("target_start", np.int32, "ends"),
    KeptColumn("target_end", np.int32, "ends"),
    KeptColumn("n_identical", np.int32, "alignment"),
    KeptColumn("n_similar", np.int32, "alignment"),
    KeptColumn("n_gaps", np.int32, "alignment"),
    KeptColumn("n_columns", np.int32, "alignment"),
)
#: Columns of sum statistics.
SUMS = ("sum_evalue", "sum_count")
#: For several alignments per pair, both strands, scores corrected for composition or masks, and sum statistics.
OPTIONAL = ("hsp", "strand", "corrected_score", *SUMS)
#: Columns in units of the matrix, which may have decimals.
SCORES = ("score", "corrected_score")
INDEX_COLUMNS = ("query_index", "target_index")
END_COLUMNS = tuple(column.name for column in KEPT_COLUMNS if column.depth == "ends")
COUNT_COLUMNS = tuple(column.name for column in KEPT_COLUMNS if column.depth == "alignment" and column.name not in SUMS)
#: Columns of each depth besides indices, score and strand.
DEPTH_COLUMNS = {"score": (), "ends": END_COLUMNS, "alignment": (*END_COLUMNS, *COUNT_COLUMNS)}
