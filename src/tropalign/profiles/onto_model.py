"""Alignment of sequences to a model, like hmmalign: each sequence separately, with a column per node.

A sequence follows the path of highest expected accuracy (sum of posteriors from Forward and Backward) through the
model in local mode with one domain. Residues without a node are insertions: in lower case, in as many columns
after a node as its longest insertion needs, and not aligned with one another.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, ResourceError, UsageError, named
from tropalign.execution.progress import StageProgress, check_stages
from tropalign.options.called import called_with
from tropalign.options.option import Options, argument
from tropalign.profiles.family_models import FamilyModel, MappedRows, family_model_of, mapped_rows, read_family_model
from tropalign.profiles.models import Model
from tropalign.profiles.proteins import LONGEST
from tropalign.resources.limits import budget_of, checked_choice, checked_threads, human, resolve_threads
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.batch import SequenceBatch, Sequences
from tropalign.sequences.files import file_name
from tropalign.sequences.inputs import files_in
from tropalign.sequences.reader import check_kinds, read_sequences

Int32 = NDArray[np.int32]
#: Bytes per residue and node of a sequence that is aligned in logarithms.
LOG_BYTES = 24


class ModelArguments(Options):
    """Arguments of `align_to_model`."""

    model: Model | os.PathLike[str] | str = argument(
        kw_only=False, doc="The Path of a file that holds one model in HMMER's format, or a `Model`."
    )
    sequences: Sequences = argument(
        kw_only=False,
        doc="A SequenceBatch; anything that `SequenceBatch.from_strings` accepts (an iterable of str, bytes, "
        "Seq, SeqRecord or (name, sequence), or a mapping of names to sequences); or a file.",
    )
    trim: bool = argument(
        default=False, kw_only=True, doc="Leave out residues before the first node and after the last one."
    )
    mapali: MultipleAlignment | os.PathLike[str] | None = argument(
        default=None,
        kw_only=True,
        doc="The alignment from which the model was built (checked by the model's checksum), or the Path of its "
        "file. Its rows come first, without posteriors.",
    )
    n_threads: int = argument(default=0, kw_only=True, doc="Number of threads, at most 1024; 0 for all available ones.")
    memory_bytes: int | None = argument(
        default=None,
        kw_only=True,
        doc="Memory limit in bytes, excluding the sequences (default: a share of the free memory).",
    )
    progress: Callable[[str, float], object] | None = argument(
        default=None,
        kw_only=True,
        doc="Called with the name of the stage and the finished fraction of the work, 0 to 1. An exception that "
        "it raises stops the work.",
    )


@called_with(ModelArguments)
def align_to_model(call: ModelArguments) -> MultipleAlignment:
    """Align sequences to a profile hidden Markov model, as hmmalign does.

    Returns
    -------
    MultipleAlignment
        A row per sequence, with a column per node (``is_node``) and columns of insertions between them, whose
        residues are in lower case and not aligned with one another. The confidence of a residue is its posterior.

    Raises
    ------
    InputError
        No model, or several; no sequence, an empty one, or nucleotides for a model of proteins; one that is too
        long.
    UsageError
        An option of the wrong type or out of range.
    ResourceError
        A sequence and a model that need more memory than allowed.

    Examples
    --------
    >>> from pathlib import Path
    >>> tropalign.align_to_model(Path("tests/fuzz/corpus/models/3f.hmm"), {"a": "MKVLAWMKT", "b": "KVLW"})
    MultipleAlignment: 2 protein sequences, 13 columns
    a  MKVLAW----mkt
    b  -KVL------w--
    """
    checked_choice("trim", call.trim)
    model = family_model_of(call.model)
    if model is None:
        if not isinstance(call.model, str | os.PathLike):
            raise UsageError(f"{named('model')}: an object of type {type(call.model).__name__} is not a model")
        model = read_family_model(call.model)
    given: Any = call.sequences
    if files := files_in(given):
        batch = read_members(files, model)
    elif isinstance(given, SequenceBatch):
        batch = given
    else:
        batch = SequenceBatch.from_strings(given, alphabet=model.letters.alphabet)
    check_members(batch, model)
    mapped = None if call.mapali is None else mapped_rows(call.mapali, model)
    check_stages(call.progress)
    threads = resolve_threads(checked_threads(call.n_threads))
    return align_members(batch, model, bool(call.trim), threads, budget_of(call.memory_bytes), call.progress, mapped)


def read_members(paths: list[Any], model: FamilyModel, alphabet: str = "auto", **how: Any) -> SequenceBatch:
    """Read the sequences to be aligned to a model; `how` is passed to `read_sequences`.

    Each one is judged by its letters, unless the alphabet is named.
    """
    own, file = model.letters.alphabet, file_name(paths[0]) if len(paths) == 1 else None
    if alphabet not in ("auto", own.name):
        raise InputError(_of_another_kind(alphabet, model), file=file)
    batch = read_sequences(paths, alphabet=None if alphabet == "auto" else own, **how)
    if batch.alphabet != own:
        batch = replace(batch, codes=own.codes_of(batch.letters)[0], alphabet=own)
    check_members(batch, model, alphabet == "auto", file)
    return batch


def _of_another_kind(alphabet: str, model: FamilyModel) -> str:
    kind = "protein" if model.kind == "amino" else model.kind
    return f"the sequences are {alphabet}, but the model {model.name!r} is for {kind}: give a model for {alphabet}"


def check_members(batch: SequenceBatch, model: FamilyModel, is_judged: bool = True, file: str | None = None) -> None:
    """Reject sequences that cannot be aligned to a model, with InputError.

    `is_judged`: no alphabet was named, so check the kind by letters. `file`: the source of all sequences.
    """
    if not len(batch):
        raise InputError("there are no sequences: give at least one", file=file)
    if not batch.has_residues:
        raise InputError("the batch holds only names and lengths: read the sequences again")
    if batch.alphabet != model.letters.alphabet:
        raise InputError(_of_another_kind(batch.alphabet.name, model), file=file)
    if not batch.lengths.all():
        k = int(batch.lengths.argmin())
        raise InputError("the sequence is empty: remove it", file=file, record=batch.names[k])
    longest = int(batch.lengths.argmax())
    if batch.lengths[longest] > LONGEST:
        raise InputError(
            f"the sequence has {batch.lengths[longest]:,} residues, but at most {LONGEST:,} can be aligned to a "
            f"model: shorten it",
            file=file,
            record=batch.names[longest],
        )
    if is_judged:
        check_kinds(batch, file)


def align_members(
    batch: SequenceBatch,
    model: FamilyModel,
    trim: bool = False,
    n_threads: int = 1,
    memory_bytes: int | None = None,
    progress: StageProgress | None = None,
    mapped: MappedRows | None = None,
) -> MultipleAlignment:
    """Align checked sequences to a model: see `align_to_model`."""
    codes = model.letters.codes[batch.letters]
    places, posteriors = _places(codes, batch, model, n_threads, memory_bytes, progress)
    if mapped is not None:
        batch = mapped.above(batch)
        codes = model.letters.codes[batch.letters]
        places = np.concatenate([mapped.places, places])
        posteriors = np.concatenate([np.full(len(mapped.places), np.nan, np.float32), posteriors])
    widths = _native.insert_widths(places, batch.offsets, model.length)
    return laid_out(batch, codes, places, posteriors, widths, model, trim)


def _places(
    codes: NDArray[np.uint8],
    batch: SequenceBatch,
    model: FamilyModel,
    n_threads: int,
    memory_bytes: int | None,
    progress: StageProgress | None,
) -> tuple[Int32, NDArray[np.float32]]:
    """Return the position of each residue (native/profiles/target_alignment.hpp), and its posterior."""
    block = _native.TargetBlock(codes, batch.offsets)
    places, posteriors = np.zeros(len(codes), np.int32), np.zeros(len(codes), np.float32)
    # Longest first: if memory does not suffice for all threads, fewer threads align the longest.
    waiting = block.by_length()[::-1]
    dropped = []
    while len(waiting):
        needed = _native.target_alignment_bytes(model.native, int(batch.lengths[waiting[0]]))
        at_once = _threads(needed, n_threads, memory_bytes, batch.names[waiting[0]])
        n = len(waiting)
        if at_once < n_threads and memory_bytes is not None:
            n = int((batch.lengths[waiting] * 2 > batch.lengths[waiting[0]]).sum())
        share = _shares(progress, len(waiting), len(batch))
        chosen = np.ascontiguousarray(waiting[:n])
        dropped.append(_native.align_targets(model.native, block, chosen, places, posteriors, at_once, share))
        waiting = waiting[n:]
    for target in np.concatenate(dropped).tolist():
        needed = LOG_BYTES * (int(batch.lengths[target]) + 1) * (model.length + 1)
        _threads(needed, 1, memory_bytes, batch.names[target])
        _native.align_targets_in_logs(model.native, block, np.array([target], np.int32), places, posteriors, 1, None)
    return places, posteriors


def _threads(needed: int, n_threads: int, memory_bytes: int | None, record: str) -> int:
    """Return how many threads have memory for such a sequence; raises ResourceError if it does not suffice for one."""
    if memory_bytes is None:
        return n_threads
    if needed > memory_bytes:
        raise ResourceError(
            f"record {record!r} needs {human(needed)} of memory, excluding the model, but only "
            f"{human(memory_bytes)} are allowed: allow more with {named('memory_bytes')}, or shorten the sequence",
            needed_bytes=needed,
            allowed_bytes=memory_bytes,
        )
    return min(n_threads, memory_bytes // needed)


def _shares(progress: StageProgress | None, n_left: int, n: int) -> Callable[[int], None] | None:
    """Return a callback that takes the number of started runs of 32 sequences and reports a share of all sequences."""
    if progress is None:
        return None

    def tell(runs: int) -> None:
        progress("alignment", min(1.0, (n - n_left + 32 * runs) / n))

    return tell


def laid_out(
    batch: SequenceBatch,
    codes: NDArray[np.uint8],
    places: Int32,
    posteriors: NDArray[np.float32],
    widths: Int32,
    model: FamilyModel,
    trim: bool,
) -> MultipleAlignment:
    """Return the alignment of residues at these positions; posteriors are nan in rows without them.

    `widths`: int32, shape (length + 1,), columns after each node. `trim`: drop residues before the first node and
    after the last one.
    """
    columns = _native.columns_of_places(places, batch.offsets, widths, trim)
    letters = model.letters.cased[codes | ((places <= 0).view(np.uint8) << 5)]
    if trim:
        widths = widths.copy()
        widths[[0, -1]] = 0
        stays = columns >= 0
        offsets = np.concatenate([[0], np.cumsum(stays, dtype=np.int64)])[batch.offsets]
        batch = replace(batch, codes=batch.codes[stays], offsets=offsets, letters=letters[stays], qualities=None)
        columns, posteriors = columns[stays], posteriors[stays]
    else:
        batch = replace(batch, letters=letters, qualities=None)
    n_columns = model.length + int(widths.sum())
    node_columns = np.cumsum(widths[:-1] + 1) - 1
    is_node = np.zeros(n_columns, bool)
    is_node[node_columns] = True
    is_masked = None
    if model.mask is not None:
        is_masked = np.zeros(n_columns, bool)
        is_masked[node_columns[[letter == "m" for letter in model.mask]]] = True
    return MultipleAlignment(
        batch,
        columns,
        n_columns,
        posteriors,
        column_means(columns, posteriors, n_columns),
        is_node=is_node,
        is_masked=is_masked,
    )


def column_means(columns: Int32, posteriors: NDArray[np.float32], n_columns: int) -> NDArray[np.float32]:
    """Return the mean posterior of each column's residues, nan for columns without one."""
    has_one = ~np.isnan(posteriors)
    if not has_one.all():
        columns, posteriors = columns[has_one], posteriors[has_one]
    counts = np.bincount(columns, minlength=n_columns)
    with np.errstate(invalid="ignore"):  # summed in double precision, row after row, like HMMER
        found: NDArray[np.float32] = (np.bincount(columns, posteriors, n_columns) / counts).astype(np.float32)
    return found
