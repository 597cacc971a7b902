"""``tropalign msa --add`` and ``--merge``: sequences or an alignment added to another alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tropalign.msa.options import KeepLengthOption
from tropalign.options.option import Options, but, input_file
from tropalign.verbs.run_options import devices_of

if TYPE_CHECKING:
    from tropalign.execution.run import Output
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
    from tropalign.machine.memory import left_for_job
    from tropalign.msa.api import add_sequences, merge_alignments
    from tropalign.msa.family import read_family
    from tropalign.msa.files import read_to_extend
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.sequences.files import file_name
    from tropalign.sequences.kinds import check_kinds

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
