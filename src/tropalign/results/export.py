"""Export of an alignment table to other libraries: columns by name, Arrow batches, and a matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, UsageError, shown
from tropalign.results import MatrixValue, nucleotides, rows
from tropalign.results.columns import Flat
from tropalign.results.output_columns import OUTPUT_COLUMNS, chosen_names, own_names, types_of, values_of
from tropalign.sequences.texts import decoded

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

#: Rows per batch of the Arrow stream.
ARROW_ROWS = 1 << 20


def column_arrays(table: AlignmentTable, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return columns by their names in output, texts as Python strings; by default the table's own columns."""
    chosen = own_names(table) if names is None else chosen_names(names)
    return {name: _objects(table, name) for name in chosen}


def _objects(table: AlignmentTable, name: str) -> NDArray[Any]:
    form = OUTPUT_COLUMNS[name].form
    if form in ("query", "target"):
        batch, index = nucleotides.given(table, form)
        names: NDArray[Any] = np.array(batch.names, dtype=object)
        return np.asarray(names[index])
    values = values_of(table, name)
    if isinstance(values, np.ndarray):
        return values
    text, offsets = rows.column_text(values, len(table))
    texts = np.empty(len(table), dtype=object)
    texts[:] = [decoded(text[begin:end]) for begin, end in pairwise(offsets.tolist())]
    return texts


def flat_columns(table: AlignmentTable, names: Sequence[str]) -> dict[str, Flat]:
    """Return columns in Arrow's layout: numbers, or concatenated text and offsets."""
    flat: dict[str, Flat] = {}
    types = types_of(names, table.score.dtype == np.float64)
    for name in names:
        values = values_of(table, name)
        if isinstance(values, np.ndarray):
            flat[name] = np.ascontiguousarray(values, types[name])
        else:
            text, offsets = rows.column_text(values, len(table))
            flat[name] = (np.frombuffer(text, np.uint8), offsets)
    return flat


def batches(table: AlignmentTable) -> Iterator[dict[str, Flat]]:
    """Yield the table's own columns in batches of ARROW_ROWS rows, at least one batch."""
    names = own_names(table)
    for begin in range(0, max(len(table), 1), ARROW_ROWS):
        yield flat_columns(table.slice(begin, begin + ARROW_ROWS), names)


def no_rows(names: Iterable[str], has_decimals: bool = False) -> dict[str, Flat]:
    """Return the columns of a table without rows, in Arrow's layout."""
    none = (np.zeros(0, np.uint8), np.zeros(1, np.int64))
    types = types_of(names, has_decimals)
    return {name: none if dtype is str else np.zeros(0, dtype) for name, dtype in types.items()}


def warn_of_local(table: AlignmentTable, values: MatrixValue) -> None:
    """Warn of a matrix of identities or distances of local alignments; only local alignments have statistics."""
    if values != "score" and table.significance is not None:
        warnings.warn(
            f"values {values!r} of local alignments ignore all residues that do not align: align with mode='global'",
            TropalignWarning,
            stacklevel=4,
        )


def matrix(table: AlignmentTable, values: MatrixValue) -> NDArray[np.float64]:
    """Return the matrix of `AlignmentTable.matrix`."""
    if values not in get_args(MatrixValue):
        raise UsageError(f"values {values!r} is none of {', '.join(get_args(MatrixValue))}")
    table = table if table.hsp is None else table.take(table.hsp == 1)
    of_rows: Any = table.score if values == "score" else table.identity
    warn_of_local(table, values)
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
