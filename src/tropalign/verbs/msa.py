"""``tropalign msa``: the multiple alignment of a family."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tropalign.errors import counted
from tropalign.options.option import input_file
from tropalign.verbs.command import (
    SEQUENCE_FILES,
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
from tropalign.verbs.msa_options import FamilyCommand
from tropalign.verbs.trimming import trimmed

if TYPE_CHECKING:
    from tropalign.clustalw.options import ClustalwOptions
    from tropalign.execution.archive import Shards
    from tropalign.execution.run import Output
    from tropalign.execution.task import Device
    from tropalign.msa.options import MsaOptions
    from tropalign.msa.pipeline import FamilyInput
    from tropalign.sequences import SequenceBatch
    from tropalign.verbs.msa_options import FamilyCommand


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
    each_input, each_power, each_refuses = "family", 2, ("tree_in", "add", "merge")

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
        from tropalign.msa.anchored import may_be_cut
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
            how |= {"strand": command.strand, "progress": progress, "memory_bytes": memory_bytes}
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
    from tropalign.clustalw.rooting import read_clustalw_tree
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
