"""Records of one FASTA or FASTQ file, and the sentences that say why there are none."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.sequences.files import BYTE_ORDER_MARK, Source, file_name, opened
from tropalign.sequences.texts import Texts

#: Blanks that may precede the first record; more is no sequence file (and may be endless).
MOST_BLANKS = 1 << 20
#: Letters and records that are handed on together; about.
BLOCK_LETTERS, BLOCK_RECORDS = 1 << 20, 4096
BUFFER_BYTES = 1 << 16
#: How a sequence store begins.
STORE_MAGIC = b"tropalign store\n"

_NEITHER = "this is neither FASTA nor FASTQ: a record begins with '>' or '@'"
_NO_TEXT = "in the text: write the file in plain ASCII letters"


@dataclass(frozen=True, eq=False)
class Records:
    """Some records of a file.

    Attributes
    ----------
    names, descriptions
        The header up to the first blank, and the rest.
    letters : uint8, shape (n_letters,)
        As they were written, without the blanks at the ends of lines.
    offsets : int64, shape (n + 1,)
        Record k is ``letters[offsets[k]:offsets[k + 1]]``.
    """

    names: Sequence[str]
    descriptions: Sequence[str]
    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of_texts(cls, headers: Sequence[str], texts: Sequence[str], leading_blanks: bool = False) -> Records:
        """Records of Python's texts; blanks that lead a header are no part of it where `leading_blanks` is true."""
        if leading_blanks:
            headers = [header.lstrip() for header in headers]
        parts = [header.partition("\t" if "\t" in header.partition(" ")[0] else " ") for header in headers]
        names, descriptions = tuple(part[0] for part in parts), tuple(part[2].strip() for part in parts)
        return cls(names, descriptions, *_joined(texts))

    @classmethod
    def of_named(cls, names: Sequence[str], texts: Sequence[str]) -> Records:
        """Records of Python's texts, whose names may hold blanks."""
        return cls(tuple(names), ("",) * len(names), *_joined(texts))


def _joined(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return np.frombuffer("".join(texts).encode("ascii", "replace"), np.uint8), offsets


def records_of_file(
    source: Source,
    replaces_bytes: bool = False,
    leading_blanks: bool = False,
    count: Callable[[int], None] | None = None,
) -> Iterator[Records]:
    """The records of a file, some at a time.

    Parameters
    ----------
    replaces_bytes
        Bytes outside ASCII and zero bytes are read as ``?``, else they are an InputError.
    leading_blanks
        Blanks that lead a header are no part of it.
    count
        Called with the number of (compressed) bytes read, as they are read.

    Raises
    ------
    InputError
        A file that cannot be read, is empty, is neither FASTA nor FASTQ, or breaks off within a record.
    """
    file = file_name(source)
    with opened(source, count) as stream:
        text = _Text(stream, file, replaces_bytes)
        yield from _fasta(text, leading_blanks) if text.sign == b">" else _fastq(text, file, leading_blanks)


def _fasta(text: _Text, leading_blanks: bool) -> Iterator[Records]:
    """FASTA, which has no faults beyond those that `_Text` finds."""
    from tropalign import _native

    stream, wanted, rest = io.BufferedReader(text, BUFFER_BYTES), BLOCK_LETTERS, b""
    while True:
        data = rest + stream.read(wanted - len(rest))
        rest = b""  # or a chromosome's begin would stay in memory as long as it is worked on
        goes_on = len(data) == wanted
        while True:
            (letters, offsets), names, descriptions, taken = _native.split_fasta(
                np.frombuffer(data, np.uint8), goes_on, BLOCK_RECORDS, leading_blanks
            )
            data = data[taken:]
            if len(offsets) > 1:
                yield Records(Texts(*names), Texts(*descriptions), letters, offsets)
            else:
                break
        if not goes_on:
            return
        rest = data
        wanted = max(BLOCK_LETTERS, 2 * len(rest))  # a record that is longer than a block


def _fastq(text: _Text, file: str, leading_blanks: bool) -> Iterator[Records]:
    """FASTQ, as dnaio reads it."""
    import dnaio

    headers, texts, size = list[str](), list[str](), 0
    try:
        with dnaio.open(io.BufferedReader(text, BUFFER_BYTES), mode="r", open_threads=0) as records:
            for record in records:
                headers.append(record.name)
                texts.append(record.sequence)
                size += len(record.sequence)
                if size >= BLOCK_LETTERS or len(headers) >= BLOCK_RECORDS:
                    yield Records.of_texts(headers, texts, leading_blanks)
                    headers, texts, size = [], [], 0
    except dnaio.exceptions.FileFormatError as error:
        line = None if error.line is None else text.blank_lines + error.line + 1
        message = str(error.message).partition("\n")[0].partition(". The incomplete")[0].rstrip(". ")
        raise InputError(f"{shown(message)}: mend the record", file=file, line=line) from None
    if headers:
        yield Records.of_texts(headers, texts, leading_blanks)


class _Text(io.RawIOBase):
    """Bytes of FASTA or FASTQ from the first record on; what is no plain ASCII is refused or becomes "?"."""

    TABLE = b"?" + bytes(range(1, 128)) + b"?" * 128

    def __init__(self, stream: io.BufferedReader, file: str, replaces_bytes: bool) -> None:
        self._stream, self._file, self._replaces_bytes = stream, file, replaces_bytes
        self.blank_lines = 0
        self._first = self._begin()
        self.sign = self._first[:1]
        self._lines = self.blank_lines

    def readable(self) -> bool:
        return True

    def _begin(self) -> bytes:
        """The first bytes, a byte order mark and blanks left out."""
        blanks = 0
        data = self._stream.read(1 << 12).removeprefix(BYTE_ORDER_MARK)
        while data:
            body = data.lstrip()
            self.blank_lines += data.count(b"\n", 0, len(data) - len(body))
            blanks += len(data) - len(body)
            if body or blanks > MOST_BLANKS:
                break
            data = self._stream.read(1 << 12)
        else:
            raise InputError("the file is empty", file=self._file)
        if body.startswith(STORE_MAGIC):
            raise InputError("a sequence store cannot be read from a stream: name the file", file=self._file)
        if body[:1] not in (b">", b"@"):
            raise InputError(_NEITHER, file=self._file, line=self.blank_lines + 1)
        return body

    def readinto(self, buffer: Any) -> int:
        if self._first:
            data, self._first = self._first[: len(buffer)], self._first[len(buffer) :]
        else:
            data = self._stream.read1(len(buffer))
        if not data.isascii() or b"\0" in data:
            if not self._replaces_bytes:
                self._refuse(data)
            data = data.translate(self.TABLE)
        if not self._replaces_bytes:  # else no line is ever told
            self._lines += data.count(b"\n")
        buffer[: len(data)] = data
        return len(data)

    def _refuse(self, data: bytes) -> None:
        found = np.frombuffer(data, np.uint8)
        at = int(np.argmax((found == 0) | (found >= 128)))
        what = "a byte outside ASCII" if data[at] else "a zero byte"
        line = self._lines + data.count(b"\n", 0, at) + 1
        raise InputError(f"{what} {_NO_TEXT}", file=self._file, line=line)
