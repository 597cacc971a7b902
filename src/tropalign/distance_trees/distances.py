"""Distances of sequences: of an alignment's rows, or of sequences that are aligned by pairs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.names import DeviceLike, device_names
from tropalign.devices.registry import open_devices
from tropalign.distance_trees.matrix import pair_at, require_memory
from tropalign.errors import InputError, TropalignWarning, UsageError, has_options, shown
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import checked_progress
from tropalign.machine.numbers import checked_memory, checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.aligned_files import read_alignment
from tropalign.sequences.alphabet import Alphabet, AlphabetLike, alphabet_of
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, file_name
from tropalign.sequences.kinds import alphabet_of_rows

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

#: How a distance follows from the letters that differ.
ModelName = Literal["identity", "kimura", "jc69", "k2p"]
MODELS = get_args(ModelName)
#: Which columns are left out: those with a gap in one of the two rows, or in any row.
GapRule = Literal["pairwise", "complete"]
GAPS = get_args(GapRule)
#: The distance of sequences that are more different than a model allows, as in CLUSTAL W: ten changes per letter.
SATURATED = 10.0
#: While the letters of an alignment become codes.
BYTES_PER_LETTER = 20
#: The code of what is not compared.
NOT_COMPARED = 0x80


def alignment_distances(
    alignment: MultipleAlignment | os.PathLike[str],
    model: ModelName | None = None,
    *,
    gaps: GapRule = "pairwise",
    n_threads: int = 0,
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Distances of the rows of an alignment.

    Compared are columns in which both rows hold a letter that stands for one residue: gaps and ambiguous letters (N, X,
    B, R ...) are left out. p is the share of these columns that differ.

    Parameters
    ----------
    alignment
        The alignment, or the Path of its file.
    model : {"identity", "kimura", "jc69", "k2p"}
        "identity": p. "kimura": of proteins, -ln(1 - p - p² / 5), and for p of 0.75 and more Dayhoff's model, as
        CLUSTAL W has it. Of nucleotides, "jc69" (Jukes and Cantor 1969) and "k2p" (Kimura 1980). When not given,
        "kimura" for proteins and "k2p" for nucleotides.
    gaps : {"pairwise", "complete"}
        "complete": columns in which any row has no such letter are left out for all.
    n_threads
        0: as many as the process may use; at most 1024.
    memory_bytes
        What may be taken; a share of the free memory by default.
    progress
        Receives the number of blocks of pairs (64 rows with 64 others) that are begun; what it raises ends the work.

    Returns
    -------
    float64, shape (n (n - 1) / 2,)
        Of the pairs (0, 1), (0, 2), ..., (1, 2), ...; 10, with a warning, where rows are too different for the model.

    Raises
    ------
    InputError
        Fewer than two rows, no alignment, or two rows without a column to compare.
    UsageError
        An option that does not exist, or a model for other letters.
    ResourceError
        Memory that does not suffice.

    Examples
    --------
    >>> rows = tropalign.MultipleAlignment.from_rows(["a", "b", "c"], ["MKV-LAW", "MKVILAW", "MRVILAF"])
    >>> alignment_distances(rows, "identity").round(3).tolist()
    [0.0, 0.333, 0.286]
    """
    file = file_name(alignment) if isinstance(alignment, str | os.PathLike) else None
    family = alignment_of(alignment)
    chosen = checked_model(model, family.sequences.alphabet)
    n = len(family)
    # Distances, and codes with the places of letters from which they are made.
    require_memory(4 * n * n + BYTES_PER_LETTER * n * family.n_columns, memory_bytes, f"comparing {n} rows")
    codes = compared_codes(family, gaps, file)
    n_threads = resolve_threads(checked_threads(n_threads))
    found = _native.aligned_distances(codes, chosen, n_threads, checked_progress(progress))
    return without_saturation(found, family.names, chosen, file)


