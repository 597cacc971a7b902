"""PAF, minimap2's pairwise mapping format, with tags for the score, the path and the differences.

``NM:i:`` counts columns that are not identical, as in SAM. ``de:f:`` is the divergence in which a gap of any
length counts once: 1 - identical / (columns of two residues + gaps), as minimap2 defines it. ``cs:Z:`` is its
short form. For translated sequences, lengths and positions count nucleotides, everything else residues; ``qf:i:``
and ``tf:i:`` are the frames.
"""

from __future__ import annotations

import numpy as np

from tropalign.formats.format import Codec, by_rows, concatenated
from tropalign.formats.pairs.context import PairsContext
from tropalign.results import gapped, nucleotides, rows
from tropalign.results.alignments import AlignmentTable

MAPPING_QUALITY_UNKNOWN = "255"


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return a line per pair; pairs without an aligned column are left out, since PAF lists mappings only."""
    if not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    n_events = table.n_columns - table.n_gaps + gapped.gap_openings(table)
    return rows.join(
        [
            *_place(table, "query"),
            rows.choices((nucleotides.strand(table) < 0).astype(np.int64), ["+", "-"]),
            *_place(table, "target"),
            rows.numbers(table.n_identical),
            rows.numbers(table.n_columns),
            rows.constant(MAPPING_QUALITY_UNKNOWN),
            *rows.score_tags(table.score),
            rows.cigars(table, "cg:Z:"),
            rows.numbers(table.n_columns - table.n_identical, "NM:i:"),
            rows.fractions(1 - table.n_identical / np.maximum(n_events, 1), "de:f:"),
            gapped.differences(table, "cs:Z:"),
            *([] if table.query_frames is None else [rows.numbers(nucleotides.frame(table, "query"), "qf:i:")]),
            *([] if table.target_frames is None else [rows.numbers(nucleotides.frame(table, "target"), "tf:i:")]),
        ],
        len(table),
    )


def _place(table: AlignmentTable, side: str) -> list[rows.Column]:
    """Return name, length, start and end of a side."""
    numbers = (nucleotides.lengths(table, side), *nucleotides.span(table, side))
    return [rows.names(*nucleotides.given(table, side)), *(rows.numbers(values) for values in numbers)]


PAF = Codec(encode, concatenated(), blocks=by_rows(encode))
