"""What formats of segments need beside the segments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tropalign.results.segments import Segments

#: Segments that are made into text at a time.
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class SegmentsContext:
    """What a format needs beside the segments.

    Attributes
    ----------
    name
        What the table is called where a format has a place for that.
    title, label
        Of a picture: what it shows, and the label of its segments.
    """

    name: str = "segments"
    title: str = ""
    label: str = ""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""
        return {name: value for name, value in asdict(self).items() if name in fields}

    @classmethod
    def restore(cls, entries: Any) -> SegmentsContext:
        """Makes a context of JSON, other fields as by default; raises TypeError or AttributeError where it is none."""
        if not all(isinstance(value, str) for value in entries.values()):
            raise TypeError("a context of segments holds text")
        return cls(**entries)


def rows_of(segments: Segments, encode: Callable[[Segments], str]) -> bytes:
    """All rows, made some at a time: as objects of Python they take many times as much."""
    rows = (encode(piece).encode("utf-8", "backslashreplace") for piece in segments.pieces(ROWS_AT_ONCE))
    return b"".join(rows)
