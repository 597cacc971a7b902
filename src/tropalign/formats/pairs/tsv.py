"""Tab-separated tables: comment lines, the names of the columns, a row per pair.

Which columns there are stands in one place, ``tropalign.results.columns.COLUMNS``.
"""

from __future__ import annotations

from tropalign.formats.header import Header
from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable
from tropalign.results.columns import Column, output_columns


def header_text(header: Header, context: PairsContext) -> bytes:
    """Comment lines, then the names of the columns; ``strand`` is there with both strands only."""
    names = ["query", "target", *(str(c.output) for c in output_columns(context.report, context.both_strands))]
    if context.report == "alignment":
        names.append("cigar")
    return ("\n".join([*header.comment_lines(), "\t".join(names)]) + "\n").encode()


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Coordinates 0-based half-open, identity and similarity as fractions of the columns."""
    columns = [rows.names(table.queries, table.query_index), rows.names(table.targets, table.target_index)]
    columns += [_text(table, column) for column in output_columns(table.depth, table.strand is not None)]
    if table.depth == "alignment":
        columns.append(rows.cigars(table))
    return rows.join(columns, len(table))


def _text(table: AlignmentTable, column: Column) -> rows.Column:
    if column.form == "strand":
        return rows.strands(table)
    values = getattr(table, column.name)
    return rows.fractions(values) if column.form == "fraction" else rows.numbers(values)


FORMAT = Format((".tsv", ".txt"), encode, concatenated(header_text), assembled_with=("report", "both_strands"))
