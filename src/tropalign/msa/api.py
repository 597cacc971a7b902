"""Multiple alignment from Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tropalign.devices.names import DeviceLike, device_names
from tropalign.devices.registry import open_devices
from tropalign.errors import UsageError
from tropalign.execution.task import Device
from tropalign.machine.memory import budget_of
from tropalign.machine.numbers import checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.msa import pipeline
from tropalign.msa.family import check_kinds, family_of
from tropalign.msa.files import read_alignment
from tropalign.msa.guide_tree import GuideTree, parse_guide_tree, read_guide_tree
from tropalign.msa.options import MsaOptions, check_order, check_tree, checked_progress, options_of
from tropalign.msa.strands import check_strand, on_one_strand, warn_of_turned_rows
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import Alphabet
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import file_name


def align_multiple(
    sequences: Any,
    *,
    mode: str | None = None,
    rules: str | None = None,
    consistency: int | None = None,
    through: int | None = None,
    refine: int | None = None,
    cutoff: float | None = None,
    keep: float | None = None,
    seed: int | None = None,
    tree: str | os.PathLike[str] | None = None,
    order: str = "input",
    strand: str = "plus",
    alphabet: Alphabet | str | None = None,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "auto",
    progress: Callable[[str, float], object] | None = None,
) -> MultipleAlignment:
    """Aligns a family by the consistency of its pairs (MSAProbs, QuickProbs).

    Parameters
    ----------
    sequences
        A SequenceBatch, or what `SequenceBatch.from_strings` takes: texts, bytes, Seq, SeqRecord, (name, sequence) in
        any iterable, or a mapping of names to sequences; a file's Path; or a MultipleAlignment to be aligned anew.
    mode : {"default", "accurate", "fast"}
        "default", and "fast" for more than 500 sequences, when not given.
    rules : {"tropalign", "quickprobs1", "quickprobs2"}
        Whose parameters, consistency and refinement; as the mode has them when not given, like all that follows.
    consistency
        Passes of consistency.
    through
        Third sequences of a pass, each of which stands for others like it; 0: all.
    refine
        Rounds of refinement.
    cutoff
        Posteriors below it are dropped.
    keep
        The share of each matrix' elements to keep instead; 0 for those above the cutoff.
    seed
        Of the random choices of refinement. The alignment depends on it, and on nothing else that is random.
    tree
        The guide tree, as Newick text or a file's Path; made of the distances of the sequences when not given.
    order : {"input", "tree"}
        Of the rows: that of the sequences, or by the guide tree.
    strand : {"plus", "adjust"}
        Adjust: nucleotide sequences on the other strand than most of the family are aligned as their reverse
        complements, and their descriptions say so.
    alphabet
        An Alphabet or its name; judged by the letters when not given.
    n_threads
        0: as many as the process may use; at most 1024.
    memory_bytes
        What may be taken beside the sequences; a share of the free memory by default.
    device
        What computes posteriors, one or several of "cpu", "cuda:0", "opencl:0.0" ...; "auto": the processor, and with
        it the GPUs if the family is large. A cluster ("tcp://host:8786", "local:4", or a distributed.Client) computes
        them on its workers.
    progress
        Receives the name of the stage and the share of all work that is done, 0 to 1; what it raises ends the work.

    Returns
    -------
    MultipleAlignment
        With confidence and the guide tree.

    Raises
    ------
    InputError
        No sequence, or an empty one; nucleotides among proteins; a letter outside the alphabet; a tree of others.
    UsageError
        An option of another type or out of range.
    ResourceError, DeviceError
        Memory that does not suffice, a sequence of more than 65,535 residues, a device that cannot compute.

    Warns
    -----
    TropalignWarning
        Nucleotide sequences lie on the other strand than the rest, or were turned.

    Examples
    --------
    >>> tropalign.align_multiple({"a": "MKVLAWMKT", "b": "MKILAWMT", "c": "MKVAWMKT"})
    MultipleAlignment: 3 protein sequences, 9 columns
    a  MKVLAWMKT
    b  MKILAWM-T
    c  MKV-AWMKT
    """
    check_order(order)
    check_strand(strand)
    checked_progress(progress)
    check_tree(tree)
    threads, memory = checked_threads(n_threads), budget_of(memory_bytes)
    batch = on_one_strand(family_of(sequences, alphabet), strand, resolve_threads(threads))
    options = options_of(
        mode,
        len(batch),
        rules=rules,
        consistency=consistency,
        through=through,
        refine=refine,
        cutoff=cutoff,
        keep=keep,
        seed=seed,
    )
    job = pipeline.Job(batch, options, _tree(tree, batch), order)
    devices = open_devices(device_names(device), threads, pipeline.score_cells(job), memory)
    return pipeline.align(job, devices, resolve_threads(threads), memory, progress=progress)


def _tree(tree: str | os.PathLike[str] | None, batch: SequenceBatch) -> GuideTree | None:
    if tree is None:
        return None
    return parse_guide_tree(tree, batch.names) if isinstance(tree, str) else read_guide_tree(tree, batch.names)


def add_sequences(
    alignment: MultipleAlignment | os.PathLike[str],
    sequences: Any,
    *,
    keep_length: bool = False,
    strand: str = "plus",
    rules: str | None = None,
    cutoff: float | None = None,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "auto",
    progress: Callable[[str, float], object] | None = None,
) -> MultipleAlignment:
    """Aligns new sequences to an alignment, whose rows keep their columns among themselves.

    Parameters
    ----------
    alignment
        The alignment, or the Path of its file.
    sequences
        The new ones, as `align_multiple` takes a family.
    keep_length
        No column is added: residues that fit none are left out of the new rows.
    strand : {"plus", "adjust"}
        Adjust: new sequences on the other strand than the rows are added as their reverse complements.
    rules, cutoff, n_threads, memory_bytes, device, progress
        As of `align_multiple`.

    Returns
    -------
    MultipleAlignment
        The old rows, then the new ones; without confidence and tree.

    Raises
    ------
    InputError
        A new sequence has the name of a row, is empty or of another alphabet than the rows.
    UsageError
        An option of another type or out of range.
    ResourceError, DeviceError
        More than 65,535 columns, memory that does not suffice, a device that cannot compute.

    Examples
    --------
    >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MRVILAW"])
    >>> tropalign.add_sequences(alignment, {"c": "MKVLAW"})
    MultipleAlignment: 3 protein sequences, 7 columns
    a  MKV-LAW
    b  MRVILAW
    c  MKV-LAW
    """
    from tropalign.msa import add

    check_strand(strand)
    old = _alignment(alignment)
    new = family_of(sequences, old.sequences.alphabet, is_judged=True)
    options, devices, threads = _options_and_devices(rules, cutoff, n_threads, device, old.sequences, new)
    new = on_one_strand(new, strand, threads, fixed=old.sequences)
    memory = budget_of(memory_bytes)
    return add.add_sequences(
        old, new, options, devices, threads, checked_progress(progress), bool(keep_length), memory_bytes=memory
    )


def merge_alignments(
    first: MultipleAlignment | os.PathLike[str],
    second: MultipleAlignment | os.PathLike[str],
    *,
    rules: str | None = None,
    cutoff: float | None = None,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "auto",
    progress: Callable[[str, float], object] | None = None,
) -> MultipleAlignment:
    """Aligns two alignments with each other; the rows of each keep their columns among themselves.

    Parameters
    ----------
    first, second
        The alignments, or the Paths of their files.
    rules, cutoff, n_threads, memory_bytes, device, progress
        As of `align_multiple`.

    Returns
    -------
    MultipleAlignment
        The rows of the first, then those of the second; without confidence and tree.

    Raises
    ------
    InputError
        Both have a row of one name, or they are of different alphabets.
    UsageError
        An option of another type or out of range.
    ResourceError, DeviceError
        More than 65,535 columns, memory that does not suffice, a device that cannot compute.

    Examples
    --------
    >>> first = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MRVILAW"])
    >>> second = tropalign.MultipleAlignment.from_rows(["c", "d"], ["MKVLAW", "MK-LAW"])
    >>> tropalign.merge_alignments(first, second)[3]
    'MK--LAW'
    """
    from tropalign.msa import add

    one = _alignment(first)
    other = _alignment(second, one.sequences.alphabet)
    options, devices, threads = _options_and_devices(rules, cutoff, n_threads, device, one.sequences, other.sequences)
    memory = budget_of(memory_bytes)
    warn_of_turned_rows(one, other, threads)
    return add.merge_alignments(one, other, options, devices, threads, checked_progress(progress), memory_bytes=memory)


def _alignment(given: Any, alphabet: Alphabet | None = None) -> MultipleAlignment:
    """An alignment; one from a file is read with that alphabet, and refused where a row is of another kind."""
    if isinstance(given, os.PathLike):
        found = read_alignment(given, alphabet=alphabet)
        check_kinds(found.sequences, file_name(given))
        return found
    if not isinstance(given, MultipleAlignment):
        what = f"an object of type {type(given).__name__} is no MultipleAlignment"
        raise UsageError(f"{what}: make one with read_alignment, align_multiple or MultipleAlignment.from_rows")
    return given


def _options_and_devices(
    rules: Any, cutoff: Any, n_threads: Any, device: Any, old: SequenceBatch, new: SequenceBatch
) -> tuple[MsaOptions, list[Device], int]:
    """Options, devices and threads for sequences that come into an alignment."""
    options = options_of("fast", rules=rules, cutoff=cutoff)
    threads = checked_threads(n_threads)
    cells = pipeline.SCORE_CELLS * int(old.lengths.mean() * new.offsets[-1])
    return options, open_devices(device_names(device), threads, cells), resolve_threads(threads)
