"""``tropalign msa``: the multiple alignment of a family."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.clustalw.options import ClustalwChoices
from tropalign.errors import counted
from tropalign.formats.format import format_names
from tropalign.msa.options import (
    ConsistencyOptions,
    HomologOptions,
    KeepLengthOption,
    RowOrderOption,
    StrandName,
    TurningOption,
)
from tropalign.options.option import TEXT, Options, again, but, input_file, option, output_file
from tropalign.verbs.command import (
    SEQUENCE_FILES,
    Command,
    EachOption,
    RunOptions,
    Served,
    checked_progress,
    devices_of,
    forecast_device,
    header_of,
    output_of,
    print_forecast,
    print_summary,
    run_or_forecast,
    with_version,
)
from tropalign.verbs.sequence_options import READING, SequenceOptions
from tropalign.verbs.trimming import THRESHOLDS, TrimOptions, trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tropalign.clustalw.options import ClustalwOptions
    from tropalign.execution.archive import Shards
    from tropalign.execution.manifest import Shard
    from tropalign.execution.run import Output
    from tropalign.execution.task import Device
    from tropalign.msa.options import MsaOptions
    from tropalign.msa.pipeline import FamilyInput
    from tropalign.sequences import SequenceBatch
    from tropalign.sequences.alphabet import Alphabet
    from tropalign.sequences.features import Feature

Method = Literal["consistency", "clustalw"]
#: Options that do not apply when an alignment is extended; `no_anchors` does if sequences are added.
OF_FAMILIES = (
    "effort", "consistency", "through", "refine", "keep", "seed", "drop_foreign", "no_anchors", "tree_in", "tree_out",
    "confidence",
    "homologs", "row_order",
)  # fmt: skip
#: Options that do not apply to alignment with a model.
OF_ALIGNMENTS = (
    "effort", "rules", "consistency", "through", "refine", "cutoff", "keep", "seed", "drop_foreign", "no_anchors",
    "tree_in", "tree_out", "add", "merge", "homologs", "row_order",
)  # fmt: skip
_ON_CPU = "alignment to a model runs on the CPU only: leave --device and --cluster out"
_OF_PAGES = "--features is supported only for whole runs of alignment by consistency: leave it out"
_OF_SHARDS = "--shard is supported only for alignment by consistency: leave it out"
_OF_FORECASTS = "--dry-run is supported only for alignment by consistency: leave it out"
#: Formats that accept any name.
DRAWN = ("html", "svg", "png", "result")
#: Options that align a family by another method than the consistency of its pairs.
OTHERWISE = ("method", "add", "merge", "model", "aligned")


class MethodOption(Options, group="method"):
    """Alignment method."""

    method: Method = option(
        default="consistency",
        choices=get_args(Method),
        is_common=True,
        excludes=(*ConsistencyOptions.declared(), "confidence", "add", "merge", "homologs"),
        help="alignment method (default: consistency)",
    )


class ClustalwMethod(ClustalwChoices, needs="method=clustalw"):
    """Options of CLUSTALW's method."""


class InputOptions(Options, group="input"):
    """Input files and their treatment."""

    alphabet: str = but(SequenceOptions, "alphabet", default="auto", group="input")
    strand: StrandName = but(TurningOption, "strand", default="plus")
    tree_in: str | None = input_file(
        default=None,
        holds="tree",
        metavar="FILE",
        label="Guide tree",
        help="guide tree (Newick, NEXUS; default: computed from distances)",
    )
    realign: bool = option(
        default=False,
        label="Remove gaps and realign",
        is_common=True,
        help="remove the gaps of an aligned input and realign it, same as --gaps remove",
    )
    aligned: bool = option(
        default=False,
        label="Keep the alignment as it is",
        excludes={
            **dict.fromkeys((*OF_ALIGNMENTS, "confidence"), ""),
            **dict.fromkeys(("method", "model", "realign", "strict", "skip_empty", "gaps"), ""),
            **dict.fromkeys(("duplicate_names", "clip_stops"), ""),
            "strand": "--strand adjust turns sequences, and --aligned keeps an alignment as it is: leave it out",
            "cluster": "--aligned computes nothing: leave --cluster out",
            "device": "--aligned computes nothing: leave --device out",
        },
        help="the input is one alignment, which is only trimmed or written in another format",
        form_help="The input is one alignment, which is only trimmed or written in another format",
    )
    strict: bool = but(SequenceOptions, "strict", default=False, group="input")
    skip_empty: bool = but(SequenceOptions, "skip_empty", default=False, group="input")
    gaps: str = but(SequenceOptions, "gaps", default="refuse", group="input")
    duplicate_names: str = but(SequenceOptions, "duplicate_names", default="error", group="input")
    clip_stops: bool = but(SequenceOptions, "clip_stops", default=False, group="input")