def pair_distances(
    sequences: SequenceBatch,
    model: ModelName | None = None,
    *,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "auto",
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Distances of unaligned sequences: every pair is aligned, from end to end.

    Parameters
    ----------
    sequences
        Two or more.
    model : {"identity", "kimura", "jc69"}
        As of `alignment_distances`, p being the share of differing letters among those that stand against a letter.
        When not given, "kimura" for proteins and "jc69" for nucleotides.
    n_threads, memory_bytes, device
        As of `align_all`.
    progress
        Receives the number of pairs done; what it raises ends the work.

    Returns
    -------
    float64, shape (n (n - 1) / 2,)
        Of the pairs (0, 1), (0, 2), ..., (1, 2), ...; 10, with a warning, where two are too different for the model.

    Raises
    ------
    InputError
        Sequences that cannot be used, or two without letters that stand against each other.
    UsageError
        An option that does not exist, or a model for other letters.
    ResourceError, DeviceError
        Memory that does not suffice, a device that cannot compute.

    Examples
    --------
    >>> batch = tropalign.SequenceBatch.from_strings(["MKVILAW", "MKVLAW", "MRVILAF"])
    >>> pair_distances(batch, "identity").round(3).tolist()
    [0.0, 0.286, 0.333]
    """
    from tropalign.pairwise.options import PairOptions
    from tropalign.pairwise.task import PairsTask
    from tropalign.scoring.defaults import default_scoring  # which alignments do not wait for

    if not isinstance(sequences, SequenceBatch):
        what = f"an object of type {type(sequences).__name__} is no SequenceBatch"
        raise UsageError(f"{what}: make one with read_sequences or SequenceBatch.from_strings")
    chosen = unaligned_model(model, sequences.alphabet)
    n = len(sequences)
    if n < 2:
        raise InputError(f"{n} sequence{'s' * (n != 1)}: a tree has two taxa or more")
    compared, equal = (np.zeros(n * (n - 1) // 2, np.int32) for _ in range(2))
    options = PairOptions(*default_scoring(sequences.alphabet, None, None), mode="global")
    task = PairsTask(sequences, None, options, None, checked_memory(memory_bytes))
    names = options.able_devices(device_names(device))
    devices = open_devices(names, checked_threads(n_threads), sum(tile.cost_cells for tile in task.tiles()))
    begin, told = 0, checked_progress(progress)
    for result in Scheduler(devices).run([task], finish=_counted):
        end = begin + result.tile.n_items
        compared[begin:end], equal[begin:end] = result.value
        begin = end
        if told is not None:
            told(end)
    return counted_distances(sequences, chosen, compared, equal)


def unaligned_model(model: ModelName | None, alphabet: Alphabet) -> ModelName:
    """The model of unaligned sequences. Raises UsageError where it is none for them."""
    if model is None:
        model = "jc69" if alphabet.complement else "kimura"
    if model == "k2p":
        raise UsageError("model k2p needs an alignment: align the sequences first, or choose jc69 or identity")
    return checked_model(model, alphabet)


def counted_distances(
    sequences: SequenceBatch, model: str, compared: NDArray[np.int32], equal: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Distances of sequences of whose pairs so many letters were compared and equal, as of `pair_distances`."""
    found = _native.counted_distances(compared, equal, model)
    return without_saturation(found, sequences.names, model, None)


def _counted(table: AlignmentTable) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Letters of each pair that stand against a letter, and equal ones."""
    return table.n_columns - table.n_gaps, table.n_identical


def alignment_of(given: Any) -> MultipleAlignment:
    """An alignment as it is, or that of a file. Raises InputError and UsageError on anything else."""
    if isinstance(given, str | os.PathLike):
        return alignment_in(given)
    if not isinstance(given, MultipleAlignment):
        what = f"an object of type {type(given).__name__} is no MultipleAlignment"
        raise UsageError(f"{what}: make one with align_multiple or MultipleAlignment.from_rows")
    return given


def alignment_in(source: Source, alphabet: Alphabet | None = None) -> MultipleAlignment:
    """The alignment in a file; its alphabet is judged by the letters when not given."""
    names, letters = read_alignment(source)
    kind = alphabet_of_rows(names, letters, file_name(source)) if alphabet is None else alphabet
    return MultipleAlignment.from_rows(names, letters, kind)


def checked_model(model: Any, alphabet: AlphabetLike) -> ModelName:
    """The model, or the one of an alphabet. Raises UsageError where it is none, or one for other letters."""
    is_nucleotide = bool(alphabet_of(alphabet).complement)
    if model is None:
        return "k2p" if is_nucleotide else "kimura"
    if model not in MODELS:
        raise UsageError(f"distances {model!r} are none of {', '.join(MODELS)}")
    if is_nucleotide and model == "kimura":
        raise UsageError("distances kimura are for proteins, and these are nucleotides: choose k2p, jc69 or identity")
    if not is_nucleotide and model in ("jc69", "k2p"):
        raise UsageError(f"distances {model} are for nucleotides, and these are proteins: choose kimura or identity")
    return cast(ModelName, model)


def compared_codes(family: MultipleAlignment, gaps: GapRule, file: str | None = None) -> NDArray[np.uint8]:
    """Codes of the letters that are compared, 128 elsewhere, uint8, shape (n_rows, n_columns).

    Raises
    ------
    InputError
        Fewer than two rows, or no column is left.
    UsageError
        Such gaps do not exist.
    """
    if gaps not in GAPS:
        raise UsageError(f"gaps {gaps!r} are none of {', '.join(GAPS)}")
    if len(family) < 2:
        raise InputError("the alignment has one row: a tree has two taxa or more", file=file)
    alphabet = family.sequences.alphabet
    table = np.full(256, NOT_COMPARED, np.uint8)
    for letter in alphabet.states or alphabet.letters.replace(alphabet.wildcard, ""):
        code = alphabet.letters.index(letter)
        table[code] = code
    codes = table[family.codes]
    if gaps == "complete":
        codes = np.ascontiguousarray(codes[:, (codes != NOT_COMPARED).all(0)])
        if not codes.shape[1]:
            raise InputError("every column has a gap or an ambiguous letter: choose gaps pairwise", file=file)
    return codes


def without_saturation(
    distances: NDArray[np.float64], names: tuple[str, ...], model: str, file: str | None
) -> NDArray[np.float64]:
    """Infinite distances become SATURATED, with a warning. Raises InputError where one is not a number."""
    n = len(names)
    if not np.isfinite(distances.sum()):
        nothing = np.flatnonzero(np.isnan(distances))
        if len(nothing):
            first, second = (names[k] for k in pair_at(int(nothing[0]), n))
            raise InputError(
                f"{first!r} and {second!r} have no column in which both hold a letter: leave one of them out, or align "
                f"each pair by itself ({'--unaligned' if has_options() else 'trees.pair_distances'})",
                file=file,
            )
        far = np.flatnonzero(np.isinf(distances))
        first, second = (names[k] for k in pair_at(int(far[0]), n))
        place = "" if file is None else f"{shown(file)}: "
        warnings.warn(
            f"{place}{len(far):,} of {len(distances):,} pairs are too different for {model} distances (the first: "
            f"{first!r} and {second!r}): {SATURATED:g} is taken",
            TropalignWarning,
            stacklevel=3,
        )
        distances[far] = SATURATED
    return distances
