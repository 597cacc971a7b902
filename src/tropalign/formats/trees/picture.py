"""Matplotlib picture of a tree: branches to scale, names, support, and groups in their colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import shown
from tropalign.formats.format import Codec, Header
from tropalign.formats.picture import figure_bytes, require_matplotlib
from tropalign.formats.trees import TreesContext
from tropalign.formats.trees.groups import colours, groups_of
from tropalign.formats.trees.text import encode_newick, nodes_of
from tropalign.results.newick import Nodes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Inches: width of the branches, height of a line, limits of the tree's height, and height of scale and legend
#: below.
WIDTH, LINE, LEAST_HEIGHT, MOST_HEIGHT, BELOW, LEGEND_LINE = 6.0, 0.15, 1.5, 60.0, 0.45, 0.18
#: Points per line required for names, maximum font size in points, and maximum length of a name.
LEAST_POINTS, MOST_POINTS, NAME_LETTERS = 4.0, 8.0, 40
#: Largest number of tips for which support is written.
MOST_SUPPORT = 400
INK, QUIET = "#1b1f27", "#5c6575"
#: Largest number of groups in the legend.
MOST_GROUPS = 24


def places_of(nodes: Nodes, below: list[list[int]]) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return the depth of each node (negative lengths drawn as 0), its line (tips from 0), and the number of tips.

    If a tree has no lengths, its tips are aligned.
    """
    n = len(nodes.parents)
    depth, line, n_tips = np.zeros(n), np.zeros(n), 0
    if any(nodes.lengths[1:]):
        for node in range(1, n):
            depth[node] = depth[nodes.parents[node]] + max(0.0, nodes.lengths[node] or 0.0)
    else:
        height = [0] * n
        for node in range(n - 1, 0, -1):
            height[nodes.parents[node]] = max(height[nodes.parents[node]], height[node] + 1)
        depth = height[0] - np.array(height, float)
    for node in range(n):
        if not below[node]:
            line[node], n_tips = n_tips, n_tips + 1
    for node in range(n - 1, -1, -1):
        if below[node]:
            line[node] = (line[below[node][0]] + line[below[node][-1]]) / 2
    return depth, line, n_tips


