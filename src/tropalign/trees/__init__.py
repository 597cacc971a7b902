"""Trees from distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.trees.averaging import upgma as upgma
    from tropalign.trees.bootstrap import with_support as with_support
    from tropalign.trees.distances import alignment_distances as alignment_distances
    from tropalign.trees.distances import pair_distances as pair_distances
    from tropalign.trees.joining import neighbour_joining as neighbour_joining
    from tropalign.trees.tree import Tree as Tree
    from tropalign.trees.tree import parse_tree as parse_tree
    from tropalign.trees.tree import read_tree as read_tree

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "averaging": "upgma",
        "bootstrap": "with_support",
        "distances": "alignment_distances pair_distances",
        "joining": "neighbour_joining",
        "tree": "Tree parse_tree read_tree",
    },
)
