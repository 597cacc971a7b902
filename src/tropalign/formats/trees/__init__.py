"""Formats of trees (text, pages and pictures), and their context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tropalign.formats.format import HTML, MATPLOTLIB_BYTES, PDF, PNG, SVG, TEXT, Format

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
class TreesContext:
    """Context of tree formats: a title for formats that have one, and groups by taxon name, shown as colours."""

    title: str = "tree"
    groups: Mapping[str, str] = field(default_factory=dict)

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""
        return {name: value for name, value in asdict(self).items() if name in fields}
