"""Formats of segments, a module each, and what they need beside the segments."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class SegmentsContext:
    """What a format needs beside the segments.

    Attributes
    ----------
    name
        What the table is called where a format has a place for that.
    """

    name: str = "segments"

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""
        return {name: value for name, value in asdict(self).items() if name in fields}
