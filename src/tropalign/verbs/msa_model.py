"""``tropalign msa --model``: sequences aligned to a profile HMM."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tropalign.errors import counted
from tropalign.options.option import Options, input_file, option
from tropalign.verbs.runs import tell_of

if TYPE_CHECKING:
    from tropalign.execution.run import Output
    from tropalign.verbs.msa import Msa

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
    from tropalign.machine.memory import left_for_job
    from tropalign.machine.threads import resolve_threads
    from tropalign.profile.family_models import read_family_model
    from tropalign.profile.mapped_rows import mapped_rows
    from tropalign.profile.onto_model import align_members, read_members

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
