"""Output of ``tropalign pairs`` and ``tropalign find``: formats, columns, reports and matrices."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from tropalign.formats.format import MATPLOTLIB_BYTES, format_for_path, format_names
from tropalign.options.option import TEXT, Options, but, option, output_file
from tropalign.pairwise.options import (
    MODES,
    REPORTS,
    SHARES,
    CompositionOption,
    CullingOption,
    HspsOption,
    IdentityOptions,
    MaskOptions,
    ReciprocalOption,
    ReportName,
    SelectionOptions,
    SelfOption,
    SumOptions,
    TopFirstOption,
    TranslationOptions,
)
from tropalign.results import MatrixValue
from tropalign.verbs.runs import RunOptions, header_of
from tropalign.verbs.sequence_options import PositionsOption, TrackCommand

if TYPE_CHECKING:
    from tropalign.execution.run import Output
    from tropalign.formats.format import Header, PairsFormat
    from tropalign.formats.pairs.context import PairsContext
    from tropalign.pairwise import PairsTask
    from tropalign.pairwise.engines import AnySide
    from tropalign.sequences import SequenceBatch

Layout = Literal["tsv", "phylip", "npz"]
#: Options that `--format matrix` rejects.
SELECTS = (*(name for name in SelectionOptions.declared() if name not in ("report", "db_size")), "pairs")


#: Formats whose first lines `--no-header` omits.
HEADED = ("sam", "tsv", "csv")


class FormatOptions(Options, group="format"):
    """Formats and files of the output."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("pairs"),
        role="machine",
        help="output format (default: by the suffix of -o, else tsv)",
    )
    columns: str | None = option(
        default=None,
        kind=TEXT,
        metavar="LIST",
        on_help=("tropalign.formats.pairs.tables", "columns_text"),
        help="columns of tables (tsv, csv, m8, jsonl, arrow, arrows, feather and parquet), such as "
        "query,target,evalue; --columns help lists them",
    )
    no_header: bool = option(
        default=False,
        label="No header",
        help="leave out everything before the first alignment in sam, tsv and csv: the header of SAM, comment lines "
        "and column names",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="HTML report in addition to the output: table, map with tree, alignments",
    )
    plot: str | None = output_file(
        output="plot",
        suffix=".svg",
        metavar="FILE",
        help="image of the map with its tree, in addition to the output: .svg, .png or .pdf",
    )


class MatrixOptions(Options, group="format"):
    """Values and layout of a matrix of all pairs."""

    matrix_values: MatrixValue | None = option(
        default=None,
        choices=get_args(MatrixValue),
        label="Values of the matrix",
        help="values in format matrix (default: score)",
    )
    matrix_layout: Layout | None = option(
        default=None,
        choices=get_args(Layout),
        label="Layout of the matrix",
        help="layout of format matrix (default: by the suffix, else tsv)",
    )


@dataclass(frozen=True)
class Request:
    """The requested output: the format, and the report, columns and values that follow from it and the options."""

    format: str
    report: ReportName
    columns: tuple[str, ...] | None = None
    column_bytes: float = 0.0
    shows_significance: bool = False
    matrix_values: str = "score"
    matrix_layout: str = "tsv"


