"""The table of domains as Parquet, in row groups of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from tropalign.formats.arrow import PYARROW_BYTES
from tropalign.formats.header import Header
from tropalign.formats.hit_parts import ASSEMBLED_WITH, assembled_by, encode_without_lines
from tropalign.formats.hit_tables import batch_of, groups, no_rows, require_pyarrow
from tropalign.formats.hits import HitsContext
from tropalign.formats.writer import Format
from tropalign.results.hits import Hits


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """A row group per batch; the schema's metadata says how the file was made."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(batch_of(no_rows()).schema).with_metadata(header.notes())
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for columns in groups(pieces):
            batch = pa.record_batch(batch_of(columns))
            writer.write_table(pa.Table.from_batches([batch]).replace_schema_metadata(schema.metadata))


FORMAT = Format(
    (".parquet",),
    encode_without_lines,
    assembled_by(write),
    assembled_with=ASSEMBLED_WITH,
    is_binary=lambda context: True,
    package_bytes=PYARROW_BYTES,
    require=require_pyarrow,
)
