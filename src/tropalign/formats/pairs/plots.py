"""Matplotlib plots of pairs: the map with its trees, and dot plots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.formats.array_files import packed_part
from tropalign.formats.format import Codec, Header
from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.pairs.report import (
    MOST_LINES,
    Columns,
    Lines,
    columns_of,
    identity_of,
    joined,
    mapped,
    near_of,
    of_used,
    unpacked,
)
from tropalign.formats.picture import figure_bytes, require_matplotlib
from tropalign.results.alignments import AlignmentTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VALUES = ("identity", "score")
#: Inches: the map, the trees, and the space below the names.
SIDE, TREE, BELOW = 6.0, 1.0, 0.8
#: Lines at least this many points wide get names; largest font size in points.
LEAST_POINTS, MOST_POINTS = 5.0, 8.0
#: Maximum length of a name in a plot.
NAME_LETTERS = 24
COLOURS = "YlGnBu"
PATH, DOTS, LINES = "#e07b00", "#30405c", "#5c6575"
#: Maximum number of common k-mers in a dot plot.
MOST_DOTS = 2_000_000


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return columns as .npz."""
    return packed_part(**columns_of(table))


def plot_codec(kind: str) -> Codec[PairsContext]:
    """Make the codec of pictures of this kind: the map of identities, or of scores if only these are known."""

    def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
        from tropalign.formats.notebook_figure import Figure

        columns = joined([unpacked(part) for part in parts], context.report)
        try:
            figure: Any = matrix_figure(columns, context)
        except InputError as error:  # the run is complete, so its other outputs are kept
            figure = Figure((SIDE, 1.0))
            figure.text(0.5, 0.5, str(error), ha="center", va="center", wrap=True, parse_math=False)
        out.write(figure_bytes(figure, kind))

    fields = ("queries", "targets", "report")
    return Codec(encode, assemble, fields, is_binary=kind != "svg", needs_all=True, require=require_matplotlib)


def matrix_figure(columns: Columns, context: PairsContext, value: str | None = None) -> Figure:
    """Draw the map of pairs with the tree of each side.

    Raises InputError without pairs, for too many sequences, or for identities that were not computed.
    """
    from tropalign.formats.notebook_figure import Figure

    value = value or ("identity" if "n_identical" in columns else "score")
    if value == "identity" and "n_identical" not in columns:
        raise InputError("identities were not computed: request report 'alignment', or plot scores")
    if not len(columns["score"]):
        raise InputError("no pair passed the filters, so there is nothing to plot: relax the filters")
    sides, columns = of_used(columns, context)
    shape = len(sides[0]), len(sides[-1])
    check_lines(*shape)
    indices = columns["query_index"], columns["target_index"]
    made = mapped(*indices, near_of(columns), shape, context.targets is context.queries)
    numbers = columns["score"] if value == "score" else identity_of(columns)
    cells = np.append(np.asarray(numbers, np.float64), np.nan)[made.cells]
    cells = cells[made.rows.order][:, made.columns.order]
    height, width = (SIDE, SIDE) if shape[0] == shape[1] else _sizes(*shape)
    rooms = [_room(side.names, size) for side, size in zip((sides[0], sides[-1]), (height, width), strict=True)]
    whole_width, whole_height = TREE + width + rooms[0], TREE + height + rooms[1] + BELOW
    figure = Figure((whole_width, whole_height))

    def place(left: float, top: float, wide: float, high: float) -> tuple[float, float, float, float]:
        """Return shares of the figure from the left and the bottom, from inches from the left and the top."""
        return left / whole_width, (whole_height - top - high) / whole_height, wide / whole_width, high / whole_height

    axes = figure.add_axes(place(TREE, TREE, width, height))
    axes.set_facecolor("#eceef2")
    axes.tick_params(length=0, right=False, left=False)
    image = axes.imshow(cells, cmap=COLOURS, aspect="auto", interpolation="nearest")
    for side, lines, rectangle in (
        (0, made.rows, (0.1, TREE, TREE - 0.15, height)), (1, made.columns, (TREE, 0.1, width, TREE - 0.15)),
    ):  # fmt: skip
        _draw_tree(figure.add_axes(place(*rectangle)), lines, is_top=side == 1)
    _write_names(axes, [sides[0].names, sides[-1].names], [made.rows, made.columns], (height, width))
    bar = figure.add_axes(place(TREE, TREE + height + rooms[1] + 0.1, min(width, 2.5), 0.15))
    figure.colorbar(image, cax=bar, orientation="horizontal", label=value)
    return figure


