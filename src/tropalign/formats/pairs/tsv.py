"""Tab-separated tables: comment lines, the names of the columns, a row per pair.

Which columns there are stands in one place, ``tropalign.results.output_columns``. No value is ever quoted.
"""

from __future__ import annotations

from tropalign.formats.header import Header
from tropalign.formats.pair_tables import names_of, text_columns
from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable


def header_text(header: Header, context: PairsContext) -> bytes:
    """Comment lines, then the names of the columns; ``strand`` is there with both strands only, unless it is chosen."""
    return ("\n".join([*header.comment_lines(), "\t".join(names_of(context))]) + "\n").encode()


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Coordinates 0-based half-open, identity and similarity as fractions of the columns."""
    return rows.join(text_columns(table, names_of(context)), len(table))


FORMAT = Format(
    (".tsv", ".txt"),
    encode,
    concatenated(header_text),
    assembled_with=("report", "both_strands", "columns"),
    takes_columns=True,
)
