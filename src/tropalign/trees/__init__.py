"""Trees from distances."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.trees.averaging import upgma
    from tropalign.trees.joining import neighbour_joining
    from tropalign.trees.tree import Tree, parse_tree, read_tree

_HOMES = {
    "Tree": "tree",
    "neighbour_joining": "joining",
    "parse_tree": "tree",
    "read_tree": "tree",
    "upgma": "averaging",
}

__all__ = ["Tree", "neighbour_joining", "parse_tree", "read_tree", "upgma"]


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.trees' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.trees.{_HOMES[name]}"), name)
