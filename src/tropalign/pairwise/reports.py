"""The report and the plots of pairs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign.errors import InputError, UsageError, shown
from tropalign.execution.files import check_terminal, output_name
from tropalign.execution.run import Output
from tropalign.formats.format import Header, format_for_path, make_writer, suffix_of, write
from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.pairs.plots import (
    COLOURS,
    DOTS,
    LINES,
    PATH,
    VALUES,
    equal_words,
    matrix_figure,
    usual_word,
)
from tropalign.formats.pairs.report import columns_of
from tropalign.formats.picture import require_matplotlib
from tropalign.results.alignments import AlignmentTable, concatenate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tropalign.results.alignments import Alignment


def check_beside(wanted: Mapping[str, str], depth: str) -> None:
    """Check the additional files, by role "report" or "plot", before anything is read.

    Raises UsageError for a suffix of another format and for a report of less than whole alignments, and InputError
    if a package is missing.
    """
    report = wanted.get("report")
    if report is not None:
        if depth != "alignment":
            raise UsageError("--html requires alignments: use --report alignment, and not --format matrix with scores")
        if suffix_of(report) not in ("", ".html", ".htm"):
            raise UsageError(f"--html {report}: end the name in .html (and .gz or the like to compress)")
        check_terminal("html", report)
    if "plot" in wanted:
        form = format_for_path("plots", wanted["plot"])
        require_matplotlib()
        check_terminal(form, wanted["plot"])


def outputs_beside(wanted: Mapping[str, str], header: Header, context: PairsContext) -> list[Output]:
    """Return the additional files and their writers. Raises the same errors as `check_beside`."""
    found = []
    for role, path in wanted.items():
        kind, form = ("pairs", "html") if role == "report" else ("plots", format_for_path("plots", path))
        found.append(Output(role, path, make_writer(kind, form, header, context)))
    return found


def write_report(tables: AlignmentTable | Iterable[AlignmentTable], path: str | os.PathLike[str]) -> None:
    """Write aligned pairs as one web page, like ``tropalign pairs --html``.

    Parameters
    ----------
    tables
        A table, or several of the same sequences as yielded by `align_all`, of report "alignment".
    path
        The page; a suffix such as ``.gz`` compresses, ``-`` is standard output.

    Raises
    ------
    InputError
        There is no table, or tables hold less than whole alignments.

    Examples
    --------
    >>> family = tropalign.read_sequences("examples/efp.fasta")
    >>> tables = list(tropalign.align_all(family, mode="global", report="alignment"))
    >>> tropalign.write_report(tables, os.devnull)
    """
    given = _listed(tables)
    write("pairs", iter(given), output_name(path), "html", "write_report", PairsContext.of_table(given[0]))


def _listed(tables: AlignmentTable | Iterable[AlignmentTable]) -> list[AlignmentTable]:
    given = [tables] if isinstance(tables, AlignmentTable) else list(tables)
    if not given:
        raise InputError("there is no table: give at least one")
    for table in given[1:]:
        if table.queries is not given[0].queries or table.targets is not given[0].targets:
            raise InputError("the tables are of different sequences: give those of one run")
    return given


def plot_matrix(tables: AlignmentTable | Iterable[AlignmentTable], value: str | None = None) -> Figure:
    """Draw the map of aligned pairs, with rows and columns in the order of their trees, with matplotlib.

    Parameters
    ----------
    tables
        A table, or several of the same sequences as yielded by `align_all`.
    value : {"identity", "score"}, optional
        The value that colours show; identity if it was computed.

    Returns
    -------
    matplotlib.figure.Figure
        ``savefig("map.png")`` writes it; a notebook shows it.

    Raises
    ------
    InputError
        There is no pair, there are too many sequences, identities were not computed, or matplotlib is missing.
    UsageError
        `value` is neither of the two.

    Examples
    --------
    >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"], mode="global")
    >>> tropalign.plot_matrix(table).axes[0].images[0].get_array().shape
    (3, 3)
    """
    require_matplotlib()
    if value not in (None, *VALUES):
        raise UsageError(f"value {value!r} is not one of {', '.join(VALUES)}")
    table = concatenate(_listed(tables))
    context = PairsContext.of_table(table)
    return matrix_figure(columns_of(table), context, value)


def dot_plot(alignment: Alignment, word: int | None = None, *, scores: ArrayLike | None = None) -> Figure:
    """Draw the equal k-mers of two aligned sequences, or a table of scores, with the alignment on top, with matplotlib.

    Parameters
    ----------
    alignment
        A row of a table of report "alignment".
    word
        Length k of a k-mer; by default the smallest for which chance makes no more dots than the sequences have
        residues.
    scores
        Numbers of shape (query length, target length) to draw in place of k-mers: the table that was aligned, or the
        posteriors of a `SoftAlignment`.

    Returns
    -------
    matplotlib.figure.Figure
        The target goes to the right, the query (on the strand that was aligned) down.

    Raises
    ------
    InputError
        matplotlib is missing, or the table has another shape or is not of numbers.
    UsageError
        `word` is below 1, or given with `scores`.

    Examples
    --------
    >>> figure = tropalign.dot_plot(tropalign.align("MKVLAWHEAG", "AWHEAGKVLAW"), word=3)
    >>> len(figure.axes[0].collections[0].get_offsets())
    7
    """
    require_matplotlib()
    from tropalign.formats.notebook_figure import Figure

    query, target = alignment.query_text(), alignment._text("target")[0]
    table: NDArray[np.float64] | None = None
    if scores is not None:
        try:
            table = np.array(scores, np.float64)
        except (TypeError, ValueError):
            raise InputError("the scores are not a table of numbers: give the table that was aligned") from None
        if table.shape != (len(query), len(target)):
            raise InputError(
                f"the scores have the shape {table.shape}, but the sequences {len(query), len(target)}: give the table "
                "of this pair"
            )
        table[~np.isfinite(table)] = np.nan  # drawn as no colour
    if table is not None and word is not None:
        raise UsageError("word and scores exclude each other: give one of them")
    scale = 5.0 / max(len(query), len(target), 1)
    figure = Figure((max(2.5, scale * len(target)) + 1.3, max(2.0, scale * len(query)) + 1.3), layout="constrained")
    axes = figure.add_subplot()
    if table is None:
        alphabet = alignment._text("query")[1]
        word = usual_word(len(query), len(target), 4 if alphabet.has_strands else 20) if word is None else word
        if word < 1:
            raise UsageError(f"word must be at least 1, not {word}")
        codes = [alphabet.encode(np.frombuffer(text.encode("latin-1"), np.uint8))[0] for text in (query, target)]
        i, j = equal_words(codes[0], codes[1], word)
        axes.scatter(j + word / 2, i + word / 2, s=4, c=DOTS, linewidths=0, rasterized=len(i) > 20_000)
    else:
        extent = (0, table.shape[1], table.shape[0], 0)
        image = axes.imshow(table, cmap=COLOURS, aspect="auto", interpolation="nearest", extent=extent)
        figure.colorbar(image, ax=axes, shrink=0.6)
    steps = [(n * (op != 2), n * (op != 1)) for op, n in alignment.operations()]
    path = np.cumsum([(alignment.query_span()[0], alignment.target_start), *steps], axis=0)  # the path's corners
    axes.plot(path[:, 1], path[:, 0], color=PATH, linewidth=1.5)
    axes.set_xlim(0, max(len(target), 1)), axes.set_ylim(max(len(query), 1), 0)
    other = ", reverse strand" if alignment.strand < 0 else ""
    axes.set_xlabel(shown(alignment.target), parse_math=False)
    axes.set_ylabel(shown(alignment.query) + other, parse_math=False)
    axes.tick_params(colors=LINES)
    return figure
