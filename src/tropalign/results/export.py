"""An alignment table as other libraries read it: the Arrow C stream, pandas and polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results import rows

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

#: Rows of a batch of the Arrow stream.
ARROW_ROWS = 1 << 20


def column_arrays(table: AlignmentTable) -> dict[str, NDArray[Any]]:
    """Every column by the name that it has in output: names, numbers and CIGAR strings."""
    out: dict[str, NDArray[Any]] = {
        "query": np.array(table.queries.names, dtype=object)[table.query_index],
        "target": np.array(table.targets.names, dtype=object)[table.target_index],
        **table.numbers(),
    }
    if table.depth == "alignment":
        out["cigar"] = np.array(table.cigars(), dtype=object)
    return out


def arrow_stream(table: AlignmentTable, requested_schema: object = None) -> object:
    """The Arrow C stream of a table, in batches of ARROW_ROWS rows."""
    from nanoarrow.c_array_stream import CArrayStream

    batches = [
        _arrow_batch(table.slice(begin, min(begin + ARROW_ROWS, len(table))))
        for begin in range(0, len(table), ARROW_ROWS)
    ]
    schema = (batches[0] if batches else _arrow_batch(table)).schema
    stream: object = CArrayStream.from_c_arrays(batches, schema, validate=False).__arrow_c_stream__(requested_schema)
    return stream


def _arrow_batch(table: AlignmentTable) -> Any:
    import nanoarrow as na

    types = {"i1": na.int8(), "i4": na.int32(), "f8": na.float64()}
    fields: dict[str, Any] = {}
    arrays: list[Any] = []

    def add_text(name: str, column: rows.Column) -> None:
        text, offsets = rows.column_text(column, len(table))
        fields[name] = na.large_string()
        arrays.append(na.c_array_from_buffers(fields[name], len(table), [None, offsets, text]))

    add_text("query", rows.names(table.queries, table.query_index))
    add_text("target", rows.names(table.targets, table.target_index))
    for name, values in table.numbers().items():
        fields[name] = types[values.dtype.str[1:]]
        arrays.append(na.c_array_from_buffers(fields[name], len(table), [None, np.ascontiguousarray(values)]))
    if table.depth == "alignment":
        add_text("cigar", rows.cigars(table))
    return na.c_array_from_buffers(na.struct(fields), len(table), [None], children=arrays)
