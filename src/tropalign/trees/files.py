"""Writing trees and their comparisons to files and figures from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tropalign.errors import UsageError
from tropalign.execution.files import output_name
from tropalign.formats.aligned import title_of
from tropalign.formats.format import format_for_path, write
from tropalign.formats.picture import require_matplotlib
from tropalign.formats.trees import ComparisonContext, TreesContext
from tropalign.results.tree import DISTANCES, Tree, TreeComparisons, TreeDistance, TreeFormat

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_tree(
    tree: Tree,
    path: str | os.PathLike[str],
    format: TreeFormat | None = None,
    *,
    groups: Mapping[str, str] | None = None,
) -> None:
    """Write a tree; the file appears whole or not at all.

    Parameters
    ----------
    tree
        The tree to write.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        "newick", "nexus", "dnd", "html" (a page for the browser), "svg", "png" or "pdf": by the suffix of the path
        when not given.
    groups
        Groups by the names of their taxa, whose colours pages and pictures show; `read_groups` reads them.

    Raises
    ------
    UsageError
        A format or suffix that does not exist.
    InputError
        A place that cannot be written; matplotlib is missing.
    ResourceError
        The disk is full.

    Examples
    --------
    >>> write_tree(tropalign.trees.parse_tree("((a:1,b:2)97:0.5,c:3,d:4);"), "-")
    ((a:1.0,b:2.0)97:0.5,c:3.0,d:4.0);
    """
    given = _checked(tree)
    output = output_name(path)
    name = format_for_path("trees", output) if format is None else format
    context = TreesContext(title_of(output), groups or {})
    write("trees", [given], output, name, "trees.write_tree", context)


def write_comparisons(
    found: TreeComparisons, path: str | os.PathLike[str], distance: TreeDistance | None = None
) -> None:
    """Write distances between trees; the file appears whole or not at all.

    Parameters
    ----------
    found
        Result of `compare_trees`.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses. The format follows from the suffix: TSV, or
        PHYLIP (``.phy``, ``.dist``) for a matrix of trees that were compared with each other.
    distance : {"rf", "normalised-rf", "branch-score", "weighted-rf"}, optional
        Write this distance as a matrix; by default all of them as a table, a row per pair.

    Raises
    ------
    UsageError
        The format or distance does not exist, or PHYLIP does not hold the result.
    InputError
        The path cannot be written.
    ResourceError
        The disk is full.

    Examples
    --------
    >>> one, other = map(tropalign.trees.parse_tree, ["((A,B),C,D);", "((A,C),B,D);"])
    >>> write_comparisons(tropalign.trees.compare_trees([one, other]), "-", "normalised-rf")
    # values: distance
        1	2
    1	0	1
    2	1	0
    """
    if not isinstance(found, TreeComparisons):
        raise UsageError(f"an object of type {type(found).__name__} is not TreeComparisons, as compare_trees returns")
    if distance is not None and distance not in DISTANCES:
        raise UsageError(f"distance {distance!r} is none of {', '.join(DISTANCES)}")
    output = output_name(path)
    name = format_for_path("trees/compared", output)
    write("trees/compared", [found], output, name, "trees.write_comparisons", ComparisonContext(distance))


def plot_tree(tree: Tree, *, groups: Mapping[str, str] | None = None) -> Figure:
    """Draw a tree with matplotlib, like ``tropalign tree --plot``.

    Parameters
    ----------
    tree
        The tree to draw.
    groups
        See `write_tree`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        matplotlib is missing.

    Examples
    --------
    >>> figure = plot_tree(tropalign.trees.parse_tree("((a:1,b:2)97:0.5,c:3,d:4);"))
    >>> sorted(text.get_text() for text in figure.axes[0].texts)
    ['97', 'a', 'b', 'c', 'd']
    """
    given = _checked(tree)
    require_matplotlib()
    from tropalign.formats.trees.picture import tree_figure
    from tropalign.formats.trees.text import encode_newick, nodes_of

    context = TreesContext("tree", groups or {})
    return tree_figure(nodes_of([encode_newick(given, context)]), context)


def _checked(tree: Tree) -> Tree:
    if not isinstance(tree, Tree):
        raise UsageError(
            f"an object of type {type(tree).__name__} is not a Tree: create one with neighbour_joining or parse_tree"
        )
    return tree
