"""Distances between sequences: rows of an alignment, or unaligned sequences that are aligned pairwise."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import DeviceLike, device_names, open_devices
from tropalign.errors import InputError, TropalignWarning, UsageError, has_options, shown
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import checked_progress
from tropalign.resources.limits import checked_memory, checked_threads, resolve_threads
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.names import ColumnRule, DistanceModel
from tropalign.sequences import Alphabet, SequenceBatch
from tropalign.sequences.aligned_files import read_alignment
from tropalign.sequences.files import Source, file_name
from tropalign.sequences.kinds import alphabet_of_rows
from tropalign.sequences.reader import batch_of
from tropalign.trees.joining import pair_at, require_memory

if TYPE_CHECKING:
    from tropalign.sequences.batch import Sequences

MODELS = get_args(DistanceModel)
GAPS = get_args(ColumnRule)
#: Distance for sequences that differ more than a model allows, as in CLUSTAL W: ten changes per residue.
SATURATED = 10.0
#: Memory per character of an alignment while it is converted to codes.
BYTES_PER_LETTER = 20
#: Code of characters that are not compared.
NOT_COMPARED = 0x80


def alignment_distances(
    alignment: MultipleAlignment | os.PathLike[str],
    model: DistanceModel | None = None,
    *,
    gaps: ColumnRule = "pairwise",
    n_threads: int = 0,
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Return distances between the rows of an alignment.

    Only columns in which both rows hold an unambiguous residue are compared: gaps and ambiguous residues (N, X, B, R
    ...) are skipped. p is the share of compared columns that differ.

    Parameters
    ----------
    alignment
        The alignment, or the Path of its file.
    model : {"identity", "kimura", "jc69", "k2p"}
        "identity": p. "kimura": for proteins, -ln(1 - p - p² / 5), and for p of 0.75 and more Dayhoff's model, as in
        CLUSTAL W. For nucleotides, "jc69" (Jukes and Cantor 1969) and "k2p" (Kimura 1980). By default, "kimura" for
        proteins and "k2p" for nucleotides.
    gaps : {"pairwise", "complete"}
        "complete": columns in which any row has a gap or an ambiguous residue are skipped for all pairs.
    n_threads
        0: as many as the process may use; at most 1024.
    memory_bytes
        Memory limit; a share of the free memory by default.
    progress
        Receives the number of blocks of pairs (64 rows against 64 others) started; an exception that it raises stops
        the work.

    Returns
    -------
    float64, shape (n (n - 1) / 2,)
        Distances of the pairs (0, 1), (0, 2), ..., (1, 2), ...; 10, with a warning, for rows that are too different
        for the model.

    Raises
    ------
    InputError
        Fewer than two rows, no alignment, or two rows without a column to compare.
    UsageError
        An option does not exist, or the model is for another alphabet.
    ResourceError
        Memory does not suffice.

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
    # For the distances, and the codes with their intermediate arrays.
    require_memory(4 * n * n + BYTES_PER_LETTER * n * family.n_columns, memory_bytes, f"comparing {n} rows")
    codes = compared_codes(family, gaps, file)
    n_threads = resolve_threads(checked_threads(n_threads))
    found = _native.aligned_distances(codes, chosen, n_threads, checked_progress(progress))
    return without_saturation(found, family.names, chosen, file)


def pair_distances(
    sequences: Sequences,
    model: DistanceModel | None = None,
    *,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "auto",
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Return distances between unaligned sequences from global alignments of all pairs.

    Parameters
    ----------
    sequences
        Two or more sequences: a SequenceBatch, anything that `SequenceBatch.from_strings` accepts, or a file.
    model : {"identity", "kimura", "jc69"}
        See `alignment_distances`; p is the share of aligned residue pairs that differ. By default, "kimura" for
        proteins and "jc69" for nucleotides.
    n_threads, memory_bytes, device
        See `align_all`.
    progress
        Receives the number of pairs done; an exception that it raises stops the work.

    Returns
    -------
    float64, shape (n (n - 1) / 2,)
        Distances of the pairs (0, 1), (0, 2), ..., (1, 2), ...; 10, with a warning, for sequences that are too
        different for the model.

    Raises
    ------
    InputError
        Sequences that cannot be used, or two without aligned residue pairs.
    UsageError
        An option does not exist, or the model is for another alphabet.
    ResourceError, DeviceError
        Memory does not suffice, or a device cannot compute.

    Examples
    --------
    >>> pair_distances(["MKVILAW", "MKVLAW", "MRVILAF"], "identity").round(3).tolist()
    [0.0, 0.286, 0.333]
    """
    from tropalign.trees.pair_counts import PairCountTask  # not needed for distances of alignments

    sequences = batch_of(sequences)
    chosen = unaligned_model(model, sequences.alphabet)
    n = len(sequences)
    if n < 2:
        raise InputError(f"{n} sequence{'s' * (n != 1)}: a tree requires at least two taxa")
    compared, equal = (np.zeros(n * (n - 1) // 2, np.int32) for _ in range(2))
    task = PairCountTask(sequences, (1, 1), checked_memory(memory_bytes))
    names = task.options.able_devices(device_names(device))
    devices = open_devices(names, checked_threads(n_threads), sum(tile.cost_cells for tile in task.tiles()))
    begin, told = 0, checked_progress(progress)
    for result in Scheduler(devices).run([task]):
        end = begin + result.tile.n_items
        compared[begin:end], equal[begin:end] = result.value
        begin = end
        if told is not None:
            told(end)
    return counted_distances(sequences, chosen, compared, equal)


def unaligned_model(model: DistanceModel | None, alphabet: Alphabet) -> DistanceModel:
    """Return the model for unaligned sequences. Raises UsageError if the model needs an alignment."""
    if model is None:
        model = "jc69" if alphabet.complement else "kimura"
    if model == "k2p":
        raise UsageError("model k2p needs an alignment: align the sequences first, or choose jc69 or identity")
    return checked_model(model, alphabet)


def counted_distances(
    sequences: SequenceBatch, model: str, compared: NDArray[np.int32], equal: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return distances from the numbers of compared and equal residues of each pair, as in `pair_distances`."""
    found = _native.counted_distances(compared, equal, model)
    return without_saturation(found, sequences.names, model, None)


def alignment_of(given: Any) -> MultipleAlignment:
    """Return an alignment as it is, or read it from a file. Raises InputError and UsageError for anything else."""
    if isinstance(given, str | os.PathLike):
        return alignment_in(given)
    if not isinstance(given, MultipleAlignment):
        what = f"an object of type {type(given).__name__} is not a MultipleAlignment"
        raise UsageError(f"{what}: create one with align_multiple or MultipleAlignment.from_rows")
    return given


def alignment_in(source: Source, alphabet: Alphabet | None = None) -> MultipleAlignment:
    """Read the alignment in a file; the alphabet is guessed from the residues by default."""
    names, letters = read_alignment(source)
    kind = alphabet_of_rows(names, letters, file_name(source)) if alphabet is None else alphabet
    return MultipleAlignment.from_rows(names, letters, kind)


def checked_model(model: Any, alphabet: Alphabet) -> DistanceModel:
    """Return the model, or the default of an alphabet. Raises UsageError for an unknown model or a wrong alphabet."""
    is_nucleotide = bool(alphabet.complement)
    if model is None:
        return "k2p" if is_nucleotide else "kimura"
    if model not in MODELS:
        raise UsageError(f"distances {model!r} are not one of {', '.join(MODELS)}")
    if is_nucleotide and model == "kimura":
        raise UsageError(
            "distances kimura are for proteins, but the sequences are nucleotides: choose k2p, jc69 or identity"
        )
    if not is_nucleotide and model in ("jc69", "k2p"):
        raise UsageError(
            f"distances {model} are for nucleotides, but the sequences are proteins: choose kimura or identity"
        )
    return cast(DistanceModel, model)


def compared_codes(family: MultipleAlignment, gaps: ColumnRule, file: str | None = None) -> NDArray[np.uint8]:
    """Return codes of the residues to compare, 128 elsewhere, uint8, shape (n_rows, n_columns).

    Raises InputError if there are fewer than two rows or no column is left, UsageError if `gaps` does not exist.
    """
    if gaps not in GAPS:
        raise UsageError(f"gaps {gaps!r} are not one of {', '.join(GAPS)}")
    if len(family) < 2:
        raise InputError("the alignment has one row: a tree requires at least two taxa", file=file)
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
    """Replace infinite distances by SATURATED, with a warning. Raises InputError if one is not a number."""
    n = len(names)
    if not np.isfinite(distances.sum()):
        nothing = np.flatnonzero(np.isnan(distances))
        if len(nothing):
            first, second = (names[k] for k in pair_at(int(nothing[0]), n))
            raise InputError(
                f"{first!r} and {second!r} have no residues in a common column: leave one of them out, or align "
                f"each pair separately ({'--unaligned' if has_options() else 'trees.pair_distances'})",
                file=file,
            )
        far = np.flatnonzero(np.isinf(distances))
        first, second = (names[k] for k in pair_at(int(far[0]), n))
        place = "" if file is None else f"{shown(file)}: "
        warnings.warn(
            f"{place}{len(far):,} of {len(distances):,} pairs are too different for {model} distances (the first: "
            f"{first!r} and {second!r}): {SATURATED:g} is used",
            TropalignWarning,
            stacklevel=3,
        )
        distances[far] = SATURATED
    return distances
