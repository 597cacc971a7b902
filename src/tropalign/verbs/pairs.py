"""``tropalign pairs``: exact pairwise alignment."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.formats.format import MATPLOTLIB_BYTES, format_for_path, format_names, suffix_of
from tropalign.formats.pairs import layout_of
from tropalign.options.option import TEXT, Options, but, input_file, option, output_file
from tropalign.pairwise.embedding_options import EmbeddedPairOptions, SimilarityOptions
from tropalign.pairwise.options import (
    MODES,
    REPORTS,
    SHARES,
    CompositionOption,
    CoOptimalOptions,
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
from tropalign.verbs.command import (
    SEQUENCE_FILES,
    RunOptions,
    Served,
    checked_progress,
    devices_of,
    header_of,
    naming,
    run_or_forecast,
)
from tropalign.verbs.sequence_options import ModesOptions, PositionsOption, TrackCommand

if TYPE_CHECKING:
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output
    from tropalign.execution.task import Device
    from tropalign.formats.format import Header, PairsFormat
    from tropalign.formats.pairs.context import PairsContext
    from tropalign.pairwise import PairsTask
    from tropalign.pairwise.engines import AnySide
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.sequences import Alphabet, SequenceBatch

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


#: A database stays in its store if it would take more than this share of the allowed memory.
MOST_READ = 0.5
#: Largest share of the memory for the targets of a query; if they would take more, the database is read.
MOST_TAKEN = 0.2
#: Formats that contain all sequences or names of the database.
WHOLE_FORMATS = ("sam", "bam", "result")
#: Formats and columns that show letters or compare them.
LETTERED = ("m8", "sam", "bam", "fasta", "srspair", "html")
LETTERED_COLUMNS = frozenset(
    {"identical", "mismatches", "identity", "percent_identity", "cs", "query_row", "target_row"}
    | {f"identity_{k}" for k in range(5)}
)
#: Default gap cost of embeddings, open and extend.
EMBEDDING_GAP = 1, 0.1


class PairsCommand(PairsOutput):
    """Common part of verbs that align pairs."""

    def run(self) -> None:
        """Read, align and write."""
        from tropalign.execution.run import Run, memory_allowed
        from tropalign.formats.format import format_of

        request, side_outputs = self.check(), self.side_outputs
        inputs = [self.queries, self.targets, self.pairs, self.matrix, self.track_matrix]
        inputs += [*(self.embeddings or ()), *(self.track or ())]
        show = checked_progress(self, [self.output, *side_outputs.values()], inputs)
        allowed = memory_allowed(self.memory, self.output)
        form = format_of("pairs", request.format)
        sides = self._sides(form.wants_qualities, request.format, allowed)
        track_matrix: SubstitutionMatrix | None = None
        if self.track is not None:
            queries, targets, track_matrix = self.tracked(*sides)  # type: ignore[arg-type]  # not translated
            sides = queries, targets
        memory_bytes = self.memory_left(request, form, sides, allowed)
        task, devices = self._task(request, form, sides, track_matrix, memory_bytes, show)
        aligning = Run(
            task=task,
            outputs=self.outputs(request, task),
            outline=task.tiles(),
            fingerprint=task.fingerprint(),
            parameters=parameters_of(request, task, side_outputs),
            memory_bytes=allowed,
            shard=self.shard,
            unit="pairs",
        )
        run_or_forecast(aligning, devices, self, show, task.n_cells)

    def _task(
        self,
        request: Request,
        form: PairsFormat,
        sides: tuple[AnySide, AnySide | None],
        track_matrix: SubstitutionMatrix | None,
        memory_bytes: int,
        show: Show,
    ) -> tuple[PairsTask, Sequence[Device]]:
        """Return the task, and the devices for it."""
        from tropalign.devices.registry import open_devices
        from tropalign.pairwise import PairsTask
        from tropalign.pairwise.engines import aligned, given
        from tropalign.pairwise.plan import read_pairs

        queries, targets = given(sides[0]), None if sides[1] is None else given(sides[1])
        listed = None if self.pairs is None else read_pairs(self.pairs, queries, targets or queries)
        alphabet = aligned(sides[0]).alphabet
        matrix, gap = self.scoring(alphabet)
        kind = self.kind_of_options
        pair_options = kind(
            **{
                **self.shared_with(kind),
                **self.by_alphabet(alphabet),
                "mode": self.aligned_mode,
                "matrix": matrix,
                "gap": gap,
                "end_gap": self.end_gap(gap),
                "free_ends": self.ends,
                "track_matrix": track_matrix,
                "report": request.report,
            }
        )
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
        is_stored = targets is not None and targets.is_stored
        able = ["cpu"] if is_stored else pair_options.able_devices(devices_of(self), task.has_positions)
        devices = open_devices(able, self.threads, sum(tile.cost_cells for tile in task.tiles()), memory_bytes)
        if self.reciprocal and not self.dry_run:  # a forecast is for all pairs
            from tropalign.execution.scheduler import Scheduler
            from tropalign.pairwise.selection import first_options, reciprocal_pairs

            first = task_of(options=first_options(pair_options), pairs=listed)
            with show("pairs", first.n_pairs) as progress:
                tables = (result.value for result in Scheduler(devices, progress).run([first]))
                best = reciprocal_pairs(tables, *first.n_given, pair_options.is_local)
            task = task_of(options=pair_options, pairs=best)
        return task, devices

    def _sides(self, wants_qualities: bool, format_name: str, allowed: int) -> tuple[AnySide, AnySide | None]:
        """Read queries and targets as they are aligned, with their frames if translated."""
        from tropalign.pairwise.options import check_same_alphabet
        from tropalign.sequences.files import check_no_motifs, file_name
        from tropalign.sequences.reader import in_common_alphabet, without_kind_warnings

        if self.pssm is None and self.queries is not None:
            check_no_motifs(self.queries)
        if self.pssm is not None and self.targets is not None:
            from tropalign.pairwise.positions import of_alphabet
            from tropalign.scoring.position_files import read_position_matrices
            from tropalign.scoring.position_matrix import PositionBatch
            from tropalign.sequences.reader import read_as

            with naming(file_name(self.queries)):
                matrices = PositionBatch.of(read_position_matrices(self.queries, self.pssm))
            with without_kind_warnings():
                database = read_as(matrices.alphabet, self._database(self.targets, format_name, allowed))
            return matrices, of_alphabet(matrices, database, file_name(self.targets))
        if self.translate is not None and self.targets is not None:
            from tropalign.pairwise.translated import check_code, side_of

            code = self.genetic_code or 1
            check_code(code)  # before anything is read
            with without_kind_warnings():  # `side_of` checks that residues are of the given kind
                batches = self.batch(self.queries), self._database(self.targets, format_name, allowed)
            queries, targets = (
                side_of(batch, side, self.translate, code, path)
                for batch, side, path in zip(batches, ("query", "target"), (self.queries, self.targets), strict=True)
            )
            return queries, targets
        if self.targets is None:
            return self.batch(self.queries, wants_qualities), None
        with without_kind_warnings():
            queries = self.batch(self.queries, wants_qualities)
            targets = self._database(self.targets, format_name, allowed)
        queries, targets = in_common_alphabet(queries, targets, self.alphabet == "auto", tells=True)
        check_same_alphabet(queries, targets, (file_name(self.queries), file_name(self.targets)))
        return queries, targets

    def _database(self, path: str, format_name: str, allowed: int) -> SequenceBatch:
        """Return the targets: in memory, or in their store if they do not fit and the run needs a single pass."""
        from tropalign.sequences.files import is_store

        costs_more = {self.gap_open2, self.end_gap_open, self.end_gap_extend} != {None}
        is_passed = self.top is not None and self.pairs is None and not costs_more and not self.mask_hard
        is_passed &= not self.reciprocal and self.co_optimal is None and not self.clip_stops and self.track is None
        is_passed &= self.translate in (None, "query") and format_name not in WHOLE_FORMATS
        is_passed &= {"auto", "cpu"} >= set(devices_of(self)) and self.embeddings is None
        if is_passed and is_store(path):
            from tropalign.pairwise.plan import suits_groups
            from tropalign.sequences.batch import TAKEN_BYTES
            from tropalign.sequences.stored_batch import stored_batch

            keeps = self.duplicate_names == "keep"
            stored = stored_batch(path, int(MOST_READ * allowed), self.chosen_alphabet, self.strict, keeps)
            if stored is not None and suits_groups(stored):
                of_query = min(self.top or len(stored), len(stored)) / len(stored) * len(stored.letters)
                if TAKEN_BYTES * of_query < MOST_TAKEN * allowed:
                    return stored
        return self.batch(path)

    @property
    def kind_of_options(self) -> type[PairOptions]:
        """Class of the options of pairs."""
        return PairOptions

    def by_alphabet(self, alphabet: Alphabet) -> dict[str, Any]:
        """Return options that depend on the alphabet of the aligned sequences."""
        return {}


class EmbeddingFiles(Options, group="embeddings"):
    """Files of embeddings."""

    embeddings: list[str] | None = input_file(
        default=None,
        many="+",
        metavar="FILE",
        holds="embeddings",
        label="Embeddings",
        excludes={
            **dict.fromkeys(
                ("matrix", "match", "mismatch", "iupac", "mask", "composition", "translate", "strand=minus|both"),
                "{other} applies to scores of letters, but --embeddings scores vectors: leave {other} out",
            ),
            **dict.fromkeys(
                ("max_evalue", "min_bits", "db_size", "sum_statistics"),
                "{other} needs E-values, which scores of embeddings do not have: use --min-score or --top",
            ),
            **dict.fromkeys(
                ("gap_open2", "gap_extend2", "end_gap_open", "end_gap_extend", "co_optimal", "pssm"),
                "{other} does not support --embeddings: leave {other} out",
            ),
        },
        help="align residues by the similarity of their vectors, such as those of a protein language model: .npz with "
        "an array (length, numbers) per name, or .h5 with a dataset per name (needs h5py); a second file has those of "
        "B. Without A and B, residues have no letters; a gap costs 1 + 0.1 per residue by default",
        form_help="Vector per residue, such as those of a protein language model, as scores in place of a matrix: "
        ".npz with an array (length, numbers) per name, or .h5 with a dataset per name; a second file has those of the "
        "targets. Names and lengths are those of the sequences. A gap costs 1 + 0.1 per residue by default",
    )


class EmbeddingOptions(EmbeddingFiles, SimilarityOptions, needs="embeddings"):
    """Embeddings of the sequences, and scores of their vectors."""


class Pairs(ModesOptions, EmbeddingOptions, PairsCommand, MatrixOptions, CoOptimalOptions):
    """Every pair of a set, of one set with another, or listed pairs."""

    verb = "pairs"
    summary = "align every pair of a set, or one set with another"
    description = "Exact pairwise alignment of every pair of a set, of one set with another, or of listed pairs."
    example = """example:
  tropalign pairs proteins.fa -o all.tsv
  tropalign pairs reads.fa genomes.fa.gz --mode semiglobal --strand both --top 5 -f paf -o best.paf
  tropalign pairs --embeddings vectors.npz --shift 0.3 -o all.tsv

