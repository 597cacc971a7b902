"""Arrow IPC: streams by nanoarrow; files (Feather) and Parquet through pyarrow, which is an extra."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

from tropalign.errors import InputError
from tropalign.formats.context import Context
from tropalign.results.alignments import AlignmentTable, empty_table


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "Parquet and Feather need pyarrow: pip install 'tropalign[parquet]', or choose another --format"
        ) from None


def encode(table: AlignmentTable, context: Context) -> bytes:
    """An Arrow IPC stream of the table."""
    from nanoarrow.ipc import StreamWriter

    sink = io.BytesIO()
    with StreamWriter.from_writable(sink) as stream:
        stream.write_stream(table)
    return sink.getvalue()


def notes(context: Context) -> dict[str, str]:
    """Version, command and parameters, for the metadata of a schema."""
    return {"tropalign": context.version, "command": context.command, **dict(sorted(context.parameters.items()))}


def _empty(context: Context) -> AlignmentTable:
    return empty_table(context.queries, context.targets, context.report, context.both_strands)


def assemble_stream(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
    """One IPC stream of all parts' batches; the schema's metadata tells how it was made."""
    import nanoarrow as na
    from nanoarrow.c_array_stream import CArrayStream
    from nanoarrow.ipc import StreamWriter

    plain = na.c_array_stream(_empty(context)).get_schema()
    schema = plain.modify(metadata={key.encode(): value.encode() for key, value in notes(context).items()})
    with StreamWriter.from_writable(out) as stream:
        stream.write_stream(CArrayStream.from_c_arrays([], schema, validate=False))
        for part in parts:
            with na.ArrayStream.from_readable(part) as batches:
                stream.write_stream(batches, write_schema=False)


def assemble_file(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
    """An IPC file (Feather, version 2), a record batch a part."""
    require_pyarrow()
    import pyarrow as pa

    schema = pa.RecordBatchReader.from_stream(_empty(context)).schema.with_metadata(notes(context))
    with pa.ipc.new_file(out, schema) as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                for batch in stream:
                    writer.write_batch(batch.replace_schema_metadata(schema.metadata))


def assemble_parquet(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
    """Parquet, a row group a part."""
    require_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.RecordBatchReader.from_stream(_empty(context)).schema.with_metadata(notes(context))
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                table = stream.read_all()
            if len(table):
                writer.write_table(table.replace_schema_metadata(schema.metadata))
