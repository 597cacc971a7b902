"""Aligned FASTA: two gapped records per pair, a blank line after them."""

from __future__ import annotations

from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import gapped, rows
from tropalign.results.alignments import AlignmentTable

#: Their gapped letters stay in the cache.
ROWS_AT_ONCE = 4096


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Headers say where the letters lie (0-based half-open); a pair without an aligned column is left out."""
    if not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    parts = [_records(table.slice(k, min(k + ROWS_AT_ONCE, len(table)))) for k in range(0, len(table), ROWS_AT_ONCE)]
    return b"".join(parts)


def _records(table: AlignmentTable) -> bytes:
    query, _, target, offsets = gapped.lines(table, wants_middle=False)
    columns = [
        rows.names(table.queries, table.query_index, ">"),
        rows.numbers(table.query_start, " "),
        rows.numbers(table.query_end, "-"),
        *([] if table.strand is None else [rows.strands(table, " strand=")]),
        rows.numbers(table.score, " score="),
        ("text", query, offsets, None, "\n"),
        rows.names(table.targets, table.target_index, "\n>"),
        rows.numbers(table.target_start, " "),
        rows.numbers(table.target_end, "-"),
        ("text", target, offsets, None, "\n"),
    ]
    return rows.join(columns, len(table), separator="", terminator="\n\n")


FORMAT = Format((".fa", ".fasta"), encode, concatenated(), depths=("alignment",), column_bytes=2.0)
