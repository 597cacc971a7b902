"""Parquet tables of placed reads, in row groups of a fixed number of rows, however the reads were cut into tiles."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.header import Header
from tropalign.formats.placed import PlacedContext
from tropalign.formats.placed_table import columns_of, table_columns
from tropalign.formats.writer import Format
from tropalign.results.placements import Placements

#: Rows of a row group.
GROUP_ROWS = 1 << 17


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'tropalign[parquet]', or end --table in .tsv") from None


def _schema(context: PlacedContext) -> Any:
    import pyarrow as pa

    types = {str: pa.string(), np.int64: pa.int64(), np.int32: pa.int32()}
    return pa.schema([(name, types[kind]) for name, kind in columns_of(context).items()])


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """An Arrow IPC stream of the rows."""
    import pyarrow as pa

    table = pa.table(table_columns(placements, context), _schema(context))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """The rows of all parts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    waiting = _schema(context).empty_table()
    with pq.ParquetWriter(out, waiting.schema) as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                waiting = pa.concat_tables([waiting, stream.read_all()])
            while len(waiting) >= GROUP_ROWS:
                writer.write_table(waiting.slice(0, GROUP_ROWS).combine_chunks())
                waiting = waiting.slice(GROUP_ROWS)
        if len(waiting):
            writer.write_table(waiting.combine_chunks())


FORMAT = Format((".parquet",), encode, assemble, ("more",), is_binary=lambda context: True, require=require_pyarrow)
