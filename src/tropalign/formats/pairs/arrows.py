"""Arrow's IPC stream, written by nanoarrow."""

from __future__ import annotations

from tropalign.formats.arrow import ASSEMBLED_WITH, encode, write_stream
from tropalign.formats.writer import Format

FORMAT = Format(
    (".arrows",),
    encode,
    write_stream,
    assembled_with=ASSEMBLED_WITH,
    is_binary=lambda context: True,
    takes_columns=True,
)
