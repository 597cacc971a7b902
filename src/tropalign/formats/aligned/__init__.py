"""Formats of multiple alignments, of their confidence, and of differences to a row."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tropalign.formats.format import (
    COMPRESSED,
    FASTA,
    HTML,
    PARQUET,
    PHYLIP,
    PNG,
    RESULT,
    SVG,
    TEXT,
    TSV,
    Format,
    PlainContext,
)

if TYPE_CHECKING:
    from tropalign.sequences.features import Feature


@dataclass(frozen=True)
class ConfidenceFormat(Format):
    """A format that shows confidence, which is computed only on demand."""


FORMATS = {
    "aligned": (
        Format(FASTA[0], (*FASTA[1], ".afa"), TEXT, "", "aligned.text"),
        Format("a2m", (".a2m",), TEXT, "HMMER, SAM", "aligned.profile"),
        Format("a3m", (".a3m",), TEXT, "HH-suite", "aligned.text"),
        Format(*PHYLIP, "aligned.text"),
        Format("nexus", (".nex", ".nexus"), TEXT, "PAUP, MrBayes", "aligned.text"),
        ConfidenceFormat("stockholm", (".sto", ".stk", ".stockholm"), TEXT, "Pfam", "aligned.text"),
        Format("clustal", (".aln", ".clw", ".clustal"), TEXT, "", "aligned.text"),
        Format("msf", (".msf",), TEXT, "", "aligned.text"),
        Format("vcf", (".vcf",), TEXT, "differences to a row, of nucleotides", "aligned.differences"),
        ConfidenceFormat(*HTML, "aligned.report"),
        ConfidenceFormat(*SVG, "aligned.picture"),
        ConfidenceFormat(*PNG, "aligned.picture"),
        ConfidenceFormat(*RESULT, "aligned.tables"),
    ),
    "aligned/agreement": (Format(*HTML, "aligned.report"),),
    "differences": (Format(*TSV, "aligned.differences"),),
    "confidence": (ConfidenceFormat(*TSV, "aligned.tables"), ConfidenceFormat(*PARQUET, "aligned.tables")),
}


@dataclass(frozen=True)
class AlignedContext(PlainContext):
    """Title for alignment formats that have one, features of the rows for the page, and the row to compare with."""

    title: str = "alignment"
    features: tuple[Feature, ...] = ()
    reference_row: str | int = 0


def title_of(path: str | os.PathLike[str]) -> str:
    """Return the title of an alignment file: its name without folders and suffixes."""
    name = Path(path)
    while name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return name.stem if str(path) != "-" else "alignment"
