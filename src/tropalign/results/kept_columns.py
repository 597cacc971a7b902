"""The columns of numbers that a table of pairs keeps.

What outputs show is made of them: ``tropalign.results.output_columns``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: How much of an alignment is computed, from less to more.
DEPTHS = ("score", "ends", "alignment")


@dataclass(frozen=True)
class KeptColumn:
    """A column of numbers that an AlignmentTable keeps.

    Attributes
    ----------
    name
        The table's attribute.
    dtype
        Type of its items; of scores with decimals float64.
    depth : {"score", "ends", "alignment"}
        The least depth that has it.
    """

    name: str
    dtype: type
    depth: str


#: What a table keeps, indices and paths aside: what engines return. Those of `OPTIONAL` are there where asked for.
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
#: What `SUMS` holds is there with sum statistics.
SUMS = ("sum_evalue", "sum_count")
#: With several alignments per pair; with both strands; with scores that are corrected for composition or masks.
OPTIONAL = ("hsp", "strand", "corrected_score", *SUMS)
#: In units of the matrix, which may have decimals.
SCORES = ("score", "corrected_score")
INDEX_COLUMNS = ("query_index", "target_index")
END_COLUMNS = tuple(column.name for column in KEPT_COLUMNS if column.depth == "ends")
COUNT_COLUMNS = tuple(column.name for column in KEPT_COLUMNS if column.depth == "alignment" and column.name not in SUMS)
#: What each depth has beside indices, score and strand.
DEPTH_COLUMNS = {"score": (), "ends": END_COLUMNS, "alignment": (*END_COLUMNS, *COUNT_COLUMNS)}