def check_lines(n_queries: int, n_targets: int) -> None:
    """Raise InputError if a map has too many lines."""
    most = max(n_queries, n_targets)
    if most > MOST_LINES:
        raise InputError(f"a plot supports at most {MOST_LINES} sequences per side, not {most}: select fewer")


def _sizes(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Return the size of a map with unequal sides in inches; cells are square unless a side becomes too small."""
    longest = max(n_rows, n_columns)
    return max(SIDE * n_rows / longest, 1.0), max(SIDE * n_columns / longest, 2.5)


def _room(names: tuple[str, ...], side: float) -> float:
    """Return the inches for names, or for the number of lines, next to a side of the map."""
    has_names = 72 * side / len(names) >= LEAST_POINTS
    longest = min(NAME_LETTERS, max(map(len, names))) if has_names else 14
    return 0.25 + 0.085 * longest


def _write_names(axes: Axes, names: list[tuple[str, ...]], lines: list[Lines], sizes: tuple[float, float]) -> None:
    """Write names at the right and below if they have room, otherwise their number."""
    for side, (words, of_side, size) in enumerate(zip(names, lines, sizes, strict=True)):
        points = 72 * size / len(words)
        axis = axes.xaxis if side else axes.yaxis
        if not side:
            axes.yaxis.tick_right()
        if points < LEAST_POINTS:
            axis.set_ticks([])
            axis.set_label_text(f"{len(words):,} sequences")
            if not side:
                axes.yaxis.set_label_position("right")
            continue
        texts = [_name(words[k]) for k in of_side.order.tolist()]
        size_of_text, turned = min(MOST_POINTS, points * 0.9), 90 if side else 0
        axis.set_ticks(range(len(words)), texts, fontsize=size_of_text, parse_math=False, rotation=turned)


def _name(name: str) -> str:
    clean = shown(name)
    return clean if len(clean) <= NAME_LETTERS else clean[: NAME_LETTERS - 1] + "…"


def _draw_tree(axes: Axes, lines: Lines, is_top: bool) -> None:
    """Draw joins as brackets, with the root outside and the leaves at the map."""
    from matplotlib.collections import LineCollection

    n = len(lines.order)
    place, depth = np.zeros(2 * n - 1), np.zeros(2 * n - 1)
    place[lines.order] = np.arange(n)
    brackets = []
    for k, (a, b) in enumerate(lines.joins.tolist()):
        place[n + k], depth[n + k] = (place[a] + place[b]) / 2, lines.heights[k]
        points = [(place[a], depth[a]), (place[a], depth[n + k]), (place[b], depth[n + k]), (place[b], depth[b])]
        brackets.append(points if is_top else [(y, x) for x, y in points])
    axes.add_collection(LineCollection(brackets, colors=LINES, linewidths=0.8 if n <= 200 else 0.4))
    across, up = (-0.5, n - 0.5), (0, (lines.heights.max() if n > 1 else 1.0) * 1.02 or 1.0)
    if is_top:
        axes.set_xlim(*across), axes.set_ylim(*up)
    else:
        axes.set_xlim(*up[::-1]), axes.set_ylim(*across[::-1])
    axes.set_axis_off()


def equal_words(
    query: NDArray[np.uint8], target: NDArray[np.uint8], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return positions of common k-mers in query and target, at most MOST_DOTS."""
    if min(len(query), len(target)) < length:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    words = np.concatenate([sliding_window_view(codes, length) for codes in (query, target)])
    numbers = np.unique(words, axis=0, return_inverse=True)[1].ravel()
    n = len(query) - length + 1
    order = np.argsort(numbers[n:], kind="stable")
    found = numbers[n:][order]
    begins, ends = np.searchsorted(found, numbers[:n], "left"), np.searchsorted(found, numbers[:n], "right")
    counts = np.where(np.cumsum(ends - begins) <= MOST_DOTS, ends - begins, 0)
    i = np.repeat(np.arange(n), counts)
    within = np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)
    return i, order[np.repeat(begins, counts) + within]


def usual_word(n: int, m: int, n_letters: int) -> int:
    """Return the smallest k for which chance produces few enough dots."""
    most = max(60.0, 1.5 * min(n, m))
    return next((length for length in range(1, 16) if n * m / n_letters**length < most), 16)


SVG, PNG, PDF = plot_codec("svg"), plot_codec("png"), plot_codec("pdf")
