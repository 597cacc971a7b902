"""Tab-separated tables of placed reads."""

from __future__ import annotations

from tropalign.formats.header import Header
from tropalign.formats.placed import PlacedContext
from tropalign.formats.placed_table import columns_of, table_columns
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.placements import Placements


def header_text(header: Header, context: PlacedContext) -> bytes:
    """Comment lines, then the names of the columns."""
    return ("\n".join([*header.comment_lines(), "\t".join(columns_of(context))]) + "\n").encode()


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """The rows."""
    rows.check_names(placements.names)
    columns = [
        rows.words(values) if isinstance(values, list) else rows.numbers(values)
        for values in table_columns(placements, context).values()
    ]
    return rows.join(columns, len(placements))


FORMAT = Format((".tsv", ".txt"), encode, concatenated(header_text), assembled_with=("more",))
