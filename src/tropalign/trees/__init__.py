"""Trees, and the public names of what makes them of distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.formats.trees.groups import read_groups as read_groups
    from tropalign.results.tree import Tree as Tree
    from tropalign.results.tree import parse_tree as parse_tree
    from tropalign.results.tree import read_tree as read_tree
    from tropalign.trees.bootstrap import with_support as with_support
    from tropalign.trees.distances import alignment_distances as alignment_distances
    from tropalign.trees.distances import pair_distances as pair_distances
    from tropalign.trees.files import plot_tree as plot_tree
    from tropalign.trees.files import write_tree as write_tree
    from tropalign.trees.joining import neighbour_joining as neighbour_joining
    from tropalign.trees.joining import upgma as upgma

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "trees.bootstrap": "with_support",
        "trees.distances": "alignment_distances pair_distances",
        "trees.files": "plot_tree write_tree",
        "trees.joining": "neighbour_joining upgma",
        "formats.trees.groups": "read_groups",
        "results.tree": "Tree parse_tree read_tree",
    },
    "tropalign",
)
