"""``tropalign search`` and ``tropalign scan``: profile HMMs against protein sequences, and the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from tropalign.formats.format import format_for_path, format_names
from tropalign.options.option import EXCLUSIVE, Options, again, but, input_file, option, output_file, whole
from tropalign.profiles.options import ForeignOption, QueryAlphabet, QueryKind, SearchOptions
from tropalign.results.threshold_options import Cutoffs, Thresholds
from tropalign.verbs.command import (
    SEQUENCE_FILES,
    Command,
    EachOption,
    RunOptions,
    Served,
    checked_progress,
    devices_of,
    header_of,
    read_once,
    run_or_forecast,
)
from tropalign.verbs.sequence_options import SequenceOptions

if TYPE_CHECKING:
    from tropalign.profiles.iterate import IterateTask

REPORTING = ("E", "T", "domE", "domT")
INCLUSION = ("incE", "incT", "incdomE", "incdomT")
CUTOFFS: dict[str, Cutoffs] = {"cut_ga": "gathering", "cut_nc": "noise", "cut_tc": "trusted"}
#: Values of --cut and of `Thresholds.bit_cutoffs`.
CUTOFFS_IF_ANY: dict[str, Cutoffs] = {
    "ga-if-any": "gathering-if-any",
    "nc-if-any": "noise-if-any",
    "tc-if-any": "trusted-if-any",
}
FILTERS = ("F1", "F2", "F3")
#: Highest E-value of hits that enter the model of the next round.
ITERATED_E = 0.001
#: Smallest line width that HMMER accepts.
LEAST_WIDTH = 120
_NOT_IN_ROUNDS = {
    "iterate": "{this} uses the scores of models from files, but models of later rounds have none: leave {this} or "
    "{other} out",
}
_CUTOFFS_EXCLUDE = {
    **dict.fromkeys((*REPORTING, *INCLUSION, *CUTOFFS, "cut"), "{this} sets all thresholds: leave {other} out"),
    **_NOT_IN_ROUNDS,
}
_NOT_FOR_SHARDS = {
    "shard": "{this} does not support shards, each of which has a share of the models: leave {this} or {other} out"
}
_MODELS = "profile HMMs in HMMER's format, compressed or not; - is standard input"
_EXAMPLE = {"models": "efp.hmm", "sequences": "efp.fasta"}


class QueryOptions(Options, group="queries"):
    """Kinds of queries other than models, and rounds."""

    queries: QueryKind = option(
        default="auto",
        choices=get_args(QueryKind),
        label="Kind of the queries",
        is_common=True,
        help="kind of the queries (default: detected from their content; FASTA with gaps is an alignment)",
    )
    alphabet: QueryAlphabet = option(
        default="auto",
        choices=get_args(QueryAlphabet),
        help="auto (default) rejects an alignment or a file of sequences with no other letters than A, C, G, T, U "
        "and N, as nucleotides; protein accepts them",
    )
    iterate: int = option(
        default=1,
        kind=whole(1),
        metavar="N",
        label="Iterations",
        is_common=True,
        help="maximum number of rounds of the search, each with a model of the included hits, as in jackhmmer; hits "
        f"are then included with E-values up to {ITERATED_E:g} (default: 1)",
    )


class ModelOutput(Options, group="results"):
    """The models that were used in the search."""

    hmm_out: str | None = output_file(
        output="models",
        suffix=".hmm",
        excludes=_NOT_FOR_SHARDS,
        of_shards=False,
        metavar="FILE",
        help="models that were used in the search, for HMMER and tropalign; with --iterate, those of the last round "
        "of each query",
    )
    hmm_rounds: str | None = output_file(
        output="rounds",
        suffix=".rounds.hmm",
        excludes=_NOT_FOR_SHARDS,
        needs={"iterate": "--hmm-rounds needs --iterate: for a search of one round, --hmm-out writes the models"},
        of_shards=False,
        metavar="FILE",
        help="models of all rounds of --iterate: NAME, NAME-i1, NAME-i2 and so on",
    )


class TableOptions(Options, group="results"):
    """The format of the main output, and HMMER's tables."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("hits"),
        role="machine",
        help="output format (default: by the suffix of -o, else HMMER's text)",
    )
    tblout: str | None = output_file(output="tblout", suffix=".tblout", metavar="FILE", help="HMMER's table of hits")
    domtblout: str | None = output_file(
        output="domtblout", suffix=".domtblout", metavar="FILE", help="HMMER's table of domains"
    )
    pfamtblout: str | None = output_file(
        output="pfamtblout", suffix=".pfamtblout", metavar="FILE", help="Pfam's tables of hits and domains"
    )


