"""Records of one sequence file, and the errors for files without records."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, counted
from tropalign.sequences.alphabet import GAP_LETTERS, byte_counts
from tropalign.sequences.files import (
    BYTE_ORDER_MARK,
    MOST_LINE,
    STORE_MAGIC,
    Readable,
    Source,
    file_name,
    lines_of,
    mistaken,
    opened,
    tell_of_latin_1,
    with_line_ends,
)
from tropalign.sequences.texts import Texts, decoded, mended

#: Most blanks before the first record; a file with more is not a sequence file (and may be endless).
MOST_BLANKS = 1 << 20
#: Blanks, including line ends, as `is_blank` of the native readers defines them.
BLANKS = b" \t\x0b\x0c\r\n\x1c\x1d\x1e\x1f"
#: Bytes in which the last line end is searched for first.
TAIL_BYTES = 1 << 9

_NEITHER = "this is neither FASTA nor FASTQ: a record must begin with '>' or '@'"
ASCII = "a non-ASCII byte in a sequence: correct the record (names may contain any UTF-8 character)"
ZERO = "a zero byte in the text: save the file as plain text, in ASCII or UTF-8"


class RecordText(Readable):
    """Bytes of FASTA or FASTQ from the first record on; invalid bytes are refused or become "?".

    `sign`: first byte of the first record. `blank_lines`: lines before it. `is_odd`: FASTQ with a zero or a byte
    outside ASCII was read, which the parser of lines checks.
    """

    def __init__(self, stream: io.BufferedReader, file: str, replaces_bytes: bool) -> None:
        self._stream, self._file, self._replaces_bytes = stream, file, replaces_bytes
        self.blank_lines, self.is_odd = 0, False
        self._first = self._begin()
        self.sign = self._first[:1]
        self._lines = self.blank_lines
        self._line_sign = b""  # first non-blank byte of the unfinished line
        self._checked = b""  # given back, to be read again

    def _begin(self) -> bytes:
        """Read the first bytes, without byte order mark and blanks."""
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
            raise InputError("a sequence store cannot be read from a stream: give the file name", file=self._file)
        if body[:1] not in (b">", b"@"):
            what = mistaken(body, "sequences (FASTA or FASTQ)") or _NEITHER
            raise InputError(what, file=self._file, line=self.blank_lines + 1)
        return body

    def next_bytes(self, rest: NDArray[np.uint8], wanted: int) -> tuple[NDArray[np.uint8], bool]:
        """Append bytes to `rest` up to `wanted`; return all, and True if `wanted` is reached: more may follow."""
        data = np.empty(wanted, np.uint8)
        data[: len(rest)] = rest
        size, view = len(rest), memoryview(data)  # type: ignore[arg-type]
        while size < wanted and (n_read := self.readinto(view[size:])):
            size += n_read
        return data[:size], size == wanted

    def give_back(self, data: NDArray[np.uint8]) -> None:
        """Make these bytes the next to be read."""
        self._checked = data.tobytes()

    def readinto(self, buffer: Any) -> int:
        """Read some bytes and check them."""
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
        """Reject bytes that cannot be part of a record, or replace them with "?"."""
        from tropalign import _native

        n_lines, odd = _native.check_plain(data)
        if self.sign == b"@":
            self.is_odd = self.is_odd or odd >= 0
            return
        if odd >= 0:
            ends = np.flatnonzero(data == ord("\n"))
            places = np.flatnonzero((data == 0) | (data > 127))
            line = np.searchsorted(ends, places)
            faults = places[(data[places] == 0) | ~self._is_header(data, ends, line)]
            if len(faults) and not self._replaces_bytes:
                number = self._lines + int(np.searchsorted(ends, faults[0])) + 1
                raise InputError(ASCII if data[faults[0]] else ZERO, file=self._file, line=number)
            data[faults] = ord("?")
            n_lines = len(ends)
        self._lines += n_lines
        text = data[-TAIL_BYTES:].tobytes()
        if (at := text.rfind(b"\n")) < 0:
            text = data.tobytes()
            at = text.rfind(b"\n")
        self._line_sign = (at < 0 and self._line_sign) or text[at + 1 :].lstrip(BLANKS)[:1]

    def _is_header(self, data: NDArray[np.uint8], ends: NDArray[np.intp], line: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which of these lines are headers or comments."""
        lines, place = np.unique(line, return_inverse=True)
        begins = np.where(lines > 0, ends[lines - 1] + 1 if len(ends) else 0, 0)
        signs = [data[at : at + 64].tobytes().lstrip(BLANKS)[:1] for at in begins.tolist()]
        if lines[0] == 0 and self._line_sign:
            signs[0] = self._line_sign
        found: NDArray[np.bool_] = np.array([sign in (b">", b"#") for sign in signs])[place]
        return found


