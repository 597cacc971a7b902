"""Parquet tables of distances, a row group per part."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from tropalign.formats.arrow import needs_pyarrow
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.paths.context import PathsContext


def encode(part: range, context: PathsContext) -> bytes:
    """The rows of some sources as Arrow's IPC stream: infinity is null, a path the list of its vertices."""
    import pyarrow as pa

    names = pa.array(context.names, pa.string())
    distances = context.distances(part).ravel()
    sources = np.repeat(context.paths.sources[part.start : part.stop], len(context.targets))
    columns: dict[str, Any] = {
        "from": names.take(pa.array(sources)),
        "to": names.take(pa.array(np.tile(context.targets, len(part)))),
        "distance": pa.array(distances, mask=distances == context.paths.infinity),
    }
    if context.with_paths:
        found = [context.paths.row_paths(row, context.targets) for row in part]
        none = np.zeros(0, np.int64)
        vertices, lengths = (np.concatenate([none, *(pair[k] for pair in found)]) for k in (0, 1))
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
        columns["path"] = pa.LargeListArray.from_arrays(offsets, names.take(pa.array(vertices)))
    table = pa.table(columns)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PathsContext) -> None:
    """A row group per part; the schema's metadata says how it was made."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.ipc.open_stream(encode(range(0), context)).schema.with_metadata(header.notes())
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in parts:
            writer.write_table(pa.ipc.open_stream(part).read_all().replace_schema_metadata(schema.metadata))


PARQUET = Codec(encode, assemble, is_binary=True, require=needs_pyarrow("Parquet needs", "choose another --format"))
