"""Formats of trees (text, pages and pictures) and of distances between them, and their contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tropalign.formats.format import HTML, MATPLOTLIB_BYTES, PDF, PHYLIP, PNG, SVG, TEXT, TSV, Format, PlainContext

#: Pictures of trees.
_PICTURES = tuple(Format(*form, "trees.picture", package_bytes=MATPLOTLIB_BYTES) for form in (SVG, PNG, PDF))
FORMATS = {
    "trees": (
        Format("newick", (".nwk", ".newick", ".tree", ".tre"), TEXT, "", "trees.text"),
        Format("dnd", (".dnd",), TEXT, "ClustalW's tree", "trees.text"),
        Format("nexus", (".nex", ".nexus"), TEXT, "FigTree, PAUP, MrBayes", "trees.text"),
        Format(*HTML, "trees.report"),
        *_PICTURES,
    ),
    "trees/plots": _PICTURES,
    "trees/compared": (
        Format(*TSV, "trees.text"),
        Format(PHYLIP[0], (*PHYLIP[1], ".dist"), TEXT, "", "trees.text"),
    ),
}


@dataclass(frozen=True)
class TreesContext(PlainContext):
    """Title for tree formats that have one, and groups by taxon name, which are shown as colours."""

    title: str = "tree"
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparisonContext(PlainContext):
    """Context of formats of tree distances: the distance that a matrix holds; None for a table of all distances."""

    distance: str | None = None