def tree_figure(nodes: Nodes, context: TreesContext) -> Figure:
    """Draw the tree with its root at the left, tips in file order."""
    from tropalign.formats.notebook_figure import Figure

    below = nodes.children()
    depth, line, n_tips = places_of(nodes, below)
    tips = [name if not children else "" for name, children in zip(nodes.names, below, strict=True)]
    used, numbers = groups_of(tips, context.groups)
    of_clade = list(numbers)  # the common group of all tips below each node; 0 if they differ or have none
    for node in range(len(below) - 1, -1, -1):
        if below[node]:
            of_children = {of_clade[child] for child in below[node]}
            of_clade[node] = of_children.pop() if len(of_children) == 1 else 0
    palette = [INK, *(colours(k)[0] for k in range(len(used)))]
    height = min(MOST_HEIGHT, max(LEAST_HEIGHT, LINE * n_tips))
    points = 72 * height / max(n_tips, 1)
    names = [_name(name) for name in tips] if points >= LEAST_POINTS else []
    room = 0.4 + 0.075 * max(map(len, names), default=0)
    n_rows = -(-min(len(used), MOST_GROUPS) // 4)
    foot = BELOW + LEGEND_LINE * n_rows
    figure = Figure((WIDTH + room, height + foot))
    axes = figure.add_axes(
        (0.1 / (WIDTH + room), foot / (height + foot), WIDTH / (WIDTH + room), height / (height + foot))
    )
    widest = float(depth.max()) or 1.0
    axes.set_xlim(-0.01 * widest, widest * 1.005), axes.set_ylim(n_tips - 0.5, -0.5)
    axes.set_axis_off()
    _draw_branches(axes, nodes, below, depth, line, of_clade, palette)
    size = min(MOST_POINTS, points * 0.9)
    for node, name in enumerate(names):
        if not below[node]:
            ink = palette[of_clade[node]]
            axes.annotate(
                name, (depth[node], line[node]), (3, 0), textcoords="offset points", va="center", fontsize=size,
                color=ink, parse_math=False, annotation_clip=False,
            )  # fmt: skip
    for node, label in enumerate(nodes.labels if n_tips <= MOST_SUPPORT else ()):
        text = _name(label)  # usually its support
        if node and below[node] and text:
            axes.annotate(
                text, (depth[node], line[node]), (-2, 1), textcoords="offset points", ha="right",
                va="bottom", fontsize=0.7 * size, color=QUIET, parse_math=False,
            )  # fmt: skip
    _draw_foot(figure, axes, (WIDTH + room, height + foot), used, palette, widest if any(nodes.lengths[1:]) else 0.0)
    return figure


def _draw_branches(
    axes: Any,
    nodes: Nodes,
    below: list[list[int]],
    depth: NDArray[np.float64],
    line: NDArray[np.float64],
    of_clade: list[int],
    palette: list[str],
) -> None:
    """Draw a line along each branch, and one across each inner node, in the colour of the clade."""
    from matplotlib.collections import LineCollection

    lines: dict[int, list[Any]] = {}
    for node, children in enumerate(below):
        drawn = lines.setdefault(of_clade[node], [])
        if node:
            drawn.append([(depth[nodes.parents[node]], line[node]), (depth[node], line[node])])
        if children:
            drawn.append([(depth[node], line[children[0]]), (depth[node], line[children[-1]])])
    width = 0.8 if len(below) <= 600 else 0.4
    for group, drawn in sorted(lines.items()):
        axes.add_collection(LineCollection(drawn, colors=palette[group], linewidths=width, capstyle="projecting"))


def _draw_foot(
    figure: Any, axes: Any, size: tuple[float, float], used: list[str], palette: list[str], widest: float
) -> None:
    """Draw a scale bar of a round length below the tree, and the names of groups in their colours."""
    from matplotlib.lines import Line2D

    width, height = size
    top = BELOW + LEGEND_LINE * -(-min(len(used), MOST_GROUPS) // 4) - 0.22
    if widest > 0:
        length = 10.0 ** np.floor(np.log10(widest / 4))
        length *= next(times for times in (5, 2, 1) if times * length <= widest / 3 or times == 1)
        share = length / (1.015 * widest) * WIDTH / width
        left = 0.1 / width
        ends = [left, left + share], [top / height, top / height]
        figure.add_artist(Line2D(*ends, color=QUIET, linewidth=1.2))
        figure.text(left + share + 0.06 / width, top / height, f"{length:g}", va="center", fontsize=8, color=QUIET)
    for k, group in enumerate(used[:MOST_GROUPS]):
        text = _name(group)[:24] if k < MOST_GROUPS - 1 or len(used) == MOST_GROUPS else f"+ {len(used) - k}"
        x, y = 0.1 + 1.55 * (k % 4), top - 0.22 - LEGEND_LINE * (k // 4)
        ink = palette[k + 1]
        figure.text(x / width, y / height, "■ " + text, va="center", fontsize=8, color=ink, parse_math=False)


def _name(name: str) -> str:
    """Return a name, shortened for display."""
    clean = shown(name[: 2 * NAME_LETTERS])
    return clean if len(clean) <= NAME_LETTERS else clean[: NAME_LETTERS - 1] + "…"


def _codec(kind: str) -> Codec[TreesContext]:
    """Make the codec of pictures of this kind."""

    def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: TreesContext) -> None:
        out.write(figure_bytes(tree_figure(nodes_of(parts), context), kind))

    fields = ("title", "groups")
    return Codec(encode_newick, assemble, fields, is_binary=kind != "svg", needs_all=True, require=require_matplotlib)


SVG, PNG, PDF = _codec("svg"), _codec("png"), _codec("pdf")
