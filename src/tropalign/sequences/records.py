"""Records of one FASTA or FASTQ file, and the sentences that say why there are none."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tropalign.errors import InputError, shown
from tropalign.sequences.files import BYTE_ORDER_MARK, Source, file_name, opened

#: Blanks that may precede the first record; more is no sequence file (and may be endless).
MOST_BLANKS = 1 << 20

_NEITHER = "this is neither FASTA nor FASTQ: a record begins with '>' or '@'"
_NO_TEXT = "in the text: write the file in plain ASCII letters"


def records_of_file(
    source: Source, replaces_bytes: bool = False, count: Callable[[int], None] | None = None
) -> Iterator[tuple[str, str]]:
    """Headers and letters of the records of a file, as dnaio reads them.

    Parameters
    ----------
    replaces_bytes
        Bytes outside ASCII and zero bytes are read as ``?``, else they are an InputError.
    count
        Called with the number of (compressed) bytes read, as they are read.

    Raises
    ------
    InputError
        A file that cannot be read, is empty, is neither FASTA nor FASTQ, or breaks off within a record.
    """
    import dnaio

    file = file_name(source)
    with opened(source, count) as stream:
        text = _Text(stream, file, replaces_bytes)
        try:
            with dnaio.open(io.BufferedReader(text, 1 << 16), mode="r", open_threads=0) as records:
                for record in records:
                    yield record.name, record.sequence
        except dnaio.exceptions.FileFormatError as error:
            line = None if error.line is None else text.blank_lines + error.line + 1
            message = str(error.message).partition("\n")[0].partition(". The incomplete")[0].rstrip(". ")
            raise InputError(f"{shown(message)}: mend the record", file=file, line=line) from None


class _Text(io.RawIOBase):
    """Bytes of FASTA or FASTQ from the first record on; what is no plain ASCII is refused or becomes "?"."""

    TABLE = b"?" + bytes(range(1, 128)) + b"?" * 128

    def __init__(self, stream: io.BufferedReader, file: str, replaces_bytes: bool) -> None:
        self._stream, self._file, self._replaces_bytes = stream, file, replaces_bytes
        self.blank_lines = 0
        self._first = self._begin()
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
        self._lines += data.count(b"\n")
        buffer[: len(data)] = data
        return len(data)

    def _refuse(self, data: bytes) -> None:
        found = np.frombuffer(data, np.uint8)
        at = int(np.argmax((found == 0) | (found >= 128)))
        what = "a byte outside ASCII" if data[at] else "a zero byte"
        line = self._lines + data.count(b"\n", 0, at) + 1
        raise InputError(f"{what} {_NO_TEXT}", file=self._file, line=line)
