"""``tropalign msa --add`` and ``--merge``: sequences or an alignment added to another alignment."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from tropalign.clustalw.options import WORDS
from tropalign.errors import counted
from tropalign.msa.options import ConsistencyOptions, HomologOptions, KeepLengthOption
from tropalign.options.option import Options, but, input_file, option
from tropalign.verbs.runs import devices_of, tell_of

if TYPE_CHECKING:
    from tropalign.execution.run import Output
    from tropalign.msa.pipeline import Job
    from tropalign.verbs.msa import Msa

#: Options that do not apply when rows are added to an alignment.
OF_FAMILIES = (
    "effort", "consistency", "through", "refine", "keep", "seed", "drop_foreign", "tree_in", "tree_out", "confidence",
    "homologs",
)  # fmt: skip


class ExtensionOptions(Options, group="into an alignment"):
    """Sequences or an alignment to be added."""

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


def extension_of(command: Msa) -> str | None:
    """Return the option that adds rows to an alignment, or None."""
    return "--add" if command.add is not None else "--merge" if command.merge is not None else None


def check_extension(command: Msa) -> None:
    """Reject options of families, or options that need an alignment."""
    if command.keep_length and command.add is None:
        command.refuse("--keep-length belongs to --add")
    extension = extension_of(command)
    if extension is None:
        return
    if len(command.family) > 1:
        command.refuse(f"{extension} takes one alignment, but {len(command.family)} files are named")
    command.refuse_beside(extension, OF_FAMILIES)
    if command.merge is not None and command.strand != "plus":
        command.refuse("--strand adjust turns sequences, and --merge takes both alignments as they are: leave it out")
    if command.row_order != "input":
        command.refuse(f"--row-order has no meaning with {extension}: leave it out")


def extend(command: Msa, outputs: list[Output]) -> None:
    """Add sequences or an alignment to another alignment, and write it."""
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed, write_outputs
    from tropalign.msa.api import add_sequences, merge_alignments
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
            how |= {"keep_length": command.keep_length, "strand": command.strand, "progress": progress}
            memory_bytes = left_for_job(allowed, held + new.held_bytes)
            found = add_sequences(alignment, new, memory_bytes=memory_bytes, **how)
        else:
            assert command.merge is not None
            other = read_to_extend(command.merge, alphabet=kind)
            if is_judged:
                check_kinds(other.sequences, file_name(command.merge))
            memory_bytes = left_for_job(allowed, held + other.sequences.held_bytes)
            found = merge_alignments(alignment, other, memory_bytes=memory_bytes, progress=progress, **how)
    write_outputs(outputs, lambda output: [output.writer.encode(found)])


class HomologChoices(HomologOptions, group="homologs"):
    """The database of homologs, and their selection."""

    homologs: str | None = input_file(
        default=None,
        holds="sequences",
        metavar="DB",
        label="Database of homologs",
        help="proteins, or a store of tropalign db, in which relatives of the members are looked for: they help to "
        "align the family, and are left out of the result",
        form_help="Proteins in which relatives of the members are looked for: they help to align the family, and are "
        "left out of the result",
    )


def check_homologs(command: Msa) -> None:
    """Reject homologs that would have no effect, and their options without them."""
    if command.homologs is None:
        for name in HomologOptions.declared():
            if getattr(command, name) not in (None, False):
                command.refuse(f"--{name.replace('_', '-')} belongs to --homologs")
        return
    if command.method != "consistency":
        command.refuse("--homologs has no meaning with --method clustalw: leave it out")
    if command.shard is not None or command.dry_run:
        word = "--shard" if command.shard is not None else "--dry-run"
        command.refuse(f"{word} says what to do before homologs are known: leave it out with --homologs")


def with_homologs(command: Msa, job: Job, memory_bytes: int, n_threads: int) -> Job:
    """Return the job with homologs of the family, and report their number on standard error."""
    from tropalign.msa.homologs import check_helped, helped, homologs_of

    check_helped(job)
    how = {"device": devices_of(command), "n_threads": n_threads, "memory_bytes": memory_bytes}
    found = homologs_of(job.batch, command.homologs, command, **how)
    if not command.quiet and found.batch is not None:
        print(f"tropalign: {found} take part", file=sys.stderr)
    return helped(job, found)


def check_method(command: Msa) -> None:
    """Reject options of the other method."""
    if command.method == "consistency":
        if given := command.given():
            command.refuse(f"{given[0]} belongs to --method clustalw")
        return
    if not command.quicktree:
        for name in WORDS:
            if getattr(command, name) is not None:
                command.refuse(f"--{name.replace('_', '-')} belongs to --quicktree")
    command.refuse_beside("--method clustalw", (*ConsistencyOptions.declared(), "confidence", "add", "merge"))


def align_by_clustalw(command: Msa, outputs: list[Output]) -> None:
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
    sections = {id(output): [output.writer.encode(alignment)] for output in outputs}
    write_outputs(outputs, lambda output: sections[id(output)])


#: Options that do not apply to alignments to a model.
OF_ALIGNMENTS = (
    "effort", "rules", "consistency", "through", "refine", "cutoff", "keep", "seed", "drop_foreign", "tree_in",
    "tree_out", "add", "merge", "homologs",
)  # fmt: skip


class ModelOptions(Options, group="onto a model"):
    """The model to which sequences are aligned, instead of to one another."""

    model: str | None = input_file(
        default=None,
        holds="models",
        metavar="HMM",
        label="Model to align to",
        help="align each sequence to the profile HMM of this file, as hmmalign does; proteins, DNA or RNA",
    )
    mapali: str | None = input_file(
        default=None,
        holds="alignment",
        metavar="SEED",
        label="Alignment of the model",
        help="with --model: put the alignment that the model was built of above the sequences",
        form_help="The alignment that the model was built of, which is put above the sequences",
    )
    trim: bool = option(
        default=False,
        label="Leave overhanging ends out",
        help="with --model: leave out residues before the first node and behind the last one",
        form_help="Leave out residues before the first node of the model and behind the last one",
    )


def check_model(command: Msa) -> None:
    """Reject options that conflict with a model, or need one."""
    if command.model is None:
        for name in ("mapali", "trim"):
            if getattr(command, name):
                command.refuse(f"--{name} belongs to --model")
        return
    if command.method != "consistency":
        command.refuse("--model aligns by the model alone: leave --method out")
    command.refuse_beside("--model", OF_ALIGNMENTS)
    if command.row_order != "input":
        command.refuse("--row-order has no meaning with --model: leave it out")
    if command.strand != "plus":
        command.refuse("--strand adjust turns sequences by their family, and a model is of one strand: leave it out")
    if any(name not in ("auto", "cpu") for name in command.device or ()) or command.cluster is not None:
        command.refuse("sequences are aligned to a model on the processor: leave --device and --cluster out")


def model_words(command: Msa) -> dict[str, str]:
    """Return the parameters of the model for headers."""
    return {"model": command.model or "", "trim": str(command.trim)}


def align_onto_model(command: Msa, outputs: list[Output]) -> None:
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
        write_outputs(outputs, lambda output: output.writer.parts(found))
    if not command.quiet:
        cells = int(batch.offsets[-1]) * model.length
        tell_of(counted(len(batch), "sequences"), time.perf_counter() - begin, cells, [out.path for out in outputs])
