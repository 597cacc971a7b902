"""Parquet, a row group per part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.formats.arrow import encode, pyarrow_schema, require_pyarrow
from tropalign.formats.header import Header
from tropalign.formats.pairs import PairsContext
from tropalign.formats.writer import Format


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """The tables of all parts, less those without a row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pyarrow_schema(header, context)
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                table = stream.read_all()
            if len(table):
                writer.write_table(table.replace_schema_metadata(schema.metadata))


FORMAT = Format(
    (".parquet",),
    encode,
    assemble,
    assembled_with=("report", "both_strands"),
    is_binary=lambda context: True,
    require=require_pyarrow,
)
