"""Guide trees from files in the formats that CLUSTALW accepts."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.rooting import root_tree
from tropalign.msa.guide_tree import GuideTree, own_names, parse_guide_tree
from tropalign.sequences.files import file_name, read_text
from tropalign.trees.newick import MOST_BYTES
from tropalign.trees.tree import Tree, parse_tree


def read_clustalw_tree(path: str | os.PathLike[str], names: Sequence[str], options: ClustalwOptions) -> GuideTree:
    """Read a guide tree for the named sequences from a Newick or NEXUS file, compressed or not.

    An unrooted tree such as CLUSTALW writes gets CLUSTALW's root: it has branch lengths, its outermost node joins
    three and all others two. Any other tree is read as by `read_guide_tree`.
    """
    return parse_clustalw_tree(read_text(path, MOST_BYTES), names, options, file_name(path))


def parse_clustalw_tree(text: str, names: Sequence[str], options: ClustalwOptions, file: str = "the tree") -> GuideTree:
    """Parse a guide tree for the named sequences from text in Newick or NEXUS format."""
    rooted = parse_guide_tree(text, names, file)
    if len(names) < 3:
        return rooted
    tree = parse_tree(text, file)
    given = np.nan_to_num(tree.lengths)
    if len(tree.children[-1]) != 3 or any(len(below) != 2 for below in tree.children[:-1]) or not given.any():
        return rooted
    number_of = {name: k for k, name in enumerate(names)}
    number_of |= {word: number_of[name] for word, name in own_names(names).items()}
    numbers = [number_of[name] for name in tree.names] + list(range(len(names), len(tree.lengths)))
    lengths = np.empty(len(given))
    lengths[numbers] = given
    children = tuple(tuple(numbers[child] for child in below) for below in tree.children)
    return root_tree(Tree(tuple(names), children, lengths), is_compat=options.is_compat)
