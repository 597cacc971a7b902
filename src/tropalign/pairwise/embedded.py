"""Embeddings of sequences: a vector of numbers per residue, from arrays or files, checked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign.errors import InputError, named
from tropalign.properties import cached_property
from tropalign.resources.limits import require
from tropalign.sequences import PROTEIN, SequenceBatch
from tropalign.sequences.files import file_name, opened

if TYPE_CHECKING:
    from tropalign.pairwise.embedding_options import Similarity

#: Arrays of shape (length, d) by name, in a list, or in a file .npz or .h5.
Embeddings: TypeAlias = "Mapping[str, ArrayLike] | list[ArrayLike] | str | os.PathLike[str]"
Vectors = NDArray[np.float32]

#: Attribute of a dataset in which bio_embeddings writes the name of its sequence.
ORIGINAL_NAME = "original_id"
#: Cost of a cell, and of a number of its vectors, in cells of letters: 1 ns and 0.06 ns, at 0.25 ns.
CELL_COST, NUMBER_COST = 4, 0.25


@dataclass(frozen=True, eq=False)
class Embedded:
    """Sequences, and a vector per residue.

    batch: the sequences; X for residues without letters.
    vectors: float32, shape (length, d) for each sequence; of length 1 for cosines.
    has_letters: True if the letters are known.
    """

    #: Sent once to each remote worker (`tropalign.devices.remote_worker`).
    is_sent_once = True

    batch: SequenceBatch
    vectors: tuple[Vectors, ...]
    has_letters: bool

    @classmethod
    def of(cls, vectors: Mapping[str, Vectors]) -> Embedded:
        """Make sequences of unknown residues."""
        texts = {name: "X" * len(array) for name, array in vectors.items()}
        return cls(SequenceBatch.from_strings(texts, alphabet=PROTEIN), tuple(vectors.values()), False)

    @classmethod
    def of_sequences(
        cls, batches: Sequence[SequenceBatch], vectors: Sequence[Mapping[str, Vectors]], files: Sequence[str]
    ) -> list[Embedded]:
        """Add vectors to sequences: those of a file to a batch, or of one file to all batches.

        Raises InputError for a sequence without vectors, vectors without a sequence, and different lengths.
        """
        known = [set(batch.names) for batch in batches]
        if len(files) < len(batches):
            known = [set[str]().union(*known)]
        for names, named_vectors, file in zip(known, vectors, files, strict=True):
            if others := named_vectors.keys() - names:
                first = next(filter(others.__contains__, named_vectors))
                raise InputError(
                    "there is no sequence of this name: remove the embedding, or rename one of both",
                    file=file,
                    record=first,
                )
        found = []
        for k, batch in enumerate(batches):
            which = min(k, len(files) - 1)
            own, file = vectors[which], files[which]
            for name, length in zip(batch.names, batch.lengths.tolist(), strict=True):
                if name not in own:
                    raise InputError(
                        "there is no embedding of this sequence: add it, or rename one of both", file=file, record=name
                    )
                if len(own[name]) != length:
                    raise InputError(
                        f"the embedding has {len(own[name])} vectors, but the sequence has {length} residues: give "
                        "a vector per residue, none for special tokens",
                        file=file,
                        record=name,
                    )
            found.append(cls(batch, tuple(own[name] for name in batch.names), True))
        return found

    @property
    def n_numbers(self) -> int:
        """Numbers per vector."""
        return int(self.vectors[0].shape[1])

    @property
    def cell_cost(self) -> float:
        """Cost of a cell in cells of letters."""
        return CELL_COST + NUMBER_COST * self.n_numbers

    @property
    def vector_bytes(self) -> int:
        """Memory of the vectors in bytes."""
        return sum(array.nbytes for array in {id(array): array for array in self.vectors}.values())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all vectors, in hexadecimal."""
        digest = hashlib.sha256(f"{self.has_letters} {self.n_numbers}".encode())
        for array in self.vectors:
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @property
    def words(self) -> str:
        """Description for headers and manifests."""
        return f"{self.n_numbers} numbers per residue, hash {self.digest[:8]}"


