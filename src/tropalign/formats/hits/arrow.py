"""The table of domains as Arrow's IPC stream, written by nanoarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from tropalign.formats.arrow import stream_to
from tropalign.formats.header import Header
from tropalign.formats.hit_parts import ASSEMBLED_WITH, assembled_by, encode_without_lines
from tropalign.formats.hit_tables import batch_of, groups, no_rows
from tropalign.formats.hits import HitsContext
from tropalign.formats.writer import Format
from tropalign.results.hits import Hits


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """One stream of all rows; the schema's metadata says how it was made."""
    from nanoarrow.c_array_stream import CArrayStream

    metadata = {key.encode(): value.encode() for key, value in header.notes().items()}
    schema = batch_of(no_rows()).schema.modify(metadata=metadata)
    with stream_to(out) as stream:
        stream.write_stream(CArrayStream.from_c_arrays([], schema, validate=False))
        for columns in groups(pieces):
            batch = batch_of(columns)
            one = CArrayStream.from_c_arrays([batch], batch.schema, validate=False)
            stream.write_stream(one, write_schema=False)


FORMAT = Format(
    (".arrow", ".arrows"),
    encode_without_lines,
    assembled_by(write),
    assembled_with=ASSEMBLED_WITH,
    is_binary=lambda context: True,
)
