"""``tropalign pairs``: exact pairwise alignment."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.formats.format import MATPLOTLIB_BYTES
from tropalign.formats.pairs import layout_of
from tropalign.formats.registry import format_for_path, format_names, suffix_of
from tropalign.options.option import TEXT, Options, but, input_file, option, output_file
from tropalign.pairwise.options import (
    MODES,
    REPORTS,
    SHARES,
    CompositionOption,
    CullingOption,
    HspsOption,
    IdentityOptions,
    MaskOptions,
    ModeName,
    ModeOption,
    PairOptions,
    ReciprocalOption,
    ReportName,
    SelectionOptions,
    SelfOption,
    SumOptions,
    TopFirstOption,
    TranslationOptions,
)
from tropalign.results import MatrixValue
from tropalign.verbs.command import Served
from tropalign.verbs.runs import SEQUENCE_FILES, RunOptions, carry_out, devices_of, started
from tropalign.verbs.sequence_options import AlignmentOptions, ModesOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output, Writer
    from tropalign.execution.task import Device
    from tropalign.formats.format import Header
    from tropalign.formats.pairs import PairsFormat
    from tropalign.formats.pairs.context import PairsContext
    from tropalign.formats.pairs.tables import ShownColumns
    from tropalign.pairwise import PairsTask
    from tropalign.sequences import Alphabet, SequenceBatch
    from tropalign.verbs.sequence_options import Side

Layout = Literal["tsv", "phylip", "npz"]
#: A database stays in its store if it would take more than this share of the allowed memory.
MOST_READ = 0.5
#: Largest share of the memory for the targets of a query; if they would take more, the database is read.
MOST_TAKEN = 0.2
#: Formats that contain all sequences or names of the database.
WHOLE_FORMATS = ("sam", "bam", "result")
#: Options that `--format matrix` rejects.
SELECTS = (*(name for name in SelectionOptions.declared() if name not in ("report", "db_size")), "pairs")


class FormatOptions(Options, group="format"):
    """Formats and files of the output."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("pairs"),
        role="machine",
        help="what to write (default: by the suffix of -o, else tsv)",
    )
    columns: str | None = option(
        default=None,
        kind=TEXT,
        metavar="LIST",
        on_help=("tropalign.formats.pairs.tables", "columns_text"),
        help="columns of tsv, csv, m8, jsonl, arrow, arrows, feather and parquet, such as query,target,evalue; "
        "--columns help lists them",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="a report for the browser beside the output: table, map with tree, alignments",
    )
    plot: str | None = output_file(
        output="plot",
        suffix=".svg",
        metavar="FILE",
        help="the map with its tree as a picture beside the output: .svg, .png or .pdf",
    )