def check_dimensions(sides: Iterable[tuple[Mapping[str, Vectors], str | None]]) -> None:
    """Raise InputError if vectors (by name, and their file) have different numbers of numbers."""
    first = None
    for vectors, file in sides:
        for name, array in vectors.items():
            first = first or (name, array.shape[1])
            if array.shape[1] != first[1]:
                raise InputError(
                    f"the vectors have {array.shape[1]} numbers, but those of {first[0]} have {first[1]}: give "
                    "embeddings of one model",
                    file=file,
                    record=name,
                )


def vectors_of(given: Embeddings, word: str, similarity: Similarity, memory_bytes: int) -> dict[str, Vectors]:
    """Return arrays of float32 by name, prepared for a similarity.

    Raises InputError for anything else, and ResourceError if they exceed the memory.
    """
    file = None
    if isinstance(given, str | os.PathLike):
        file = file_name(os.fspath(given))
        items: Iterable[tuple[Any, Any]] = _read(os.fspath(given))
    elif isinstance(given, Mapping):
        items = given.items()
    elif isinstance(given, Iterable):
        items = ((f"{word}_{k}", one) for k, one in enumerate(given, 1))
    else:
        raise InputError("the embeddings must be arrays by name, a list of arrays, or a file")
    found: dict[str, Vectors] = {}
    n_bytes = 0
    for key, value in items:
        name = str(key)
        if name in found:
            raise InputError("two arrays have the same name: give each its own", file=file, record=name)
        found[name] = _prepared(_checked(value, name, file), similarity)
        n_bytes += found[name].nbytes
        remedy = f"allow more with {named('memory_bytes')}, or give fewer at a time"
        require(n_bytes, memory_bytes, "the embeddings' first part", remedy)
    if not found:
        raise InputError("there is no array: give one or more", file=file)
    return found


def _checked(value: Any, name: str, file: str | None) -> Vectors:
    """Return an array as float32. Raises InputError for another shape or type, or a number that is not finite."""
    try:
        given = np.asarray(value)
    except ValueError:
        raise InputError(
            "the vectors have different lengths: give an array (length, d)", file=file, record=name
        ) from None
    if given.ndim != 2 or not given.size or given.dtype.kind not in "fiu":
        raise InputError(
            f"an array of shape {given.shape} and type {given.dtype} is not an embedding: give numbers of shape "
            "(length, d)",
            file=file,
            record=name,
        )
    with np.errstate(over="ignore"):  # reported as infinite
        array = given.astype(np.float32)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InputError(
            f"the number in row {row}, column {column} (from 0) is {given[row, column]}, but must be finite and fit "
            "float32: correct the embedding",
            file=file,
            record=name,
        )
    return array


def _prepared(array: Vectors, similarity: Similarity) -> Vectors:
    """Scale vectors to length 1 for cosines."""
    if similarity != "cosine":
        return array
    wide = array.astype(np.float64)  # squares of float32 may overflow
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(norms == 0, 1, norms)).astype(np.float32)


def _read(path: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield all arrays of a file by name."""
    import zlib
    from zipfile import BadZipFile

    if path == "-":
        raise InputError("embeddings cannot be read from standard input: name a file", file=file_name(path))
    with opened(path):  # h5py's errors of missing files and directories are long
        pass
    try:
        if path.lower().endswith(".npz"):
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                for name in file.files:
                    yield name, file[name]
            return
        import h5py

        with h5py.File(path, "r") as file:
            for name in file:
                yield str(file[name].attrs.get(ORIGINAL_NAME, name)), file[name][()]
    except ImportError:
        raise InputError("reading .h5 needs the package h5py: install it, or give .npz", file=path) from None
    except OSError as error:
        raise InputError(error.strerror or "this file is not an .npz or .h5 of arrays", file=path) from None
    except (ValueError, EOFError, KeyError, TypeError, AttributeError, RuntimeError, BadZipFile, zlib.error):
        raise InputError("this file is not an .npz or .h5 of arrays", file=path) from None
