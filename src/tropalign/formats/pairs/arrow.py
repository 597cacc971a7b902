"""Arrow's IPC file, in batches of a fixed number of rows."""

from __future__ import annotations

from tropalign.formats.arrow import ASSEMBLED_WITH, PYARROW_BYTES, encode, require_pyarrow, write_file
from tropalign.formats.writer import Format

FORMAT = Format(
    (".arrow",),
    encode,
    write_file,
    assembled_with=ASSEMBLED_WITH,
    is_binary=lambda context: True,
    package_bytes=PYARROW_BYTES,
    require=require_pyarrow,
    takes_columns=True,
)