A gap of k residues costs open + k * extend. Coordinates in TSV are 0-based, half-open.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Align pairs", kind="pairs", is_resumable=True, example={"queries": "efp.fasta"})

    mode: ModeName | None = but(  # type: ignore[assignment]  # by what is shown
        ModeOption,
        "mode",
        default=None,
        help="align the best-scoring segments (local), the whole sequences (global), or whole sequences with free ends "
        "(semiglobal); default: local, but global with --html, --plot or a matrix of identities or distances, unless "
        "E-values, bits, masks or several alignments per pair are requested",
    )
    queries: str | None = input_file(  # type: ignore[assignment]  # or embeddings alone
        default=None,
        flags=(),
        many="?",
        metavar="A",
        holds="sequences",
        help=f"{SEQUENCE_FILES}; or --embeddings in its place",
        form_help=SEQUENCE_FILES,
        is_needed_on_servers=True,
    )
    targets: str | None = input_file(
        default=None,
        flags=(),
        many="?",
        metavar="B",
        holds="sequences",
        label="Targets (if none, all pairs of queries are aligned)",
        help="align A with B; without B, every pair of A",
        form_help="Targets to align each query with",
    )
    pairs: str | None = input_file(
        default=None,
        group="selection of pairs",
        holds="table",
        metavar="FILE",
        label="List of pairs",
        help="align only the pairs in this file, two names per line",
    )

    def check(self) -> Request:
        """Return the requested output; also reject options that embeddings do not support."""
        if self.queries is None and self.embeddings is None:
            self.refuse("there is no input: name a file of sequences (A), or --embeddings")
        request = super().check()
        if self.embeddings is not None:
            self._check_embeddings(self.embeddings, request)
        return request

    def _check_embeddings(self, files: Sequence[str], request: Request) -> None:
        if len(files) > 2 or (len(files) == 2 and self.queries is not None and self.targets is None):
            self.refuse("--embeddings takes a file for A, and one for B: leave the others out, or join them")
        if self.queries is not None:
            return
        remedy = "give the sequences too (tropalign pairs a.fa --embeddings a.npz)"
        if request.format in LETTERED:
            self.refuse(f"format {request.format} shows letters, which embeddings do not have: {remedy}, or choose tsv")
        if request.format == "matrix" and request.matrix_values != "score":
            self.refuse(f"identities need letters, which embeddings lack: {remedy}, or use --matrix-values score")
        lettered = next(filter(LETTERED_COLUMNS.__contains__, request.columns or ()), None)
        if lettered is not None:
            self.refuse(f"column {lettered} needs letters, which embeddings do not have: {remedy}, or leave it out")
        reading = ("letters", "alphabet", "strict", "skip_empty", "gaps", "duplicate_names", "clip_stops")
        shown = ("min_identity", "identity", "ambiguous", "html", "plot")
        self.leave_out("embeddings have no letters without a file of sequences", (*shown, *reading))

    def default_columns(self, form: PairsFormat) -> str | None:
        """Return the default columns of a table; without letters, those that need none."""
        if self.embeddings is None or self.queries is not None or not form.takes_columns or form.own_columns:
            return None
        from tropalign.results.output_columns import default_names

        names = default_names(self.report or "alignment", False, has_hsp=self.max_hsps > 1)
        return ",".join(name for name in names if name not in LETTERED_COLUMNS)

    @property
    def kind_of_options(self) -> type[PairOptions]:
        """Class of the options of pairs, with or without a matrix."""
        return PairOptions if self.embeddings is None else EmbeddedPairOptions

    def scoring(self, alphabet: Alphabet) -> tuple[SubstitutionMatrix, Gap]:
        """Return the requested matrix and gap cost; for embeddings, the matrix is not used."""
        if self.embeddings is None:
            return super().scoring(alphabet)
        from tropalign.scoring import Gap, SubstitutionMatrix

        given = zip((self.gap_open, self.gap_extend), EMBEDDING_GAP, strict=True)
        return SubstitutionMatrix.match_mismatch(1, -1, alphabet), Gap(
            *(usual if cost is None else cost for cost, usual in given)
        )

    def _sides(self, wants_qualities: bool, format_name: str, allowed: int) -> tuple[AnySide, AnySide | None]:
        """Read queries and targets, with their embeddings if these are given."""
        if self.embeddings is None:
            return super()._sides(wants_qualities, format_name, allowed)
        from tropalign.pairwise.embedded import Embedded, check_dimensions, vectors_of
        from tropalign.pairwise.engines import given
        from tropalign.pairwise.vector_engines import warn_of_high_scores

        files = self.embeddings
        vectors = [vectors_of(file, "query", self.similarity, allowed) for file in files]
        check_dimensions(zip(vectors, files, strict=True))
        if self.queries is None:
            sides = [Embedded.of(side) for side in vectors]
        else:
            batches = super()._sides(wants_qualities, format_name, allowed)
            sides = Embedded.of_sequences([given(batch) for batch in batches if batch is not None], vectors, files)
        if self.aligned_mode == "local":
            warn_of_high_scores(sides[0], sides[-1], self)
        return sides[0], sides[1] if len(sides) > 1 else None

    @property
    def aligned_mode(self) -> ModeName:
        """The given mode; else global for a matrix or map of identities, if nothing requires local; else local."""
        if self.mode is not None:
            return self.mode
        from tropalign.formats.format import format_of
        from tropalign.formats.pairs.tables import shown_columns

        name = self.format or format_for_path("pairs", self.output)
        if name == "matrix":
            return "local" if self._matrix()[0] == "score" else "global"
        is_local = any(getattr(self, name) is not None for name in ("max_evalue", "min_bits", "db_size"))
        is_local |= self.max_hsps > 1 or self.composition != "ignored" or (self.mask != "none" and not self.mask_hard)
        if is_local:
            return "local"
        form = format_of("pairs", name)
        shown = shown_columns(self.columns if form.takes_columns else None, form)
        is_deep = self.report in (None, "alignment") and (not shown.names or shown.depth == "alignment")
        maps_identities = name == "html" or self.html is not None or (self.plot is not None and is_deep)
        return "global" if maps_identities and not shown.have_significance else "local"

    def _matrix(self) -> tuple[MatrixValue, str]:
        """Return the values of a matrix, and its layout."""
        layout = self.matrix_layout or layout_of(suffix_of(self.output))
        return self.matrix_values or ("distance" if layout == "phylip" else "score"), layout

    def matrix_request(self) -> Request:
        """Return the values of the matrix, and the report that they need."""
        self.leave_out("--format matrix contains every pair", (*SELECTS, "exclude_self", "reciprocal"))
        self.leave_out(
            "--format matrix contains one value per pair", ("columns", "db_size", "culling", "max_hsps", "co_optimal")
        )
        self.leave_out("--format matrix contains no E-values", ["composition"])
        if self.mask != "none" and not self.mask_hard:
            self.refuse("--format matrix contains scores of all residues: leave --mask out, or add --mask-hard")
        values, layout = self._matrix()
        if layout == "phylip" and (self.targets is not None or values != "distance"):
            self.refuse("PHYLIP contains the distances of one set: use --matrix-values distance and a single file")
        return Request(
            "matrix", "score" if values == "score" else "alignment", matrix_values=values, matrix_layout=layout
        )
