"""Arrow's IPC file (Feather, version 2), a record batch per part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.formats.arrow import encode, pyarrow_schema, require_pyarrow
from tropalign.formats.header import Header
from tropalign.formats.pairs import PairsContext
from tropalign.formats.writer import Format


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """The batches of all parts, then the footer that tells where each lies."""
    import pyarrow as pa

    schema = pyarrow_schema(header, context)
    with pa.ipc.new_file(out, schema) as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                for batch in stream:
                    writer.write_batch(batch.replace_schema_metadata(schema.metadata))


FORMAT = Format(
    (".feather",),
    encode,
    assemble,
    assembled_with=("report", "both_strands"),
    is_binary=lambda context: True,
    require=require_pyarrow,
)
