"""``tropalign search`` and ``tropalign scan``: profile HMMs against protein sequences, and the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from tropalign.formats.registry import format_for_path, format_names, suffix_of
from tropalign.options.option import Options, again, but, input_file, option, output_file, whole
from tropalign.profiles.options import ForeignOption, QueryAlphabet, QueryKind, SearchOptions
from tropalign.results.threshold_options import Cutoffs, Thresholds
from tropalign.verbs.command import Command, Served, read_once
from tropalign.verbs.runs import SEQUENCE_FILES, EachOption, RunOptions, carry_out, devices_of, started
from tropalign.verbs.sequence_options import SequenceOptions

if TYPE_CHECKING:
    from tropalign.profiles.outputs import Wanted

REPORTING = ("E", "T", "domE", "domT")
INCLUSION = ("incE", "incT", "incdomE", "incdomT")
CUTOFFS: dict[str, Cutoffs] = {"cut_ga": "gathering", "cut_nc": "noise", "cut_tc": "trusted"}
FILTERS = ("F1", "F2", "F3")
#: Highest E-value of hits that enter the model of the next round.
ITERATED_E = 0.001
#: Smallest line width that HMMER accepts.
LEAST_WIDTH = 120
_MODELS = "profile HMMs in HMMER's format, compressed or not; - is standard input"
_EXAMPLE = {"models": "efp.hmm", "sequences": "efp.fasta"}


class QueryOptions(Options, group="queries"):
    """Kinds of queries other than models, and rounds."""

    queries: QueryKind = option(
        default="auto",
        choices=get_args(QueryKind),
        label="Kind of the queries",
        is_common=True,
        help="what MODELS holds (default: by its content; FASTA with gaps is an alignment)",
        form_help="What the queries are (default: by their content; FASTA with gaps is an alignment)",
    )
    alphabet: QueryAlphabet = option(
        default="auto",
        choices=get_args(QueryAlphabet),
        help="auto (default) refuses an alignment or a file of sequences whose letters are all A, C, G, T, U or N, as "
        "nucleotides; protein takes them, too",
    )
    iterate: int = option(
        default=1,
        kind=whole(1),
        metavar="N",
        label="Iterations",
        is_common=True,
        help="repeat the search up to N times, each time with a model of the included hits, as jackhmmer does; "
        f"includes E-values up to {ITERATED_E:g} (default: 1)",
    )


class ModelOutput(Options, group="results"):
    """The models that were used in the search."""

    hmm_out: str | None = output_file(
        output="models",
        suffix=".hmm",
        of_shards=False,
        metavar="FILE",
        help="write the models that were searched with, too, for HMMER and tropalign; with --iterate those of the last "
        "round of each query",
    )
    hmm_rounds: str | None = output_file(
        output="rounds",
        suffix=".rounds.hmm",
        of_shards=False,
        metavar="FILE",
        help="write the models of all rounds of --iterate, too: NAME, NAME-i1, NAME-i2 and so on",
    )


class TableOptions(Options, group="results"):
    """The format of the main output, and HMMER's tables."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("hits"),
        role="machine",
        help="what to write (default: by the suffix of -o, else HMMER's text)",
    )
    tblout: str | None = output_file(
        output="tblout", suffix=".tblout", metavar="FILE", help="write HMMER's table of hits, too"
    )
    domtblout: str | None = output_file(
        output="domtblout", suffix=".domtblout", metavar="FILE", help="write HMMER's table of domains, too"
    )
    pfamtblout: str | None = output_file(
        output="pfamtblout", suffix=".pfamtblout", metavar="FILE", help="write Pfam's tables of both, too"
    )


class AlignmentOutput(Options, group="results"):
    """Alignments of the hits."""

    alignment: str | None = output_file(
        output="alignment",
        suffix=".sto",
        flags=("-A",),
        metavar="FILE",
        help="write included domains as alignments, too",
    )


class TextOptions(Options, group="results"):
    """The report, and the layout of HMMER's text."""

    report: str | None = output_file(
        output="report",
        suffix=".html",
        flags=("--html",),
        metavar="FILE",
        help="write a report for the browser, too: domains along sequences, coverage of models, table, alignments",
    )
    acc: bool = option(
        default=False,
        label="Accessions in place of names",
        help="HMMER's text has accessions in place of names, where there are some",
    )
    noali: bool = option(
        default=False, label="No alignments in the text", is_common=True, help="HMMER's text has no alignments"
    )
    notextw: bool = option(default=False, label="Unlimited line width", help="lines of HMMER's text have any length")
    textw: int | None = option(
        default=None,
        kind=whole(LEAST_WIDTH),
        metavar="N",
        label="Line width",
        help=f"lines of HMMER's text have N letters, {LEAST_WIDTH} (default) or more",
    )


