"""SELEX alignments, and those of PSI-BLAST: a line of a name and residues per row, in blocks.

    #=ID  globins                        Annotation begins with "#=", comments with "#".
    #=RF         xxxxxxx xxx
    HBB_HUMAN    VHLTPEE.KSA             Blanks within, before or after the residues are gaps, if
    MYG_PHYCA     VLSEGEW QL             the file has annotation that identifies it as SELEX.

    HBB_HUMAN    VTALWG
    MYG_PHYCA    VLHVWA

PSI-BLAST's format is the same without annotation and blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from tropalign.errors import InputError, shown
from tropalign.sequences.phylip_files import Row, UnequalRowsError
from tropalign.sequences.texts import decoded

#: First bytes of SELEX's annotation.
ANNOTATION = b"#="
#: Annotation with a character per column.
_PER_COLUMN = (b"#=RF", b"#=CS", b"#=SS", b"#=SA", b"#=MM")
_RESIDUES = re.compile(rb"[A-Za-z*?.~_-]+")
#: A row of an alignment without a signature.
_ROW = re.compile(rb"[^\s>@;#(\[/]\S*[ \t]+([A-Za-z*?.~_-]+)[ \t]*")


def is_selex(lines: Iterable[bytes]) -> bool:
    """True if a file with these first lines has SELEX's annotation, or two rows of equally many residues.

    >>> is_selex([b"seq1 ACG-T", b"seq2 AC--T"]), is_selex([b"seq1 ACGT", b"seq2 AC"]), is_selex([b"#=ID x"])
    (True, False, True)
    """
    first: bytes | None = None
    for line in filter(bytes.strip, lines):
        if line.startswith(ANNOTATION):
            return True
        if line.startswith(b"#"):
            continue
        row = _ROW.fullmatch(line)
        if row is None or first is not None:
            return row is not None and len(row[1]) == len(first or b"")
        first = row[1]
    return False


def rows_of_selex(numbered: Iterable[tuple[int, bytes]], file: str) -> tuple[Iterator[Row], list[str]]:
    """Return the rows of an alignment, and the kinds of its annotation, such as ``#=RF``.

    `numbered`: all lines with their numbers, with the empty ones that separate blocks. Raises UnequalRowsError for
    rows of unequal lengths in a block, and InputError for other lines or blocks of other rows.
    """
    blocks: list[list[tuple[int, bytes]]] = [[]]
    kinds: dict[str, None] = {}
    for number, line in numbered:
        if not line.strip():
            blocks.append([])
        elif line.startswith(ANNOTATION):
            kinds[decoded(line.split(None, 1)[0])] = None
            if line.startswith(_PER_COLUMN):
                blocks[-1].append((number, line))
        elif not line.startswith(b"#"):
            blocks[-1].append((number, line))
    has_blanks = bool(kinds)
    whole = [rows for block in blocks if (rows := _rows_of_block(block, has_blanks, file))]
    if not whole:
        raise InputError("the file holds no alignment", file=file)
    names = [row.name for row in whole[0]]
    for rows in islice(whole, 1, None):
        if [row.name for row in rows] != names:
            what = "this block has other rows than the first one, or in another order"
            raise InputError(f"{what}: the file may be truncated, or not an alignment", file=file, line=rows[0].line)
    every = zip(*whole, strict=True)
    return (Row(of[0].line, of[0].name, [piece for row in of for piece in row.pieces]) for of in every), [*kinds]


def _rows_of_block(block: list[tuple[int, bytes]], has_blanks: bool, file: str) -> list[Row]:
    """Return the rows of a block with their gaps."""
    rows = _rows_by_columns(block, file) if has_blanks else []
    if not rows:
        for number, parts in ((number, line.split()) for number, line in block if not line.startswith(ANNOTATION)):
            if parts[0] == b"//":
                what = "a line // ends an alignment in Stockholm, but the first line is not '# STOCKHOLM 1.0'"
                raise InputError(f"{what}: add it", file=file, line=number)
            if len(parts) != 2:
                what = "read as SELEX or PSI-BLAST, this is no alignment: a line holds a name and residues"
                raise InputError(what, file=file, line=number)
            size = len(rows[0].pieces[0]) if rows else len(parts[1])
            if len(parts[1]) != size:
                raise UnequalRowsError(
                    f"{len(parts[1])} letters, but {size} are expected: rows of an alignment are equally long",
                    file=file,
                    record=decoded(parts[0]),
                    line=number,
                )
            rows.append(Row(number, parts[0], [parts[1]]))
    for row in rows:
        odd = _RESIDUES.sub(b"", row.pieces[0])
        if odd:
            what = f"{shown(decoded(odd[:1]))!r} is not a residue: remove it"
            raise InputError(what, file=file, record=decoded(row.name), line=row.line)
    return rows


def _rows_by_columns(block: list[tuple[int, bytes]], file: str) -> list[Row]:
    """Return the rows of a block in which blanks are gaps: the columns begin with the leftmost residue.

    No rows if a name reaches beyond that.
    """
    places: list[tuple[int, int, int]] = []
    for number, line in block:
        if b"\t" in line:
            what = "a tab stands between residues, where blanks are gaps: write blanks"
            raise InputError(what, file=file, line=number)
        end = len(line.rstrip())
        name = len(line) - len(line.lstrip())
        name += len(line.split(None, 1)[0])
        # A row of gaps only may have no text behind its name.
        begin = end if name == end else name + len(line[name:]) - len(line[name:].lstrip())
        places.append((name, begin, end))
    left = min((begin for name, begin, end in places if end > name), default=0)
    right = max((end for _, _, end in places), default=0)
    if any(name > left for name, _, _ in places):
        return []
    rows = []
    for (number, line), (name, begin, end) in zip(block, places, strict=True):
        if line.startswith(ANNOTATION):
            continue
        text = b"" if name == end else b" " * (begin - left) + line[begin:end]
        text = text.ljust(right - left).replace(b" ", b"-")
        rows.append(Row(number, line.split(None, 1)[0], [text]))
    return rows
