"""Tab-separated tables of an alignment's confidence."""

from __future__ import annotations

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.confidence_table import COLUMNS, table_columns
from tropalign.formats.header import Header
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.multiple import MultipleAlignment

BYTES = [chr(byte) for byte in range(256)]


def header_text(header: Header, context: AlignedContext) -> bytes:
    """Comment lines, then the names of the columns."""
    return ("\n".join([*header.comment_lines(), "\t".join(COLUMNS)]) + "\n").encode()


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The rows."""
    found = table_columns(alignment)
    columns = [
        rows.names(alignment.sequences, found["sequence"]),
        rows.numbers(found["position"]),
        rows.choices(found["residue"], BYTES),
        rows.numbers(found["column"]),
        rows.fractions(found["confidence"]),
        rows.fractions(found["column_confidence"]),
    ]
    return rows.join(columns, len(alignment.columns))


FORMAT = Format((".tsv", ".txt"), encode, concatenated(header_text), shows_confidence=True)
