"""Comma-separated values (RFC 4180): the names of the columns, a row per pair; no comments, which CSV does not have."""

from __future__ import annotations

from tropalign.formats.header import Header
from tropalign.formats.pair_tables import csv_word, names_of, text_columns
from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable


def header_text(header: Header, context: PairsContext) -> bytes:
    """The names of the columns."""
    return (",".join(names_of(context)) + "\n").encode()


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """The values of the TSV; what holds a comma, a quote or a line break stands in quotes."""
    return rows.join(text_columns(table, names_of(context), csv_word), len(table), separator=",")


FORMAT = Format(
    (".csv",),
    encode,
    concatenated(header_text),
    assembled_with=("report", "both_strands", "columns"),
    takes_columns=True,
)