class MatrixOptions(Options, group="format"):
    """Values and layout of a matrix of all pairs."""

    matrix_values: MatrixValue | None = option(
        default=None,
        choices=get_args(MatrixValue),
        label="Values of the matrix",
        help="what --format matrix holds (default: score)",
        form_help="What the format matrix holds (default: score)",
    )
    matrix_layout: Layout | None = option(
        default=None,
        choices=get_args(Layout),
        label="Layout of the matrix",
        help="how --format matrix is laid out (default: by the suffix, else tsv)",
        form_help="Layout of the format matrix (default: tsv)",
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


class PairsCommand(
    AlignmentOptions,
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
    matrix_values: MatrixValue | None = None
    matrix_layout: Layout | None = None

    report: ReportName | None = but(SelectionOptions, "report", default=None)  # type: ignore[assignment]  # by the columns

    def check(self) -> Request:
        """Return the requested output; reject invalid options before anything is read."""
        from tropalign.formats.registry import check_format

        request = self._request()
        check_format("pairs", request.format, request.report)
        if side_outputs := self._side_outputs():
            from tropalign.pairwise.reports import check_beside

            check_beside(side_outputs, request.report)
        return request

    def run(self) -> None:
        """Read, align and write."""
        from tropalign.execution.run import Run, memory_allowed
        from tropalign.formats.registry import format_of

        request, side_outputs = self.check(), self._side_outputs()
        matrix_file = [self.matrix] if self.matrix is not None else []
        inputs = [self.queries, self.targets, self.pairs, *matrix_file]
        show = started(self, [self.output, *side_outputs.values()], inputs)
        allowed = memory_allowed(self.memory, self.output)
        form = format_of("pairs", request.format)
        sides = self._sides(form.wants_qualities, request.format, allowed)
        memory_bytes = self._memory_left(request, form, sides, allowed)
        task, devices = self._task(request, form, sides, memory_bytes, show)
        aligning = Run(
            task=task,
            outputs=self._outputs(request, task, side_outputs),
            outline=task.tiles(),
            fingerprint=task.fingerprint(),
            parameters=_parameters(request, task, side_outputs),
            memory_bytes=allowed,
            shard=self.shard,
            unit="pairs",
        )
        carry_out(aligning, devices, self, show, task.n_cells)

    def _memory_left(self, request: Request, form: PairsFormat, sides: tuple[Side, Side | None], allowed: int) -> int:
        """Return the memory that inputs, format and reports leave. Raises ResourceError if it is too little."""
        from tropalign.pairwise.engines import aligned, given
        from tropalign.pairwise.plan import least_bytes
        from tropalign.resources.limits import left_for_job

        there = [side for side in sides if side is not None]
        inputs_bytes = sum(batch.held_bytes for side in there for batch in {given(side), aligned(side)})
        report_bytes = self._report_bytes(request, len(aligned(there[0])), len(aligned(there[-1])))
        least = least_bytes([aligned(side) for side in there])
        memory_bytes = left_for_job(allowed, inputs_bytes + form.package_bytes + report_bytes, least)
        if request.format == "matrix":
            _check_matrix(len(given(there[0])) * len(given(there[-1])), memory_bytes)
        return memory_bytes

    def _task(
        self, request: Request, form: PairsFormat, sides: tuple[Side, Side | None], memory_bytes: int, show: Show
    ) -> tuple[PairsTask, Sequence[Device]]:
        """Return the task, and the devices for it."""
        from tropalign.devices.registry import open_devices
        from tropalign.pairwise import PairsTask
        from tropalign.pairwise.engines import aligned, given

        queries, targets = given(sides[0]), None if sides[1] is None else given(sides[1])
        listed = None if self.pairs is None else self._listed(self.pairs, queries, targets or queries)
        pair_options = self._pair_options(request.report, aligned(sides[0]).alphabet)
        task_of = partial(
            PairsTask,
            *sides,
            memory_bytes=memory_bytes,
            shard=self.shard,
            column_bytes=request.column_bytes,
            wants_whole_queries=form.wants_whole_queries,
            n_threads=self.threads,
        )
        task = task_of(options=pair_options, pairs=listed)
        able = ["cpu"] if targets is not None and targets.is_stored else pair_options.able_devices(devices_of(self))
        devices = open_devices(able, self.threads, sum(tile.cost_cells for tile in task.tiles()), memory_bytes)
        if self.reciprocal and not self.dry_run:  # a forecast is for all pairs
            task = _reciprocal(task_of, pair_options, listed, devices, show)
        return task, devices

    def _outputs(self, request: Request, task: PairsTask, side_outputs: Mapping[str, str]) -> list[Output]:
        """Return the main output and the additional ones."""
        from tropalign.execution.run import Output

        context, header = self._context(request, task), self._header(request, task)
        outputs = [Output("alignments", self.output, self._writer(request, header, context))]
        if side_outputs:
            from tropalign.pairwise.reports import outputs_beside

            outputs += outputs_beside(side_outputs, header, context)
        return outputs

    def _request(self) -> Request:
        """Reject options that exclude each other, and return the requested output."""
        self._check_translation()
        self.check_alignment()
        if self.aligned_mode == "local" and (self.end_gap_open is not None or self.end_gap_extend is not None):
            self.refuse("--end-gap-open and --end-gap-extend belong to --mode global or semiglobal")
        if self.top_first and self.top is None:
            self.refuse("--top-first says how the best targets are counted: add --top")
        if self.reciprocal and self.shard is not None:
            self.refuse("--reciprocal compares all pairs of a sequence, and a shard has some: leave --shard out")
        if self.queries == self.targets == "-":
            self.refuse("standard input can be read once: name - once")
        if self.pairs == "-" and "-" in (self.queries, self.targets):
            self.refuse("sequences and the list of pairs cannot both be standard input")
        name = self.format or format_for_path("pairs", self.output)
        if self.translate is not None:
            from tropalign.pairwise.translated import check_shown

            check_shown(name)
        if name == "matrix":
            return self.matrix_request()
        if self.matrix_values or self.matrix_layout:
            self.refuse("--matrix-values and --matrix-layout belong to --format matrix")
        if name == "arrow" and self.output == "-":
            name = "arrows"  # an Arrow file is read from its end, which a pipe cannot provide
        return self._table_request(name)

    def _check_translation(self) -> None:
        """Reject options that conflict with translation."""
        if self.translate is None:
            if self.genetic_code is not None:
                self.refuse("--genetic-code belongs to --translate")
            return
        if self.alphabet != "auto":
            self.refuse("--translate says what the sequences are: leave --alphabet out")
        if self.strand not in (None, "plus"):
            self.refuse("--translate takes both strands by itself: leave --strand out")
        if self.targets is None:
            self.refuse("--translate needs a second file: give B, which may be A again with --translate both")

    def _table_request(self, name: str) -> Request:
        """Return the columns to show, and the report that includes them and the values that filters need."""
        from tropalign.formats.pairs.tables import shown_columns
        from tropalign.formats.registry import format_of

        form = format_of("pairs", name)
        if self.columns is not None and not form.takes_columns:
            self.refuse(
                f"--columns belongs to tables, and format {name} is none: choose tsv, csv, m8, jsonl or another table"
            )
        wanted = self.default_columns(form) if self.columns is None else self.columns
        shown = shown_columns(wanted, form)
        if self.db_size is not None and self.max_evalue is None and not shown.have_significance:
            self.refuse(
                "--db-size counts for E-values, and there are none here: add --max-evalue, or evalue to --columns"
            )
        has_scaled = shown.have_significance or "corrected_score" in shown.names or name == "result"
        if (
            self.composition not in (None, "ignored")
            and self.max_evalue is None
            and self.min_bits is None
            and not has_scaled
        ):
            self.refuse(
                "--composition counts for E-values and bits, and there are none here: add --max-evalue, or evalue to "
                "--columns"
            )
        if self.composition == "ignored" and self.mask == "none" and "corrected_score" in shown.names:
            self.refuse(
                "corrected_score is what composition or masks leave of the score: add --composition adjusted or --mask"
            )
        self._check_sums(shown)
        if self.max_hsps > 1 and self.aligned_mode != "local":
            self.refuse("--max-hsps is for local alignments, of which a pair has several: use --mode local")
        if not shown.names:
            if self.max_hsps > 1 and self.report not in (None, "alignment"):
                self.refuse(f"--max-hsps computes whole alignments: leave --report {self.report} out")
            return Request(name, self.report or "alignment", column_bytes=form.column_bytes)
        is_local = MODES[self.aligned_mode].is_local
        columns = None if wanted is None else shown.names
        if columns and shown.have_significance and not is_local:
            self.refuse("bits and E-values are those of local alignments: use --mode local, or leave these columns out")
        filtered = self.html is not None or any(getattr(self, share) is not None for share in SHARES)
        filtered |= self.max_hsps > 1  # further alignments need the paths of earlier ones
        least: ReportName = "alignment" if filtered else shown.depth  # type: ignore[assignment]
        if self.culling is not None and least == "score":
            least = "ends"
        report = self.report or least
        if REPORTS.index(report) < REPORTS.index(least):
            self.refuse(f"--report {report} does not have all that is asked for: leave it out")
        return Request(
            name,
            report if filtered else least,  # skip columns that are not requested
            columns,
            column_bytes=form.column_bytes + (0.0 if form.is_in_blocks else shown.letters),
            shows_significance=is_local and shown.have_significance,
        )

    def _check_sums(self, shown: ShownColumns) -> None:
        """Reject sum statistics of single alignments, and columns of sums without sum statistics."""
        from tropalign.results.aligned_pairs import SUMS

        if self.sum_statistics and self.max_hsps == 1:
            self.refuse("--sum-statistics judges several alignments of a pair together: add --max-hsps, such as 10")
        if self.max_intron is not None and not self.sum_statistics:
            self.refuse("--max-intron says which alignments --sum-statistics links: add --sum-statistics")
        if self.max_intron is not None and self.translate not in ("query", "target"):
            self.refuse(
                "--max-intron is for nucleotides against proteins: add --translate query or target, or leave it out"
            )
        if not self.sum_statistics and (asked := [name for name in shown.names if name in SUMS]):
            self.refuse(f"{asked[0]} is what sum statistics tell of alignments: add --sum-statistics")

    def matrix_request(self) -> Request:
        """Return the request for a matrix of all pairs."""
        self.refuse("--format matrix holds every pair: that is tropalign pairs")

    def _sides(self, wants_qualities: bool, format_name: str, allowed: int) -> tuple[Side, Side | None]:
        """Read queries and targets as they are aligned, with their frames if translated."""
        from tropalign.pairwise.options import check_same_alphabet
        from tropalign.sequences.files import file_name
        from tropalign.sequences.reader import agreed, untold

        if self.translate is not None and self.targets is not None:
            from tropalign.pairwise.translated import check_code, side_of

            code = self.genetic_code or 1
            check_code(code)  # before anything is read
            with untold():  # `side_of` checks the letters against the expected kind
                batches = self.batch(self.queries), self._database(self.targets, format_name, allowed)
            queries, targets = (
                side_of(batch, side, self.translate, code, path)
                for batch, side, path in zip(batches, ("query", "target"), (self.queries, self.targets), strict=True)
            )
            return queries, targets
        if self.targets is None:
            return self.batch(self.queries, wants_qualities), None
        with untold():
            queries = self.batch(self.queries, wants_qualities)
            targets = self._database(self.targets, format_name, allowed)
        queries, targets = agreed(queries, targets, self.alphabet == "auto", tells=True)
        check_same_alphabet(queries, targets, (file_name(self.queries), file_name(self.targets)))
        return queries, targets

    def _database(self, path: str, format_name: str, allowed: int) -> SequenceBatch:
        """Return the targets: in memory, or in their store if they do not fit and the run needs a single pass."""
        from tropalign.sequences.alphabet import ALPHABETS
        from tropalign.sequences.files import is_store

        costs_more = {self.gap_open2, self.end_gap_open, self.end_gap_extend} != {None}
        is_passed = self.top is not None and self.pairs is None and not costs_more and not self.mask_hard
        is_passed &= not self.reciprocal
        is_passed &= self.translate in (None, "query") and format_name not in WHOLE_FORMATS
        is_passed &= {"auto", "cpu"} >= set(devices_of(self))
        if is_passed and is_store(path):
            from tropalign.pairwise.plan import suits_groups
            from tropalign.sequences.batch import TAKEN_BYTES
            from tropalign.sequences.stored_batch import stored_batch

            keeps = self.duplicate_names == "keep"
            stored = stored_batch(path, int(MOST_READ * allowed), ALPHABETS.get(self.alphabet), self.strict, keeps)
            if stored is not None and suits_groups(stored):
                of_query = min(self.top or len(stored), len(stored)) / len(stored) * len(stored.letters)
                if TAKEN_BYTES * of_query < MOST_TAKEN * allowed:
                    return stored
        return self.batch(path)

    @staticmethod
    def _listed(path: str, queries: SequenceBatch, targets: SequenceBatch) -> NDArray[np.int64]:
        """Read the pairs of a file."""
        from tropalign.pairwise.plan import read_pairs

        return read_pairs(path, queries, targets)

    def _pair_options(self, report: ReportName, alphabet: Alphabet) -> PairOptions:
        matrix, gap = self.scoring(alphabet)
        return PairOptions(
            **{
                **self.shared_with(PairOptions),
                **self.by_alphabet(alphabet),
                "mode": self.aligned_mode,
                "matrix": matrix,
                "gap": gap,
                "end_gap": self.end_gap(gap),
                "free_ends": self.ends,
                "report": report,
            }
        )

    def default_columns(self, form: PairsFormat) -> str | None:
        """Return the default columns of a table; None for the format's own, or those of the report."""
        return None

    def by_alphabet(self, alphabet: Alphabet) -> dict[str, Any]:
        """Return options that depend on the alphabet of the aligned sequences."""
        return {}

    def _side_outputs(self) -> dict[str, str]:
        """Return the additional outputs by role."""
        wanted = {"report": self.html, "plot": self.plot}
        return {role: path for role, path in wanted.items() if path is not None}

    def _report_bytes(self, request: Request, n_queries: int, n_targets: int) -> int:
        """Return the most memory of reports and plots. Raises InputError if a plot would have too many rows."""
        if not self._side_outputs() and request.format != "html":
            return 0
        from tropalign.formats.pairs.plots import check_lines
        from tropalign.formats.pairs.report import report_bytes

        n_pairs = n_queries * min(n_targets, self.top or n_targets) * self.max_hsps
        if self.reciprocal:  # usually; more if many tie
            n_pairs = (n_queries + n_targets) * self.max_hsps
        if self.targets is None and self.top is None and self.pairs is None:
            n_pairs //= 2  # each pair of a set once
        if self.plot is not None and all(getattr(self, name) is None for name in SELECTS):
            check_lines(n_queries, n_targets)
        return report_bytes(n_pairs, n_queries, n_targets) + (MATPLOTLIB_BYTES if self.plot is not None else 0)

    def _context(self, request: Request, task: PairsTask) -> PairsContext:
        """Return the information that formats need in addition to the tables."""
        from tropalign.formats.pairs.context import PairsContext
        from tropalign.formats.registry import format_of

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
            both_strands=task.options.strand == "both",
            decimal_scores=task.options.whole.scale > 1,
            is_triangle=task.is_triangle,
            has_whole_queries=task.has_whole_queries,
            columns=columns,
            matrix_values=request.matrix_values,
            matrix_layout=request.matrix_layout,
            substitution=task.options.matrix,
            gap=task.options.gap,
            identity=task.options.identity,
        )

    def _header(self, request: Request, task: PairsTask) -> Header:
        """Return the header with version, command and parameters."""
        from tropalign import __version__
        from tropalign.formats.format import Header

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
                    f"NCBI has published no statistics of this matrix with these gap costs: E-values and bits are by "
                    f"{statistics}",
                    UserWarning,
                    stacklevel=2,
                )
            words["search_space"] = f"{task.significance.n_residues} residues, {task.significance.n_sequences} targets"
        return Header(__version__, self.command_line(**settled), words, has_comments=not self.no_comments)

    def _writer(self, request: Request, header: Header, context: PairsContext) -> Writer:
        """Make the writer of the main output; binary formats cannot go to a terminal."""
        from tropalign.execution.files import check_terminal
        from tropalign.formats.registry import make_writer

        writer = make_writer("pairs", request.format, header, context)
        if writer.is_binary:
            check_terminal(request.matrix_layout if request.format == "matrix" else request.format, self.output)
        return writer