class ExtensionOptions(Options, group="into an alignment"):
    """Sequences or an alignment to be added."""

    add: str | None = input_file(
        default=None,
        holds="sequences",
        either="into",
        metavar="NEW",
        excludes=tuple(name for name in OF_FAMILIES if name != "no_anchors"),
        label="Sequences to add to an alignment",
        help="sequences to add to the family, which must be an alignment",
    )
    merge: str | None = input_file(
        default=None,
        holds="alignment",
        either="into",
        metavar="OTHER",
        excludes=dict.fromkeys(OF_FAMILIES, "")
        | {
            "strand": "--strand adjust changes sequences, but --merge keeps both alignments as they are: leave "
            "--strand out"
        },
        label="Alignment to merge with",
        help="alignment to merge with the family, which must also be an alignment",
    )
    keep_length: bool = but(KeepLengthOption, "keep_length", default=False, needs="add")


class ModelOptions(Options, group="onto a model", needs="model"):
    """The model to which sequences are aligned, instead of to one another."""

    model: str | None = input_file(
        default=None,
        holds="models",
        metavar="HMM",
        excludes=dict.fromkeys(OF_ALIGNMENTS, "")
        | {
            "method": "--model replaces the alignment method: leave --method out",
            "strand": "--strand adjust compares sequences with their family, but a model has a single strand: leave "
            "--strand out",
            "cluster": _ON_CPU,
        },
        label="Model to align to",
        help="profile HMM to align each sequence to, as hmmalign does; proteins, DNA or RNA",
    )
    mapali: str | None = input_file(
        default=None,
        holds="alignment",
        metavar="SEED",
        label="Alignment of the model",
        help="alignment from which the model was built, to be written above the sequences",
    )
    trim: bool = option(
        default=False,
        label="Leave out overhanging ends",
        help="leave out residues before the first and after the last node of the model",
    )


class HomologChoices(HomologOptions, group="homologs", needs="homologs"):
    """The database of homologs, and their selection."""

    homologs: str | None = input_file(
        default=None,
        holds="sequences",
        metavar="DB",
        label="Database of homologs",
        help="proteins, or a store of tropalign db, to search for homologs of the members; these help to align the "
        "family, and are left out of the result",
    )


