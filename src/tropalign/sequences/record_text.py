"""The bytes of FASTA and FASTQ, checked before they are split into records.

Sequences are ASCII. Headers may hold any byte except zero; `tropalign.sequences.records` decodes them.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences.files import BYTE_ORDER_MARK, mistaken

#: Most blanks before the first record; a file with more is not a sequence file (and may be endless).
MOST_BLANKS = 1 << 20
#: Blanks, including line ends, as `is_blank` of the native readers defines them.
BLANKS = b" \t\x0b\x0c\r\n\x1c\x1d\x1e\x1f"
#: First bytes of a sequence store.
STORE_MAGIC = b"tropalign store\n"
#: Bytes in which the last line end is searched for first.
TAIL_BYTES = 1 << 9

_NEITHER = "this is neither FASTA nor FASTQ: a record begins with '>' or '@'"
ASCII = "a byte outside ASCII in a sequence: mend the record (names may hold any letter, in UTF-8)"
ZERO = "a zero byte in the text: write the file as plain text, in ASCII or UTF-8"


class RecordText(io.RawIOBase):
    """Bytes of FASTA or FASTQ from the first record on; what can be no part of them is refused or becomes "?".

    Attributes
    ----------
    sign
        What the first record begins with.
    blank_lines
        Lines before it.
    is_odd
        Whether FASTQ that was read holds a zero or a byte outside ASCII, which whoever splits it into lines judges.
    """

    def __init__(self, stream: io.BufferedReader, file: str, replaces_bytes: bool) -> None:
        self._stream, self._file, self._replaces_bytes = stream, file, replaces_bytes
        self.blank_lines, self.is_odd = 0, False
        self._first = self._begin()
        self.sign = self._first[:1]
        self._lines = self.blank_lines
        self._line_sign = b""  # first non-blank byte of the unfinished line
        self._checked = b""  # given back, to be read again

    def readable(self) -> bool:
        return True

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
            raise InputError("a sequence store cannot be read from a stream: name the file", file=self._file)
        if body[:1] not in (b">", b"@"):
            what = mistaken(body, "sequences (FASTA or FASTQ)") or _NEITHER
            raise InputError(what, file=self._file, line=self.blank_lines + 1)
        return body

    def next_bytes(self, rest: NDArray[np.uint8], wanted: int) -> tuple[NDArray[np.uint8], bool]:
        """Append bytes to `rest` up to `wanted`; return them, and True if all exist, so that more may follow."""
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
            self._check_odd(data, ends)
            n_lines = len(ends)
        self._lines += n_lines
        self._line_sign = self._sign_of_last_line(data)

    def _check_odd(self, data: NDArray[np.uint8], ends: NDArray[np.intp]) -> None:
        """Check data with zeros or non-ASCII bytes; `ends` are the positions of its line ends."""
        odd = np.flatnonzero((data == 0) | (data > 127))
        line = np.searchsorted(ends, odd)
        faults = odd[(data[odd] == 0) | ~self._is_header(data, ends, line)]
        if not len(faults):
            return
        if not self._replaces_bytes:
            number = self._lines + int(np.searchsorted(ends, faults[0])) + 1
            raise InputError(ASCII if data[faults[0]] else ZERO, file=self._file, line=number)
        data[faults] = ord("?")

    def _is_header(self, data: NDArray[np.uint8], ends: NDArray[np.intp], line: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which of these lines are headers or comments."""
        lines, place = np.unique(line, return_inverse=True)
        begins = np.where(lines > 0, ends[lines - 1] + 1 if len(ends) else 0, 0)
        signs = [data[at : at + 64].tobytes().lstrip(BLANKS)[:1] for at in begins.tolist()]
        if lines[0] == 0 and self._line_sign:
            signs[0] = self._line_sign
        found: NDArray[np.bool_] = np.array([sign in (b">", b"#") for sign in signs])[place]
        return found

    def _sign_of_last_line(self, data: NDArray[np.uint8]) -> bytes:
        text = data[-TAIL_BYTES:].tobytes()
        if (at := text.rfind(b"\n")) < 0:
            text = data.tobytes()
            at = text.rfind(b"\n")
        return (at < 0 and self._line_sign) or text[at + 1 :].lstrip(BLANKS)[:1]


def _moved(data: bytes, buffer: Any) -> tuple[int, bytes]:
    """Copy as many bytes as fit into the buffer; return their number and the rest."""
    size = min(len(buffer), len(data))
    buffer[:size] = data[:size]
    return size, data[size:]
