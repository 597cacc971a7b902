"""Records of one FASTA or FASTQ file, and the sentences that say why there are none."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.sequences.alphabet import byte_counts
from tropalign.sequences.files import BYTE_ORDER_MARK, Source, file_name, opened
from tropalign.sequences.texts import Texts

#: Blanks that may precede the first record; more is no sequence file (and may be endless).
MOST_BLANKS = 1 << 20
#: Letters and records that are handed on together; about.
BLOCK_LETTERS, BLOCK_RECORDS = 1 << 20, 4096
#: Bytes of FASTQ that are looked at together: about two blocks of short reads.
FASTQ_BYTES = 1 << 22
BUFFER_BYTES = 1 << 16
_NOTHING = np.zeros(0, np.uint8)
#: Phred 0 as a character of FASTQ, and the highest score that has one.
FIRST_QUALITY, HIGHEST_QUALITY = 33, 93
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
    counts : int64, shape (256,)
        How often each byte occurs in the letters.
    qualities : uint8, shape (n_letters,), or None
        Phred scores; None where they were not kept, or the file has none.
    """

    names: Sequence[str]
    descriptions: Sequence[str]
    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    qualities: NDArray[np.uint8] | None = None

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

    @classmethod
    def of_native(cls, found: tuple[Any, ...]) -> Records:
        """What native code found in a text, less the bytes taken."""
        (letters, offsets), names, descriptions, counts, _ = found
        return cls(Texts(*names), Texts(*descriptions), letters, offsets, counts)

    def with_qualities(self, characters: NDArray[np.uint8], file: str) -> Records:
        """The same with the qualities that FASTQ has as characters. Raises InputError for one that is none."""
        scores = characters - np.uint8(FIRST_QUALITY)
        if len(scores) and scores.max() > HIGHEST_QUALITY:
            at = int(np.argmax(scores > HIGHEST_QUALITY))
            k = int(np.searchsorted(self.offsets, at, "right")) - 1
            what = f"{chr(characters[at])!r} is no quality, which are the characters '!' to '~': mend the record"
            raise InputError(what, file=file, record=self.names[k])
        return replace(self, qualities=scores)