class FormatOption(Options, group="results"):
    """The format of the alignment."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("aligned"),
        role="machine",
        help="output format (default: by the suffix of -o, else fasta)",
    )


class ResultOptions(FormatOption, RowOrderOption, group="results"):
    """Output files."""

    tree_out: str | None = output_file(output="tree", suffix=".nwk", metavar="FILE", help="guide tree in Newick format")
    confidence: str | None = output_file(
        output="confidence",
        suffix=".tsv",
        metavar="FILE",
        help="confidence in the position of each residue, a row per residue; TSV or Parquet by the suffix",
    )
    differences: str | None = output_file(
        output="differences",
        suffix=".tsv",
        metavar="FILE",
        excludes=dict.fromkeys(THRESHOLDS, "--differences counts the residues of a whole row: leave {other} out"),
        help="differences of the rows to the first one, with positions, letters and names, as a table (TSV); with "
        "--keep-length also the insertions that are left out",
    )
    reference_row: str | None = option(
        default=None,
        kind=TEXT,
        metavar="NAME",
        label="Row to compare with",
        help="name of the row to compare with, for --differences and format vcf (default: the first row)",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="alignment as an HTML page, in addition to the output",
    )
    features: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Features",
        excludes=dict.fromkeys((*OTHERWISE, "shard"), _OF_PAGES)
        | dict.fromkeys(THRESHOLDS, "--features is for pages of whole sequences: leave {other} out"),
        help="features to show on the HTML page: GFF3, or #=GR and #=GC of Stockholm",
    )


class FamilyCommand(
    Command,
    MethodOption,
    ConsistencyOptions,
    ClustalwMethod,
    InputOptions,
    ExtensionOptions,
    ModelOptions,
    HomologChoices,
    TrimOptions,
    ResultOptions,
    RunOptions,
    EachOption,
):
    """A family of sequences, and how it is aligned."""

    #: Declared by `Msa`.
    family: list[str]
    shard: Shard | None = again(
        RunOptions,
        "shard",
        excludes=dict.fromkeys(OTHERWISE, _OF_SHARDS)
        | {
            "html": "--html needs a whole run: leave it out with --shard",
            "homologs": "--shard divides the work before homologs are known: leave it out with --homologs",
        },
    )
    dry_run: bool = again(
        RunOptions,
        "dry_run",
        excludes=dict.fromkeys(OTHERWISE, _OF_FORECASTS)
        | {"homologs": "--dry-run cannot estimate a run before its homologs are known: leave it out with --homologs"},
    )

    def check(self) -> None:
        """Reject invalid options before anything is read."""
        from tropalign.formats.format import format_for_path

        super().check()
        one = "--aligned" if self.aligned else self.extension
        if one is not None and len(self.family) > 1:
            self.refuse(f"{one} takes one alignment, but {len(self.family)} files are named: name one")
        if self.model is not None and any(name not in ("auto", "cpu") for name in self.device or ()):
            self.refuse(_ON_CPU)
        form = self.format or format_for_path("aligned", self.output)
        if self.reference_row is not None and self.differences is None and form != "vcf":
            self.refuse("--reference-row is for --differences and format vcf: add one of them, or leave it out")
        if form == "vcf" and (given := [name for name in THRESHOLDS if getattr(self, name) is not None]):
            flag = self.declared()[given[0]].flag
            self.refuse(f"format vcf counts the residues of a whole row: leave {flag} out")
        is_page = self.html is not None or form == "html"
        if self.features is not None and not is_page:
            self.refuse("--features needs an HTML page: add --html, or -o FILE.html")

    @property
    def extension(self) -> str | None:
        """The option that adds rows to an alignment, or None."""
        return "--add" if self.add is not None else "--merge" if self.merge is not None else None

    @property
    def reading(self) -> dict[str, Any]:
        """Options for reading sequences."""
        found = {name: getattr(self, name) for name in READING}
        return {**found, "gaps": "remove"} if self.realign else found

    def batch(self) -> SequenceBatch:
        """Read the family, on one strand if requested."""
        from tropalign.msa.family import MOST_CUT_RESIDUES, MOST_RESIDUES, on_one_strand, read_family
        from tropalign.resources.limits import resolve_threads
        from tropalign.sequences.alphabet import ALPHABETS

        most = MOST_RESIDUES if self.method == "clustalw" else MOST_CUT_RESIDUES
        batch = read_family(self.family, ALPHABETS.get(self.alphabet), most_residues=most, **self.reading)
        return on_one_strand(batch, self.strand, resolve_threads(self.threads))

    def check_names(self, outputs: Sequence[Output], names: tuple[str, ...], alphabet: Alphabet) -> None:
        """Raise InputError before anything is computed if a format does not hold the names or the alphabet."""
        from tropalign.results.multiple import MultipleAlignment

        rows = MultipleAlignment.from_rows(names, [alphabet.letters[:1]] * len(names), alphabet)
        for output in outputs:
            if output.role in ("alignment", "differences") and output.writer.name not in DRAWN:
                output.writer.encode(rows)

    def features_of(self, batch: SequenceBatch) -> tuple[Feature, ...]:
        """Read the features of the family that a page shows."""
        if self.features is None:
            return ()
        from tropalign.sequences.features import read_features

        return read_features(self.features, batch)


class Msa(FamilyCommand):
    """The multiple alignment of a family, by consistency or by CLUSTALW's method."""

    verb = "msa"
    summary = "align a family of sequences (multiple alignment)"
    description = (
        "Align a family by the consistency of its pairs: posteriors of all pairs, a guide tree, consistency, "
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
  tropalign msa family.fa --min-occupancy 0.5 --columns-out kept.tsv -o trimmed.aln
  tropalign msa --aligned old.sto --max-gaps 0.9 -o trimmed.phy
  tropalign msa old.sto --add new.fa --keep-length --differences changes.tsv -o all.fa

The suffix of -o selects Clustal, Stockholm, PHYLIP, MSF, A2M, A3M, NEXUS or VCF; the default is FASTA. The
alignment is the same for any number of threads.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(title="Align a family", kind="aligned", is_resumable=True, example={"family": "efp.fasta"})
    finishes = ("tree_out", "confidence", "differences", "columns_out")
    each_input, each_power, each_refuses = "family", 2, ("tree_in",)

    family: list[str] = input_file(
        flags=(),
        many="+",
        metavar="FASTA",
        holds="sequences",
        help=f"one family in one file or several: {SEQUENCE_FILES}",
    )

    def check(self) -> MsaOptions | ClustalwOptions | None:  # type: ignore[override]
        """Reject invalid options before anything is read; return those of the method, except with a model."""
        super().check()
        if self.model is not None:
            return None
        return self.settled() if self.method == "clustalw" else self.for_family()

    def run(self) -> None:
        """Read, align and write."""
        method = self.check()
        places = self.places() if self.shard is None else {"output": self.output}  # merge adds the others later
        inputs = [self.tree_in, self.add, self.merge, self.model, self.mapali, self.homologs, self.features]
        checked_progress(self, list(places.values()), [*self.family, *inputs], holds=True)
        if method is None:
            words = {"model": self.model or "", "trim": str(self.trim)}
            align_onto_model(self, self._outputs(places, words)[0])
        elif self.method == "clustalw":
            align_by_clustalw(self, self._outputs(places, method.parameters())[0])
        elif self.aligned:
            keep_aligned(self, self._outputs(places, {})[0])
        elif self.extension is not None:
            extend(self, self._outputs(places, method.parameters())[0])
        else:
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
        job = pipeline.FamilyInput(
            batch, method, tree, self.row_order, wants_confidence, keeps_homologs=self.keep_homologs
        )
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
            where = forecast_device(devices, self)
            print_forecast(cells, (len(batch), "sequences"), seconds, where, None, allowed)
            return
        trim = partial(trimmed, self, columns_out=self.columns_out)
        aligning, begin = MsaRun(job, outputs, _parameters(job), allowed, trim), time.perf_counter()
        with stage_bar(self.quiet) as progress:
            aligning.compute(devices, n_threads, memory_bytes, progress)
        if not self.quiet:
            print_summary(
                counted(len(batch), "sequences"), time.perf_counter() - begin, cells, [out.path for out in outputs]
            )

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
        job = pipeline.FamilyInput(
            batch, method, tree, self.row_order, wants_confidence, n_shards=len(shards.tile_counts)
        )
        allowed = self.memory or default_budget()
        memory_bytes = left_for_job(allowed, batch.held_bytes)
        trim = partial(trimmed, self, columns_out=places.get("columns_out"))
        aligning = MsaRun(job, outputs, _parameters(job), allowed, trim)
        shards.check_same(MsaRun(job, [], _parameters(job, self.format), allowed).fingerprint())
        devices = open_devices(devices_of(self), self.threads, pipeline.score_cells(job), memory_bytes)
        with stage_bar(self.quiet) as progress:
            n_threads = resolve_threads(self.threads)
            aligning.compute(devices, n_threads, memory_bytes, progress, ShardsKept(shards, job))

    def _shard(self, job: FamilyInput, devices: Sequence[Device], memory_bytes: int, allowed: int) -> None:
        """Compute a share of the posteriors, for `finish`."""
        from tropalign.execution.manifest import RemainingWork
        from tropalign.execution.progress import progress_bar, status_only
        from tropalign.execution.run import Output, Run, StageWriter
        from tropalign.formats.format import format_for_path
        from tropalign.msa import pipeline
        from tropalign.msa.clades import may_be_cut
        from tropalign.msa.run import FamilyShare, MsaRun, encoded
        from tropalign.msa.task import SCRATCH_SHARE
        from tropalign.sequences.store import batch_to_bytes

        assert self.shard is not None
        if job.options.effort == "fast":
            self.refuse(
                "effort fast aligns group after group, so there are no shards: leave --shard out, or choose --effort "
                "default"
            )
        if may_be_cut(job):
            self.refuse(
                "this family is so similar that it is cut and aligned in a moment, without shards: leave --shard out, "
                "or add --no-anchors"
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
        run_or_forecast(computing, devices, self, status_only if self.quiet else progress_bar, n_cells)

    def _outputs(
        self, places: Mapping[str, str], parameters: dict[str, str], batch: SequenceBatch | None = None
    ) -> tuple[list[Output], bool]:
        """Return the outputs at these paths with their writers, and true if one of them needs confidence."""
        from tropalign.formats.aligned import AlignedContext, ConfidenceFormat, title_of
        from tropalign.formats.format import format_for_path, format_of
        from tropalign.formats.trees import TreesContext

        name = self.format or format_for_path("aligned", self.output)
        header = header_of(self, parameters, format=None if name == "fasta" else name)
        formats = {"output": ("alignment", "aligned", name)}
        for option_name, kind in (
            ("confidence", "confidence"),
            ("differences", "differences"),
            ("tree_out", "trees"),
        ):
            path = places.get(option_name) or getattr(self, option_name)
            if path is not None:
                role = self.declared()[option_name].output
                formats[option_name] = (role, kind, format_for_path(kind, path))
        if self.html is not None:
            formats["html"] = ("report", "aligned", "html")
        features = () if batch is None else self.features_of(batch)
        reference = 0 if self.reference_row is None else self.reference_row
        context = AlignedContext(title_of(self.family[0]), features, reference)
        outputs = []
        for option_name, (role, kind, chosen) in formats.items():
            about = TreesContext(context.title) if kind == "trees" else context
            path = places.get(option_name)
            output = output_of(role, kind, path or "", header, about, chosen)
            if path is not None:
                outputs.append(output)
        if batch is not None:
            self.check_names(outputs, batch.names, batch.alphabet)
        return outputs, any(
            isinstance(format_of(kind, chosen), ConfidenceFormat) for _, kind, chosen in formats.values()
        )


def _parameters(job: FamilyInput, form: str | None = None) -> dict[str, str]:
    """Return everything that determines the result, by name, including the format of shards."""
    batch = job.batch
    words = with_version(**job.options.parameters()) | {
        "confidence": "wanted" if job.wants_confidence else "not wanted",
        "family": f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:16]}",
    }
    if job.n_homologs:
        words["homologs"] = f"{job.n_homologs}, {'kept' if job.keeps_homologs else 'left out'}"
    if job.tree is not None:
        words["tree"] = job.tree.newick(batch.names)
    return words if form is None else {**words, "format": form}


