"""Multiple alignments from files: PHYLIP, FASTA and Stockholm."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.sequences import read_lines

#: Digits of the numbers that a PHYLIP file begins with, at most.
MOST_DIGITS = 15


def read_alignment(path: str | os.PathLike[str]) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
    """Names and letters of an alignment; the format is judged by the first line, compression by content.

    PHYLIP is relaxed: a name ends at the first blank. Its rows are one line each, or in blocks.

    Returns
    -------
    names : tuple of str
        Up to the first blank.
    letters : uint8, shape (n_rows, n_columns)
        As they were written.

    Raises
    ------
    InputError
        No alignment, rows of unequal lengths, or two rows of one name.
    """
    file = str(path)
    numbered = ((number, line) for number, line in enumerate(read_lines(path), 1) if line.strip())
    first = next(numbered)  # a file without a letter is refused by read_lines
    lines = chain([first], numbered)
    rows = _Rows(file)
    if first[1].startswith(b">"):
        _read_fasta(lines, rows)
    elif first[1].startswith(b"# STOCKHOLM"):
        _read_stockholm((line for _, line in lines), rows)
    else:
        _read_phylip(lines, rows)
    return rows.finish()


class _Rows:
    """Rows one after another, in one piece of memory."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.names: dict[str, None] = {}
        self.letters = bytearray()
        self.width: int | None = None
        self._begin = 0

    def begin(self, name: bytes, line: int | None = None) -> None:
        """A new row. Raises InputError where the last one is of another length, or there is one of this name."""
        self._end()
        text = name.decode("utf-8", "replace")
        if text in self.names:
            raise InputError("two rows have the same name: give each its own", file=self.file, record=text, line=line)
        self.names[text] = None

    def _end(self) -> None:
        if not self.names:
            return
        size, self._begin = len(self.letters) - self._begin, len(self.letters)
        self.width = size if self.width is None else self.width
        if size != self.width:
            raise InputError(
                f"{size} letters, but {self.width} are expected: rows of an alignment are equally long",
                file=self.file,
                record=list(self.names)[-1],
            )

    def finish(self) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
        """Names and letters."""
        self._end()
        if not self.width:
            raise InputError("the alignment has no columns", file=self.file)
        return tuple(self.names), np.frombuffer(self.letters, np.uint8).reshape(len(self.names), self.width)


def _read_fasta(lines: Iterable[tuple[int, bytes]], rows: _Rows) -> None:
    for number, line in lines:
        if line.startswith(b">"):
            words = line[1:].split(None, 1)
            if not words:
                raise InputError("the header holds no name: write one right after the '>'", file=rows.file, line=number)
            rows.begin(words[0], number)
        else:
            rows.letters += b"".join(line.split())


def _read_phylip(lines: Iterator[tuple[int, bytes]], rows: _Rows) -> None:
    number, head = next(lines)
    words = head.split()
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()):
        raise InputError(
            "this is no alignment: PHYLIP begins with two numbers, FASTA with '>', Stockholm with '# STOCKHOLM'",
            file=rows.file,
            line=number,
        )
    if max(map(len, words[:2])) > MOST_DIGITS or not int(words[0]) or not int(words[1]):
        raise InputError(
            "this is no alignment: PHYLIP's first line holds the numbers of rows and columns, but these are 0 or huge",
            file=rows.file,
            line=number,
        )
    n_rows, rows.width = int(words[0]), int(words[1])
    waiting: list[tuple[int, bytes, list[bytes]]] = []  # rows of several blocks
    for count, (number, line) in enumerate(lines):
        if count >= n_rows and waiting:
            waiting[count % n_rows][2].append(b"".join(line.split()))
        else:
            words = line.split(None, 1)
            text = b"".join(words[1].split()) if len(words) > 1 else b""
            if waiting or (not rows.names and len(text) < rows.width):
                waiting.append((number, words[0], [text]))
            else:
                rows.begin(words[0], number)
                rows.letters += text
    for number, name, pieces in waiting:
        rows.begin(name, number)
        rows.letters += b"".join(pieces)
    if len(rows.names) != n_rows:
        found = len(rows.names)
        raise InputError(f"the first line promises {n_rows} rows, but there are {found}", file=rows.file)


def _read_stockholm(lines: Iterable[bytes], rows: _Rows) -> None:
    from Bio import AlignIO

    try:
        found = AlignIO.read(io.StringIO("".join(line.decode("latin-1") + "\n" for line in lines)), "stockholm")
    except Exception as error:  # Biopython's parser fails with ValueError, AssertionError, TypeError and others
        what = shown(" ".join(str(error).split()).rstrip(".")) or "a line that is not as the format has it"
        raise InputError(f"read as Stockholm, this is no alignment ({what})", file=rows.file) from None
    for row in found:
        rows.begin(str(row.id).encode())
        rows.letters += str(row.seq).encode("latin-1")