def _moved(data: bytes, buffer: Any) -> tuple[int, bytes]:
    """Copy as many bytes as fit into the buffer; return their number and the rest."""
    size = min(len(buffer), len(data))
    buffer[:size] = data[:size]
    return size, data[size:]


#: Approximate numbers of letters and records per block.
BLOCK_LETTERS, BLOCK_RECORDS = 1 << 20, 4096
#: Bytes of FASTQ that are parsed together: about two blocks of short reads.
FASTQ_BYTES = 1 << 22
BUFFER_BYTES = 1 << 16
_NOTHING = np.zeros(0, np.uint8)
Named = TypeVar("Named", bound=tuple[Any, ...])
#: Phred 0 as a FASTQ character, and the highest score that has one.
FIRST_QUALITY, HIGHEST_QUALITY = 33, 93


@dataclass(frozen=True, eq=False)
class Records:
    """Consecutive records of a file.

    names, descriptions: the header up to the first blank, and the rest; bytes of a file as it has them.
    letters: uint8, shape (n_letters,), as written without the blanks at line ends.
    offsets: int64, shape (n + 1,); record k is ``letters[offsets[k]:offsets[k + 1]]``.
    counts: int64, shape (256,), of each byte in `letters`.
    qualities: uint8 Phred scores, shape (n_letters,), or None.
    accessions: one per record, "" if it has none; empty if the format has none besides names.
    """

    names: Sequence[str]
    descriptions: Sequence[str]
    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    qualities: NDArray[np.uint8] | None = None
    accessions: Sequence[str] = ()

    @classmethod
    def of_headers(cls, headers: Sequence[bytes], texts: Sequence[str], leading_blanks: bool = False) -> Records:
        """Make records of a file's headers; `leading_blanks` removes blanks at the start of headers."""
        if leading_blanks:
            headers = [header.lstrip(BLANKS) for header in headers]
        parts = [header.partition(b"\t" if b"\t" in header.partition(b" ")[0] else b" ") for header in headers]
        names, descriptions = ([part[0] for part in parts], [part[2].strip(BLANKS) for part in parts])
        return cls(Texts.of_bytes(names), Texts.of_bytes(descriptions), *_joined(texts))

    @classmethod
    def of_named(cls, names: Sequence[str], texts: Sequence[str]) -> Records:
        """Make records of Python strings, whose names may hold blanks."""
        return cls(tuple(names), ("",) * len(names), *_joined(texts))

    @classmethod
    def of_native(cls, found: tuple[Any, ...]) -> Records:
        """Make records of the native parser's result, without its count of parsed bytes."""
        (letters, offsets), names, descriptions, counts, _ = found
        return cls(Texts(*names), Texts(*descriptions), letters, offsets, counts)

    def with_qualities(self, characters: NDArray[np.uint8], file: str) -> Records:
        """Add qualities from FASTQ characters. Raises InputError for a character that is not a quality."""
        scores = characters - np.uint8(FIRST_QUALITY)
        if len(scores) and scores.max() > HIGHEST_QUALITY:
            at = int(np.argmax(scores > HIGHEST_QUALITY))
            k = int(np.searchsorted(self.offsets, at, "right")) - 1
            what = f"{chr(characters[at])!r} is not a quality character ('!' to '~'): correct the record"
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
    """Yield records in blocks: FASTA, FASTQ, flat files, PIR, and rows of alignments without their gaps.

    `replaces_bytes`: read zero bytes, and non-ASCII bytes of sequences, as ``?`` instead of raising an InputError.
    `leading_blanks`: ignore blanks at the start of headers. `count`: called with the number of (compressed) bytes
    read. Raises InputError if a file cannot be read, is empty, of another format, or truncated; warns of names or
    descriptions that are not UTF-8.
    """
    file = file_name(source)
    with opened(source, count) as raw:
        stream = with_line_ends(raw)
        begin = stream.peek().removeprefix(BYTE_ORDER_MARK).lstrip()
        plain: Any = stream
        next_accessions: Callable[[int], tuple[str, ...]] | None = None
        if begin[:1] not in (b">", b"@") or begin[3:4] == b";":  # neither FASTA nor FASTQ, or PIR (">P1;")
            from tropalign.sequences.aligned_files import is_alignment, read_described
            from tropalign.sequences.flat_files import BEGINS, RELEASE, FlatFileText, PirText, is_pir

            if is_alignment(begin):
                yield from _rows(*read_described(stream))
                return
            if begin.startswith(BEGINS) or RELEASE in begin.partition(b"\n")[0]:
                plain = FlatFileText(stream, file, replaces_bytes)
                next_accessions = plain.next_accessions
            elif is_pir(begin):
                plain = PirText(stream, file)
        text = RecordText(plain, file, replaces_bytes)
        if text.sign == b">":
            for records in in_utf8(_fasta(text, leading_blanks), file):
                if next_accessions is not None:
                    records = replace(records, accessions=next_accessions(len(records.names)))
                yield records
        else:
            yield from in_utf8(_fastq(text, file, replaces_bytes, leading_blanks, keeps_qualities), file)


