"""BLAST's table, outfmt 6: twelve columns without a header, or those that are chosen.

A pair without an aligned column has no line, as BLAST lists what it finds. Outside local mode there are no E-values and
bits: -1 and 0 stand there, as vsearch writes them.
"""

from __future__ import annotations

from tropalign.formats.pair_tables import text_column
from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable

#: BLAST's qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore.
COLUMNS = (
    "query", "target", "percent_identity", "columns", "mismatches", "gap_openings", "query_first", "query_last",
    "target_first", "target_last", "evalue", "bits",
)  # fmt: skip
ABSENT = {"evalue": "-1", "bits": "0"}


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Positions from 1; on the minus strand the target's descend, and the query stays as it is."""
    if table.n_columns is not None and not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    elif table.n_columns is None and table.significance is not None:  # a local score of 0 is that of no column
        table = table.take(table.score > 0)
    names = COLUMNS if context.columns is None else context.columns
    columns = [
        rows.constant(ABSENT[name]) if name in ABSENT and table.significance is None else text_column(table, name)
        for name in names
    ]
    return rows.join(columns, len(table))


FORMAT = Format((".m8", ".b6", ".blast6"), encode, concatenated(), takes_columns=True, own_columns=COLUMNS)
