"""``tropalign msa``: the multiple alignment of a family."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.clustalw.options import WORDS, ClustalwChoices
from tropalign.formats.registry import format_names, suffix_of
from tropalign.msa.options import ConsistencyOptions, KeepLengthOption, RowOrderOption, StrandName, TurningOption
from tropalign.options.option import Options, but, input_file, option, output_file
from tropalign.verbs.alignment import SequenceOptions
from tropalign.verbs.command import Command, Served
from tropalign.verbs.msa_model import ModelOptions, align_onto_model, check_model, model_words
from tropalign.verbs.run_options import SEQUENCE_FILES, EachOption, RunOptions, devices_of, started
from tropalign.verbs.runs import carry_out, print_forecast, tell_of, where_foretold

if TYPE_CHECKING:
    from tropalign.clustalw.options import ClustalwOptions
    from tropalign.execution.archive import Shards
    from tropalign.execution.run import Output
    from tropalign.execution.task import Device
    from tropalign.msa.options import MsaOptions
    from tropalign.msa.pipeline import Job
    from tropalign.sequences import SequenceBatch

Method = Literal["consistency", "clustalw"]
#: What no alignment into another one takes.
OF_FAMILIES = ("mode", "consistency", "through", "refine", "keep", "seed", "tree_in", "tree_out", "confidence")


class MethodOption(Options, group="method"):
    """By which method."""

    method: Method = option(
        default="consistency",
        choices=get_args(Method),
        is_common=True,
        help="how families are aligned (default: consistency)",
    )


class InputOptions(Options, group="input"):
    """What is read, and how."""

    alphabet: str = but(SequenceOptions, "alphabet", default="auto", group="input")
    strand: StrandName = but(TurningOption, "strand", default="plus")
    tree_in: str | None = input_file(
        default=None,
        holds="tree",
        metavar="FILE",
        label="Guide tree",
        help="the guide tree, in Newick format (default: of distances)",
    )
    realign: bool = option(
        default=False,
        label="Remove gaps and align anew",
        is_common=True,
        help="the input is aligned: its gaps are left out unsaid",
    )
    strict: bool = but(SequenceOptions, "strict", default=False, group="input")
    skip_empty: bool = but(SequenceOptions, "skip_empty", default=False, group="input")


class ExtensionOptions(Options, group="into an alignment"):
    """What comes into an alignment."""

    add: str | None = input_file(
        default=None,
        holds="sequences",
        either="into",
        metavar="NEW",
        label="Sequences to add to an alignment",
        help="FASTA is an alignment, into which these sequences are aligned",
        form_help="The family is an alignment, into which these sequences are aligned",
    )
    merge: str | None = input_file(
        default=None,
        holds="alignment",
        either="into",
        metavar="OTHER",
        label="Alignment to merge with",
        help="FASTA is an alignment, which is aligned with this other one",
        form_help="The family is an alignment, which is aligned with this other one",
    )
    keep_length: bool = but(KeepLengthOption, "keep_length", default=False)


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
    """What is written."""

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


class Msa(
    Command,
    MethodOption,
    ConsistencyOptions,
    ClustalwChoices,
    InputOptions,
    ExtensionOptions,
    ModelOptions,
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
  tropalign msa family.fa --mode accurate -o family.sto --tree-out family.nwk --confidence family.tsv
  cat a.fa b.fa | tropalign msa - > both.afa
  tropalign msa family.fa --method clustalw -o family.aln --tree-out family.dnd
  tropalign msa old.sto --add new.fa -o all.sto
  tropalign msa --model family.hmm new.fa -o new.sto
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
        """Refuses what can be refused before anything is read."""
        self._check_usage()
        if self.model is None:
            self._settled()

    def run(self) -> None:
        """Reads, aligns and writes."""
        self._check_usage()
        places = self.places() if self.shard is None else {"output": self.output}  # of shards, merge makes the others
        inputs = [*self.family, self.tree_in, self.add, self.merge, self.model, self.mapali]
        started(self, list(places.values()), inputs, holds=True)
        if self.model is not None:
            align_onto_model(self, self._outputs(places, model_words(self))[0])
            return
        method = self._settled()  # before anything is read
        if self.method == "clustalw":
            self._by_clustalw(self._outputs(places, method.parameters())[0])
            return
        if self._extension is not None:
            self._extend(self._outputs(places, method.parameters())[0])
            return
        self._by_consistency(places)

    def _by_consistency(self, places: Mapping[str, str]) -> None:
        """Aligns the family by the consistency of its pairs, or a share of these, and writes."""
        from tropalign.devices.registry import open_devices
        from tropalign.execution.progress import stage_bar
        from tropalign.execution.run import memory_allowed
        from tropalign.machine.memory import left_for_job
        from tropalign.machine.threads import resolve_threads
        from tropalign.msa import pipeline
        from tropalign.msa.guide_tree import read_guide_tree
        from tropalign.msa.run import MsaRun, seconds_of
        from tropalign.sequences.batch import held_bytes

        allowed = memory_allowed(self.memory, self.output)
        n_threads = resolve_threads(self.threads)
        batch = self._batch()
        method = self.for_family(len(batch))
        outputs, wants_confidence = self._outputs(places, method.parameters())
        tree = None if self.tree_in is None else read_guide_tree(self.tree_in, batch.names)
        job = pipeline.Job(batch, method, tree, self.order, wants_confidence)
        memory_bytes = left_for_job(allowed, held_bytes(batch))
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
            tell_of(f"{len(batch):,} sequences", time.perf_counter() - begin, cells, [out.path for out in outputs])

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Aligns with the posteriors that shards hold."""
        from tropalign.devices.registry import open_devices
        from tropalign.execution.progress import stage_bar
        from tropalign.machine.memory import default_budget, left_for_job
        from tropalign.machine.threads import resolve_threads
        from tropalign.msa import pipeline
        from tropalign.msa.guide_tree import GuideTree
        from tropalign.msa.run import MsaRun
        from tropalign.msa.shards import ShardsKept
        from tropalign.sequences.batch import held_bytes
        from tropalign.sequences.saved_batch import batch_of_bytes

        saved, saved_tree = shards.inputs(2)
        batch = batch_of_bytes(saved)
        method = self.for_family(len(batch))
        outputs, wants_confidence = self._outputs(places, method.parameters())
        tree = GuideTree.from_bytes(saved_tree, len(batch)) if saved_tree else None
        job = pipeline.Job(batch, method, tree, self.order, wants_confidence, n_shards=len(shards.tile_counts))
        allowed = self.memory or default_budget()
        memory_bytes = left_for_job(allowed, held_bytes(batch))
        aligning = MsaRun(job, outputs, _parameters(job), allowed)
        shards.check_same(MsaRun(job, [], _parameters(job, self.format), allowed).fingerprint())
        devices = open_devices(devices_of(self), self.threads, pipeline.score_cells(job), memory_bytes)
        with stage_bar(self.quiet) as progress:
            n_threads = resolve_threads(self.threads)
            aligning.compute(devices, n_threads, memory_bytes, progress, ShardsKept(shards, job))

    @property
    def _extension(self) -> str | None:
        """The option by which rows come into an alignment."""
        return "--add" if self.add is not None else "--merge" if self.merge is not None else None

    def _check_usage(self) -> None:
        if self.shard is not None and (self.method == "clustalw" or self._extension or self.model):
            self.refuse(
                "--shard shares out the posteriors of a family that is aligned by consistency: leave it out here"
            )
        if self.shard is not None and self.html is not None:
            self.refuse("--html is for whole runs: leave it out with --shard")
        if self.html is not None and suffix_of(self.html) not in ("", ".html", ".htm"):
            self.refuse(f"--html {self.html}: end the name in .html (and .gz or the like to compress)")
        if [*self.family, self.tree_in, self.add, self.merge, self.model, self.mapali].count("-") > 1:
            self.refuse("standard input can be read once: name - once")
        check_model(self)
        self._check_method()
        if self.dry_run and (self.method == "clustalw" or self._extension or self.model):
            self.refuse("--dry-run estimates the alignment of a family by consistency: leave it out here")
        if self.keep_length and self.add is None:
            self.refuse("--keep-length belongs to --add")
        if self._extension is not None:
            self._check_extension(self._extension)

    def _check_method(self) -> None:
        """Refuses options of the other method."""
        if self.method == "consistency":
            if given := self.given():
                self.refuse(f"{given[0]} belongs to --method clustalw")
            return
        if not self.quicktree:
            for name in WORDS:
                if getattr(self, name) is not None:
                    self.refuse(f"--{name.replace('_', '-')} belongs to --quicktree")
        for name in (*ConsistencyOptions.declared(), "confidence", "add", "merge"):
            if getattr(self, name) is not None:
                self.refuse(f"--{name} has no meaning with --method clustalw: leave it out")

    def _check_extension(self, extension: str) -> None:
        """Refuses what belongs to families."""
        if len(self.family) > 1:
            self.refuse(f"{extension} takes one alignment, but {len(self.family)} files are named")
        for name in OF_FAMILIES:
            if getattr(self, name) is not None:
                self.refuse(f"--{name.replace('_', '-')} has no meaning with {extension}: leave it out")
        if self.merge is not None and self.strand != "plus":
            self.refuse("--strand adjust turns sequences, and --merge takes both alignments as they are: leave it out")
        if self.order != "input":
            self.refuse(f"--order has no meaning with {extension}: leave it out")

    def _settled(self) -> MsaOptions | ClustalwOptions:
        """The checked options of the method, of a family of which nothing is known."""
        return self.settled() if self.method == "clustalw" else self.for_family()

    @property
    def _reading(self) -> dict[str, Any]:
        """How sequences are read."""
        return {"is_realigned": self.realign, "skip_empty": self.skip_empty, "strict": self.strict}

    def _batch(self) -> SequenceBatch:
        """The family, on one strand where that is asked for."""
        from tropalign.machine.threads import resolve_threads
        from tropalign.msa.family import read_family
        from tropalign.msa.strands import on_one_strand
        from tropalign.sequences.alphabet import ALPHABETS

        batch = read_family(self.family, ALPHABETS.get(self.alphabet), **self._reading)
        return on_one_strand(batch, self.strand, resolve_threads(self.threads))

    def _shard(self, job: Job, devices: Sequence[Device], memory_bytes: int, allowed: int) -> None:
        """Computes a share of the posteriors, for `finish`."""
        from tropalign.execution.manifest import RemainingWork
        from tropalign.execution.progress import progress_bar, status_only
        from tropalign.execution.run import Output, Run, StageWriter
        from tropalign.formats.registry import format_for_path
        from tropalign.msa import pipeline
        from tropalign.msa.memory import SCRATCH_SHARE
        from tropalign.msa.run import MsaRun
        from tropalign.msa.shards import FamilyShare, encoded
        from tropalign.sequences.saved_batch import batch_to_bytes

        assert self.shard is not None
        if job.options.mode == "fast":
            self.refuse(
                "mode fast aligns group after group and has no shards: leave --shard out, or choose --mode default"
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

    def _extend(self, outputs: list[Output]) -> None:
        """Aligns sequences or an alignment into another alignment, and writes it."""
        from tropalign.execution.progress import stage_bar
        from tropalign.execution.run import memory_allowed, write_outputs
        from tropalign.machine.memory import left_for_job
        from tropalign.msa.api import add_sequences, merge_alignments
        from tropalign.msa.family import read_family
        from tropalign.msa.files import read_alignment
        from tropalign.sequences.alphabet import ALPHABETS
        from tropalign.sequences.batch import held_bytes
        from tropalign.sequences.files import file_name
        from tropalign.sequences.kinds import check_kinds

        allowed = memory_allowed(self.memory, "-")
        alphabet = ALPHABETS.get(self.alphabet)
        is_judged = alphabet is None
        alignment = read_alignment(self.family[0], alphabet=alphabet)
        if is_judged:
            check_kinds(alignment.sequences, file_name(self.family[0]))
        held, kind = held_bytes(alignment.sequences), alignment.sequences.alphabet
        how: dict[str, Any] = {"rules": self.rules, "cutoff": self.cutoff}
        how |= {"n_threads": self.threads, "device": devices_of(self)}
        with stage_bar(self.quiet) as progress:
            if self.add is not None:
                new = read_family([self.add], kind, is_judged=is_judged, **self._reading)
                how |= {"keep_length": self.keep_length, "strand": self.strand, "progress": progress}
                memory_bytes = left_for_job(allowed, held + held_bytes(new))
                found = add_sequences(alignment, new, memory_bytes=memory_bytes, **how)
            else:
                assert self.merge is not None
                other = read_alignment(self.merge, alphabet=kind)
                if is_judged:
                    check_kinds(other.sequences, file_name(self.merge))
                memory_bytes = left_for_job(allowed, held + held_bytes(other.sequences))
                found = merge_alignments(alignment, other, memory_bytes=memory_bytes, progress=progress, **how)
        write_outputs(outputs, lambda output: [output.writer.encode(found)])

    def _by_clustalw(self, outputs: list[Output]) -> None:
        """Aligns by CLUSTALW's method, and writes."""
        from tropalign.clustalw.given_tree import read_clustalw_tree
        from tropalign.clustalw.pipeline import align_batch, pair_cells
        from tropalign.devices.registry import open_devices
        from tropalign.execution.progress import stage_bar
        from tropalign.execution.run import memory_allowed, write_outputs
        from tropalign.machine.memory import left_for_job
        from tropalign.machine.threads import resolve_threads
        from tropalign.sequences.batch import held_bytes

        allowed, method, batch = memory_allowed(self.memory, self.output), self.settled(), self._batch()
        tree = None if self.tree_in is None else read_clustalw_tree(self.tree_in, batch.names, method)
        memory_bytes = left_for_job(allowed, held_bytes(batch))
        devices = open_devices(devices_of(self), self.threads, pair_cells(batch, method, tree), memory_bytes)
        with stage_bar(self.quiet) as progress:
            alignment = align_batch(
                batch,
                method,
                tree,
                order=self.order,
                n_threads=resolve_threads(self.threads),
                memory_bytes=memory_bytes,
                devices=devices,
                progress=progress,
            )
        sections = {id(output): [output.writer.encode(alignment)] for output in outputs}
        write_outputs(outputs, lambda output: sections[id(output)])

    def _outputs(self, places: Mapping[str, str], parameters: dict[str, str]) -> tuple[list[Output], bool]:
        """The files that go to these places, with their writers, and whether confidence is computed for one."""
        from tropalign import __version__
        from tropalign.execution.files import check_terminal
        from tropalign.execution.run import Output
        from tropalign.formats.aligned import AlignedContext, ConfidenceFormat, title_of
        from tropalign.formats.header import Header
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
        context = AlignedContext(title_of(self.family[0]))
        outputs = []
        for option_name, (role, kind, chosen) in formats.items():
            about = TreesContext(context.title) if kind == "trees" else context
            writer = make_writer(kind, chosen, header, about)
            if (path := places.get(option_name)) is not None:
                if writer.is_binary:
                    check_terminal(chosen, path)
                outputs.append(Output(role, path, writer))
        return outputs, any(
            isinstance(format_of(kind, chosen), ConfidenceFormat) for _, kind, chosen in formats.values()
        )


def _parameters(job: Job, form: str | None = None) -> dict[str, str]:
    """All that decides the result, by name; of shards the format, too."""
    from tropalign import __version__

    batch = job.batch
    words = {
        "version": __version__,
        **job.options.parameters(),
        "confidence": "wanted" if job.wants_confidence else "not wanted",
        "family": f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:16]}",
    }
    if job.tree is not None:
        words["tree"] = job.tree.newick(batch.names)
    return words if form is None else {**words, "format": form}
