"""Segments as BED: name, start, end, label, support in thousandths."""

from __future__ import annotations

import re

from tropalign.formats.segments import SegmentsContext, rows_of
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.segments import Segments


def encode(segments: Segments, context: SegmentsContext) -> bytes:
    """A line per segment. Blanks, which end a field in BED, become underscores."""
    return rows_of(segments, _rows)


def _rows(segments: Segments) -> str:
    return "".join(
        f"{_word(found.sequence)}\t{found.start}\t{found.end}\t{_word(found.label)}\t"
        f"{min(1000, round(1000 * found.support))}\n"
        for found in segments
    )


def _word(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f]", "_", text)


FORMAT = Format((".bed",), encode, concatenated())
