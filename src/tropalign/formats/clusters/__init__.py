"""Clusters as files: which formats there are, of their table and of their representatives."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tropalign.formats.format import FASTA, RESULT, TEXT, TSV, Format

FORMATS = {
    "clusters": (
        Format(*TSV, "clusters.tables"),
        Format("uc", (".uc",), TEXT, "USEARCH's clusters", "clusters.tables"),
        Format(*RESULT, "clusters.tables"),
    ),
    "representatives": (Format(FASTA[0], (*FASTA[1], ".fna"), TEXT, "", "clusters.tables"),),
}


@dataclass(frozen=True)
class ClustersContext:
    """What a format needs beside the clusters.

    Attributes
    ----------
    writes_sizes
        Whether representatives get the reads of their cluster as ``;size=N``.
    """

    writes_sizes: bool = False

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""
        return {name: value for name, value in asdict(self).items() if name in fields}