class ReportingOptions(Options, group="what is reported"):
    """Thresholds of reporting; None for the defaults."""

    E: float | None = but(Thresholds, "E", default=None)
    T: float | None = but(Thresholds, "T", default=None)
    domE: float | None = but(Thresholds, "domE", default=None)
    domT: float | None = but(Thresholds, "domT", default=None)


class InclusionOptions(Options, group="what counts as significant"):
    """Thresholds of inclusion, and the size of the search space; None for the defaults."""

    incE: float | None = but(Thresholds, "incE", default=None)
    incT: float | None = but(Thresholds, "incT", default=None)
    incdomE: float | None = but(Thresholds, "incdomE", default=None)
    incdomT: float | None = but(Thresholds, "incdomT", default=None)
    cut_ga: bool = option(
        default=False,
        flags=("--cut_ga",),
        label="Gathering cutoffs",
        is_common=True,
        help="report and include by each model's own gathering scores (GA)",
    )
    cut_nc: bool = option(
        default=False,
        flags=("--cut_nc",),
        label="Noise cutoffs",
        help="report and include by each model's own noise scores (NC)",
    )
    cut_tc: bool = option(
        default=False,
        flags=("--cut_tc",),
        label="Trusted cutoffs",
        help="report and include by each model's own trusted scores (TC)",
    )
    Z: float | None = again(Thresholds, "Z")
    domZ: float | None = again(Thresholds, "domZ")