def _joined(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    letters = np.frombuffer("".join(texts).encode("ascii", "replace"), np.uint8)
    return letters, offsets, byte_counts(letters)


def records_of_file(
    source: Source,
    replaces_bytes: bool = False,
    leading_blanks: bool = False,
    count: Callable[[int], None] | None = None,
    keeps_qualities: bool = False,
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
    keeps_qualities
        Those of FASTQ are kept.

    Raises
    ------
    InputError
        A file that cannot be read, is empty, is neither FASTA nor FASTQ, or breaks off within a record.
    """
    file = file_name(source)
    with opened(source, count) as stream:
        text = _Text(stream, file, replaces_bytes)
        if text.sign == b">":
            yield from _fasta(text, leading_blanks)
        else:
            yield from _fastq(text, file, leading_blanks, keeps_qualities)


def _fasta(text: _Text, leading_blanks: bool) -> Iterator[Records]:
    """FASTA, which has no faults beyond those that `_Text` finds."""
    from tropalign import _native

    wanted, rest = BLOCK_LETTERS, _NOTHING
    while True:
        data, goes_on = text.next_bytes(rest, wanted)
        rest = _NOTHING  # or a chromosome's begin would stay in memory as long as it is worked on
        while True:
            *found, taken = _native.split_fasta(data, goes_on, BLOCK_RECORDS, leading_blanks)
            data = _after(data, taken)
            records = Records.of_native(tuple(found))
            if not len(records.names):
                break
            yield records
        if not goes_on:
            return
        rest = data
        wanted = max(BLOCK_LETTERS, 2 * len(rest))  # a record that is longer than a block


def _after(data: NDArray[np.uint8], taken: int) -> NDArray[np.uint8]:
    """What follows the bytes taken: a copy where it is the smaller part, so that a view keeps no large text."""
    left = data[taken:]
    return left.copy() if 2 * len(left) <= len(data) else left


def _fastq(text: _Text, file: str, leading_blanks: bool, keeps_qualities: bool) -> Iterator[Records]:
    """FASTQ: natively where a record has four lines, as nearly all have; what is unusual, and every fault, by dnaio.

    dnaio goes on where the first block begins in which something is unusual: blocks, and what is said, are the same
    whoever reads.
    """
    from tropalign import _native

    wanted, rest, n_records = FASTQ_BYTES, _NOTHING, 0
    while True:
        data, goes_on = text.next_bytes(rest, wanted)
        rest = _NOTHING
        while True:
            records = _native.split_fastq(data, goes_on, BLOCK_RECORDS, BLOCK_LETTERS, leading_blanks, keeps_qualities)
            if records is None:
                lines_before = text.blank_lines + 4 * n_records
                yield from _unusual_fastq(text, data, lines_before, file, leading_blanks, keeps_qualities)
                return
            *found, taken = records
            if not taken:
                break
            data = _after(data, taken)
            block = Records.of_native(tuple(found))
            if keeps_qualities:
                block = block.with_qualities(records[4], file)
            n_records += len(block.names)
            yield block
        if not goes_on:
            return
        rest = data
        wanted = max(FASTQ_BYTES, 2 * len(rest))


def _unusual_fastq(
    text: _Text, begin: NDArray[np.uint8], lines_before: int, file: str, leading_blanks: bool, keeps_qualities: bool
) -> Iterator[Records]:
    """FASTQ as dnaio reads it, from some bytes on that were taken from the text already."""
    import dnaio

    text.give_back(begin)
    headers, texts, qualities, size = list[str](), list[str](), list[str](), 0

    def block() -> Records:
        records = Records.of_texts(headers, texts, leading_blanks)
        if not keeps_qualities:
            return records
        return records.with_qualities(np.frombuffer("".join(qualities).encode("ascii"), np.uint8), file)

    try:
        stream = io.BufferedReader(text, BUFFER_BYTES)
        with dnaio.open(stream, mode="r", open_threads=0, fileformat="fastq") as records:
            for record in records:
                headers.append(record.name)
                texts.append(record.sequence)
                qualities.append(record.qualities or "")
                size += len(record.sequence)
                if size >= BLOCK_LETTERS or len(headers) >= BLOCK_RECORDS:
                    yield block()
                    headers, texts, qualities, size = [], [], [], 0
    except dnaio.exceptions.FileFormatError as error:
        line = None if error.line is None else lines_before + error.line + 1
        message = str(error.message).partition("\n")[0].partition(". The incomplete")[0].rstrip(". ")
        raise InputError(f"{shown(message)}: mend the record", file=file, line=line) from None
    if headers:
        yield block()


class _Text(io.RawIOBase):
    """Bytes of FASTA or FASTQ from the first record on; what is no plain ASCII is refused or becomes "?"."""

    TABLE = np.frombuffer(b"?" + bytes(range(1, 128)) + b"?" * 128, np.uint8)

    def __init__(self, stream: io.BufferedReader, file: str, replaces_bytes: bool) -> None:
        self._stream, self._file, self._replaces_bytes = stream, file, replaces_bytes
        self.blank_lines = 0
        self._first = self._begin()
        self.sign = self._first[:1]
        self._lines = self.blank_lines
        self._checked = b""  # given back, to be read again

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

    def next_bytes(self, rest: NDArray[np.uint8], wanted: int) -> tuple[NDArray[np.uint8], bool]:
        """The rest and what follows it, `wanted` bytes in all; and whether there are so many, so that more may come."""
        data = np.empty(wanted, np.uint8)
        data[: len(rest)] = rest
        size, view = len(rest), memoryview(data)  # type: ignore[arg-type]
        while size < wanted and (n_read := self.readinto(view[size:])):
            size += n_read
        return data[:size], size == wanted

    def give_back(self, data: NDArray[np.uint8]) -> None:
        """Bytes that were read are read again."""
        self._checked = data.tobytes()

    def readinto(self, buffer: Any) -> int:
        """Some bytes, checked."""
        if self._checked:
            size, self._checked = _moved(self._checked, buffer)
            return size
        if self._first:
            size, self._first = _moved(self._first, buffer)
        else:
            size = self._stream.readinto(buffer)
        if size:
            self._check(np.frombuffer(buffer, np.uint8, size))
        return size

    def _check(self, data: NDArray[np.uint8]) -> None:
        """Refuses what is no plain ASCII, or writes "?" over it."""
        from tropalign import _native

        n_lines, bad = _native.check_plain(data)
        self._lines += n_lines
        if bad < 0:
            return
        if not self._replaces_bytes:
            what = "a byte outside ASCII" if data[bad] else "a zero byte"
            raise InputError(f"{what} {_NO_TEXT}", file=self._file, line=self._lines + 1)
        data[:] = self.TABLE[data]


def _moved(data: bytes, buffer: Any) -> tuple[int, bytes]:
    """Writes as much of the data as the buffer takes: how much that is, and the rest."""
    size = min(len(buffer), len(data))
    buffer[:size] = data[:size]
    return size, data[size:]
