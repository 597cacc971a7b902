"""Multiple alignments from files: PHYLIP, FASTA, Stockholm, Clustal and MSF."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.sequences.files import Source, file_name, read_lines, tell_of_latin_1
from tropalign.sequences.texts import decoded

#: Digits of the numbers that a PHYLIP file begins with, at most.
MOST_DIGITS = 15
#: What the first line of a format begins with, where Biopython reads it.
BY_BIOPYTHON = {
    b"# STOCKHOLM": "stockholm",
    b"!!AA_MULTIPLE": "msf",
    b"!!NA_MULTIPLE": "msf",
    b"PileUp": "msf",
}
#: Clustal's format is read here: Biopython's reader does not end on some damaged files. (Nor does that of NEXUS.)
CLUSTALS = (b"CLUSTAL", b"MUSCLE", b"PROBCONS", b"MSAPROBS", b"Kalign")


class UnequalRowsError(InputError):
    """Rows of several lengths: perhaps sequences that are not aligned yet, and a caller may know what takes those."""


def read_alignment(path: Source) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
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

    Warns
    -----
    TropalignWarning
        Names that are not UTF-8.
    """
    names, letters, _ = read_described(path)
    return names, letters


def read_described(path: Source) -> tuple[tuple[str, ...], NDArray[np.uint8], tuple[str, ...]]:
    """Names, letters, and what follows each name (FASTA's headers, Stockholm's DE), "" where nothing does."""
    file = file_name(path)
    numbered = enumerate(read_lines(path), 1)
    # A file without a letter is refused by read_lines.
    first = next((number, line) for number, line in numbered if line.strip())
    lines = chain([first], ((number, line) for number, line in numbered if line.strip()))
    rows = _Rows(file)
    if first[1].startswith(b">"):
        _read_fasta(lines, rows)
    elif first[1].startswith(CLUSTALS):
        _read_clustal(lines, rows)
    elif found := [name for begin, name in BY_BIOPYTHON.items() if first[1].startswith(begin)]:
        _read_by_biopython(chain([first[1]], (line for _, line in numbered)), rows, found[0])
    else:
        _read_phylip(lines, rows)
    return (*rows.finish(), tuple(rows.names.values()))


class _Rows:
    """Rows one after another, in one piece of memory."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.names: dict[str, str] = {}  # with what follows them
        self.letters = bytearray()
        self.width: int | None = None
        self._begin = 0
        self._is_utf8 = True

    def text(self, data: bytes) -> str:
        """A name or description of the file."""
        found = decoded(data)
        self._is_utf8 = self._is_utf8 and found.encode() == data
        return found

    def begin(self, name: bytes, line: int | None = None, description: str = "") -> None:
        """A new row. Raises InputError where the last one is of another length, or there is one of this name."""
        self._end()
        text = self.text(name)
        if text in self.names:
            raise InputError("two rows have the same name: give each its own", file=self.file, record=text, line=line)
        self.names[text] = description

    def _end(self) -> None:
        if not self.names:
            return
        size, self._begin = len(self.letters) - self._begin, len(self.letters)
        self.width = size if self.width is None else self.width
        if size != self.width:
            raise UnequalRowsError(
                f"{size} letters, but {self.width} are expected: rows of an alignment are equally long",
                file=self.file,
                record=list(self.names)[-1],
            )

    def finish(self) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
        """Names and letters."""
        self._end()
        if not self.width:
            raise InputError("the alignment has no columns", file=self.file)
        if not self._is_utf8:
            tell_of_latin_1(self.file)
        return tuple(self.names), np.frombuffer(self.letters, np.uint8).reshape(len(self.names), self.width)


def _read_fasta(lines: Iterable[tuple[int, bytes]], rows: _Rows) -> None:
    for number, line in lines:
        if line.startswith(b">"):
            words = line[1:].split(None, 1)
            if not words:
                raise InputError("the header holds no name: write one right after the '>'", file=rows.file, line=number)
            rows.begin(words[0], number, rows.text(words[1].strip()) if len(words) > 1 else "")
        else:
            rows.letters += b"".join(line.split())


def _read_phylip(lines: Iterator[tuple[int, bytes]], rows: _Rows) -> None:
    number, head = next(lines)
    words = head.split()
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()):
        raise InputError(
            "this is no alignment: FASTA begins with '>', PHYLIP with two numbers, Stockholm with '# STOCKHOLM', "
            "Clustal with 'CLUSTAL', MSF with '!!' or 'PileUp'",
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


def _read_clustal(lines: Iterator[tuple[int, bytes]], rows: _Rows) -> None:
    next(lines)
    pieces: dict[bytes, list[bytes]] = {}
    for number, line in lines:
        if line[:1].isspace():  # the marks of conservation
            continue
        words = line.split()  # a name, letters, and perhaps how many residues there are so far
        if len(words) not in (2, 3) or (len(words) == 3 and not words[2].isdigit()):
            raise InputError(
                "read as Clustal, this is no alignment: a line holds a name and letters", file=rows.file, line=number
            )
        pieces.setdefault(words[0], []).append(words[1])
    for name, letters in pieces.items():
        rows.begin(name)
        rows.letters += b"".join(letters)


def _read_by_biopython(lines: Iterable[bytes], rows: _Rows, name: str) -> None:
    from Bio import AlignIO

    # What is outside ASCII must be no blank in Python's eyes, as some of Unicode's letters are in Latin-1's.
    text = "".join(line.decode("ascii", "surrogateescape") + "\n" for line in lines)
    try:
        found = AlignIO.read(io.StringIO(text), name)
    except Exception as error:  # Biopython's parser fails with ValueError, AssertionError, TypeError and others
        what = shown(" ".join(str(error).split()).rstrip(".")) or "a line that is not as the format has it"
        title = "MSF" if name == "msf" else name.capitalize()
        raise InputError(f"read as {title}, this is no alignment ({what})", file=rows.file) from None
    for row in found:
        is_described = name == "stockholm" and row.description not in (row.id, row.name)
        description = rows.text(_bytes(row.description)) if is_described else ""
        rows.begin(_bytes(row.id), None, description)
        rows.letters += _bytes(row.seq)


def _bytes(text: object) -> bytes:
    """What Biopython read, as the file has it."""
    return str(text).encode("ascii", "surrogateescape")
