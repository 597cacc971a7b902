"""Formats of segments of sequences, as tables and as pictures ("tracks")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tropalign.formats.format import PNG, RESULT, SVG, TEXT, TSV, Format, PlainContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from tropalign.results.segments import Segments

FORMATS = {
    "segments": (
        Format(*TSV, "segments.tables"),
        Format("bed", (".bed",), TEXT, "intervals for genome browsers", "segments.tables"),
        Format("bedgraph", (".bedgraph", ".bdg"), TEXT, "support along sequences", "segments.tables"),
        Format(*RESULT, "segments.tables"),
    ),
    "tracks": (Format(*SVG, "segments.tracks"), Format(*PNG, "segments.tracks")),
}


#: Segments that are converted to text at once.
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class SegmentsContext(PlainContext):
    """Context of segment formats; `name` is for tables with a name, `title` and `label` are for pictures."""

    name: str = "segments"
    title: str = ""
    label: str = ""

    @classmethod
    def restore(cls, entries: Any) -> SegmentsContext:
        """Make a context from JSON, with defaults for missing fields. Raises TypeError or AttributeError."""
        if not all(isinstance(value, str) for value in entries.values()):
            raise TypeError("a context of segments must contain strings")
        return cls(**entries)


def rows_of(segments: Segments, encode: Callable[[Segments], str]) -> bytes:
    """Return all rows, converted in blocks, since Python objects take many times as much memory."""
    rows = (encode(piece).encode("utf-8", "backslashreplace") for piece in segments.pieces(ROWS_AT_ONCE))
    return b"".join(rows)
