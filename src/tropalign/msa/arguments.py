"""Arguments that the functions share which align families."""

from __future__ import annotations

import os
from collections.abc import Callable

from tropalign.devices.arguments import ComputeArguments
from tropalign.devices.names import device_names
from tropalign.devices.registry import open_devices
from tropalign.errors import UsageError
from tropalign.execution.progress import check_stages
from tropalign.execution.task import Device
from tropalign.machine.numbers import checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.msa.family import family_of
from tropalign.msa.options import RowOrderOption, TurningOption
from tropalign.msa.strands import on_one_strand
from tropalign.options.option import Options, argument, but
from tropalign.pairwise.api import AlphabetArgument
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import AlphabetLike
from tropalign.sequences.batch import SequenceBatch, Sequences


class StageArgument(Options):
    """Who is told how far the work is."""

    progress: Callable[[str, float], object] | None = argument(
        default=None,
        kw_only=True,
        doc="Receives the name of the stage and the share of all work that is done, 0 to 1; what it raises ends the "
        "work.",
    )


class AligningArguments(ComputeArguments, StageArgument):
    """What computes an alignment, and who is told how far it is."""

    def devices(self, cost_cells: int, memory_bytes: int | None = None) -> list[Device]:
        """What computes so many cells of a score. Raises UsageError, DeviceError."""
        return open_devices(device_names(self.device), checked_threads(self.n_threads), cost_cells, memory_bytes)

    @property
    def threads(self) -> int:
        """How many threads compute. Raises UsageError."""
        return resolve_threads(checked_threads(self.n_threads))

    def settle(self) -> None:
        """Checks what can be checked without sequences."""
        self.check_choices()
        check_stages(self.progress)


class FamilyArguments(TurningOption, RowOrderOption, AlphabetArgument, AligningArguments):
    """A family, and how its alignment is made and shown, whatever the method."""

    sequences: Sequences | MultipleAlignment = argument(
        kw_only=False,
        doc="A SequenceBatch, or what `SequenceBatch.from_strings` takes: texts, bytes, Seq, SeqRecord, (name, "
        "sequence) in any iterable, or a mapping of names to sequences; a file's Path; or a MultipleAlignment to be "
        "aligned anew.",
    )
    tree: str | os.PathLike[str] | None = argument(
        default=None,
        kw_only=True,
        doc="The guide tree, as Newick text or a file's Path; made of the distances of the sequences when not given.",
    )
    alphabet: AlphabetLike | None = but(
        AlphabetArgument, "alphabet", default=None, doc="An Alphabet or its name; judged by the letters when not given."
    )

    def settle(self) -> None:
        """Checks what can be checked without sequences."""
        super().settle()
        if self.tree is not None and not isinstance(self.tree, str | os.PathLike):
            what = f"an object of type {type(self.tree).__name__} is no tree"
            raise UsageError(f"{what}: give Newick text or a file's Path")

    def batch(self) -> SequenceBatch:
        """The family, on one strand where that is asked for."""
        return on_one_strand(family_of(self.sequences, self.alphabet), self.strand, self.threads)
