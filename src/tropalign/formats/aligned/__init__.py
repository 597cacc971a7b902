"""Formats of multiple alignments, a module each, and what they need beside the alignment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class AlignedContext:
    """What a format needs beside the alignment.

    Attributes
    ----------
    title
        What the alignment is called where a format has a place for that.
    """

    title: str = "alignment"

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""
        return {name: value for name, value in asdict(self).items() if name in fields}
