"""Formats of chimera tables and of their sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tropalign.formats.format import FASTA, TEXT, TSV, Format

FORMATS = {
    "chimeras/table": (
        Format(*TSV, "chimeras.tables"),
        Format("uchime", (".uchime",), TEXT, "the columns of vsearch's --uchimeout", "chimeras.tables"),
    ),
    "chimeras/sequences": (Format(FASTA[0], (*FASTA[1], ".fna"), TEXT, "", "chimeras.tables"),),
}


@dataclass(frozen=True)
class ChimerasContext:
    """Context of chimera formats; `verdict` selects the rows whose sequences are written, all if it is empty."""

    verdict: str = ""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""
        return {name: getattr(self, name) for name in fields}
