"""``tropalign msa``: the multiple alignment of a family."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.clustalw.options import ClustalwChoices
from tropalign.errors import counted
from tropalign.formats.registry import format_names, suffix_of
from tropalign.msa.options import ConsistencyOptions, RowOrderOption, StrandName, TurningOption
from tropalign.options.option import Options, but, input_file, option, output_file
from tropalign.verbs.command import Command, Served
from tropalign.verbs.msa_methods import (
    ExtensionOptions,
    HomologChoices,
    ModelOptions,
    align_by_clustalw,
    align_onto_model,
    check_extension,
    check_homologs,
    check_method,
    check_model,
    extend,
    extension_of,
    model_words,
    with_homologs,
)
from tropalign.verbs.runs import (
    SEQUENCE_FILES,
    EachOption,
    RunOptions,
    carry_out,
    devices_of,
    print_forecast,
    started,
    tell_of,
    where_foretold,
)
from tropalign.verbs.sequence_options import READING, SequenceOptions

if TYPE_CHECKING:
    from tropalign.clustalw.options import ClustalwOptions
    from tropalign.execution.archive import Shards
    from tropalign.execution.run import Output, Writer
    from tropalign.execution.task import Device
    from tropalign.msa.options import MsaOptions
    from tropalign.msa.pipeline import Job
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.features import Feature

Method = Literal["consistency", "clustalw"]
#: Formats that show any name.
DRAWN = ("html", "svg", "png", "result")


class MethodOption(Options, group="method"):
    """Alignment method."""

    method: Method = option(
        default="consistency",
        choices=get_args(Method),
        is_common=True,
        help="how families are aligned (default: consistency)",
    )


class InputOptions(Options, group="input"):
    """Input files and their treatment."""

    alphabet: str = but(SequenceOptions, "alphabet", default="auto", group="input")
    strand: StrandName = but(TurningOption, "strand", default="plus")
    tree_in: str | None = input_file(
        default=None,
        holds="tree",
        metavar="FILE",
        label="Guide tree",
        help="the guide tree (Newick, NEXUS; default: of distances)",
    )
    realign: bool = option(
        default=False,
        label="Remove gaps and align anew",
        is_common=True,
        help="the input is aligned: remove its gaps, as --gaps remove does",
    )
    strict: bool = but(SequenceOptions, "strict", default=False, group="input")
    skip_empty: bool = but(SequenceOptions, "skip_empty", default=False, group="input")
    gaps: str = but(SequenceOptions, "gaps", default="refuse", group="input")
    duplicate_names: str = but(SequenceOptions, "duplicate_names", default="error", group="input")


class FormatOption(Options, group="results"):
    """The format of the alignment."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("aligned"),
        role="machine",
        help="what to write (default: by the suffix of -o, else fasta)",
    )


class ResultOptions(FormatOption, RowOrderOption, group="results"):
    """Output files."""

    tree_out: str | None = output_file(
        output="tree", suffix=".nwk", metavar="FILE", help="the guide tree in Newick format"
    )
    confidence: str | None = output_file(
        output="confidence",
        suffix=".tsv",
        metavar="FILE",
        help="a row per residue: how sure its place is; TSV or Parquet by the suffix",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="the alignment as a page for the browser, beside the output",
    )
    features: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Features",
        help="features for the page: GFF3, or #=GR and #=GC of Stockholm",
    )


