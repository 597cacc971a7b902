"""``tropalign pairs``: exact pairwise alignment."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import (
    Choices,
    add_run_options,
    command_line,
    decimal,
    fraction,
    number,
    positive,
    started,
    whole,
)
from tropalign.cli.pair_options import (
    OPTIONS,
    add_alignment_options,
    add_translation_options,
    check_translation,
    end_gap_of,
    pair_sides,
    scoring_of,
)
from tropalign.cli.runs import carry_out
from tropalign.formats.registry import format_for_path, format_names, suffix_of

if TYPE_CHECKING:
    from tropalign.formats.header import Header
    from tropalign.formats.pairs import PairsContext
    from tropalign.formats.writer import Writer
    from tropalign.pairwise import PairOptions, PairsTask
    from tropalign.sequences import Alphabet, SequenceBatch

#: Of databases, which may hold more than other numbers of options may be.
MOST_RESIDUES = 10**15
EXAMPLE = """example:
  tropalign pairs proteins.fa -o all.tsv
  tropalign pairs reads.fa genomes.fa.gz --mode semiglobal --strand both --top 5 -f paf -o best.paf

A gap of k residues costs open + k * extend. Coordinates in TSV are 0-based, half-open.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "pairs",
        help="align every pair of a set, or one set with another",
        description="Exact pairwise alignment of every pair of a set, of one set with another, or of listed pairs.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("queries", metavar="A", help="FASTA or FASTQ, compressed or not; - is standard input")
    parser.add_argument("targets", metavar="B", nargs="?", help="align A with B; without B every pair of A")
    add_alignment_options(parser.add_argument_group("alignment"))
    add_translation_options(parser.add_argument_group("translation"))
    _add_selection_options(parser.add_argument_group("which pairs, and how much is computed of each"))
    _add_format_options(parser.add_argument_group("format"))
    add_run_options(parser)
    parser.set_defaults(run=run, parser=parser, takes_stdin=True)


def _add_selection_options(group: Any) -> None:
    group.add_argument(
        "--report",
        choices=Choices(OPTIONS, "REPORTS"),
        help="scores, with start and end, or whole alignments (default; with --columns as they need it); only what "
        "is asked for is computed",
    )
    group.add_argument("--pairs", metavar="FILE", help="only the pairs in this file, two names per line")
    group.add_argument("--top", type=whole(1), metavar="K", help="the K best targets of each query")
    group.add_argument("--min-score", type=decimal, metavar="N", help="only alignments with at least this score")
    group.add_argument(
        "--min-identity", type=fraction, metavar="F", help="only alignments with at least this fraction identical"
    )
    group.add_argument(
        "--min-coverage",
        type=fraction,
        metavar="F",
        help="only alignments with at least this fraction of the longer sequence's residues beside a residue",
    )
    for side in ("query", "target"):
        group.add_argument(
            f"--min-{side}-coverage", type=fraction, metavar="F", help=f"the same of the {side}'s residues"
        )
    group.add_argument(
        "--max-evalue", type=positive, metavar="E", help="only local alignments with at most this E-value"
    )
    group.add_argument(
        "--min-bits", type=number, metavar="N", help="only local alignments with a score of at least so many bits"
    )
    group.add_argument(
        "--db-size",
        type=whole(1, MOST_RESIDUES),
        metavar="N",
        help="residues of all targets that E-values reckon with (default: those of B, without B of A)",
    )


def _add_format_options(group: Any) -> None:
    group.add_argument(
        "-f", "--format", choices=format_names("pairs"), help="what to write (default: by the suffix of -o, else tsv)"
    )
    group.add_argument(
        "--columns",
        action=_ColumnsAction,
        metavar="LIST",
        help="columns of tsv, csv, m8, jsonl, arrow, arrows, feather and parquet, such as query,target,evalue; "
        "--columns help lists them",
    )
    group.add_argument(
        "--html", metavar="FILE", help="a report for the browser beside the output: table, map with tree, alignments"
    )
    group.add_argument(
        "--plot", metavar="FILE", help="the map with its tree as a picture beside the output: .svg, .png or .pdf"
    )
    group.add_argument(
        "--matrix-values", choices=("score", "identity", "distance"), help="what --format matrix holds (default: score)"
    )
    group.add_argument(
        "--matrix-layout",
        choices=("tsv", "phylip", "npz"),
        help="of --format matrix (default: by the suffix, else tsv)",
    )


