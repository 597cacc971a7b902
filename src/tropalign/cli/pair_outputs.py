"""What ``tropalign pairs`` is asked to write: checked, with the room that it takes, its header and its writer."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tropalign.cli.options import command_line
from tropalign.cli.pair_options import check_translation
from tropalign.formats.registry import format_for_path, suffix_of

if TYPE_CHECKING:
    from tropalign.execution.run import Writer
    from tropalign.formats.header import Header
    from tropalign.formats.pairs.context import PairsContext
    from tropalign.pairwise import PairsTask


@dataclass(frozen=True)
class Asked:
    """What is to be written: the format, and the report, columns and values that follow from it and the options."""

    format: str
    report: str
    columns: tuple[str, ...] | None = None
    column_bytes: float = 0.0
    shows_significance: bool = False
    matrix_values: str = "score"
    matrix_layout: str = "tsv"


def asked_of(options: argparse.Namespace) -> Asked:
    """Refuses options that exclude each other, and settles what is written."""
    refuse = options.parser.error
    check_translation(options)
    if options.free_ends is not None:
        from tropalign.pairwise.options import MODES

        freeing = [name for name, mode in MODES.items() if mode.frees_ends]
        if options.mode not in freeing:
            refuse(f"--free-ends belongs to --mode {' or '.join(freeing)}")
    if options.mode == "local" and (options.end_gap_open is not None or options.end_gap_extend is not None):
        refuse("--end-gap-open and --end-gap-extend belong to --mode global or semiglobal")
    if options.matrix is not None and any(
        given is not None for given in (options.match, options.mismatch, options.iupac)
    ):
        refuse("--matrix and --match/--mismatch/--iupac exclude each other")
    if options.queries == options.targets == "-":
        refuse("A and B cannot both be standard input")
    if options.pairs == "-" and "-" in (options.queries, options.targets):
        refuse("sequences and the list of pairs cannot both be standard input")
    name = options.format or format_for_path("pairs", options.output)
    if options.translate is not None:
        from tropalign.pairwise.translated import check_shown

        check_shown(name)
    if name == "matrix":
        return _asked_matrix(options)
    if options.matrix_values or options.matrix_layout:
        refuse("--matrix-values and --matrix-layout belong to --format matrix")
    if name == "arrow" and options.output == "-":
        name = "arrows"  # an Arrow file is read from its end, which a pipe does not have
    return _asked_table(options, name)


def _asked_table(options: argparse.Namespace, name: str) -> Asked:
    """The columns to show, and the report that has all of them and what filters ask about."""
    from tropalign.formats.pairs.tables import shown_columns
    from tropalign.formats.registry import format_of
    from tropalign.pairwise.options import MODES, REPORTS, SHARES

    refuse = options.parser.error
    form = format_of("pairs", name)
    if options.columns is not None and not form.takes_columns:
        refuse(f"--columns belongs to tables, and format {name} is none: choose tsv, csv, m8, jsonl or another table")
    shown = shown_columns(options.columns, form)
    if options.db_size is not None and options.max_evalue is None and not shown.have_significance:
        refuse("--db-size counts for E-values, and there are none here: add --max-evalue, or evalue to --columns")
    if not shown.names:
        return Asked(name, options.report or "alignment", column_bytes=form.column_bytes)
    is_local = MODES[options.mode].is_local
    columns = None if options.columns is None else shown.names
    if columns and shown.have_significance and not is_local:
        refuse("bits and E-values are those of local alignments: use --mode local, or leave these columns out")
    filtered = options.html is not None or any(getattr(options, share) is not None for share in SHARES)
    least = "alignment" if filtered else shown.depth
    report = options.report or least
    if REPORTS.index(report) < REPORTS.index(least):
        refuse(f"--report {report} does not have all that is asked for: leave it out")
    return Asked(
        name,
        report if filtered else least,  # more is computed for nobody
        columns,
        column_bytes=form.column_bytes + shown.letters,
        shows_significance=is_local and shown.have_significance,
    )


def _asked_matrix(options: argparse.Namespace) -> Asked:
    refuse = options.parser.error
    from tropalign.formats.pairs import layout_of
    from tropalign.pairwise.options import SHARES

    for name in ("top", "min_score", *SHARES, "max_evalue", "min_bits", "pairs"):
        if getattr(options, name) is not None:
            refuse(f"--format matrix holds every pair: leave --{name.replace('_', '-')} out")
    for name in ("columns", "db_size"):
        if getattr(options, name) is not None:
            refuse(f"--format matrix holds one value per pair: leave --{name.replace('_', '-')} out")
    layout = options.matrix_layout or layout_of(suffix_of(options.output))
    values = options.matrix_values or ("distance" if layout == "phylip" else "score")
    if layout == "phylip" and (options.targets is not None or values != "distance"):
        refuse("PHYLIP holds the distances of one set: use --matrix-values distance and a single file")
    report = "score" if values == "score" else "alignment"
    return Asked("matrix", report, matrix_values=values, matrix_layout=layout)


def room_beside(options: argparse.Namespace, asked: Asked, n_queries: int, n_targets: int) -> int:
    """Memory that reports and plots take at the most. Raises InputError where a plot would have too many lines."""
    if not files_beside(options) and asked.format != "html":
        return 0
    from tropalign.formats.pairs import MATPLOTLIB_BYTES
    from tropalign.formats.pairs.plots import check_lines
    from tropalign.formats.pairs.report import report_bytes
    from tropalign.pairwise.options import SHARES

    n_pairs = n_queries * min(n_targets, options.top or n_targets)
    if options.targets is None and options.top is None and options.pairs is None:
        n_pairs //= 2  # of one set each pair once
    selects = ("top", "min_score", *SHARES, "max_evalue", "min_bits", "pairs")
    if options.plot is not None and all(getattr(options, name) is None for name in selects):
        check_lines(n_queries, n_targets)
    return report_bytes(n_pairs, n_queries, n_targets) + (MATPLOTLIB_BYTES if options.plot is not None else 0)


def check_matrix(n_cells: int, memory_bytes: int) -> None:
    """Raises ResourceError where a matrix of as many values does not fit."""
    from tropalign.machine.memory import require

    remedy = "choose format tsv, or allow more with --memory"
    require(8 * n_cells, memory_bytes, f"a matrix of {n_cells} values", remedy)


def files_beside(options: argparse.Namespace) -> dict[str, str]:
    """Outputs beside the main one: roles and files."""
    wanted = {"report": options.html, "plot": options.plot}
    return {role: path for role, path in wanted.items() if path is not None}


def context_of(options: argparse.Namespace, asked: Asked, task: PairsTask) -> PairsContext:
    """What formats need beside the tables."""
    from tropalign.formats.pairs.context import PairsContext
    from tropalign.formats.registry import format_of

    columns = asked.columns
    queries, targets = task.queries, task.targets
    if task.frames is not None:
        if columns is None and not format_of("pairs", asked.format).own_columns:
            columns = task.frames.columns(asked.report)
        if asked.format == "matrix":
            queries, targets = task.frames.given(task.queries, task.targets)
    return PairsContext(
        queries=queries,
        targets=targets,
        report=asked.report,
        both_strands=options.strand == "both",
        decimal_scores=task.options.whole.scale > 1,
        is_triangle=task.is_triangle,
        columns=columns,
        matrix_values=asked.matrix_values,
        matrix_layout=asked.matrix_layout,
        substitution=task.options.matrix,
        gap=task.options.gap,
    )


def header_of(options: argparse.Namespace, asked: Asked, task: PairsTask) -> Header:
    """Version, command and parameters."""
    import warnings

    from tropalign import __version__
    from tropalign.formats.header import Header

    settled: dict[str, str | None] = {"format": asked.format, "report": asked.report, "columns": None}
    if asked.report == "alignment" or asked.columns:  # the default is not said, nor what follows from columns
        settled["report"] = None
    if asked.columns:
        settled["columns"] = ",".join(asked.columns)
    if asked.format == "matrix":
        settled |= {"matrix_values": asked.matrix_values, "matrix_layout": asked.matrix_layout}
    words = task.parameters
    is_filter = options.max_evalue is not None or options.min_bits is not None
    if (asked.shows_significance or is_filter) and task.significance is not None:
        statistics = task.significance.statistics
        words["statistics"] = str(statistics)
        if statistics.is_estimated:  # many formats have no header
            warnings.warn(
                f"NCBI has published no statistics of this matrix with these gap costs: E-values and bits are by "
                f"{statistics}",
                UserWarning,
                stacklevel=2,
            )
        words["search_space"] = f"{task.significance.n_residues} residues, {task.significance.n_sequences} targets"
    return Header(
        __version__, command_line(options.parser, options, **settled), words, has_comments=not options.no_comments
    )


def writer_of(options: argparse.Namespace, asked: Asked, header: Header, context: PairsContext) -> Writer:
    """The main output's; no binary format goes to a terminal."""
    from tropalign.execution.files import check_terminal
    from tropalign.formats.registry import make_writer

    writer = make_writer("pairs", asked.format, header, context)
    if writer.is_binary:
        check_terminal(asked.matrix_layout if asked.format == "matrix" else asked.format, options.output)
    return writer