class Msa(
    Command,
    MethodOption,
    ConsistencyOptions,
    ClustalwChoices,
    InputOptions,
    ExtensionOptions,
    ModelOptions,
    HomologChoices,
    ResultOptions,
    RunOptions,
    EachOption,
):
    """The multiple alignment of a family, by consistency or by CLUSTALW's method."""

    verb = "msa"
    summary = "align a family of sequences (multiple alignment)"
    description = (
        "Aligns a family by the consistency of its pairs: posteriors of all pairs, a guide tree, consistency, "
        "progressive alignment and refinement (MSAProbs, QuickProbs); or by CLUSTALW's method."
    )
    example = """example:
  tropalign msa family.fa -o family.aln
  tropalign msa family.fa --effort accurate -o family.sto --tree-out family.nwk --confidence family.tsv
  cat a.fa b.fa | tropalign msa - > both.afa
  tropalign msa family.fa --method clustalw -o family.aln --tree-out family.dnd
  tropalign msa old.sto --add new.fa -o all.sto
  tropalign msa --model family.hmm new.fa -o new.sto
  tropalign msa family.fa --homologs proteins.fa -o family.aln
  tropalign msa --each a.fa b.fa -o aligned

Clustal, Stockholm, PHYLIP, MSF, A2M, A3M, NEXUS by the suffix of -o, else FASTA. The alignment is the same for any
number of threads. Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Align a family", kind="aligned", is_resumable=True, example={"family": "efp.fasta"})
    finishes = ("tree_out", "confidence")
    each_input, each_power, each_refuses = "family", 2, ("tree_in", "add", "merge")

    family: list[str] = input_file(
        flags=(),
        many="+",
        metavar="FASTA",
        holds="sequences",
        help=f"one family in one file or several: {SEQUENCE_FILES}",
    )

    def check(self) -> None:
        """Reject invalid options before anything is read."""
        self._check_usage()
        if self.model is None:
            self._settled()

    def run(self) -> None:
        """Read, align and write."""
        self._check_usage()
        places = self.places() if self.shard is None else {"output": self.output}  # merge makes the others of shards
        started(self, list(places.values()), self._inputs(), holds=True)
        if self.model is not None:
            align_onto_model(self, self._outputs(places, model_words(self))[0])
            return
        method = self._settled()  # before anything is read
        if self.method == "clustalw":
            align_by_clustalw(self, self._outputs(places, method.parameters())[0])
            return
        if extension_of(self) is not None:
            extend(self, self._outputs(places, method.parameters())[0])
            return
        self._by_consistency(places)

    def _by_consistency(self, places: Mapping[str, str]) -> None:
        """Align the family by the consistency of its pairs, or compute a share of these, and write."""
        from tropalign.devices.registry import open_devices
        from tropalign.execution.progress import stage_bar
        from tropalign.execution.run import memory_allowed
        from tropalign.msa import pipeline
        from tropalign.msa.guide_tree import read_guide_tree
        from tropalign.msa.run import MsaRun, seconds_of
        from tropalign.resources.limits import left_for_job, resolve_threads

        allowed = memory_allowed(self.memory, self.output)
        n_threads = resolve_threads(self.threads)
        batch = self.batch()
        method = self.for_family(len(batch))
        outputs, wants_confidence = self._outputs(places, method.parameters(), batch)
        tree = None if self.tree_in is None else read_guide_tree(self.tree_in, batch.names)
        job = pipeline.Job(batch, method, tree, self.row_order, wants_confidence, keeps_homologs=self.keep_homologs)
        memory_bytes = left_for_job(allowed, batch.held_bytes)
        if self.homologs is not None:
            job = with_homologs(self, job, memory_bytes, n_threads)
        devices = open_devices(devices_of(self), self.threads, pipeline.score_cells(job), memory_bytes)
        cells = pipeline.pair_cells(job)
        if self.shard is not None:
            self._shard(job, devices, memory_bytes, allowed)
            return
        if self.dry_run:
            seconds = seconds_of(job, devices, n_threads, memory_bytes)
            where = where_foretold(devices, self)
            print_forecast(cells, (len(batch), "sequences"), seconds, where, None, allowed)
            return
        aligning, begin = MsaRun(job, outputs, _parameters(job), allowed), time.perf_counter()
        with stage_bar(self.quiet) as progress:
            aligning.compute(devices, n_threads, memory_bytes, progress)
        if not self.quiet:
            tell_of(counted(len(batch), "sequences"), time.perf_counter() - begin, cells, [out.path for out in outputs])

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Align with the posteriors of shards."""
        from tropalign.devices.registry import open_devices
        from tropalign.execution.progress import stage_bar
        from tropalign.msa import pipeline
        from tropalign.msa.guide_tree import GuideTree
        from tropalign.msa.run import MsaRun, ShardsKept
        from tropalign.resources.limits import default_budget, left_for_job, resolve_threads
        from tropalign.sequences.store import batch_of_bytes

        saved, saved_tree = shards.inputs(2)
        batch = batch_of_bytes(saved)
        method = self.for_family(len(batch))
        outputs, wants_confidence = self._outputs(places, method.parameters())
        tree = GuideTree.from_bytes(saved_tree, len(batch)) if saved_tree else None
        job = pipeline.Job(batch, method, tree, self.row_order, wants_confidence, n_shards=len(shards.tile_counts))
        allowed = self.memory or default_budget()
        memory_bytes = left_for_job(allowed, batch.held_bytes)
        aligning = MsaRun(job, outputs, _parameters(job), allowed)
        shards.check_same(MsaRun(job, [], _parameters(job, self.format), allowed).fingerprint())
        devices = open_devices(devices_of(self), self.threads, pipeline.score_cells(job), memory_bytes)
        with stage_bar(self.quiet) as progress:
            n_threads = resolve_threads(self.threads)
            aligning.compute(devices, n_threads, memory_bytes, progress, ShardsKept(shards, job))

    def _check_usage(self) -> None:
        if self.shard is not None and (self.method == "clustalw" or extension_of(self) or self.model):
            self.refuse(
                "--shard shares out the posteriors of a family that is aligned by consistency: leave it out here"
            )
        if self.shard is not None and self.html is not None:
            self.refuse("--html is for whole runs: leave it out with --shard")
        if self.html is not None and suffix_of(self.html) not in ("", ".html", ".htm"):
            self.refuse(f"--html {self.html}: end the name in .html (and .gz or the like to compress)")
        if self._inputs().count("-") > 1:
            self.refuse("standard input can be read once: name - once")
        check_model(self)
        check_method(self)
        if self.dry_run and (self.method == "clustalw" or extension_of(self) or self.model):
            self.refuse("--dry-run estimates the alignment of a family by consistency: leave it out here")
        check_extension(self)
        check_homologs(self)
        self._check_features()

    def _features(self, batch: SequenceBatch | None) -> tuple[Feature, ...]:
        """Read the features that the HTML page shows."""
        if self.features is None or batch is None:
            return ()
        from tropalign.sequences.features import read_features

        return read_features(self.features, batch)

    def _check_features(self) -> None:
        if self.features is None:
            return
        from tropalign.formats.registry import format_for_path

        if self.method != "consistency" or extension_of(self) or self.model or self.shard is not None:
            self.refuse(
                "--features is for the page of a family that is aligned by consistency, at once: leave it out here"
            )
        if self.html is None and (self.format or format_for_path("aligned", self.output)) != "html":
            self.refuse("--features belongs to --html, or to -o FILE.html")

    def _inputs(self) -> list[str | None]:
        return [*self.family, self.tree_in, self.add, self.merge, self.model, self.mapali, self.homologs, self.features]

    def _settled(self) -> MsaOptions | ClustalwOptions:
        """Return the checked options of the method, without knowledge of the family."""
        return self.settled() if self.method == "clustalw" else self.for_family()

    @property
    def reading(self) -> dict[str, Any]:
        """Options of `read_family`."""
        found = {name: getattr(self, name) for name in READING}
        return {**found, "gaps": "remove"} if self.realign else found

    def batch(self) -> SequenceBatch:
        """Return the family, with all sequences on one strand if requested."""
        from tropalign.msa.family import on_one_strand, read_family
        from tropalign.resources.limits import resolve_threads
        from tropalign.sequences.alphabet import ALPHABETS

        batch = read_family(self.family, ALPHABETS.get(self.alphabet), **self.reading)
        return on_one_strand(batch, self.strand, resolve_threads(self.threads))

    def _shard(self, job: Job, devices: Sequence[Device], memory_bytes: int, allowed: int) -> None:
        """Compute a share of the posteriors, for `finish`."""
        from tropalign.execution.manifest import RemainingWork
        from tropalign.execution.progress import progress_bar, status_only
        from tropalign.execution.run import Output, Run, StageWriter
        from tropalign.formats.registry import format_for_path
        from tropalign.msa import pipeline
        from tropalign.msa.run import FamilyShare, MsaRun, encoded
        from tropalign.msa.task import SCRATCH_SHARE
        from tropalign.sequences.store import batch_to_bytes

        assert self.shard is not None
        if job.options.effort == "fast":
            self.refuse(
                "effort fast aligns group after group and has no shards: leave --shard out, or choose --effort default"
            )
        form = self.format or format_for_path("aligned", self.output)
        tree = b"" if job.tree is None else job.tree.to_bytes()
        task = FamilyShare(job, self.shard, int(memory_bytes * SCRATCH_SHARE))
        parameters = _parameters(job, form)
        computing = Run(
            task=task,
            outputs=[Output("posteriors", self.output, StageWriter(encoded))],
            outline=task.tiles(),
            fingerprint=MsaRun(job, [], parameters, allowed).fingerprint(),
            parameters=parameters,
            memory_bytes=allowed,
            shard=self.shard,
            unit="pairs",
            remaining=RemainingWork(self.replayed(format=form), [batch_to_bytes(job.batch), tree]),
        )
        n_cells = pipeline.pair_cells(job) // self.shard[1]
        carry_out(computing, devices, self, status_only if self.quiet else progress_bar, n_cells)

    def _outputs(
        self, places: Mapping[str, str], parameters: dict[str, str], batch: SequenceBatch | None = None
    ) -> tuple[list[Output], bool]:
        """Return the outputs at these paths with their writers, and true if one of them needs confidence."""
        from tropalign import __version__
        from tropalign.execution.files import check_terminal
        from tropalign.execution.run import Output
        from tropalign.formats.aligned import AlignedContext, ConfidenceFormat, title_of
        from tropalign.formats.format import Header
        from tropalign.formats.registry import format_for_path, format_of, make_writer
        from tropalign.formats.trees import TreesContext

        name = self.format or format_for_path("aligned", self.output)
        words = self.command_line(format=None if name == "fasta" else name)
        header = Header(__version__, words, parameters, has_comments=not self.no_comments)
        formats = {"output": ("alignment", "aligned", name)}
        for option_name, kind in (("confidence", "confidence"), ("tree_out", "trees")):
            path = places.get(option_name) or getattr(self, option_name)
            if path is not None:
                role = self.declared()[option_name].output
                formats[option_name] = (role, kind, format_for_path(kind, path))
        if self.html is not None:
            formats["html"] = ("report", "aligned", "html")
        context = AlignedContext(title_of(self.family[0]), self._features(batch))
        outputs = []
        for option_name, (role, kind, chosen) in formats.items():
            about = TreesContext(context.title) if kind == "trees" else context
            writer = make_writer(kind, chosen, header, about)
            if (path := places.get(option_name)) is not None:
                if writer.is_binary:
                    check_terminal(chosen, path)
                if batch is not None and kind == "aligned" and chosen not in DRAWN:
                    _check_names(writer, batch)
                outputs.append(Output(role, path, writer))
        return outputs, any(
            isinstance(format_of(kind, chosen), ConfidenceFormat) for _, kind, chosen in formats.values()
        )


def _check_names(writer: Writer, batch: SequenceBatch) -> None:
    """Raise InputError before anything is computed if the format does not hold the names."""
    from tropalign.results.multiple import MultipleAlignment

    letter = batch.alphabet.letters[:1]
    writer.encode(MultipleAlignment.from_rows(batch.names, [letter] * len(batch), batch.alphabet))


def _parameters(job: Job, form: str | None = None) -> dict[str, str]:
    """Return everything that determines the result, by name, including the format of shards."""
    from tropalign import __version__

    batch = job.batch
    words = {
        "version": __version__,
        **job.options.parameters(),
        "confidence": "wanted" if job.wants_confidence else "not wanted",
        "family": f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:16]}",
    }
    if job.n_homologs:
        words["homologs"] = f"{job.n_homologs}, {'kept' if job.keeps_homologs else 'left out'}"
    if job.tree is not None:
        words["tree"] = job.tree.newick(batch.names)
    return words if form is None else {**words, "format": form}
