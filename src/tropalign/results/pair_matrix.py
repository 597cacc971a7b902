"""Tables of pairs as matrices, and whether two tables are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, shown
from tropalign.results import nucleotides
from tropalign.sequences import SequenceBatch

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

VALUES = ("score", "identity", "distance")


def matrix(table: AlignmentTable, values: str) -> NDArray[np.float64]:
    """See `AlignmentTable.matrix`."""
    if values not in VALUES:
        raise UsageError(f"values {values!r} is none of {', '.join(VALUES)}")
    of_rows: Any = table.score if values == "score" else table.identity
    (queries, rows), (targets, columns) = (nucleotides.given(table, side) for side in ("query", "target"))
    made = np.full((len(queries), len(targets)), np.nan)
    made[rows, columns] = of_rows
    is_set = queries is targets and table.query_frames is None
    if is_set:
        made = np.where(np.isnan(made), made.T, made)
        if values != "score":
            np.fill_diagonal(made, 1.0)
    missing = np.isnan(made)
    if is_set:
        np.fill_diagonal(missing, False)
    if missing.any():
        query, target = (int(k) for k in np.argwhere(missing)[0])
        names = f"{shown(queries.names[query])} with {shown(targets.names[target])}"
        raise InputError(
            f"a matrix needs every pair, and {int(missing.sum())} of its cells have none (the first is {names}): leave "
            "out what selects pairs, and join all tables"
        )
    return 1.0 - made if values == "distance" else made


def are_equal(table: AlignmentTable, other: AlignmentTable) -> bool:
    """Whether two tables are of the same sequences and have the same columns."""
    from tropalign.results.alignments import arrays_of

    if (
        table.depth != other.depth
        or not are_same(table.queries, other.queries)
        or not are_same(table.targets, other.targets)
    ):
        return False
    columns, others = arrays_of(table), arrays_of(other)
    return columns.keys() == others.keys() and all(np.array_equal(columns[name], others[name]) for name in columns)


def are_same(batch: SequenceBatch, other: SequenceBatch) -> bool:
    """Whether two batches have the same names and letters; the names and lengths, where one has no letters."""
    if batch is other:
        return True
    if len(batch) != len(other) or not np.array_equal(batch.lengths, other.lengths) or batch.names != other.names:
        return False
    pairs = (batch, other)
    if not all(isinstance(one, SequenceBatch) and one.has_residues for one in pairs):
        return True
    return batch.alphabet == other.alphabet and np.array_equal(batch.letters, other.letters)
