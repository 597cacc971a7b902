"""PAF, minimap2's pairwise mapping format, with its tags for the score, the path and the differences.

``NM:i:`` counts the columns that are not identical, as SAM's. ``de:f:`` is the divergence in which a gap counts once,
however long: 1 - identical / (columns of two residues + gaps), as minimap2 defines it. ``cs:Z:`` is its short form.
"""

from __future__ import annotations

import numpy as np

from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import gapped, rows
from tropalign.results.alignments import AlignmentTable

MAPPING_QUALITY_UNKNOWN = "255"
#: Their differences stay in the cache.
ROWS_AT_ONCE = 4096


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """A line per pair; a pair without an aligned column has none, as PAF lists what maps."""
    if not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    parts = [_lines(table.slice(k, min(k + ROWS_AT_ONCE, len(table)))) for k in range(0, len(table), ROWS_AT_ONCE)]
    return b"".join(parts)


def _lines(table: AlignmentTable) -> bytes:
    n_events = table.n_columns - table.n_gaps + gapped.gap_openings(table)
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
            rows.numbers(table.n_columns - table.n_identical, "NM:i:"),
            rows.fractions(1 - table.n_identical / np.maximum(n_events, 1), "de:f:"),
            gapped.differences(table, "cs:Z:"),
        ],
        len(table),
    )


FORMAT = Format(
    (".paf",),
    encode,
    concatenated(),
    depths=("alignment",),
    column_bytes=3.0,  # of cs: two letters and a sign where residues differ
)
