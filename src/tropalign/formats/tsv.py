"""Tab-separated tables: comment lines, the names of the columns, a row a pair."""

from __future__ import annotations

from tropalign.formats.context import Context
from tropalign.formats.text import concatenated
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable

COLUMNS = {
    "score": ["query", "target", "score"],
    "ends": ["query", "target", "score", "query_start", "query_end", "target_start", "target_end"],
}
COLUMNS["alignment"] = [*COLUMNS["ends"], "identity", "similarity", "gaps", "columns", "cigar"]


def header(context: Context) -> bytes:
    """Comment lines, then the names of the columns; ``strand`` is there with both strands only."""
    names = list(COLUMNS[context.report])
    if context.both_strands:
        names.insert(2, "strand")
    return ("\n".join([*context.comment_lines(), "\t".join(names)]) + "\n").encode()


def encode(table: AlignmentTable, context: Context) -> bytes:
    """Coordinates 0-based half-open, identity and similarity as fractions of the columns."""
    columns = [rows.names(table.queries, table.query_index), rows.names(table.targets, table.target_index)]
    if table.strand is not None:
        columns.append(rows.strands(table))
    columns.append(rows.numbers(table.score))
    if table.depth != "score":
        columns += [
            rows.numbers(table.query_start),
            rows.numbers(table.query_end),
            rows.numbers(table.target_start),
            rows.numbers(table.target_end),
        ]
    if table.depth == "alignment":
        columns += [
            rows.fractions(table.identity),
            rows.fractions(table.similarity),
            rows.numbers(table.n_gaps),
            rows.numbers(table.n_columns),
            rows.cigars(table),
        ]
    return rows.join(columns, len(table))


assemble = concatenated(header)
