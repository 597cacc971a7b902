"""Public names for trees and for building them from distances (`distance_trees`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.distance_trees.bootstrap import with_support as with_support
    from tropalign.distance_trees.distances import alignment_distances as alignment_distances
    from tropalign.distance_trees.distances import pair_distances as pair_distances
    from tropalign.distance_trees.files import plot_tree as plot_tree
    from tropalign.distance_trees.files import write_tree as write_tree
    from tropalign.distance_trees.joining import neighbour_joining as neighbour_joining
    from tropalign.distance_trees.joining import upgma as upgma
    from tropalign.formats.trees.groups import read_groups as read_groups
    from tropalign.trees.tree import Tree as Tree
    from tropalign.trees.tree import parse_tree as parse_tree
    from tropalign.trees.tree import read_tree as read_tree

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "distance_trees.bootstrap": "with_support",
        "distance_trees.distances": "alignment_distances pair_distances",
        "distance_trees.files": "plot_tree write_tree",
        "distance_trees.joining": "neighbour_joining upgma",
        "formats.trees.groups": "read_groups",
        "trees.tree": "Tree parse_tree read_tree",
    },
    "tropalign",
)
