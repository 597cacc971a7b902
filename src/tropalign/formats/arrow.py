"""Arrow IPC streams, and Parquet through pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from tropalign.errors import InputError
from tropalign.formats.table import AlignmentTable

if TYPE_CHECKING:
    from tropalign.formats.writers import Context


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "Arrow files and Parquet need pyarrow: pip install 'tropalign[parquet]', or choose another --format"
        ) from None


def encode(table: AlignmentTable, context: Context) -> bytes:
    """An Arrow IPC stream of the table."""
    require_pyarrow()
    import pyarrow as pa

    sink = io.BytesIO()
    batch = pa.RecordBatchReader.from_stream(table)
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        for part in batch:
            stream.write_batch(part)
    return sink.getvalue()


def _schema(schema: object, context: Context) -> object:
    notes = {"tropalign": context.version, "command": context.command, **context.parameters}
    return schema.with_metadata(notes)  # type: ignore[attr-defined]


def assemble_stream(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
    """One IPC stream of all parts' batches."""
    import pyarrow as pa

    writer = None
    for part in parts:
        with pa.ipc.open_stream(part) as stream:
            writer = writer or pa.ipc.new_stream(out, _schema(stream.schema, context))
            for batch in stream:
                writer.write_batch(batch)
    if writer is not None:
        writer.close()


def assemble_parquet(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
    """One row group a part."""
    require_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for part in parts:
        with pa.ipc.open_stream(part) as stream:
            table = stream.read_all()
            writer = writer or pq.ParquetWriter(out, _schema(table.schema, context), compression="zstd")
            writer.write_table(table.replace_schema_metadata(writer.schema.metadata))
    if writer is not None:
        writer.close()
