"""PHYLIP alignments: strict or relaxed names, sequential or interleaved rows.

The file does not state its layout. The reader counts residues: a layout fits if each of the promised rows gets the
promised number of columns and no line is left over.

    2 8                  2 8                  2 8
    a ACGT               a ACGT               Homo sapieACGTACGT
    b AC-T               ACGT                 Pan troglo AC-TACGT
    ACGT                 b AC-T
    ACGT                 ACGT
    interleaved          sequential           strict: the name is the first 10 characters
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tropalign.errors import InputError
from tropalign.sequences.texts import decoded

#: Characters of a name in strict PHYLIP.
STRICT_NAME = 10
#: Most digits of the numbers in the header.
MOST_DIGITS = 15
#: A header: the numbers of rows and columns, and in old files the letter of the layout.
HEADER = re.compile(rb"\s*(\d+)[ \t]+(\d+)(?:[ \t]+[IiSs])?[ \t]*")
#: Characters in rows of residues. `_` also stands for a gap, but is more likely to be part of a name.
_RESIDUES = re.compile(rb"[A-Za-z*?.~-]*")


class UnequalRowsError(InputError):
    """Rows of different lengths: perhaps unaligned sequences, for which the caller may have a remedy."""


class Row(NamedTuple):
    """A row: line number of its name (from 1), the name, and pieces of residues, which may contain blanks."""

    line: int
    name: bytes
    pieces: list[bytes]


class _Line(NamedTuple):
    """A line; the sizes count residues without a name, after a relaxed name and after a strict name."""

    number: int
    text: bytes
    size: int
    relaxed: int
    strict: int


class _Layout(NamedTuple):
    """Indices of the lines of each row, whether names are strict, and whether all lines begin with them."""

    is_strict: bool
    rows: list[list[int]]
    repeats: bool = False


def rows_of_phylip(lines: Iterable[tuple[int, bytes]], n_rows: int, width: int, file: str) -> Iterator[Row]:
    """Yield the rows below a header that promises `n_rows` rows of `width` columns.

    Raises UnequalRowsError if each row has one line and their lengths differ, and InputError if no layout or
    several fit, or if the file holds several alignments.
    """
    held = []
    for number, text in lines:
        size, first = len(b"".join(text.split())), text.split(None, 1)[0]
        held.append(_Line(number, text, size, size - len(first), len(b"".join(text[strict_end(text) :].split()))))
    if len(held) == n_rows and all(line.relaxed == width for line in held):  # all layouts give the same rows
        held.reverse()
        while held:  # release each line after reading it
            yield _row([held.pop()], False)
        return
    layout = _layout(held, n_rows, width, file)
    for indices in layout.rows:
        yield _row([held[k] for k in indices], layout.is_strict, layout.repeats)


def _layout(lines: list[_Line], n_rows: int, width: int, file: str) -> _Layout:
    """Return the only layout that fits."""
    second = next((line for line in lines[n_rows:] if HEADER.fullmatch(line.text)), None)
    if second is not None:
        what = "a second alignment begins here, but only one is read: split the file"
        raise InputError(what, file=file, line=second.number)
    fitting = _distinct(lines, n_rows, width)
    if len(fitting) > 1:
        fitting = [layout for layout in fitting if _holds_residues(lines, layout)] or fitting
    fitting = fitting or _with_names(lines, n_rows, width)
    if not fitting:
        raise _misfit(lines, n_rows, width, file)
    if len(fitting) > 1:
        raise InputError(
            "the rows are valid both as sequential and as interleaved PHYLIP, with different results: write the "
            "alignment with one line per row, or as FASTA",
            file=file,
        )
    return fitting[0]


def strict_end(text: bytes) -> int:
    """Return the index of the byte after the first 10 characters."""
    if text[: 4 * STRICT_NAME].isascii():
        return STRICT_NAME
    begins = [k for k, byte in enumerate(text[: 4 * STRICT_NAME + 1]) if byte & 0xC0 != 0x80]  # UTF-8 characters
    return begins[STRICT_NAME] if len(begins) > STRICT_NAME else len(text)


def _distinct(lines: list[_Line], n_rows: int, width: int) -> list[_Layout]:
    """Return the layouts that fit, without those that give the same rows as another one."""
    found: list[_Layout] = []
    seen = set()
    for is_strict in (False, True):
        for rows in (_interleaved(lines, n_rows, width, is_strict), _sequential(lines, n_rows, width, is_strict)):
            if rows is None or any(not _name(lines[row[0]].text, is_strict) for row in rows):
                continue
            # Name rules that leave the same number of residues are equivalent.
            key = (tuple(_head(lines[row[0]], is_strict) for row in rows), tuple(map(tuple, rows)))
            if key not in seen:
                seen.add(key)
                found.append(_Layout(is_strict, rows))
    return found


def _head(line: _Line, is_strict: bool) -> int:
    return line.strict if is_strict else line.relaxed


def _interleaved(lines: list[_Line], n_rows: int, width: int, is_strict: bool) -> list[list[int]] | None:
    """Return the lines of each row if the file has blocks; as in PHYLIP, rows have equally many residues in a block."""
    if len(lines) % n_rows:
        return None
    total = 0
    for begin in range(0, len(lines), n_rows):
        block = lines[begin : begin + n_rows]
        sizes = {_head(line, is_strict) if begin == 0 else line.size for line in block}
        if len(sizes) > 1:
            return None
        total += sizes.pop()
    return [list(range(k, len(lines), n_rows)) for k in range(n_rows)] if total == width else None


def _with_names(lines: list[_Line], n_rows: int, width: int) -> list[_Layout]:
    """Return the layout with names in each block, if it fits; no other layout fits then."""
    rows = [list(range(k, len(lines), n_rows)) for k in range(n_rows)]
    for is_strict in (False, True):
        names = [{_name(lines[k].text, is_strict) for k in row} for row in rows]
        heads = {tuple(_head(line, is_strict) for line in lines[k : k + n_rows]) for k in range(0, len(lines), n_rows)}
        is_even = all(len(set(sizes)) == 1 and len(sizes) == n_rows for sizes in heads)
        sizes = [sum(_head(lines[k], is_strict) for k in row) for row in rows]
        if is_even and all(len(of_row) == 1 for of_row in names) and set(sizes) == {width}:
            return [_Layout(is_strict, rows, repeats=True)]
    return []


def _sequential(lines: list[_Line], n_rows: int, width: int, is_strict: bool) -> list[list[int]] | None:
    """Return the lines of each row if rows are complete before the next one starts, else None."""
    rows: list[list[int]] = []
    size = width
    for k, line in enumerate(lines):
        if size == width:
            rows.append([])
            size = _head(line, is_strict)
        else:
            size += line.size
        rows[-1].append(k)
        if size > width:
            return None
    return rows if size == width and len(rows) == n_rows else None


def _name(text: bytes, is_strict: bool) -> bytes:
    return text[: strict_end(text)].strip() if is_strict else text.split(None, 1)[0]


def _row(lines: list[_Line], is_strict: bool, repeats: bool = False) -> Row:
    named = lines if repeats else lines[:1]
    rests = [text[strict_end(text) :] if is_strict else b"".join(text.split(None, 1)[1:]) for _, text, *_ in named]
    return Row(lines[0].number, _name(lines[0].text, is_strict), [*rests, *(line.text for line in lines[len(named) :])])


def _holds_residues(lines: list[_Line], layout: _Layout) -> bool:
    """True if all pieces of the rows consist of residues and gaps, so that no name is among them."""
    rows = (_row([lines[k] for k in indices], layout.is_strict) for indices in layout.rows)
    return all(_RESIDUES.fullmatch(b"".join(piece.split())) for row in rows for piece in row.pieces)


def _misfit(lines: list[_Line], n_rows: int, width: int, file: str) -> InputError:
    """Return the error for rows that fit no layout."""
    if len(lines) < n_rows:
        return InputError(
            f"the first line states {n_rows} rows, but there are {len(lines)}: correct the file", file=file
        )
    wrong = next((line for line in lines if line.relaxed != width), lines[-1])
    if len(lines) == n_rows:
        return UnequalRowsError(
            f"{wrong.relaxed} characters, but {width} expected: all rows of an alignment must have the same length",
            file=file,
            record=decoded(_name(wrong.text, False)),
            line=wrong.number,
        )
    if all(line.relaxed == width for line in lines):
        return InputError(
            f"the first line states {n_rows} rows, but there are {len(lines)}: correct the file", file=file
        )
    return InputError(
        f"the first line states {n_rows} rows of {width} columns, but the lines below have other numbers of residues, "
        "read as interleaved or sequential PHYLIP with strict or relaxed names: the file may be truncated, or the "
        "first line wrong",
        file=file,
    )