def _rows(names: Sequence[str], letters: NDArray[np.uint8], descriptions: Sequence[str]) -> Iterator[Records]:
    """Yield rows of an alignment without gaps."""
    for begin in range(0, len(names), BLOCK_RECORDS):
        chosen = slice(begin, begin + BLOCK_RECORDS)
        stays = ~np.isin(letters[chosen], list(GAP_LETTERS.encode()))
        offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(stays, axis=1))])
        kept = letters[chosen][stays]
        yield Records(names[chosen], descriptions[chosen], kept, offsets, byte_counts(kept))


def in_utf8(found: Iterable[Records], file: str) -> Iterator[Records]:
    """Yield records with names and descriptions converted to UTF-8; warn at the first conversion."""
    is_told = False
    for records in found:
        names, n_names = mended(records.names)
        descriptions, n_descriptions = mended(records.descriptions)
        if not n_names + n_descriptions:
            yield records
            continue
        if not is_told:
            is_told = True
            tell_of_latin_1(file)
        yield replace(records, names=names, descriptions=descriptions)


def _fasta(text: RecordText, leading_blanks: bool) -> Iterator[Records]:
    """Yield records of FASTA, whose only possible faults `RecordText` finds."""
    from tropalign import _native

    wanted, rest = BLOCK_LETTERS, _NOTHING
    while True:
        data, goes_on = text.next_bytes(rest, wanted)
        rest = _NOTHING  # frees the start of a chromosome while the rest is processed
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
        wanted = max(BLOCK_LETTERS, 2 * len(rest))  # for a record that is longer than a block


def _after(data: NDArray[np.uint8], taken: int) -> NDArray[np.uint8]:
    """Return the bytes after those taken: a copy if it is small, so that a view does not keep a large text alive."""
    left = data[taken:]
    return left.copy() if 2 * len(left) <= len(data) else left


def _fastq(
    text: RecordText, file: str, replaces_bytes: bool, leading_blanks: bool, keeps_qualities: bool
) -> Iterator[Records]:
    """Read FASTQ: records of four lines in native code, other records and all errors in Python.

    Python continues from the first block that has an unusual record: blocks are the same for all readers.
    """
    from tropalign import _native

    wanted, rest, n_records = FASTQ_BYTES, _NOTHING, 0
    while True:
        data, goes_on = text.next_bytes(rest, wanted)
        rest = _NOTHING
        while True:
            records = None
            if not text.is_odd:
                records = _native.split_fastq(
                    data, goes_on, BLOCK_RECORDS, BLOCK_LETTERS, leading_blanks, keeps_qualities
                )
            if records is None:
                text.give_back(data)
                unusual = _Fastq(text, file, text.blank_lines + 4 * n_records, replaces_bytes)
                yield from unusual.blocks(leading_blanks, keeps_qualities)
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


