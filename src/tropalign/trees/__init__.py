"""Trees from distances."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.trees.averaging import upgma
    from tropalign.trees.bootstrap import with_support
    from tropalign.trees.distances import alignment_distances, pair_distances
    from tropalign.trees.joining import neighbour_joining
    from tropalign.trees.tree import Tree, parse_tree, read_tree

_HOMES = {
    "Tree": "tree",
    "alignment_distances": "distances",
    "neighbour_joining": "joining",
    "pair_distances": "distances",
    "parse_tree": "tree",
    "read_tree": "tree",
    "upgma": "averaging",
    "with_support": "bootstrap",
}

__all__ = [
    "Tree",
    "alignment_distances",
    "neighbour_joining",
    "pair_distances",
    "parse_tree",
    "read_tree",
    "upgma",
    "with_support",
]


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.trees' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.trees.{_HOMES[name]}"), name)
