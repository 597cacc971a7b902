"""Sequences from Python objects: strings, bytes, Biopython's and tropalign's objects, table columns, pairs.

All other values are rejected: ``None`` and ``nan`` would spell valid proteins.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tropalign.errors import InputError, Single, shown
from tropalign.sequences.files import is_stream

T = TypeVar("T")
_KINDS = "give strings, bytes, Seq or SeqRecord objects, or (name, sequence) pairs"
#: Containers of letters, which are not sequences themselves, and results, which have no length.
_CONTAINERS = (list, tuple, set, frozenset, Mapping, np.ndarray, Single)


def named_file(given: T) -> T | Path:
    """Return a string that names a file as a Path, and anything else as it is.

    A single string is not a set of sequences, and sequences contain neither dots nor slashes.
    """
    is_file = isinstance(given, str) and ("." in given or os.sep in given or os.path.isfile(given))
    return Path(given) if is_file else given  # type: ignore[arg-type]


def files_in(given: Any) -> list[Any]:
    """Return the files of an argument, one or a list by name or open; an empty list for sequences themselves."""
    several = list(given) if isinstance(given, list | tuple) else [given]
    first = named_file(several[0]) if several else None
    is_file = isinstance(first, os.PathLike) or is_stream(first) or (isinstance(first, str) and first == "-")
    return several if is_file else []


def numbered(sequences: Any) -> Any:
    """Return the nameless sequences of an iterable as pairs with the names sequence_1 ...; anything else unchanged.

    Single strings are files.
    """
    is_given = isinstance(sequences, str | bytes | bytearray | Mapping) or files_in(sequences)
    if is_given or hasattr(sequences, "names") or not isinstance(sequences, Iterable):
        return sequences
    values = iter(sequences)
    first = list(islice(values, 1))
    if not first or files_in(first) or not (isinstance(first[0], str | bytes | bytearray) or _is_spelled(first[0])):
        return sequences if values is not sequences else chain(first, values)
    every = named_texts(chain(first, values) if values is sequences else sequences)
    pairs = ((name or f"sequence_{k}", text) for k, (name, text) in enumerate(every, 1))
    return pairs if values is sequences else list(pairs)


def named_texts(sequences: Any) -> Iterator[tuple[str | None, str]]:
    """Yield name (None if it has none) and letters of each sequence.

    `sequences` is an iterable of sequences or (name, sequence), or a mapping of names to sequences, such as a
    pandas Series with strings as its index. Raises InputError for a single string, values such as None, and a
    table instead of a column.
    """
    if isinstance(sequences, str | bytes | bytearray) or hasattr(sequences, "seq") or _is_spelled(sequences):
        raise InputError(
            "a single sequence was given, but a list is required: put it into a list, or read a file with "
            "read_sequences"
        )
    if hasattr(sequences, "columns"):
        raise InputError("a table was given, but a column of sequences is required: select the column")
    is_series = all(hasattr(sequences, name) for name in ("items", "index", "dtype"))  # a pandas Series
    if isinstance(sequences, Mapping) or (is_series and any(isinstance(label, str) for label in sequences.index)):
        sequences = sequences.items()
    elif not isinstance(sequences, Iterable) or getattr(sequences, "ndim", 1) != 1:
        raise InputError(f"{_said(sequences)} is not a set of sequences: {_KINDS}, in a list")
    for number, value in enumerate(sequences, 1):
        name = None
        if isinstance(value, tuple) and len(value) == 2:
            name, value = value
            if not isinstance(name, str):
                raise InputError(
                    f"the name {_said(name)} is not a string: give (name, sequence) pairs", record=f"number {number}"
                )
            name = str(name)
        own_name, letters = letters_of(value, f"number {number}" if name is None else name)
        yield own_name if name is None else name, letters


def letters_of(value: Any, record: str) -> tuple[str | None, str]:
    """Return name (or None) and letters of one sequence. Raises InputError, naming `record`, for anything else."""
    if isinstance(value, str):
        return None, str(value)
    if isinstance(value, bytes | bytearray):
        return None, value.decode("latin-1")
    if hasattr(type(value), "codes") and hasattr(value, "letters") and hasattr(value, "name"):  # tropalign's Sequence
        return str(value.name), letters_of(value.letters, record)[1]
    if hasattr(value, "seq") and hasattr(value, "id"):  # Biopython's SeqRecord
        return str(value.id), letters_of(value.seq, record)[1]
    if _is_spelled(value):
        return None, str(value)
    raise InputError(f"{_said(value)} is not a sequence: {_KINDS}", record=record)


def _is_spelled(value: Any) -> bool:
    """True for another library's sequence, such as a Seq: an object whose str() has as many letters as it has items."""
    module = sys.modules.get("Bio.Seq")  # another thread may be importing it now
    classes = tuple(getattr(module, name) for name in ("Seq", "MutableSeq") if hasattr(module, name))
    if isinstance(value, classes):
        return True
    if not hasattr(value, "__len__") or hasattr(value, "dtype") or isinstance(value, _CONTAINERS):
        return False
    return len(str(value)) == len(value) > 0


def _said(value: object) -> str:
    """Return a value for a message, shortened."""
    text = repr(value) if isinstance(value, int | float | None) else f"an object of type {type(value).__name__}"
    return shown(text[:60])


def chosen_names(own: list[str | None], names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the given names, else the sequences' own, else numbered ones."""
    if names is not None:
        if isinstance(names, str | bytes) or not isinstance(names, Iterable):
            raise InputError("the names must be a list, one per sequence")
        names = tuple(names)
        for name in names:
            if isinstance(name, bool) or not isinstance(name, str | int | np.integer):  # row numbers of a table
                raise InputError(f"the name {shown(repr(name)[:60])} is neither a string nor an integer: give strings")
        chosen = tuple(map(str, names))
        if len(chosen) != len(own):
            raise InputError(f"{len(own)} sequences but {len(chosen)} names: give one name per sequence")
    elif None not in own:
        chosen = tuple(name or "" for name in own)
    elif any(name is not None for name in own):
        raise InputError("some sequences have names and others do not: name all of them or none")
    else:
        chosen = tuple(f"sequence_{k + 1}" for k in range(len(own)))
    if len(set(chosen)) != len(chosen):
        raise InputError("two sequences have the same name: give each its own")
    return chosen
