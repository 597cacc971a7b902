"""Parquet tables of placed reads, a row group per part."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.header import Header
from tropalign.formats.placed import PlacedContext
from tropalign.formats.placed_table import COLUMNS, table_columns
from tropalign.formats.writer import Format
from tropalign.results.placements import Placements


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'tropalign[parquet]', or end --table in .tsv") from None


def _schema() -> Any:
    import pyarrow as pa

    types = {str: pa.string(), np.int64: pa.int64(), np.int32: pa.int32()}
    return pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """An Arrow IPC stream of the rows."""
    import pyarrow as pa

    table = pa.table(table_columns(placements, context), _schema())
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """The tables of all parts, less those without a row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(out, _schema()) as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                table = stream.read_all()
            if len(table):
                writer.write_table(table)


FORMAT = Format((".parquet",), encode, assemble, is_binary=lambda context: True, require=require_pyarrow)
