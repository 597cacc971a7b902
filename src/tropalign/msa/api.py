"""Python API of multiple alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tropalign.devices.registry import ComputeArguments, device_names, open_devices
from tropalign.execution.progress import check_stages
from tropalign.msa import pipeline
from tropalign.msa.family import MOST_CUT_RESIDUES, MOST_RESIDUES, family_of, on_one_strand, warn_of_turned_rows
from tropalign.msa.files import alignment_of
from tropalign.msa.guide_tree import check_tree, tree_of
from tropalign.msa.options import (
    ConsistencyOptions,
    KeepLengthOption,
    MsaOptions,
    RowOrderOption,
    RulesName,
    StrandName,
    TurningOption,
    options_of,
)
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.pairwise.api import AlphabetArgument
from tropalign.resources.limits import budget_of, checked_threads, resolve_threads

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from tropalign.execution.task import Device
    from tropalign.results.multiple import MultipleAlignment
    from tropalign.sequences.alphabet import AlphabetLike
    from tropalign.sequences.batch import SequenceBatch, Sequences


class AligningArguments(ComputeArguments):
    """Devices, threads and progress callback of an alignment."""

    progress: Callable[[str, float], object] | None = argument(
        default=None,
        kw_only=True,
        doc="Called with the name of the stage and the finished fraction of the work, 0 to 1. An exception that "
        "it raises stops the work.",
    )

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

    most_residues: ClassVar[int] = MOST_RESIDUES

    sequences: Sequences | MultipleAlignment = argument(
        kw_only=False,
        doc="A SequenceBatch; anything that `SequenceBatch.from_strings` accepts (an iterable of str, bytes, "
        "Seq, SeqRecord or (name, sequence), or a mapping of names to sequences); a file's Path; or a "
        "MultipleAlignment to realign.",
    )
    tree: str | os.PathLike[str] | None = argument(
        default=None,
        kw_only=True,
        doc="The guide tree, as Newick text or a file's Path (default: built from the distances of the sequences).",
    )
    alphabet: AlphabetLike | None = but(
        AlphabetArgument, "alphabet", default=None, doc="An Alphabet or its name (default: guessed from the letters)."
    )

    def settle(self) -> None:
        """Check the arguments that do not depend on sequences."""
        super().settle()
        check_tree(self.tree)

    def batch(self) -> SequenceBatch:
        """Return the family, with all sequences on one strand if requested."""
        batch = family_of(self.sequences, self.alphabet, most_residues=self.most_residues)
        return on_one_strand(batch, self.strand, self.threads)


class ConsistencyArguments(ConsistencyOptions, FamilyArguments):
    """Arguments of `align_multiple`."""

    most_residues: ClassVar[int] = MOST_CUT_RESIDUES


class ExtensionArguments(AligningArguments):
    """Arguments for extending or merging alignments."""

    rules: RulesName | None = but(
        ConsistencyOptions, "rules", default=None, doc="Parameter set (default: that of effort fast)."
    )
    cutoff: float | None = but(ConsistencyOptions, "cutoff", default=None)

    def options(self) -> MsaOptions:
        """Return the checked alignment options."""
        return options_of("fast", rules=self.rules, cutoff=self.cutoff)

    def cells(self, old: SequenceBatch, new: SequenceBatch) -> int:
        """Return the cost of scoring new rows against old ones, in cells."""
        return pipeline.SCORE_CELLS * int(old.lengths.mean() * new.offsets[-1])


class AddingArguments(ExtensionArguments, KeepLengthOption):
    """Arguments of `add_sequences`."""

    alignment: MultipleAlignment | os.PathLike[str] = argument(
        kw_only=False, doc="The alignment, or the Path of its file."
    )
    sequences: Sequences = argument(kw_only=False, doc="The new sequences, in any form that `align_multiple` accepts.")
    strand: StrandName = but(
        TurningOption,
        "strand",
        default="plus",
        doc="adjust: new sequences on the opposite strand to the rows are added as their reverse complements.",
    )
    no_anchors: bool = but(
        ConsistencyOptions,
        "no_anchors",
        default=False,
        doc="Compare whole rows, even if the new sequences are so similar to them that most residues are certain.",
    )

    def options(self) -> MsaOptions:
        """Return the checked alignment options."""
        return options_of("fast", rules=self.rules, cutoff=self.cutoff, no_anchors=self.no_anchors)


class MergingArguments(ExtensionArguments):
    """Arguments of `merge_alignments`."""

    first: MultipleAlignment | os.PathLike[str] = argument(kw_only=False, doc="An alignment, or the Path of its file.")
    second: MultipleAlignment | os.PathLike[str] = argument(
        kw_only=False, doc="Another alignment, or the Path of its file."
    )


@called_with(ConsistencyArguments)
def align_multiple(call: ConsistencyArguments) -> MultipleAlignment:
    """Align a family by the consistency of its pairs (MSAProbs, QuickProbs).

    Returns
    -------
    MultipleAlignment
        With confidence and the guide tree.

    Raises
    ------
    InputError
        No sequence, or an empty one; nucleotides among proteins; a letter outside the alphabet; a tree of other
        sequences.
    UsageError
        An option of the wrong type or out of range.
    ResourceError, DeviceError
        Not enough memory, a sequence of more than 65,535 residues in a family that cannot be cut, or of more than
        4,000,000, a device that cannot compute.

    Warns
    -----
    TropalignWarning
        Nucleotide sequences lie on the opposite strand to the rest, or were reversed.

    Examples
    --------
    >>> tropalign.align_multiple({"a": "MKVLAWMKT", "b": "MKILAWMT", "c": "MKVAWMKT"})
    MultipleAlignment: 3 protein sequences, 9 columns
    a  MKVLAWMKT
    b  MKILAWM-T
    c  MKV-AWMKT
    """
    memory, batch = budget_of(call.memory_bytes), call.batch()
    job = pipeline.FamilyInput(batch, call.for_family(len(batch)), tree_of(call.tree, batch.names), call.row_order)
    devices = call.devices(pipeline.score_cells(job), memory)
    return pipeline.align(job, devices, call.threads, memory, progress=call.progress)


@called_with(AddingArguments)
def add_sequences(call: AddingArguments) -> MultipleAlignment:
    """Add new sequences to an alignment, whose rows keep their columns among themselves.

    Returns
    -------
    MultipleAlignment
        The old rows, then the new ones; without confidence and tree.

    Raises
    ------
    InputError
        A new sequence has the name of a row, is empty or of another alphabet than the rows.
    UsageError
        An option of the wrong type or out of range.
    ResourceError, DeviceError
        More than 65,535 columns, not enough memory, a device that cannot compute.

    Examples
    --------
    >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MRVILAW"])
    >>> tropalign.add_sequences(alignment, {"c": "MKVLAW"})
    MultipleAlignment: 3 protein sequences, 7 columns
    a  MKV-LAW
    b  MRVILAW
    c  MKV-LAW
    """
    found, is_old = extended(call)
    return found[:, is_old] if call.keep_length else found


def extended(call: AddingArguments) -> tuple[MultipleAlignment, NDArray[np.bool_]]:
    """Add sequences with new columns for insertions; return also a mask of the columns that the alignment had."""
    from tropalign.msa import add

    old = alignment_of(call.alignment)
    new = family_of(call.sequences, old.sequences.alphabet, is_judged=True)
    options, devices = call.options(), call.devices(call.cells(old.sequences, new))
    new = on_one_strand(new, call.strand, call.threads, fixed=old.sequences)
    how = (options, devices, call.threads, call.progress)
    return add.add_sequences(old, new, *how, memory_bytes=budget_of(call.memory_bytes))


@called_with(MergingArguments)
def merge_alignments(call: MergingArguments) -> MultipleAlignment:
    """Align two alignments with each other; the rows of each keep their columns among themselves.

    Returns
    -------
    MultipleAlignment
        The rows of the first, then those of the second; without confidence and tree.

    Raises
    ------
    InputError
        Both have a row of the same name, or their alphabets differ.
    UsageError
        An option of the wrong type or out of range.
    ResourceError, DeviceError
        More than 65,535 columns, not enough memory, a device that cannot compute.

    Examples
    --------
    >>> first = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MRVILAW"])
    >>> second = tropalign.MultipleAlignment.from_rows(["c", "d"], ["MKVLAW", "MK-LAW"])
    >>> tropalign.merge_alignments(first, second)[3]
    'MK--LAW'
    """
    from tropalign.msa import add

    one = alignment_of(call.first)
    other = alignment_of(call.second, one.sequences.alphabet)
    options, devices = call.options(), call.devices(call.cells(one.sequences, other.sequences))
    memory = budget_of(call.memory_bytes)
    warn_of_turned_rows(one, other, call.threads)
    return add.merge_alignments(one, other, options, devices, call.threads, call.progress, memory_bytes=memory)
