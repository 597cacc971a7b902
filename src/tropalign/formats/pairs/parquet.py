"""Parquet, in row groups of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.formats.arrow import ASSEMBLED_WITH, PYARROW_BYTES, batches, encode, pyarrow_schema, require_pyarrow
from tropalign.formats.header import Header
from tropalign.formats.pairs import PairsContext
from tropalign.formats.writer import Format
from tropalign.results.columns import arrow_batch


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """A row group per batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pyarrow_schema(header, context)
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for columns in batches(parts, context):
            writer.write_batch(pa.record_batch(arrow_batch(columns)).replace_schema_metadata(schema.metadata))


FORMAT = Format(
    (".parquet",),
    encode,
    assemble,
    assembled_with=ASSEMBLED_WITH,
    is_binary=lambda context: True,
    package_bytes=PYARROW_BYTES,
    require=require_pyarrow,
    takes_columns=True,
)
