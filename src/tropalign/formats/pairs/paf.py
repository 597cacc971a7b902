"""PAF, minimap2's pairwise mapping format, with ``AS:i:`` and ``cg:Z:``."""

from __future__ import annotations

from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable

MAPPING_QUALITY_UNKNOWN = "255"


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """A line per pair; a pair without an aligned column has none, as PAF lists what maps."""
    if not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    return rows.join(
        [
            rows.names(table.queries, table.query_index),
            rows.numbers(table.queries.lengths[table.query_index]),
            rows.numbers(table.query_start),
            rows.numbers(table.query_end),
            rows.strands(table),
            rows.names(table.targets, table.target_index),
            rows.numbers(table.targets.lengths[table.target_index]),
            rows.numbers(table.target_start),
            rows.numbers(table.target_end),
            rows.numbers(table.n_identical),
            rows.numbers(table.n_columns),
            rows.constant(MAPPING_QUALITY_UNKNOWN),
            *rows.score_tags(table.score),
            rows.cigars(table, "cg:Z:"),
        ],
        len(table),
    )


FORMAT = Format((".paf",), encode, concatenated(), depths=("alignment",))
