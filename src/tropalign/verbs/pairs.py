"""``tropalign pairs``: exact pairwise alignment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tropalign.formats.format import format_for_path, suffix_of
from tropalign.formats.pairs import layout_of
from tropalign.options.option import Options, but, input_file
from tropalign.pairwise.embedding_options import EmbeddedPairOptions, SimilarityOptions
from tropalign.pairwise.options import (
    CoOptimalOptions,
    ModeName,
    ModeOption,
    PairOptions,
)
from tropalign.verbs.command import Served, naming
from tropalign.verbs.runs import SEQUENCE_FILES, checked_progress, devices_of, run_or_forecast
from tropalign.verbs.sequence_options import ModesOptions

if TYPE_CHECKING:
    from tropalign.execution.progress import Show
    from tropalign.execution.task import Device
    from tropalign.formats.format import PairsFormat
    from tropalign.pairwise import PairsTask
    from tropalign.pairwise.engines import AnySide
    from tropalign.results import MatrixValue
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.sequences import Alphabet, SequenceBatch

from tropalign.verbs.pairs_output import SELECTS, MatrixOptions, PairsOutput, Request, parameters_of

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