class AlignmentOutput(Options, group="results"):
    """Alignments of the hits."""

    alignment: str | None = output_file(
        output="alignment",
        suffix=".sto",
        flags=("-A",),
        metavar="FILE",
        help="alignments of the included domains",
    )


class TextOptions(Options, group="results"):
    """The report, and the layout of HMMER's text."""

    report: str | None = output_file(
        output="report",
        suffix=".html",
        flags=("--html",),
        metavar="FILE",
        help="HTML report: domains along sequences, coverage of models, table, alignments",
    )
    acc: bool = option(
        default=False,
        label="Accessions instead of names",
        help="show accessions instead of names in HMMER's text, if there are any",
    )
    noali: bool = option(
        default=False,
        label="No alignments in the text",
        is_common=True,
        help="leave the alignments out of HMMER's text",
    )
    notextw: bool = option(
        default=False,
        label="Unlimited line width",
        excludes={"textw": EXCLUSIVE},
        help="do not limit the line width of HMMER's text",
    )
    textw: int | None = option(
        default=None,
        kind=whole(LEAST_WIDTH),
        metavar="N",
        label="Line width",
        help=f"line width of HMMER's text, {LEAST_WIDTH} (default) or more",
    )


class ReportingOptions(Options, group="reporting thresholds"):
    """Thresholds of reporting; None for the defaults."""

    E: float | None = but(Thresholds, "E", default=None, excludes={"T": EXCLUSIVE})
    T: float | None = but(Thresholds, "T", default=None)
    domE: float | None = but(Thresholds, "domE", default=None, excludes={"domT": EXCLUSIVE})
    domT: float | None = but(Thresholds, "domT", default=None)


class InclusionOptions(Options, group="inclusion thresholds"):
    """Thresholds of inclusion, and the size of the search space; None for the defaults."""

    incE: float | None = but(Thresholds, "incE", default=None, excludes={"incT": EXCLUSIVE})
    incT: float | None = but(Thresholds, "incT", default=None)
    incdomE: float | None = but(Thresholds, "incdomE", default=None, excludes={"incdomT": EXCLUSIVE})
    incdomT: float | None = but(Thresholds, "incdomT", default=None)
    cut_ga: bool = option(
        default=False,
        flags=("--cut_ga",),
        excludes=_CUTOFFS_EXCLUDE,
        label="Gathering cutoffs",
        is_common=True,
        help="report and include by each model's own gathering scores (GA)",
    )
    cut_nc: bool = option(
        default=False,
        flags=("--cut_nc",),
        excludes=_CUTOFFS_EXCLUDE,
        label="Noise cutoffs",
        help="report and include by each model's own noise scores (NC)",
    )
    cut_tc: bool = option(
        default=False,
        flags=("--cut_tc",),
        excludes=_CUTOFFS_EXCLUDE,
        label="Trusted cutoffs",
        help="report and include by each model's own trusted scores (TC)",
    )
    cut: str | None = option(
        default=None,
        choices=CUTOFFS_IF_ANY,
        excludes=_NOT_IN_ROUNDS,
        label="Cutoffs of models that have them",
        help="report and include by each model's own scores: gathering (ga-if-any), noise (nc-if-any) or trusted ones "
        "(tc-if-any); models without them by the thresholds above",
    )
    model_thresholds: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        excludes=_NOT_IN_ROUNDS,
        label="Thresholds of models",
        help="table of thresholds of models, which take precedence over all others: name or accession, tab, minimum "
        "score of a sequence in bits, tab, minimum score of a domain; other models by the other thresholds",
    )
    Z: float | None = again(Thresholds, "Z")
    domZ: float | None = again(Thresholds, "domZ")


class FilterOptions(Options, group="filters"):
    """Filters; None for the defaults."""

    F1: float | None = but(SearchOptions, "f1", default=None)
    F2: float | None = but(SearchOptions, "f2", default=None)
    F3: float | None = but(SearchOptions, "f3", default=None)
    nobias: bool = option(default=False, label="No bias filter", help="no filter for biased composition")
    max: bool = option(
        default=False,
        label="No filters",
        excludes=dict.fromkeys((*FILTERS, "nobias"), "{this} switches all filters off: leave {other} out"),
        help="switch off all filters: slower, and finds a little more",
    )
    nonull2: bool = option(
        default=False,
        label="No correction for biased composition",
        help="no correction of scores for biased composition",
    )
    seed: int | None = but(SearchOptions, "seed", default=None)


