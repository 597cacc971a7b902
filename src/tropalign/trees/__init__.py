"""Public names for reading, building, comparing and writing trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.formats.trees.groups import read_groups as read_groups
    from tropalign.results.tree import Tree as Tree
    from tropalign.results.tree import TreeComparisons as TreeComparisons
    from tropalign.results.tree import parse_tree as parse_tree
    from tropalign.results.tree import parse_trees as parse_trees
    from tropalign.results.tree import read_tree as read_tree
    from tropalign.results.tree import read_trees as read_trees
    from tropalign.trees.bootstrap import with_support as with_support
    from tropalign.trees.distances import alignment_distances as alignment_distances
    from tropalign.trees.distances import pair_distances as pair_distances
    from tropalign.trees.files import plot_tree as plot_tree
    from tropalign.trees.files import write_comparisons as write_comparisons
    from tropalign.trees.files import write_tree as write_tree
    from tropalign.trees.joining import neighbour_joining as neighbour_joining
    from tropalign.trees.joining import replace_negative_lengths as replace_negative_lengths
    from tropalign.trees.joining import upgma as upgma
    from tropalign.trees.joining import wpgma as wpgma
    from tropalign.trees.splits import compare_trees as compare_trees
    from tropalign.trees.splits import consensus_tree as consensus_tree

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "trees.bootstrap": "with_support",
        "trees.splits": "compare_trees consensus_tree",
        "trees.distances": "alignment_distances pair_distances",
        "trees.files": "plot_tree write_comparisons write_tree",
        "trees.joining": "neighbour_joining replace_negative_lengths upgma wpgma",
        "formats.trees.groups": "read_groups",
        "results.tree": "Tree TreeComparisons parse_tree parse_trees read_tree read_trees",
    },
    "tropalign",
)
