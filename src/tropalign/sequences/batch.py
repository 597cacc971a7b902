"""Many sequences in one block of memory: the only container that engines take."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as PySequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences.alphabet import COMPLEMENT_LETTERS, NUCLEOTIDE, PROTEIN, Alphabet


@dataclass(frozen=True)
class Sequence:
    """One sequence: its name, letters as they were written, and alphabet."""

    name: str
    letters: str
    alphabet: Alphabet

    @property
    def codes(self) -> NDArray[np.uint8]:
        """Codes of the letters, uint8, shape (length,)."""
        return self.alphabet.encode(np.frombuffer(self.letters.encode("latin-1"), np.uint8))[0]

    def __str__(self) -> str:
        return self.letters

    def __len__(self) -> int:
        return len(self.letters)


@dataclass(frozen=True, eq=False)
class SequenceBatch:
    """Sequences one after another.

    Attributes
    ----------
    codes : uint8, shape (n_residues,)
        Codes of ``alphabet``.
    offsets : int64, shape (n + 1,)
        Sequence k is ``codes[offsets[k]:offsets[k + 1]]``.
    names : tuple of str
    letters : uint8, shape (n_residues,)
        The bytes as they were read, case kept, for output.
    descriptions : tuple of str
        What followed the name in its header.
    """

    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    names: tuple[str, ...]
    alphabet: Alphabet
    letters: NDArray[np.uint8]
    descriptions: tuple[str, ...] = ()

    @classmethod
    def from_strings(
        cls, sequences: Iterable[str], names: PySequence[str] | None = None, alphabet: Alphabet | None = None
    ) -> SequenceBatch:
        """A batch of Python strings; the alphabet is judged by their letters when not given.

        Raises
        ------
        InputError
            An empty sequence, duplicate names, or a letter outside the alphabet.
        """
        texts = [str(s) for s in sequences]
        names = tuple(names) if names is not None else tuple(f"sequence_{k + 1}" for k in range(len(texts)))
        if len(names) != len(texts):
            raise InputError(f"{len(texts)} sequences but {len(names)} names: give one name a sequence")
        if len(set(names)) != len(names):
            raise InputError("two sequences have the same name: give each its own")
        for name, text in zip(names, texts, strict=True):
            if not text:
                raise InputError("the sequence is empty: remove it", record=name)
        letters = np.frombuffer("".join(texts).encode("latin-1", "replace"), np.uint8)
        offsets = np.concatenate([[0], np.cumsum([len(t) for t in texts], dtype=np.int64)]).astype(np.int64)
        if alphabet is None:
            alphabet = judge_alphabet(letters)
        codes, unknown = alphabet.encode(letters)
        if unknown.any():
            at = int(np.flatnonzero(unknown)[0])
            k = int(np.searchsorted(offsets, at, "right")) - 1
            raise InputError(
                f"{chr(letters[at])!r} at position {at - int(offsets[k]) + 1} is no {alphabet.name} letter",
                record=names[k],
            )
        return cls(codes, offsets, names, alphabet, letters)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Residues of each sequence, int64, shape (n,)."""
        return np.diff(self.offsets)

    def text(self, k: int) -> str:
        """Letters of sequence k as they were written."""
        return self.letters[self.offsets[k] : self.offsets[k + 1]].tobytes().decode("latin-1")

    @overload
    def __getitem__(self, key: int) -> Sequence: ...
    @overload
    def __getitem__(self, key: slice | PySequence[int] | NDArray[np.integer] | NDArray[np.bool_]) -> SequenceBatch: ...
    def __getitem__(
        self, key: int | slice | PySequence[int] | NDArray[np.integer] | NDArray[np.bool_]
    ) -> Sequence | SequenceBatch:
        """One sequence by its index; by a slice, indices or a mask a batch of them, in that order."""
        if isinstance(key, int | np.integer):
            k = int(key) + len(self) * (key < 0)
            if not 0 <= k < len(self):
                raise IndexError(f"sequence {int(key)} of {len(self)}")
            return Sequence(self.names[k], self.text(k), self.alphabet)
        return self._take(np.arange(len(self))[key if isinstance(key, slice) else _indices(key)])

    def __iter__(self) -> Iterator[Sequence]:
        return (self[k] for k in range(len(self)))

    def _take(self, chosen: NDArray[np.intp]) -> SequenceBatch:
        lengths = self.lengths[chosen]
        offsets = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return SequenceBatch(
            self.codes[places],
            offsets,
            tuple(self.names[k] for k in chosen),
            self.alphabet,
            self.letters[places],
            tuple(self.descriptions[k] for k in chosen) if self.descriptions else (),
        )

    def __repr__(self) -> str:
        return f"<SequenceBatch: {len(self)} {self.alphabet.name} sequences, {len(self.codes):,} residues>"

    def reverse_complement(self) -> SequenceBatch:
        """The other strand of every sequence. Raises InputError for proteins."""
        if self.alphabet is not NUCLEOTIDE:
            raise InputError("only nucleotides have another strand: use the plus strand alone for proteins")
        table = np.frombuffer(COMPLEMENT_LETTERS, np.uint8)
        letters = np.empty_like(self.letters)
        for begin, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            letters[begin:end] = table[self.letters[begin:end][::-1]]
        codes, _ = self.alphabet.encode(letters)
        return SequenceBatch(codes, self.offsets, self.names, self.alphabet, letters, self.descriptions)

    def fingerprint(self) -> str:
        """SHA-256 over codes, letters, offsets and names, in hexadecimal: equal for equal batches."""
        digest = hashlib.sha256()
        names = "\0".join(self.names).encode()
        for part in (self.codes.tobytes(), self.letters.tobytes(), self.offsets.tobytes(), names):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return digest.hexdigest()


def _indices(key: PySequence[int] | NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.generic]:
    chosen = np.asarray(key)
    return chosen if chosen.size else chosen.astype(np.intp)


def judge_alphabet(letters: NDArray[np.uint8]) -> Alphabet:
    """Nucleotides when nine letters in ten are A, C, G, T, U or N and 99 in 100 IUPAC codes or X; else protein."""
    return judge_counts(np.bincount(letters, minlength=256))


def judge_counts(counts: NDArray[np.int64]) -> Alphabet:
    """The same from how often each byte occurs, int64, shape (256,)."""
    upper = counts.copy()
    upper[65:91] += counts[97:123]
    total = int(upper[65:91].sum()) + int(counts[ord("*")])
    plain = sum(int(upper[ord(c)]) for c in "ACGTUN")
    known = sum(int(upper[ord(c)]) for c in NUCLEOTIDE.letters + "UX")
    return NUCLEOTIDE if total and plain >= 0.9 * total and known >= 0.99 * total else PROTEIN


def held_bytes(batch: SequenceBatch) -> int:
    """Memory that a batch takes, its Python strings included."""
    arrays = batch.codes.nbytes + batch.letters.nbytes + batch.offsets.nbytes
    strings = sum(64 + len(name) for name in batch.names) + sum(64 + len(text) for text in batch.descriptions)
    return int(arrays) + strings
