"""Reads from files, a block at a time."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning
from tropalign.phylo.states import GAP_LETTERS, StateAlphabet, complement_sets
from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import COMPLEMENT_LETTERS
from tropalign.sequences.reader import opened

Source = str | os.PathLike[str]
#: Letters and reads of a block.
BLOCK_LETTERS, BLOCK_READS = 1 << 20, 4096


@dataclass(frozen=True, eq=False)
class ReadBlock:
    """Some reads.

    Attributes
    ----------
    names : tuple of str
    letters : uint8
        Without gaps, as they were written.
    offsets : int64, shape (n + 1,)
    """

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def sets(self, states: StateAlphabet) -> NDArray[np.uint32]:
        """What states each letter stands for."""
        return states.sets[self.letters]

    def reverse_complement(self, states: StateAlphabet) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
        """Letters and sets of the other strands."""
        table = np.frombuffer(COMPLEMENT_LETTERS, np.uint8)
        lengths = np.diff(self.offsets)
        mirrored = np.repeat(self.offsets[:-1] + self.offsets[1:] - 1, lengths) - np.arange(len(self.letters))
        return table[self.letters[mirrored]], complement_sets(self.sets(states)[mirrored])


def blocks_of(
    reads: Source | Iterable[Source] | SequenceBatch | Iterable[tuple[str, str]], taken: Iterable[str] = ()
) -> Iterator[ReadBlock]:
    """Blocks of reads from FASTA or FASTQ files (compressed or not, "-" for standard input), a batch, or (name, text).

    Gaps are left out. A read whose name was there before, or is one of `taken`, is numbered: the second "a" becomes
    "a_2". Bytes of a file outside of ASCII become question marks.

    Raises
    ------
    InputError
        A file that cannot be read.

    Warns
    -----
    TropalignWarning
        The first name that was there before.
    """
    numbered = _Numbered(taken)
    names: list[str] = []
    texts: list[str] = []
    size = 0
    for name, text in _records(reads):
        names.append(numbered(name))
        texts.append(text)
        size += len(text)
        if size >= BLOCK_LETTERS or len(names) >= BLOCK_READS:
            yield _block(names, texts)
            names, texts, size = [], [], 0
    if names:
        yield _block(names, texts)


class _Numbered:
    """Names, each given once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._seen = {hash(name) for name in taken}  # hashes: names themselves would take several times the memory
        self._counts: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        key = hash(name)
        if key not in self._seen:
            self._seen.add(key)
            return name
        if not self._counts:
            warnings.warn(
                f"the name {name!r} is there already: reads of one name are numbered", TropalignWarning, stacklevel=4
            )
        while True:
            self._counts[name] = self._counts.get(name, 1) + 1
            made = f"{name}_{self._counts[name]}"
            if hash(made) not in self._seen:
                self._seen.add(hash(made))
                return made


def _block(names: list[str], texts: list[str]) -> ReadBlock:
    letters = np.frombuffer("".join(texts).encode("latin-1", "replace"), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    is_gap = np.isin(letters, np.frombuffer(GAP_LETTERS.encode() + b" \t", np.uint8))
    if is_gap.any():
        left = np.concatenate([[0], np.cumsum(~is_gap)])
        letters, offsets = letters[~is_gap], left[offsets]
    return ReadBlock(tuple(names), letters, offsets)


class _Ascii(io.RawIOBase):
    """A stream of bytes without a byte order mark, whose bytes outside of ASCII are question marks."""

    TABLE = bytes(range(128)) + b"?" * 128

    def __init__(self, stream: Any) -> None:
        self._stream, self._is_begin = stream, True

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As of every raw stream."""
        data = self._stream.read(len(buffer))
        if self._is_begin:
            data, self._is_begin = data.removeprefix(b"\xef\xbb\xbf"), False
        buffer[: len(data)] = data.translate(self.TABLE)
        return len(data)


def _records(reads: Any) -> Iterator[tuple[str, str]]:
    if isinstance(reads, SequenceBatch):
        yield from ((name, reads.text(k)) for k, name in enumerate(reads.names))
    elif isinstance(reads, str | os.PathLike):
        yield from _of_file(reads)
    else:
        for entry in reads:
            if isinstance(entry, str | os.PathLike):
                yield from _of_file(entry)
            else:
                yield entry


def _of_file(path: Source) -> Iterator[tuple[str, str]]:
    """Names and texts of one file; empty records too."""
    import dnaio

    file = "standard input" if str(path) == "-" else str(path)
    with opened(path, file) as stream:
        buffered = io.BufferedReader(_Ascii(stream), 1 << 16)
        first = buffered.peek(1)[:1]
        if not first:
            raise InputError("the file is empty", file=file)
        if first not in (b">", b"@"):
            raise InputError("this is neither FASTA nor FASTQ: a record begins with '>' or '@'", file=file, line=1)
        try:
            with dnaio.open(buffered, mode="r", open_threads=0) as records:
                for number, record in enumerate(records, 1):
                    name = record.name.split(None, 1)[0] if record.name.strip() else f"read_{number}"
                    yield name, record.sequence
        except dnaio.exceptions.FileFormatError as error:
            line = None if error.line is None else error.line + 1
            raise InputError(f"{str(error.message).rstrip('.')}: mend the record", file=file, line=line) from None