class PairsOutput(
    TrackCommand,
    PositionsOption,
    TranslationOptions,
    IdentityOptions,
    SelectionOptions,
    TopFirstOption,
    CompositionOption,
    MaskOptions,
    HspsOption,
    SumOptions,
    SelfOption,
    ReciprocalOption,
    CullingOption,
    FormatOptions,
    RunOptions,
):
    """Common part of verbs that write aligned pairs."""

    takes_stdin = True
    #: Declared by each verb with its own texts.
    queries: str
    targets: str | None = None
    #: `Pairs` has options for these.
    pairs: str | None = None
    co_optimal: int | None = None
    embeddings: list[str] | None = None
    matrix_values: MatrixValue | None = None
    matrix_layout: Layout | None = None

    report: ReportName | None = but(SelectionOptions, "report", default=None)  # type: ignore[assignment]  # by the columns

    def check(self) -> Request:
        """Return the requested output; reject invalid options before anything is read."""
        from tropalign.formats.format import check_format

        super().check()
        if self.aligned_mode == "local" and (self.end_gap_open is not None or self.end_gap_extend is not None):
            self.refuse(
                "--end-gap-open and --end-gap-extend need --mode global or semiglobal: add it, or leave them out"
            )
        if self.track is not None and len(self.track) != (n_files := 1 if self.targets is None else 2):
            self.refuse(f"--track needs a file for each file of sequences, in their order: name {n_files}")
        if self.top_first and self.top is None:
            self.refuse("--top-first has no effect without a number of targets: add --top")
        if self.reciprocal and self.shard is not None:
            self.refuse("--reciprocal compares all pairs of a sequence, but a shard has only some: leave --shard out")
        name = self.format or format_for_path("pairs", self.output)
        if self.translate is not None:
            from tropalign.pairwise.translated import check_shown

            check_shown(name)
        if name == "matrix":
            request = self.matrix_request()
        elif self.matrix_values or self.matrix_layout:
            self.refuse("--matrix-values and --matrix-layout need --format matrix: add it, or leave them out")
        else:  # an Arrow file is read from its end, which a pipe cannot provide
            request = self._table_request("arrows" if name == "arrow" and self.output == "-" else name)
        check_format("pairs", request.format, request.report)
        if self.no_header and request.format not in HEADED:
            self.refuse(f"--no-header applies to {', '.join(HEADED)}: choose one of these formats, or leave it out")
        if self.side_outputs:
            from tropalign.pairwise.reports import check_beside

            check_beside(self.side_outputs, request.report)
        return request

    @property
    def side_outputs(self) -> dict[str, str]:
        """Return the additional outputs by role."""
        wanted = {"report": self.html, "plot": self.plot}
        return {role: path for role, path in wanted.items() if path is not None}

    def memory_left(
        self, request: Request, form: PairsFormat, sides: tuple[AnySide, AnySide | None], allowed: int
    ) -> int:
        """Return the memory that inputs, format and reports leave. Raises ResourceError if it is too little."""
        from tropalign.pairwise.embedded import Embedded
        from tropalign.pairwise.engines import aligned, given
        from tropalign.pairwise.plan import least_bytes
        from tropalign.resources.limits import left_for_job, require

        there = [side for side in sides if side is not None]
        inputs_bytes = sum(batch.held_bytes for side in there for batch in {given(side), aligned(side)})
        inputs_bytes += sum(side.vector_bytes for side in there if isinstance(side, Embedded))
        report_bytes = self._report_bytes(request, len(aligned(there[0])), len(aligned(there[-1])))
        least = least_bytes([aligned(side) for side in there])
        memory_bytes = left_for_job(allowed, inputs_bytes + form.package_bytes + report_bytes, least)
        if request.format == "matrix":
            n_cells = len(given(there[0])) * len(given(there[-1]))
            remedy = "choose format tsv, or allow more with --memory"
            require(8 * n_cells, memory_bytes, f"a matrix of {n_cells} values", remedy)
        return memory_bytes

    def _report_bytes(self, request: Request, n_queries: int, n_targets: int) -> int:
        """Return the peak memory of reports and plots. Raises InputError if a plot would have too many rows."""
        if not self.side_outputs and request.format != "html":
            return 0
        from tropalign.formats.pairs.plots import check_lines
        from tropalign.formats.pairs.report import report_bytes

        per_pair = self.co_optimal or self.max_hsps
        n_pairs = n_queries * min(n_targets, self.top or n_targets) * per_pair
        if self.reciprocal:  # usually; more if many tie
            n_pairs = (n_queries + n_targets) * per_pair
        if self.targets is None and self.top is None and self.pairs is None:
            n_pairs //= 2  # each pair of a set once
        if self.plot is not None and all(getattr(self, name) is None for name in SELECTS):
            check_lines(n_queries, n_targets)
        return report_bytes(n_pairs, n_queries, n_targets) + (MATPLOTLIB_BYTES if self.plot is not None else 0)

    def _table_request(self, name: str) -> Request:
        """Return the columns to show, and the report that includes them and the values that filters need."""
        from tropalign.formats.format import format_of
        from tropalign.formats.pairs.tables import shown_columns
        from tropalign.results.aligned_pairs import SUMS

        form = format_of("pairs", name)
        if self.columns is not None and not form.takes_columns:
            self.refuse(
                f"--columns applies to tables, but format {name} is not a table: choose tsv, csv, m8, jsonl or "
                "another table"
            )
        wanted = self.default_columns(form) if self.columns is None else self.columns
        shown = shown_columns(wanted, form)
        if self.db_size is not None and self.max_evalue is None and not shown.have_significance:
            self.refuse(
                "--db-size applies to E-values, but none are requested: add --max-evalue, or evalue to --columns"
            )
        has_scaled = shown.have_significance or "corrected_score" in shown.names or name == "result"
        if (
            self.composition not in (None, "ignored")
            and self.max_evalue is None
            and self.min_bits is None
            and not has_scaled
        ):
            self.refuse(
                "--composition applies to E-values and bits, but none are requested: add --max-evalue, or evalue to "
                "--columns"
            )
        if self.composition == "ignored" and self.mask == "none" and "corrected_score" in shown.names:
            self.refuse(
                "corrected_score is the score after correction for composition or masks: add --composition adjusted "
                "or --mask"
            )
        if not self.sum_statistics and (asked := [name for name in shown.names if name in SUMS]):
            self.refuse(f"{asked[0]} is a column of sum statistics: add --sum-statistics")
        if self.co_optimal is None and "co_optimal" in shown.names:
            self.refuse("co_optimal is the number of co-optimal alignments: add --co-optimal, such as 1")
        if self.max_hsps > 1 and self.aligned_mode != "local":
            self.refuse("--max-hsps applies to local alignments only: use --mode local")
        if not shown.names:
            if self.max_hsps > 1 and self.report not in (None, "alignment"):
                self.refuse(f"--max-hsps needs whole alignments: leave --report {self.report} out")
            return Request(name, self.report or "alignment", column_bytes=form.column_bytes)
        if self.has_track and wanted is not None and shown.have_significance:
            self.refuse("scores of two tracks have no bits and E-values: leave these columns out")
        is_local = MODES[self.aligned_mode].is_local
        columns = None if wanted is None else shown.names
        if columns and shown.have_significance and self.embeddings is not None:
            self.refuse("bits and E-values need a substitution matrix: leave these columns or --embeddings out")
        if columns and shown.have_significance and self.pssm is not None:
            self.refuse("position matrices have no bits and E-values: leave these columns or --pssm out")
        if columns and shown.have_significance and not is_local:
            self.refuse("bits and E-values need local alignments: use --mode local, or leave these columns out")
        filtered = self.html is not None or any(getattr(self, share) is not None for share in SHARES)
        filtered |= self.max_hsps > 1  # further alignments need the paths of earlier ones
        filtered |= self.co_optimal is not None
        least: ReportName = "alignment" if filtered else shown.depth  # type: ignore[assignment]
        if self.culling is not None and least == "score":
            least = "ends"
        report = self.report or least
        if REPORTS.index(report) < REPORTS.index(least):
            self.refuse(f"--report {report} does not include all requested values: leave it out")
        return Request(
            name,
            report if filtered else least,  # skip columns that are not requested
            columns,
            column_bytes=form.column_bytes + (0.0 if form.is_in_blocks else shown.letters),
            shows_significance=is_local and shown.have_significance and not self.has_track,
        )

    def matrix_request(self) -> Request:
        """Return the request for a matrix of all pairs."""
        self.refuse("--format matrix contains every pair: use tropalign pairs")

    def default_columns(self, form: PairsFormat) -> str | None:
        """Return the default columns of a table; None for the format's own, or those of the report."""
        return None

    def outputs(self, request: Request, task: PairsTask) -> list[Output]:
        """Return the main output and the additional ones."""
        from tropalign.execution.files import check_terminal
        from tropalign.execution.run import Output
        from tropalign.formats.format import make_writer

        context, header = self._context(request, task), self._header(request, task)
        writer = make_writer("pairs", request.format, header, context)
        if writer.is_binary:
            check_terminal(request.matrix_layout if request.format == "matrix" else request.format, self.output)
        outputs = [Output("alignments", self.output, writer)]
        if self.side_outputs:
            from tropalign.pairwise.reports import outputs_beside

            outputs += outputs_beside(self.side_outputs, header, context)
        return outputs

    def _context(self, request: Request, task: PairsTask) -> PairsContext:
        """Return the information that formats need in addition to the tables."""
        from tropalign.formats.format import format_of
        from tropalign.formats.pairs.context import PairsContext

        columns = request.columns
        queries, targets = task.queries, task.targets
        if columns is None and not format_of("pairs", request.format).own_columns:
            columns = task.columns
        if task.frames is not None and request.format == "matrix":
            queries, targets = task.given
        return PairsContext(
            queries=queries,
            targets=targets,
            report=request.report,
            both_strands=task.options.strand != "plus",
            decimal_scores=task.options.has_decimals,
            is_triangle=task.is_triangle,
            has_whole_queries=task.has_whole_queries,
            columns=columns,
            matrix_values=request.matrix_values,
            matrix_layout=request.matrix_layout,
            substitution=task.options.matrix if task.options.scores_letters else None,
            gap=task.options.gap,
            identity=task.options.identity,
        )

    def _header(self, request: Request, task: PairsTask) -> Header:
        """Return the header with version, command and parameters."""
        settled: dict[str, str | None] = {"format": request.format, "report": request.report, "columns": None}
        if request.report == "alignment" or request.columns:  # omit the default, and a value implied by columns
            settled["report"] = None
        if request.columns:
            settled["columns"] = ",".join(request.columns)
        if self.aligned_mode != "local":  # even if it follows from the output
            settled["mode"] = self.aligned_mode
        if request.format == "matrix":
            settled |= {"matrix_values": request.matrix_values, "matrix_layout": request.matrix_layout}
        words = task.parameters
        is_filter = self.max_evalue is not None or self.min_bits is not None
        if (request.shows_significance or is_filter) and task.significance is not None:
            statistics = task.significance.statistics
            words["statistics"] = str(statistics)
            if statistics.is_estimated:  # many formats have no header
                warnings.warn(
                    "NCBI has published no statistics for this matrix with these gap costs: E-values and bits are "
                    f"based on {statistics}",
                    UserWarning,
                    stacklevel=2,
                )
            words["search_space"] = f"{task.significance.n_residues} residues, {task.significance.n_sequences} targets"
        return header_of(self, words, **settled)


def parameters_of(request: Request, task: PairsTask, side_outputs: Mapping[str, str]) -> dict[str, str]:
    """Return everything that determines the parts, by name."""
    from tropalign import __version__
    from tropalign.results.output_columns import TAXA

    words = {"version": __version__, "format": request.format, **task.parameters}
    if request.format == "matrix":
        words |= {"matrix_values": request.matrix_values}
    if request.columns is not None:
        words["columns"] = ",".join(request.columns)
        taxa = task.given[1].taxa
        if taxa is not None and TAXA.intersection(request.columns):
            words["taxa"] = taxa.digest()
    if side_outputs:
        words["beside"] = ", ".join(side_outputs)
    words["queries"] = _summary(task.queries)
    if task.targets is not task.queries:
        words["targets"] = _summary(task.targets)
    return words


def _summary(batch: SequenceBatch) -> str:
    return f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:8]}"