class Pairs(ModesOptions, PairsCommand, MatrixOptions):
    """Every pair of a set, of one set with another, or listed pairs."""

    verb = "pairs"
    summary = "align every pair of a set, or one set with another"
    description = "Exact pairwise alignment of every pair of a set, of one set with another, or of listed pairs."
    example = """example:
  tropalign pairs proteins.fa -o all.tsv
  tropalign pairs reads.fa genomes.fa.gz --mode semiglobal --strand both --top 5 -f paf -o best.paf

A gap of k residues costs open + k * extend. Coordinates in TSV are 0-based, half-open.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Align pairs", kind="pairs", is_resumable=True, example={"queries": "efp.fasta"})

    mode: ModeName | None = but(  # type: ignore[assignment]  # by what is shown
        ModeOption,
        "mode",
        default=None,
        help="align the parts that score best (local), the whole sequences (global), or these with free ends "
        "(semiglobal); default: global for matrices of identities or distances and with --html or --plot, unless "
        "E-values, bits, --mask or --max-hsps are asked for; else local",
        form_help="Align the parts that score best (local), the whole sequences (global), or these with free ends "
        "(semiglobal); default: global for matrices of identities or distances, and with a report or plot; else local",
    )
    queries: str = input_file(flags=(), metavar="A", holds="sequences", help=SEQUENCE_FILES)
    targets: str | None = input_file(
        default=None,
        flags=(),
        many="?",
        metavar="B",
        holds="sequences",
        label="Targets (without these, every pair of the queries)",
        help="align A with B; without B every pair of A",
        form_help="Each query is aligned with each of these",
    )
    pairs: str | None = input_file(
        default=None,
        group="which pairs",
        holds="table",
        metavar="FILE",
        label="List of pairs",
        help="only the pairs in this file, two names per line",
    )

    @property
    def aligned_mode(self) -> ModeName:
        """The given mode; else global for a matrix or map of identities, if nothing requires local; else local."""
        if self.mode is not None:
            return self.mode
        if (self.format or format_for_path("pairs", self.output)) == "matrix":
            return "local" if self._matrix()[0] == "score" else "global"
        is_local = any(getattr(self, name) is not None for name in ("max_evalue", "min_bits", "db_size"))
        is_local |= self.max_hsps > 1 or self.composition != "ignored" or (self.mask != "none" and not self.mask_hard)
        return "global" if self._maps_identities and not is_local else "local"

    @property
    def _maps_identities(self) -> bool:
        """True if a page or a plot shows identities, and no column requires local alignments."""
        from tropalign.formats.pairs.tables import shown_columns
        from tropalign.formats.registry import format_of

        name = self.format or format_for_path("pairs", self.output)
        form = format_of("pairs", name)
        shown = shown_columns(self.columns if form.takes_columns else None, form)
        if shown.have_significance:
            return False
        is_deep = self.report in (None, "alignment") and (not shown.names or shown.depth == "alignment")
        return name == "html" or self.html is not None or (self.plot is not None and is_deep)

    def _matrix(self) -> tuple[MatrixValue, str]:
        """Return the values of a matrix, and its layout."""
        layout = self.matrix_layout or layout_of(suffix_of(self.output))
        return self.matrix_values or ("distance" if layout == "phylip" else "score"), layout

    def matrix_request(self) -> Request:
        """Return the values of the matrix, and the report that they need."""
        for name in SELECTS:
            if getattr(self, name) is not None:
                self.refuse(f"--format matrix holds every pair: leave --{name.replace('_', '-')} out")
        for name in ("columns", "db_size", "culling"):
            if getattr(self, name) is not None:
                self.refuse(f"--format matrix holds one value per pair: leave --{name.replace('_', '-')} out")
        for name in ("exclude_self", "reciprocal"):
            if getattr(self, name):
                self.refuse(f"--format matrix holds every pair: leave --{name.replace('_', '-')} out")
        if self.composition != "ignored":
            self.refuse("--format matrix holds no E-values: leave --composition out")
        if self.max_hsps > 1:
            self.refuse("--format matrix holds one value per pair: leave --max-hsps out")
        if self.mask != "none" and not self.mask_hard:
            self.refuse("--format matrix holds scores of all letters: leave --mask out, or add --mask-hard")
        values, layout = self._matrix()
        if layout == "phylip" and (self.targets is not None or values != "distance"):
            self.refuse("PHYLIP holds the distances of one set: use --matrix-values distance and a single file")
        return Request(
            "matrix", "score" if values == "score" else "alignment", matrix_values=values, matrix_layout=layout
        )


def _reciprocal(
    task_of: Callable[..., PairsTask],
    options: PairOptions,
    listed: NDArray[np.int64] | None,
    devices: Sequence[Device],
    show: Show,
) -> PairsTask:
    """Find the pairs that are each other's best, and return their task."""
    from tropalign.execution.scheduler import Scheduler
    from tropalign.pairwise.selection import first_options, reciprocal_pairs

    first = task_of(options=first_options(options), pairs=listed)
    with show("pairs", first.n_pairs) as progress:
        tables = (result.value for result in Scheduler(devices, progress).run([first]))
        best = reciprocal_pairs(tables, *first.n_given, options.is_local)
    return task_of(options=options, pairs=best)


def _check_matrix(n_cells: int, memory_bytes: int) -> None:
    """Raise ResourceError if a matrix of this many values does not fit."""
    from tropalign.resources.limits import require

    remedy = "choose format tsv, or allow more with --memory"
    require(8 * n_cells, memory_bytes, f"a matrix of {n_cells} values", remedy)


def _parameters(request: Request, task: PairsTask, side_outputs: dict[str, str]) -> dict[str, str]:
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