def extend(command: FamilyCommand, outputs: list[Output]) -> None:
    """Add sequences or an alignment to another alignment, and write it."""
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed, write_outputs
    from tropalign.msa.api import AddingArguments, extended, merge_alignments
    from tropalign.msa.family import read_family
    from tropalign.msa.files import read_to_extend
    from tropalign.resources.limits import left_for_job
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.sequences.files import file_name
    from tropalign.sequences.reader import check_kinds

    allowed = memory_allowed(command.memory, "-")
    alphabet = ALPHABETS.get(command.alphabet)
    is_judged = alphabet is None
    alignment = read_to_extend(command.family[0], alphabet=alphabet)
    if is_judged:
        check_kinds(alignment.sequences, file_name(command.family[0]))
    held, kind = alignment.sequences.held_bytes, alignment.sequences.alphabet
    how: dict[str, Any] = {"rules": command.rules, "cutoff": command.cutoff}
    how |= {"n_threads": command.threads, "device": devices_of(command)}
    with stage_bar(command.quiet) as progress:
        if command.add is not None:
            new = read_family([command.add], kind, is_judged=is_judged, **command.reading)
            command.check_names(outputs, tuple(dict.fromkeys(alignment.names + new.names)), kind)
            memory_bytes = left_for_job(allowed, held + new.held_bytes)
            how |= {"strand": command.strand, "no_anchors": command.no_anchors}
            how |= {"progress": progress, "memory_bytes": memory_bytes}
            whole, is_old = extended(AddingArguments(alignment, new, **how))
            found = whole[:, is_old] if command.keep_length else whole
        else:
            assert command.merge is not None
            other = read_to_extend(command.merge, alphabet=kind)
            if is_judged:
                check_kinds(other.sequences, file_name(command.merge))
            command.check_names(outputs, tuple(dict.fromkeys(alignment.names + other.names)), kind)
            memory_bytes = left_for_job(allowed, held + other.sequences.held_bytes)
            found = whole = merge_alignments(alignment, other, memory_bytes=memory_bytes, progress=progress, **how)
    found = trimmed(command, found, command.columns_out)
    # The table of differences also has the insertions that --keep-length leaves out.
    write_outputs(outputs, lambda output: [output.writer.encode(whole if output.role == "differences" else found)])