class _Fastq:
    """Parser of FASTQ with several lines of residues and quality per record, line by line.

    A quality is as long as its residues, so that an ``@`` in it does not start a record. If the residues have one
    line, the quality has one: a short quality does not swallow the next header. `text`: starts at a record.
    """

    def __init__(self, text: RecordText, file: str, lines_before: int, replaces_bytes: bool) -> None:
        stream = io.BufferedReader(text, BUFFER_BYTES)
        self._lines = enumerate(
            (line.removesuffix(b"\n") for line in lines_of(stream, MOST_LINE, file)), lines_before + 1
        )
        self._file, self._line, self._replaces_bytes = file, lines_before, replaces_bytes

    def blocks(self, leading_blanks: bool, keeps_qualities: bool) -> Iterator[Records]:
        """Yield some records at a time."""
        for found in grouped(self._records()):
            headers, texts, qualities = zip(*found, strict=True)
            records = Records.of_headers(headers, texts, leading_blanks)
            if keeps_qualities:
                records = records.with_qualities(np.frombuffer(b"".join(qualities), np.uint8), self._file)
            yield records

    def _records(self) -> Iterator[tuple[bytes, str, bytes]]:
        """Yield header, letters, quality per record."""
        for number, header in self._lines:
            if not header.strip():
                continue
            self._line = number
            if not header.startswith(b"@"):
                raise self._fault("a FASTQ record must begin with '@', but this line does not")
            name = self._checked(header[1:], ZERO)
            letters = list[bytes]()
            while not (line := self._next(name)).startswith(b"+"):
                if letters and line.startswith((b"@", b">")):
                    raise self._fault("the '+' line between the sequence and its quality is missing", name)
                if line:
                    letters.append(self._checked(line, ASCII))
            if line[1:] not in (b"", header[1:]):
                raise self._fault("the text after '+' differs from the header of the record", name)
            wanted, quality = sum(map(len, letters)), b""
            while len(quality) < wanted and not (quality and len(letters) == 1):
                quality += self._checked(self._next(name), ASCII)
            if len(quality) != wanted:
                lengths = f"{counted(len(quality), 'characters')}, but the sequence has {counted(wanted, 'residues')}"
                raise self._fault(f"the quality has {lengths}", name)
            yield name, b"".join(letters).decode("ascii"), quality

    def _next(self, name: bytes) -> bytes:
        """Return the next line. Raises InputError at the end of the file."""
        number, line = next(self._lines, (None, b""))
        if number is None:
            raise self._fault("the file ends within this record", name, "fetch it again")
        self._line = number
        return line

    def _checked(self, line: bytes, what: str) -> bytes:
        """Return the line; replace or reject zero bytes and, except in headers, non-ASCII bytes."""
        if b"\0" not in line and (what is ZERO or line.isascii()):
            return line
        if not self._replaces_bytes:
            raise InputError(ZERO if b"\0" in line else what, file=self._file, line=self._line)
        return bytes(ord("?") if not byte or (byte > 127 and what is ASCII) else byte for byte in line)

    def _fault(self, what: str, name: bytes | None = None, remedy: str = "correct the record") -> InputError:
        record = None if name is None else decoded(b"".join(name.split()[:1]))
        return InputError(f"{what}: {remedy}", file=self._file, line=self._line, record=record)


def grouped(found: Iterable[Named]) -> Iterator[list[Named]]:
    """Yield lists of records, one per block; a record is a tuple: name, letters and perhaps more."""
    group, size = list[Named](), 0
    for record in found:
        group.append(record)
        size += len(record[1])
        if size >= BLOCK_LETTERS or len(group) >= BLOCK_RECORDS:
            yield group
            group, size = [], 0
    if group:
        yield group
