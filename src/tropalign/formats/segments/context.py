"""Context of segment formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tropalign.formats.format import PlainContext
from tropalign.results.segments import Segments

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