def keep_aligned(command: FamilyCommand, outputs: list[Output]) -> None:
    """Trim an alignment, if requested, and write it."""
    from tropalign.execution.run import write_outputs
    from tropalign.msa.files import read_to_extend
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.sequences.files import file_name
    from tropalign.verbs.command import naming

    begin = time.perf_counter()
    alignment = read_to_extend(command.family[0], alphabet=ALPHABETS.get(command.alphabet))
    with naming(file_name(command.family[0])):
        found = trimmed(command, alignment, command.columns_out)
    write_outputs(outputs, lambda output: [output.writer.encode(found)])
    if not command.quiet:
        what = f"{counted(len(found), 'rows')}, {found.n_columns:,} of {counted(alignment.n_columns, 'columns')}"
        print_summary(what, time.perf_counter() - begin, 0, [output.path for output in outputs])


def with_homologs(command: FamilyCommand, job: FamilyInput, memory_bytes: int, n_threads: int) -> FamilyInput:
    """Return the job with homologs of the family, and report their number on standard error."""
    from tropalign.msa.homologs import check_helped, helped, homologs_of

    check_helped(job)
    how = {"device": devices_of(command), "n_threads": n_threads, "memory_bytes": memory_bytes}
    found = homologs_of(job.batch, command.homologs, command, **how)
    if not command.quiet and found.batch is not None:
        print(f"tropalign: {found} take part", file=sys.stderr)
    return helped(job, found)


