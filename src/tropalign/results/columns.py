"""The columns of numbers of an aligned pair: their names, types and depths, and how outputs show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: How much of an alignment is computed, from less to more.
DEPTHS = ("score", "ends", "alignment")


@dataclass(frozen=True)
class Column:
    """A column of numbers of an AlignmentTable, and what outputs make of it.

    Attributes
    ----------
    name
        The table's attribute.
    dtype
        Type of its items; of scores with decimals float64.
    depth : {"score", "ends", "alignment"}
        The least depth that has it.
    output
        Its name in files and in other libraries; None for what is not shown by itself.
    form : {"number", "fraction", "strand"}
        How text shows it: as it is, with four decimals, as ``+`` or ``-``.
    is_derived
        Computed from the others when it is asked for.
    """

    name: str
    dtype: type
    depth: str
    output: str | None
    form: str = "number"
    is_derived: bool = False


#: Every column of numbers, in the order of the outputs; an engine returns those that are not derived. In outputs the
#: names of query and target come before them, the CIGAR after them. ``strand`` is there with both strands only.
COLUMNS = (
    Column("strand", np.int8, "score", "strand", "strand"),
    Column("score", np.int32, "score", "score"),
    Column("query_start", np.int32, "ends", "query_start"),
    Column("query_end", np.int32, "ends", "query_end"),
    Column("target_start", np.int32, "ends", "target_start"),
    Column("target_end", np.int32, "ends", "target_end"),
    Column("n_identical", np.int32, "alignment", None),
    Column("n_similar", np.int32, "alignment", None),
    Column("identity", np.float64, "alignment", "identity", "fraction", is_derived=True),
    Column("similarity", np.float64, "alignment", "similarity", "fraction", is_derived=True),
    Column("n_gaps", np.int32, "alignment", "gaps"),
    Column("n_columns", np.int32, "alignment", "columns"),
)
INDEX_COLUMNS = ("query_index", "target_index")
#: What a table keeps, indices and paths aside.
KEPT_COLUMNS = tuple(column for column in COLUMNS if not column.is_derived)
END_COLUMNS = tuple(column.name for column in KEPT_COLUMNS if column.depth == "ends")
COUNT_COLUMNS = tuple(column.name for column in KEPT_COLUMNS if column.depth == "alignment")
#: What each depth has beside indices, score and strand.
DEPTH_COLUMNS = {"score": (), "ends": END_COLUMNS, "alignment": (*END_COLUMNS, *COUNT_COLUMNS)}


def output_columns(depth: str, has_strand: bool) -> list[Column]:
    """The columns of numbers that an output of that depth shows, in order."""
    return [
        column
        for column in COLUMNS
        if column.output is not None
        and DEPTHS.index(column.depth) <= DEPTHS.index(depth)
        and (has_strand or column.name != "strand")
    ]
