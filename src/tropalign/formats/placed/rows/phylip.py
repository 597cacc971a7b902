"""The alignment as relaxed PHYLIP: names of any length, padded to the longest, a line per row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.formats.header import Header
from tropalign.formats.placed import PlacedContext
from tropalign.formats.reference_rows import late_part, write_rows
from tropalign.formats.writer import Format


def line(name: str, row: bytes, widest: int) -> bytes:
    """A row."""
    return name.ljust(widest).encode() + b" " + row + b"\n"


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Numbers of rows and columns, the reference, then the reads."""
    write_rows(parts, out, context, lambda late, n_rows: f"{n_rows} {late.n_columns}\n".encode(), line)


FORMAT = Format(
    (".phy", ".phylip"),
    late_part,
    assemble,
    assembled_with=("names", "letters", "insertions", "which"),
    needs_all=lambda context: True,
)