def align_by_clustalw(command: FamilyCommand, outputs: list[Output]) -> None:
    """Align the family by CLUSTALW's method, and write."""
    from tropalign.clustalw.pipeline import align_batch, pair_cells
    from tropalign.clustalw.progressive import read_clustalw_tree
    from tropalign.devices.registry import open_devices
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed, write_outputs
    from tropalign.resources.limits import left_for_job, resolve_threads

    allowed, method, batch = memory_allowed(command.memory, command.output), command.settled(), command.batch()
    tree = None if command.tree_in is None else read_clustalw_tree(command.tree_in, batch.names, method)
    memory_bytes = left_for_job(allowed, batch.held_bytes)
    devices = open_devices(devices_of(command), command.threads, pair_cells(batch, method, tree), memory_bytes)
    with stage_bar(command.quiet) as progress:
        alignment = align_batch(
            batch,
            method,
            tree,
            order=command.row_order,
            n_threads=resolve_threads(command.threads),
            memory_bytes=memory_bytes,
            devices=devices,
            progress=progress,
        )
    alignment = trimmed(command, alignment, command.columns_out)
    sections = {id(output): [output.writer.encode(alignment)] for output in outputs}
    write_outputs(outputs, lambda output: sections[id(output)])


def align_onto_model(command: FamilyCommand, outputs: list[Output]) -> None:
    """Align the sequences to the model, and write."""
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed, write_outputs
    from tropalign.profiles.family_models import mapped_rows, read_family_model
    from tropalign.profiles.onto_model import align_members, read_members
    from tropalign.resources.limits import left_for_job, resolve_threads

    assert command.model is not None
    allowed, begin = memory_allowed(command.memory, command.output), time.perf_counter()
    model = read_family_model(command.model)
    mapped = None if command.mapali is None else mapped_rows(command.mapali, model)
    batch = read_members(command.family, model, command.alphabet, **command.reading)
    memory_bytes = left_for_job(allowed, batch.held_bytes)
    with stage_bar(command.quiet) as progress:
        n_threads = resolve_threads(command.threads)
        found = align_members(batch, model, command.trim, n_threads, memory_bytes, progress, mapped)
        found = trimmed(command, found, command.columns_out)
        write_outputs(outputs, lambda output: output.writer.parts(found))
    if not command.quiet:
        cells = int(batch.offsets[-1]) * model.length
        print_summary(
            counted(len(batch), "sequences"), time.perf_counter() - begin, cells, [out.path for out in outputs]
        )