class FilterOptions(Options, group="filters"):
    """Filters; None for the defaults."""

    F1: float | None = but(SearchOptions, "f1", default=None)
    F2: float | None = but(SearchOptions, "f2", default=None)
    F3: float | None = but(SearchOptions, "f3", default=None)
    nobias: bool = option(default=False, label="No bias filter", help="no filter for biased composition")
    max: bool = option(default=False, label="No filters", help="no filter at all: slow, and finds a little more")
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
        "Compares each sequence with all models of a library and reports the families that it belongs to, as hmmscan "
        "of HMMER 3.4 does. What is computed is as in tropalign search; E-values count models."
    )
    example = """example:
  tropalign scan Pfam-A.hmm proteins.fa --cut_ga --domtblout domains.domtbl -o scan.txt
  tropalign scan Pfam-A.hmm proteins.fa -o domains.tsv

Hits and E-values are those of hmmscan 3.4, to the last digit; the library need not be pressed. Exit codes: 0 done,
2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(
        title="Scan for domains",
        kind="hits",
        never_formats=("stockholm",),  # hits of a scan do not form an alignment
        is_resumable=True,
        example=_EXAMPLE,
    )
    orientation: ClassVar[Literal["search", "scan"]] = "scan"

    def thresholds(self) -> Thresholds:
        """Return the requested thresholds."""
        names = (*REPORTING, *INCLUSION, "Z", "domZ")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        kinds: list[Cutoffs] = [kind for name, kind in CUTOFFS.items() if getattr(self, name)]
        if self.iterate > 1:
            given = {"incE": ITERATED_E, "incdomE": ITERATED_E, **given}
        return Thresholds(**given, bit_cutoffs=kinds[0] if kinds else None)

    def search_options(self) -> SearchOptions:
        """Return the requested filters."""
        seed = SearchOptions.declared()["seed"].default if self.seed is None else self.seed
        if self.max:
            return SearchOptions.unfiltered(null2=not self.nonull2, seed=seed)
        given = {name.lower(): value for name in FILTERS if (value := getattr(self, name)) is not None}
        return SearchOptions(**given, bias_filter=not self.nobias, null2=not self.nonull2, seed=seed)

    def check(self) -> None:
        """Reject options that exclude each other."""
        for one, other in (("E", "T"), ("domE", "domT"), ("incE", "incT"), ("incdomE", "incdomT")):
            if getattr(self, one) is not None and getattr(self, other) is not None:
                self.refuse(f"{_typed(one)} and {_typed(other)} exclude each other: give one of them")
        cutoffs = [name for name in CUTOFFS if getattr(self, name)]
        given = [name for name in (*REPORTING, *INCLUSION) if getattr(self, name) is not None]
        if len([*cutoffs, *given]) > 1 and cutoffs:
            self.refuse(f"--{cutoffs[0]} sets all thresholds: leave {_typed([*cutoffs, *given][1])} out")
        filters = [f"--{name}" for name in FILTERS if getattr(self, name) is not None] + ["--nobias"] * self.nobias
        if cutoffs and self.iterate > 1:
            self.refuse(
                f"--{cutoffs[0]} goes by models from files, which later rounds have none of: leave it or --iterate out"
            )
        if self.max and filters:
            self.refuse(f"--max switches all filters off: leave {filters[0]} out")
        if self.notextw and self.textw is not None:
            self.refuse("--notextw and --textw exclude each other: give one of them")
        if [self.models, *self.sequences].count("-") > 1:
            self.refuse("standard input can be read once: name - once")
        if self.hmm_rounds is not None and self.iterate == 1:
            self.refuse("--hmm-rounds belongs to --iterate: of a search of one round, --hmm-out writes the models")
        for flag, path in self._model_files().items():
            if self.shard is not None:
                self.refuse(f"{flag} is not for shards, which have a share of the models each: leave one of them out")
            if suffix_of(path) not in ("", ".hmm"):
                self.refuse(f"{flag} {path}: end the name in .hmm (and .gz or the like to compress)")

    def _model_files(self) -> dict[str, str]:
        """Return the output paths of the models used in the search, by their options."""
        given = {"--hmm-out": self.hmm_out, "--hmm-rounds": self.hmm_rounds}
        return {flag: path for flag, path in given.items() if path is not None}

    def run(self) -> None:
        """Read, search and write."""
        from tropalign import __version__
        from tropalign.devices.registry import open_devices
        from tropalign.execution.run import Run, memory_allowed
        from tropalign.formats.format import Header
        from tropalign.formats.registry import format_of
        from tropalign.profiles.iterate import task_of
        from tropalign.profiles.outputs import context_of, outputs_of, run_parameters, with_models, write_models
        from tropalign.profiles.sources import model_source, target_source
        from tropalign.profiles.task import least_kept_cells
        from tropalign.resources.limits import left_for_job, resolve_threads

        self.check()
        wanted = self._wanted()
        paths = [self.output] if self.shard is not None else [path for _, path, _ in wanted.files()]
        paths += self._model_files().values()
        show = started(self, paths, [self.models, *self.sequences])
        thresholds, search_options = self.thresholds(), self.search_options()
        allowed = memory_allowed(self.memory, paths[0])
        memory_bytes = left_for_job(allowed, format_of("hits", wanted.format).package_bytes)
        keeps_models = bool(self._model_files())
        named = (self.models, memory_bytes, self.queries, self.alphabet, self.skip_foreign, keeps_models)
        models = read_once(("models", *named), lambda: model_source(*named))
        sequences = target_source(self.sequences, memory_bytes, self.gaps)
        task = task_of(
            models,
            sequences,
            search_options,
            thresholds,
            orientation=self.orientation,
            n_rounds=self.iterate,
            memory_bytes=memory_bytes,
            shard=self.shard,
            n_threads=resolve_threads(self.threads),
            keeps_models=keeps_models,
        )
        outline = task.outline()
        # A search in one pass knows the number of sequences only at its end.
        n_targets = None if outline is None else len((sequences if self.orientation == "search" else models).lengths)
        context = context_of(self.orientation, n_targets, thresholds, search_options, **self._shown())
        settled = None if wanted.format == "text" else wanted.format  # the default is not stated
        header = Header(__version__, self.command_line(format=settled), {}, has_comments=not self.no_comments)
        outputs = outputs_of(wanted, header, context, self.shard is not None)
        if self.iterate > 1 and keeps_models:
            outputs = with_models(outputs, self.hmm_out, self.hmm_rounds, header)
        if keeps_models:
            made_now = [] if self.iterate > 1 or self.dry_run else list(self._model_files().values())
            write_models(models, made_now)
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
        carry_out(searching, devices, self, show, cost_cells)

    def _wanted(self) -> Wanted:
        from tropalign.profiles.outputs import TABLES, Wanted

        name = self.format or format_for_path("hits", self.output)
        if self.report is not None and suffix_of(self.report) not in ("", ".html", ".htm"):
            self.refuse(f"--html {self.report}: end the name in .html (and .gz or the like to compress)")
        return Wanted(self.output, name, {role: getattr(self, role, None) for role in TABLES})

    def _shown(self) -> dict[str, Any]:
        """Return the sources of the hits, and the layout of the text."""
        return {
            "models": self.models,
            "sequences": " ".join(self.sequences),
            "text_width": 0 if self.notextw else self.textw or LEAST_WIDTH,
            "shows_alignments": not self.noali,
            "shows_accessions": self.acc,
        }


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
        "Compares each model with all sequences and reports those that belong to its family, as hmmsearch of HMMER 3.4 "
        "does, several times faster."
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
        help=f"queries: {_MODELS}. An alignment makes a model, and so does each sequence in FASTA",
    )


def _typed(name: str) -> str:
    return Scan.declared()[name].typed[-1]