class HitCommand(Command):
    """Common part of both verbs; with the `orientation` "search" E-values count sequences, with "scan" models."""

    orientation: ClassVar[Literal["search", "scan"]]
    #: `Search` has options for these.
    queries: QueryKind = "models"
    alphabet: QueryAlphabet = "auto"
    iterate: int = 1
    hmm_out: str | None = None
    hmm_rounds: str | None = None
    each_input = "sequences"

    models: str = input_file(flags=(), metavar="MODELS", holds="models", label="Profiles", help=_MODELS)
    sequences: list[str] = input_file(
        flags=(),
        many="+",
        metavar="SEQUENCES",
        holds="sequences",
        help=f"proteins: {SEQUENCE_FILES}",
    )
    skip_foreign: bool = again(ForeignOption, "skip_foreign")
    gaps: str = again(SequenceOptions, "gaps", group="")


class Scan(
    HitCommand, TableOptions, TextOptions, ReportingOptions, InclusionOptions, FilterOptions, RunOptions, EachOption
):
    """Sequences against a library of profile HMMs."""

    verb = "scan"
    summary = "find the families that proteins belong to: sequences against profile HMMs"
    description = (
        "Compare each sequence with all models of a library, and report the families that it belongs to, as hmmscan "
        "of HMMER 3.4 does. The results are those of tropalign search, except that E-values count models."
    )
    example = """example:
  tropalign scan Pfam-A.hmm proteins.fa --cut_ga --domtblout domains.domtbl -o scan.txt
  tropalign scan Pfam-A.hmm proteins.fa -o domains.tsv

Hits and E-values are those of hmmscan 3.4, to the last digit; the library needs no hmmpress. Exit codes: 0 done,
2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(
        title="Scan for domains",
        kind="hits",
        never_formats=("stockholm",),  # hits of a scan do not form an alignment
        is_resumable=True,
        example=_EXAMPLE,
    )
    orientation: ClassVar[Literal["search", "scan"]] = "scan"

    def thresholds(self, per_model: dict[str, tuple[float, float]] | None) -> Thresholds:
        """Return the requested thresholds."""
        names = (*REPORTING, *INCLUSION, "Z", "domZ")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        kinds: list[Cutoffs] = [kind for name, kind in CUTOFFS.items() if getattr(self, name)]
        if self.iterate > 1:
            given = {"incE": ITERATED_E, "incdomE": ITERATED_E, **given}
        if self.cut is not None:
            kinds.append(CUTOFFS_IF_ANY[self.cut])
        return Thresholds(**given, bit_cutoffs=kinds[0] if kinds else None, per_model=per_model)

    def search_options(self) -> SearchOptions:
        """Return the requested filters."""
        seed = SearchOptions.declared()["seed"].default if self.seed is None else self.seed
        if self.max:
            return SearchOptions.unfiltered(null2=not self.nonull2, seed=seed)
        given = {name.lower(): value for name in FILTERS if (value := getattr(self, name)) is not None}
        return SearchOptions(**given, bias_filter=not self.nobias, null2=not self.nonull2, seed=seed)

    def run(self) -> None:
        """Read, search and write."""
        from tropalign import __version__
        from tropalign.devices.registry import open_devices
        from tropalign.execution.run import Run, memory_allowed
        from tropalign.formats.format import format_of
        from tropalign.profiles.outputs import (
            TABLES,
            Wanted,
            context_of,
            outputs_of,
            run_parameters,
            with_models,
            write_models,
        )
        from tropalign.profiles.sources import model_source, target_source
        from tropalign.profiles.task import SearchTask, least_kept_cells
        from tropalign.resources.limits import left_for_job, resolve_threads

        self.check()
        name = self.format or format_for_path("hits", self.output)
        wanted = Wanted(self.output, name, {role: getattr(self, role, None) for role in TABLES})
        paths = [self.output] if self.shard is not None else [path for _, path, _ in wanted.files()]
        model_files = [path for path in (self.hmm_out, self.hmm_rounds) if path is not None]
        paths += model_files
        show = checked_progress(self, paths, [self.models, *self.sequences, self.model_thresholds])
        own = None
        if self.model_thresholds is not None:
            from tropalign.results.threshold_options import read_thresholds

            own_path = self.model_thresholds
            own = read_once(("thresholds", own_path), lambda: read_thresholds(own_path))
        thresholds, search_options = self.thresholds(own and own.per_model), self.search_options()
        allowed = memory_allowed(self.memory, paths[0])
        memory_bytes = left_for_job(allowed, format_of("hits", wanted.format).package_bytes)
        keeps_models = bool(model_files)
        named = (self.models, memory_bytes, self.queries, self.alphabet, self.skip_foreign, keeps_models)
        models = read_once(("models", *named), lambda: model_source(*named))
        if own is not None:
            read_once(("unknown names", *named), lambda: models.warn_of_unknown(own.places))
        sequences = target_source(self.sequences, memory_bytes, self.gaps)
        common = models, sequences, search_options, thresholds
        task: SearchTask | IterateTask
        if self.iterate == 1:
            n_threads = resolve_threads(self.threads)
            task = SearchTask(
                *common,
                orientation=self.orientation,
                memory_bytes=memory_bytes,
                shard=self.shard,
                n_threads=n_threads,
            )
        else:
            from tropalign.profiles.iterate import IterateTask

            task = IterateTask(
                *common,
                n_rounds=self.iterate,
                memory_bytes=memory_bytes,
                shard=self.shard,
                keeps_models=keeps_models,
            )
        outline = task.outline()
        # A search in one pass knows the number of sequences only at its end.
        n_targets = None if outline is None else len((sequences if self.orientation == "search" else models).lengths)
        context = context_of(
            self.orientation,
            n_targets,
            thresholds,
            search_options,
            models=self.models,
            sequences=" ".join(self.sequences),
            text_width=0 if self.notextw else self.textw or LEAST_WIDTH,
            shows_alignments=not self.noali,
            shows_accessions=self.acc,
        )
        header = header_of(self, {}, format=None if name == "text" else name)  # headers omit the default
        outputs = outputs_of(wanted, header, context, self.shard is not None)
        if self.iterate > 1 and keeps_models:
            outputs = with_models(outputs, self.hmm_out, self.hmm_rounds, header)
        if keeps_models:
            write_models(models, [] if self.iterate > 1 or self.dry_run else model_files)
        cost_cells = sum(tile.cost_cells for tile in outline or ())
        # Short runs are not kept: hashing and writing would take longer than repeating them.
        is_kept = self.shard is not None or cost_cells >= least_kept_cells()
        parameters = run_parameters(task, models, sequences, outputs, __version__) if is_kept else {}
        searching = Run(
            task=task,
            outputs=outputs,
            outline=outline if is_kept else None,
            parameters=parameters,
            memory_bytes=allowed,
            shard=self.shard,
            unit="comparisons",
        )
        devices = open_devices(devices_of(self), self.threads, cost_cells, memory_bytes)
        run_or_forecast(searching, devices, self, show, cost_cells)


class Search(
    Scan,
    QueryOptions,
    AlignmentOutput,
    ModelOutput,
    arranged=(HitCommand, QueryOptions, TableOptions, AlignmentOutput, ModelOutput),
):
    """Profile HMMs, alignments or sequences against sequences: like a scan, with additional options."""

    verb = "search"
    summary = "find the members of protein families: profile HMMs against sequences"
    description = (
        "Compare each model with all sequences, and report those that belong to its family, as hmmsearch of HMMER "
        "3.4 does, several times faster."
    )
    example = """example:
  tropalign search globins4.hmm proteins.fa.gz --tblout hits.tbl
  tropalign search Pfam-A.hmm proteome.fa --cut_ga -o /dev/null --domtblout domains.domtbl
  tropalign search kinase.hmm proteins.fa -E 1e-5 -o hits.parquet

Hits, scores and E-values are those of hmmsearch 3.4, to the last digit. Exit codes: 0 done, 2 usage, 3 bad input,
4 memory, disk or device, 130 interrupted."""
    served = Served(title="Search with profiles", kind="hits", is_resumable=True, example=_EXAMPLE)
    orientation = "search"

    models: str = but(
        HitCommand,
        "models",
        label="Profiles, an alignment or sequences",
        help=f"queries: {_MODELS}. An alignment, or each sequence in FASTA, is converted to a model",
    )
