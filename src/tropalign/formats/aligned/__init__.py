"""Formats of multiple alignments, a module each, and what they need beside the alignment."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
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


def title_of(path: str | os.PathLike[str]) -> str:
    """What an alignment in a file of this name is called: the name without folders and endings."""
    name = Path(path)
    while name.suffix.lower() in (".gz", ".zst", ".bz2", ".xz"):
        name = name.with_suffix("")
    return name.stem if str(path) != "-" else "alignment"
