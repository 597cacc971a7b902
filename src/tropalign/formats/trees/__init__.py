"""Formats of trees (text, pages and pictures), and their context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tropalign.formats.format import HTML, MATPLOTLIB_BYTES, PDF, PNG, SVG, TEXT, Format, PlainContext

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
}


@dataclass(frozen=True)
class TreesContext(PlainContext):
    """Context of tree formats: a title for formats that have one, and groups by taxon name, shown as colours."""

    title: str = "tree"
    groups: Mapping[str, str] = field(default_factory=dict)
