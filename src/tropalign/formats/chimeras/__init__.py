"""Chimeras as files: which formats there are, of their table and of their sequences."""

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
    """What a format needs beside the rows.

    Attributes
    ----------
    verdict
        The verdict of the rows whose sequences are written; of all where it is empty.
    """

    verdict: str = ""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""
        return {name: getattr(self, name) for name in fields}
