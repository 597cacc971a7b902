"""An alignment table as other libraries read it: the Arrow C stream, pandas and polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results import nucleotides, rows
from tropalign.results.output_columns import OUTPUT_COLUMNS, chosen_names, own_names, types_of, values_of

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

#: A column: numbers, or text one after another and where each row's begins.
Flat = NDArray[Any] | tuple[NDArray[np.uint8], NDArray[np.int64]]
#: Rows of a batch of the Arrow stream.
ARROW_ROWS = 1 << 20


def column_arrays(table: AlignmentTable, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Columns by the names that they have in output, texts as Python's; those of the table when not chosen."""
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
    texts[:] = [text[begin:end].decode("latin-1") for begin, end in pairwise(offsets.tolist())]
    return texts


def flat_columns(table: AlignmentTable, names: Sequence[str]) -> dict[str, Flat]:
    """Columns as Arrow keeps them: numbers, or text one after another and where each begins."""
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


def no_rows(names: Iterable[str], has_decimals: bool = False) -> dict[str, Flat]:
    """The same of a table without a row."""
    none = (np.zeros(0, np.uint8), np.zeros(1, np.int64))
    types = types_of(names, has_decimals)
    return {name: none if dtype is str else np.zeros(0, dtype) for name, dtype in types.items()}


def arrow_stream(table: AlignmentTable, requested_schema: object = None) -> object:
    """The Arrow C stream of a table, in batches of ARROW_ROWS rows."""
    from nanoarrow.c_array_stream import CArrayStream

    names = own_names(table)
    batches = [
        arrow_batch(flat_columns(table.slice(begin, min(begin + ARROW_ROWS, len(table))), names))
        for begin in range(0, len(table), ARROW_ROWS)
    ]
    schema = (batches[0] if batches else arrow_batch(flat_columns(table, names))).schema
    stream: object = CArrayStream.from_c_arrays(batches, schema, validate=False).__arrow_c_stream__(requested_schema)
    return stream


def arrow_batch(columns: dict[str, Flat]) -> Any:
    """One batch of Arrow, without a copy."""
    import nanoarrow as na

    types = {"i1": na.int8(), "i4": na.int32(), "i8": na.int64(), "f8": na.float64()}
    fields: dict[str, Any] = {}
    arrays: list[Any] = []
    n_rows = 0
    for name, values in columns.items():
        is_text = isinstance(values, tuple)
        n_rows = len(values[1]) - 1 if is_text else len(values)
        fields[name] = na.large_string() if is_text else types[values.dtype.str[1:]]  # type: ignore[union-attr]
        buffers = [None, values[1], values[0]] if is_text else [None, values]
        arrays.append(na.c_array_from_buffers(fields[name], n_rows, buffers))
    return na.c_array_from_buffers(na.struct(fields), n_rows, [None], children=arrays)
