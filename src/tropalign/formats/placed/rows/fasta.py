"""The alignment as FASTA, a line per row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.formats.header import Header
from tropalign.formats.placed import PlacedContext
from tropalign.formats.reference_rows import fixed_rows, late_part, write_rows
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.placements import Placements


def record(name: str, row: bytes, widest: int = 0) -> bytes:
    """A record of two lines."""
    return b">" + name.encode() + b"\n" + row + b"\n"


def is_late(context: PlacedContext) -> bool:
    """New columns are known when all reads are."""
    return context.insertions == "columns"


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """The records of the reads that were placed."""
    if is_late(context):
        return late_part(placements, context)
    if context.which == "reference":
        return b""
    rows.check_names(placements.names)
    return b"".join(record(name, row) for name, row in fixed_rows(placements, context.letters.shape[1]))


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """The reference, then the reads."""
    if is_late(context):
        write_rows(parts, out, context, lambda late, n_rows: b"", record)
        return
    if context.which != "reads":
        for name, row in zip(context.names, context.letters, strict=True):
            out.write(record(name, row.tobytes()))
    for part in parts:
        out.write(part)


FORMAT = Format(
    (".fa", ".fasta"),
    encode,
    assemble,
    assembled_with=("names", "letters", "insertions", "which"),
    needs_all=is_late,
)