class _ColumnsAction(argparse.Action):
    """Takes a list of columns; ``help`` prints what there is, and ends."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if values == "help":
            from tropalign.formats.pair_tables import columns_text

            print(columns_text(), end="")
            parser.exit()
        setattr(namespace, self.dest, values)


def run(options: argparse.Namespace) -> None:
    """Reads, aligns and writes."""
    from tropalign.devices.registry import open_devices
    from tropalign.execution.run import Output, Run, memory_allowed
    from tropalign.formats.registry import check_format, format_of
    from tropalign.machine.memory import left_for_job
    from tropalign.pairwise import PairsTask
    from tropalign.pairwise.pair_list import read_pairs
    from tropalign.pairwise.translated import aligned, given
    from tropalign.reports.pairs import check_beside, outputs_beside
    from tropalign.sequences.batch import held_bytes

    asked = _asked(options)
    check_format("pairs", asked.format, asked.report)
    check_beside(_beside(options), asked.report)
    matrix_file = [options.matrix] if options.matrix is not None else []
    inputs = [options.queries, options.targets, options.pairs, *matrix_file]
    show = started(options, [options.output, *_beside(options).values()], inputs)
    allowed = memory_allowed(options.memory, options.output)
    form = format_of("pairs", asked.format)
    sides = pair_sides(options, form.wants_qualities)
    inputs_bytes = sum(
        held_bytes(batch) for side in sides if side is not None for batch in {given(side), aligned(side)}
    )
    queries, targets = given(sides[0]), None if sides[1] is None else given(sides[1])
    bytes_beside = _bytes_beside(options, asked, len(aligned(sides[0])), len(aligned(sides[1] or sides[0])))
    memory_bytes = left_for_job(allowed, inputs_bytes + form.package_bytes + bytes_beside)
    if asked.format == "matrix":
        _check_matrix(len(queries) * len(targets or queries), memory_bytes)
    pairs = None if options.pairs is None else read_pairs(options.pairs, queries, targets or queries)
    pair_options = _pair_options(options, asked.report, aligned(sides[0]).alphabet)
    task = PairsTask(*sides, pair_options, pairs, memory_bytes, options.shard, asked.column_bytes)
    context, header = _context(options, asked, task), _header(options, asked, task)
    outputs = [Output("alignments", options.output, _writer(options, asked, header, context))]
    outputs += outputs_beside(_beside(options), header, context)
    aligning = Run(
        task=task,
        outputs=outputs,
        outline=task.tiles(),
        fingerprint=task.fingerprint(),
        parameters=_parameters(asked, task, _beside(options)),
        memory_bytes=allowed,
        shard=options.shard,
        unit="pairs",
    )
    cost_cells = sum(tile.cost_cells for tile in task.tiles())
    able = pair_options.able_devices(options.device or ["auto"])
    devices = open_devices(able, options.threads, cost_cells, memory_bytes)
    carry_out(aligning, devices, options, show, task.n_cells)


@dataclass(frozen=True)
class _Asked:
    """What is to be written: the format, and the report, columns and values that follow from it and the options."""

    format: str
    report: str
    columns: tuple[str, ...] | None = None
    column_bytes: float = 0.0
    shows_significance: bool = False
    matrix_values: str = "score"
    matrix_layout: str = "tsv"


def _asked(options: argparse.Namespace) -> _Asked:
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


def _asked_table(options: argparse.Namespace, name: str) -> _Asked:
    """The columns to show, and the report that has all of them and what filters ask about."""
    from tropalign.formats.pair_tables import shown_columns
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
        return _Asked(name, options.report or "alignment", column_bytes=form.column_bytes)
    is_local = MODES[options.mode].is_local
    columns = None if options.columns is None else shown.names
    if columns and shown.have_significance and not is_local:
        refuse("bits and E-values are those of local alignments: use --mode local, or leave these columns out")
    filtered = options.html is not None or any(getattr(options, share) is not None for share in SHARES)
    least = "alignment" if filtered else shown.depth
    report = options.report or least
    if REPORTS.index(report) < REPORTS.index(least):
        refuse(f"--report {report} does not have all that is asked for: leave it out")
    return _Asked(
        name,
        report if filtered else least,  # more is computed for nobody
        columns,
        column_bytes=form.column_bytes + shown.letters,
        shows_significance=is_local and shown.have_significance,
    )


def _asked_matrix(options: argparse.Namespace) -> _Asked:
    refuse = options.parser.error
    from tropalign.pairwise.options import SHARES

    for name in ("top", "min_score", *SHARES, "max_evalue", "min_bits", "pairs"):
        if getattr(options, name) is not None:
            refuse(f"--format matrix holds every pair: leave --{name.replace('_', '-')} out")
    for name in ("columns", "db_size"):
        if getattr(options, name) is not None:
            refuse(f"--format matrix holds one value per pair: leave --{name.replace('_', '-')} out")
    by_suffix = {".npz": "npz", ".phy": "phylip", ".dist": "phylip"}.get(suffix_of(options.output), "tsv")
    layout = options.matrix_layout or by_suffix
    values = options.matrix_values or ("distance" if layout == "phylip" else "score")
    if layout == "phylip" and (options.targets is not None or values != "distance"):
        refuse("PHYLIP holds the distances of one set: use --matrix-values distance and a single file")
    report = "score" if values == "score" else "alignment"
    return _Asked("matrix", report, matrix_values=values, matrix_layout=layout)


def _bytes_beside(options: argparse.Namespace, asked: _Asked, n_queries: int, n_targets: int) -> int:
    """Memory that reports and plots take at the most. Raises InputError where a plot would have too many lines."""
    if not _beside(options) and asked.format != "html":
        return 0
    from tropalign.formats.pair_plots import PACKAGE_BYTES, check_lines
    from tropalign.formats.pairs.html import report_bytes
    from tropalign.pairwise.options import SHARES

    n_pairs = n_queries * min(n_targets, options.top or n_targets)
    if options.targets is None and options.top is None and options.pairs is None:
        n_pairs //= 2  # of one set each pair once
    selects = ("top", "min_score", *SHARES, "max_evalue", "min_bits", "pairs")
    if options.plot is not None and all(getattr(options, name) is None for name in selects):
        check_lines(n_queries, n_targets)
    return report_bytes(n_pairs, n_queries, n_targets) + (PACKAGE_BYTES if options.plot is not None else 0)


def _check_matrix(n_cells: int, memory_bytes: int) -> None:
    from tropalign.machine.memory import require

    remedy = "choose format tsv, or allow more with --memory"
    require(8 * n_cells, memory_bytes, f"a matrix of {n_cells} values", remedy)


def _beside(options: argparse.Namespace) -> dict[str, str]:
    """Outputs beside the main one: roles and files."""
    wanted = {"report": options.html, "plot": options.plot}
    return {role: path for role, path in wanted.items() if path is not None}


def _context(options: argparse.Namespace, asked: _Asked, task: PairsTask) -> PairsContext:
    from tropalign.formats.pairs import PairsContext
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


def _header(options: argparse.Namespace, asked: _Asked, task: PairsTask) -> Header:
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


def _writer(options: argparse.Namespace, asked: _Asked, header: Header, context: PairsContext) -> Writer:
    from tropalign.execution.files import check_terminal
    from tropalign.formats.registry import pairs_writer

    writer = pairs_writer(asked.format, header, context)
    if writer.is_binary:
        check_terminal(asked.matrix_layout if asked.format == "matrix" else asked.format, options.output)
    return writer


def _parameters(asked: _Asked, task: PairsTask, beside: dict[str, str]) -> dict[str, str]:
    """All that decides the parts, by name."""
    from tropalign import __version__

    words = {"version": __version__, "format": asked.format, **task.parameters}
    if asked.format == "matrix":
        words |= {"matrix_values": asked.matrix_values}
    if asked.columns is not None:
        words["columns"] = ",".join(asked.columns)
    if beside:
        words["beside"] = ", ".join(beside)
    words["queries"] = _summary(task.queries)
    if task.targets is not task.queries:
        words["targets"] = _summary(task.targets)
    return words


def _summary(batch: SequenceBatch) -> str:
    return f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:8]}"


def _pair_options(options: argparse.Namespace, report: str, alphabet: Alphabet) -> PairOptions:
    from tropalign.pairwise import FREE_ENDS, PairOptions

    ends = FREE_ENDS if options.free_ends is None else filter(None, options.free_ends.split(","))
    matrix, gap = scoring_of(options, alphabet)
    return PairOptions(
        matrix=matrix,
        gap=gap,
        end_gap=end_gap_of(options, gap),
        mode=options.mode,
        report=report,
        free_ends=frozenset(end.strip() for end in ends),
        strand=options.strand,
        top=options.top,
        min_score=options.min_score,
        min_identity=options.min_identity,
        min_coverage=options.min_coverage,
        min_query_coverage=options.min_query_coverage,
        min_target_coverage=options.min_target_coverage,
        max_evalue=options.max_evalue,
        min_bits=options.min_bits,
        db_size=options.db_size,
    )
