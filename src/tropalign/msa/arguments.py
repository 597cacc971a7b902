"""Arguments shared by the functions that align families."""

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
    """Progress callback for work in stages."""

    progress: Callable[[str, float], object] | None = argument(
        default=None,
        kw_only=True,
        doc="Receives the name of the stage and the share of all work that is done, 0 to 1; what it raises ends the "
        "work.",
    )


class AligningArguments(ComputeArguments, StageArgument):
    """Devices, threads and progress callback of an alignment."""

    def devices(self, cost_cells: int, memory_bytes: int | None = None) -> list[Device]:
        """Open the devices for work of `cost_cells` cells of a score."""
        return open_devices(device_names(self.device), checked_threads(self.n_threads), cost_cells, memory_bytes)

    @property
    def threads(self) -> int:
        """Number of threads."""
        return resolve_threads(checked_threads(self.n_threads))

    def settle(self) -> None:
        """Check the arguments that do not depend on sequences."""
        self.check_choices()
        check_stages(self.progress)


class FamilyArguments(TurningOption, RowOrderOption, AlphabetArgument, AligningArguments):
    """A family, and the options for aligning and showing it that all methods share."""

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
        """Check the arguments that do not depend on sequences."""
        super().settle()
        if self.tree is not None and not isinstance(self.tree, str | os.PathLike):
            what = f"an object of type {type(self.tree).__name__} is no tree"
            raise UsageError(f"{what}: give Newick text or a file's Path")

    def batch(self) -> SequenceBatch:
        """Return the family, with all sequences on one strand if requested."""
        return on_one_strand(family_of(self.sequences, self.alphabet), self.strand, self.threads)
