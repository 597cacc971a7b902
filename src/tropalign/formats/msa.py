"""Multiple alignments from files: PHYLIP, FASTA and Stockholm."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences import read_lines

Rows = dict[str, list[bytes]]


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
    first = next(numbered)
    lines = chain([first], numbered)
    if first[1].startswith(b">"):
        rows = _fasta(lines, file)
    elif first[1].startswith(b"# STOCKHOLM"):
        rows = _stockholm((line for _, line in lines), file)
    else:
        rows = _phylip(lines, file)
    return tuple(rows), _array(rows, file)


def _array(rows: Rows, file: str) -> NDArray[np.uint8]:
    """The rows' letters; rows are emptied on the way, as they may be large."""
    width = None
    parts = []
    for name, pieces in rows.items():
        parts.append(b"".join(pieces))
        pieces.clear()
        width = len(parts[0])
        if len(parts[-1]) != width:
            raise InputError(
                f"{len(parts[-1])} letters, but the first row has {width}: rows of an alignment are equally long",
                file=file,
                record=name,
            )
    if not width:
        raise InputError("the alignment has no columns", file=file)
    return np.frombuffer(b"".join(parts), np.uint8).reshape(len(parts), width)


def _add(rows: Rows, name: bytes, file: str, line: int) -> list[bytes]:
    text = name.decode("utf-8", "replace")
    if text in rows:
        raise InputError("two rows have the same name: give each its own", file=file, record=text, line=line)
    return rows.setdefault(text, [])


def _fasta(lines: Iterable[tuple[int, bytes]], file: str) -> Rows:
    rows: Rows = {}
    own: list[bytes] = []
    for number, line in lines:
        if line.startswith(b">"):
            words = line[1:].split(None, 1)
            if not words:
                raise InputError("the header holds no name: write one right after the '>'", file=file, line=number)
            own = _add(rows, words[0], file, number)
        else:
            own.append(b"".join(line.split()))
    return rows


def _phylip(lines: Iterator[tuple[int, bytes]], file: str) -> Rows:
    number, head = next(lines)
    words = head.split()
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()):
        raise InputError(
            "this is no alignment: PHYLIP begins with two numbers, FASTA with '>', Stockholm with '# STOCKHOLM'",
            file=file,
            line=number,
        )
    n_rows, n_columns = int(words[0]), int(words[1])
    rows: Rows = {}
    order: list[list[bytes]] = []
    count = 0
    for number, line in lines:
        if count < n_rows:
            words = line.split(None, 1)
            order.append(_add(rows, words[0], file, number))
            order[-1].append(b"".join(words[1].split()) if len(words) > 1 else b"")
        else:
            order[count % n_rows].append(b"".join(line.split()))
        count += 1
    if len(rows) != n_rows:
        raise InputError(f"the first line promises {n_rows} rows, but there are {len(rows)}", file=file)
    for name, pieces in rows.items():
        size = sum(map(len, pieces))
        if size != n_columns:
            raise InputError(f"{size} letters, but the first line promises {n_columns} columns", file=file, record=name)
    return rows


def _stockholm(lines: Iterable[bytes], file: str) -> Rows:
    from Bio import AlignIO

    try:
        found = AlignIO.read(io.StringIO("".join(line.decode("latin-1") + "\n" for line in lines)), "stockholm")
    except ValueError as error:
        raise InputError(f"read as Stockholm, this is no alignment ({str(error).rstrip('.')})", file=file) from None
    return {str(row.id): [str(row.seq).encode("latin-1")] for row in found}
