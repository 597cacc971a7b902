"""Steps of ``tropalign msa`` other than alignment by consistency: CLUSTALW, additions, trimming, models, homologs."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from tropalign.errors import counted
from tropalign.verbs.runs import devices_of, print_summary
from tropalign.verbs.trimming import trimmed

if TYPE_CHECKING:
    from tropalign.execution.run import Output
    from tropalign.msa.pipeline import FamilyInput
    from tropalign.verbs.msa_options import FamilyCommand


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
