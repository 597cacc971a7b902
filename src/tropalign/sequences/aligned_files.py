"""Readers of multiple alignments: PHYLIP, FASTA, A3M, NEXUS, Stockholm, Clustal, MSF, SELEX and PSI-BLAST.

SELEX has a line of a name and residues per row, in blocks:

    #=ID  globins                        Annotation begins with "#=", comments with "#".
    #=RF         xxxxxxx xxx
    HBB_HUMAN    VHLTPEE.KSA             Blanks within, before or after the residues are gaps, if
    MYG_PHYCA     VLSEGEW QL             the file has annotation that identifies it as SELEX.

    HBB_HUMAN    VTALWG
    MYG_PHYCA    VLHVWA

PSI-BLAST's format is the same without annotation and blanks.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, counted, shown
from tropalign.sequences.alphabet import GAP_LETTERS
from tropalign.sequences.files import Source, file_name, mistaken, read_lines, tell_of_latin_1
from tropalign.sequences.flat_files import is_pir
from tropalign.sequences.nexus_files import BEGIN as NEXUS
from tropalign.sequences.nexus_files import rows_of_nexus
from tropalign.sequences.phylip_files import HEADER, MOST_DIGITS, Row, UnequalRowsError, rows_of_phylip
from tropalign.sequences.texts import decoded

if TYPE_CHECKING:
    from Bio.Align import MultipleSeqAlignment

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


#: How Stockholm files begin.
STOCKHOLM = b"# STOCKHOLM"
#: First bytes of the formats that Biopython reads, and its names for them.
BY_BIOPYTHON = {
    STOCKHOLM: "stockholm",
    b"!!AA_MULTIPLE": "msf",
    b"!!NA_MULTIPLE": "msf",
    b"PileUp": "msf",
}
#: Starts of Clustal files. These and NEXUS are read here: Biopython's readers hang on some damaged files.
CLUSTALS = (b"CLUSTAL", b"MUSCLE", b"PROBCONS", b"MSAPROBS", b"Kalign")
#: Bytes that stand for no residue, including the "~" at the ends of MSF rows.
GAPS = np.frombuffer(GAP_LETTERS.encode(), np.uint8)
#: Annotation (of the file, of columns, of a row or of its residues), and its feature.
_ANNOTATION = re.compile(rb"#=(?:(G[FC])|(G[SR])\s+\S+)\s+(\S+)")
_PHYLIP = re.compile(rb"\d+[ \t]+\d+[ \t\r\n]")


def is_alignment(begin: bytes) -> bool:
    """True if a file that starts with these bytes, after any blanks, is an alignment other than FASTA."""
    if begin.startswith((*CLUSTALS, *BY_BIOPYTHON)) or _is_nexus(begin) or _PHYLIP.match(begin) is not None:
        return True
    return begin[:1] not in (b">", b"@") and is_selex(begin.splitlines())


def _is_nexus(begin: bytes) -> bool:
    return begin.lstrip()[: len(NEXUS)].upper() == NEXUS


def read_alignment(path: Source) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
    """Read names and letters (uint8, shape (n_rows, n_columns), case kept) of an alignment file.

    The file may be compressed. Its first line decides the format. PHYLIP names are strict (10 characters) or
    relaxed (up to the first blank) and rows sequential or interleaved, whichever gives each row the promised
    number of columns. FASTA rows of one length except for lower-case letters are A3M: these insertions get columns
    of their own, left-aligned, in upper case. Raises InputError if this is not an alignment, rows differ in length or
    share a name; warns of names that are not UTF-8.
    """
    names, letters, _ = read_described(path)
    return names, letters


def read_described(path: Source) -> tuple[tuple[str, ...], NDArray[np.uint8], tuple[str, ...]]:
    """Read names, letters, and the text after each name (FASTA headers, Stockholm's DE), or ""."""
    rows = _read(path)
    return (*rows.finish(), tuple(rows.names.values()))


def annotation_of(path: Source) -> tuple[tuple[str, ...], NDArray[np.uint8], tuple[str, ...], tuple[str, ...]]:
    """Like `read_described`, with the kinds of Stockholm annotation that it omits, such as ``#=GC SS_cons``."""
    rows = _read(path)
    return (*rows.finish(), tuple(rows.names.values()), tuple(rows.annotation))


def _read(path: Source) -> _Rows:
    file = file_name(path)
    numbered = enumerate(read_lines(path), 1)
    # `read_lines` rejects a file without a letter.
    first = next((number, line) for number, line in numbered if line.strip())
    lines = chain([first], ((number, line) for number, line in numbered if line.strip()))
    if is_pir(first[1]):
        raise InputError("PIR alignments are not supported: convert the file to FASTA", file=file, line=first[0])
    rows = _Rows(file, may_be_a3m=first[1].startswith(b">"))
    if first[1].startswith(b">"):
        for number, line in lines:
            if line.startswith(b">"):
                words = line[1:].split(None, 1)
                if not words:
                    what = "the header has no name: write one directly after '>'"
                    raise InputError(what, file=file, line=number)
                rows.begin(words[0], number, rows.text(words[1].strip()) if len(words) > 1 else "")
            elif line.startswith(b";"):
                what = "lines that begin with ; are comments of old FASTA files: remove them"
                raise InputError(what, file=file, line=number)
            else:
                rows.letters += b"".join(line.split())
    elif first[1].startswith(CLUSTALS):
        _read_clustal(lines, rows)
    elif _is_nexus(first[1]):
        text = b"\n".join(chain([b"\n" * (first[0] - 1) + first[1]], (line for _, line in numbered)))
        _add_rows(rows_of_nexus(text, file), rows)
    elif found := [name for begin, name in BY_BIOPYTHON.items() if first[1].startswith(begin)]:
        _read_by_biopython(chain([first[1]], (line for _, line in numbered)), rows, found[0], first[0])
    elif _PHYLIP.match(first[1].lstrip() + b"\n"):
        _read_phylip(lines, rows)
    else:  # SELEX and PSI-BLAST have no signature
        unsigned = [first, *numbered]
        if is_selex(line for _, line in unsigned):
            found_rows, annotation = rows_of_selex(unsigned, file)
            rows.annotation = dict.fromkeys(annotation)
            _add_rows(found_rows, rows)
        else:
            _read_phylip(iter(unsigned), rows)
    return rows


class _Rows:
    """Rows of an alignment, in one block of memory."""

    def __init__(self, file: str, may_be_a3m: bool = False) -> None:
        self.file, self._may_be_a3m = file, may_be_a3m
        self.names: dict[str, str] = {}  # name -> text after it
        self.letters = bytearray()
        self.annotation: dict[str, None] = {}
        self.width: int | None = None
        self._ends = [0]
        self._is_called_a3m = any(suffix in file.lower() for suffix in (".a2m", ".a3m"))
        self._n_matches = -1  # match columns of the first row, if A3M
        self._is_a3m = False
        self._is_utf8 = True

    def text(self, data: bytes) -> str:
        """Decode a name or description from the file."""
        found = decoded(data)
        self._is_utf8 = self._is_utf8 and found.encode() == data
        return found

    def begin(self, name: bytes, line: int | None = None, description: str = "") -> None:
        """Start a new row. Raises InputError if the previous row has another length, or if the name is taken."""
        self._end()
        text = self.text(name)
        if text in self.names:
            raise two_rows(text, self.file, line)
        self.names[text] = description

    def _end(self) -> None:
        if not self.names:
            return
        size = len(self.letters) - self._ends[-1]
        self._ends.append(len(self.letters))
        self.width = size if self.width is None else self.width
        if size != self.width and self._may_be_a3m:  # does it have as many match columns (A3M) as the first row?
            if self._n_matches < 0:
                self._n_matches = int(_is_match(self._row(0)).sum())
            # Unaligned sequences that are masked in lower case may have equally many capitals, but no gaps.
            says_so = b"-" in self.letters or self._is_called_a3m
            self._is_a3m = says_so and self._n_matches == int(_is_match(self._row(len(self._ends) - 2)).sum())
        if size != self.width and not self._is_a3m:
            raise UnequalRowsError(
                f"{size} characters, but {self.width} expected: all rows of an alignment must have the same length",
                file=self.file,
                record=list(self.names)[-1],
            )

    def _row(self, k: int) -> NDArray[np.uint8]:
        return np.frombuffer(self.letters[self._ends[k] : self._ends[k + 1]], np.uint8)

    def finish(self) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
        """Check the last row; return names and letters."""
        self._end()
        if not self.width:
            raise InputError("the alignment has no columns", file=self.file)
        if not self._is_utf8:
            tell_of_latin_1(self.file)
        if self._is_a3m or (self._may_be_a3m and self._is_called_a3m):
            rows = [self._row(k) for k in range(len(self.names))]
            # In a file named as A3M, rows of the same length may have insertions in different columns.
            if self._is_a3m or len({int(_is_match(row).sum()) for row in rows}) == 1:
                return tuple(self.names), _unfolded(rows)
        return tuple(self.names), np.frombuffer(self.letters, np.uint8).reshape(len(self.names), self.width)


def _is_match(row: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which letters of an A3M row are in match columns: all except lower-case letters and ``.``."""
    is_match: NDArray[np.bool_] = ~(((row >= ord("a")) & (row <= ord("z"))) | (row == ord(".")))
    return is_match


def _unfolded(rows: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return A3M rows with a column for each inserted letter.

    Each insertion point gets as many columns as the row with the most letters there:

        MKvV     MKV-V
        MKagV    MKAGV
        MK-      MK---
    """
    matches = [_is_match(row) for row in rows]
    before = [np.cumsum(is_match) for is_match in matches]  # match columns up to each letter
    n_matches = int(matches[0].sum())
    inserted = np.zeros(n_matches + 1, np.int64)
    for row, is_match, place in zip(rows, matches, before, strict=True):
        np.maximum(inserted, np.bincount(place[~is_match & (row != ord("."))], minlength=n_matches + 1), out=inserted)
    # An insertion starts after the match columns and the insertions before it.
    begins = np.arange(n_matches + 1) + np.cumsum(inserted) - inserted
    found = np.full((len(rows), n_matches + int(inserted.sum())), ord("-"), np.uint8)
    for made, row, is_match, place in zip(found, rows, matches, before, strict=True):
        made[begins[1:] - 1] = row[is_match]
        is_inserted = ~is_match & (row != ord("."))
        places = place[is_inserted]
        first = np.searchsorted(places, places, "left")  # first letter of each insertion
        made[begins[places] + np.arange(len(places)) - first] = row[is_inserted] - (ord("a") - ord("A"))
    return found


def _read_phylip(lines: Iterator[tuple[int, bytes]], rows: _Rows) -> None:
    number, head = next(lines)
    words = head.split()
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()):
        raise InputError(
            mistaken(head, "an alignment")
            or "this is not an alignment: FASTA begins with '>', PHYLIP with two numbers, Stockholm with '# "
            "STOCKHOLM', Clustal with 'CLUSTAL', NEXUS with '#NEXUS', MSF with '!!' or 'PileUp', and SELEX and "
            "PSI-BLAST have lines of a name and residues",
            file=rows.file,
            line=number,
        )
    if not HEADER.fullmatch(head):
        raise InputError(
            "the first line of PHYLIP may contain only the numbers of rows and columns and optionally I or S "
            "(interleaved, sequential): remove everything else, and any lines of weights or categories",
            file=rows.file,
            line=number,
        )
    if max(map(len, words[:2])) > MOST_DIGITS or not int(words[0]) or not int(words[1]):
        raise InputError(
            "the numbers of rows and columns in the first line of PHYLIP are 0 or too large: correct them, or give an "
            "alignment",
            file=rows.file,
            line=number,
        )
    rows.width = int(words[1])
    _add_rows(rows_of_phylip(lines, int(words[0]), rows.width, rows.file), rows)


def _add_rows(found: Iterable[Row], rows: _Rows) -> None:
    for number, name, pieces in found:
        rows.begin(name, number)
        rows.letters += b"".join(b"".join(pieces).split())


def _read_clustal(lines: Iterator[tuple[int, bytes]], rows: _Rows) -> None:
    next(lines)
    pieces: dict[bytes, list[bytes]] = {}
    for number, line in lines:
        if line[:1].isspace():  # conservation marks
            continue
        if line.startswith(b"CLUSTAL ") and len(line.split()) > 3:
            what = "a second alignment begins here, but only one is read: split the file"
            raise InputError(what, file=rows.file, line=number)
        words = line.split()  # a name, letters, and optionally the number of residues so far
        if len(words) not in (2, 3) or (len(words) == 3 and not words[2].isdigit()):
            raise InputError(
                "this is not a valid Clustal alignment: each line must contain a name and residues",
                file=rows.file,
                line=number,
            )
        pieces.setdefault(words[0], []).append(words[1])
    for name, letters in pieces.items():
        rows.begin(name)
        rows.letters += b"".join(letters)


def _read_by_biopython(lines: Iterable[bytes], rows: _Rows, name: str, first: int) -> None:
    lines = list(lines)
    if name == "stockholm":
        marks = (_ANNOTATION.match(line) for line in lines)
        found = {rows.text(b"#=%b %b" % (mark[1] or mark[2], mark[3])): None for mark in marks if mark is not None}
        # Descriptions are kept; comments of our own only say how the file was made.
        ours = {"#=GF CC"} if any(line.startswith(b"#=GF CC tropalign") for line in lines) else set()
        rows.annotation = {mark: None for mark in sorted(found) if mark != "#=GS DE" and mark not in ours}
    for row in biopython_rows(lines, name, rows.file, first):
        is_described = name == "stockholm" and row.description not in (row.id, row.name)
        description = rows.text(_bytes(row.description)) if is_described else ""
        rows.begin(_bytes(row.id), None, description)
        rows.letters += _bytes(row.seq)


def biopython_rows(lines: Iterable[bytes], name: str, file: str, first: int = 1) -> MultipleSeqAlignment:
    """Return the only alignment of a file as Biopython reads it, with surrogates for text that is not ASCII.

    `first`: number of the first line. Raises InputError for no or several alignments, and Stockholm without its
    last line.
    """
    from Bio import AlignIO

    if name == "stockholm":
        lines = list(lines)
        check_stockholm(enumerate(lines, first), file)
        # Drop annotation lines without a text, which Biopython does not read.
        lines = [line for line in lines if len(line.split()) >= {b"#=GF": 3, b"#=GS": 4}.get(line[:4], 0)]
    # Non-ASCII bytes must not look like blanks to Python, as some of Unicode's letters do when read as Latin-1.
    text = "".join(line.decode("ascii", "surrogateescape") + "\n" for line in lines)
    try:
        found = list(islice(AlignIO.parse(io.StringIO(text), name), 2))
    except Exception as error:  # Biopython's parser fails with ValueError, AssertionError, TypeError and others
        what = shown(" ".join(str(error).split()).rstrip(".")) or "a line violates the format"
        title = "MSF" if name == "msf" else name.capitalize()
        raise InputError(f"this is not a valid {title} alignment ({what})", file=file) from None
    if len(found) != 1:
        what = "several alignments, but only one is read: split it" if found else "no alignment: fetch it again"
        raise InputError(f"the file contains {what}", file=file)
    return found[0]


def check_stockholm(lines: Iterable[tuple[int, bytes]], file: str) -> None:
    """Raise InputError, with the line, if an alignment of a Stockholm file is not whole or its rows are unequal.

    Parsers tell this in words of their own or, of an alignment without an end before another one, not at all.
    """
    begun = 0  # line number of the open alignment's header, or 0
    rows: dict[bytes, tuple[int, int]] = {}  # length, and the last line
    marks: dict[tuple[bytes, ...], tuple[int, int]] = {}  # the same for #=GR and #=GC
    of_block: set[bytes] = set()
    twice: tuple[bytes, int] | None = None
    number = 0
    for number, text in lines:
        line = text.strip()
        if line.startswith(STOCKHOLM):
            if begun:
                what = f"an alignment begins here, but the one from line {begun} has no final line //"
                raise InputError(f"{what}: add it, or fetch the file again", file=file, line=number)
            begun = number
        elif line.startswith(b"//"):
            _check_rows(rows, marks, twice, file)
            begun, rows, marks, of_block, twice = 0, {}, {}, set(), None
        elif not line:
            of_block.clear()
        elif line.startswith((b"#=GR", b"#=GC")):
            words = line.split()
            n = 3 if words[0] == b"#=GR" else 2
            if len(words) <= n:
                what = f"a {line[:4].decode()} line must contain {'a name, ' * (n - 2)}a feature and its annotation"
                raise InputError(f"{what}: correct the line", file=file, line=number)
            size, _ = marks.get((*words[:n],), (0, 0))
            marks[(*words[:n],)] = size + sum(map(len, words[n:])), number
        elif not line.startswith(b"#"):
            words = line.split()
            if len(words) < 2:
                what = "a Stockholm line must contain a name and residues"
                raise InputError(f"{what}: correct the line", file=file, line=number, record=decoded(words[0]))
            size, _ = rows.get(words[0], (0, 0))
            rows[words[0]] = size + sum(map(len, words[1:])), number
            twice = twice or ((words[0], number) if words[0] in of_block else None)
            of_block.add(words[0])
    if begun or rows:
        raise InputError(
            "this is not a valid Stockholm alignment (the last line is not //, so the file may be truncated): fetch "
            "it again, or add the line",
            file=file,
            line=number,
        )


def _check_rows(
    rows: dict[bytes, tuple[int, int]],
    marks: dict[tuple[bytes, ...], tuple[int, int]],
    twice: tuple[bytes, int] | None,
    file: str,
) -> None:
    sizes = [size for size, _ in rows.values()]
    if len(set(sizes)) < 2:
        for words, (size, number) in marks.items():
            if sizes and size != sizes[0]:
                mark = shown(decoded(b" ".join(words)))
                what = f"{mark} has {counted(size, 'letters')}, but the rows have {sizes[0]}"
                raise InputError(f"{what}: correct the line", file=file, line=number)
        return
    if twice is not None:
        raise two_rows(decoded(twice[0]), file, twice[1])
    name, (size, number) = next((name, row) for name, row in rows.items() if row[0] != sizes[0])
    raise UnequalRowsError(
        f"{size} characters, but {sizes[0]} expected: all rows of an alignment must have the same length",
        file=file,
        record=decoded(name),
        line=number,
    )


def two_rows(name: str, file: str, line: int | None) -> InputError:
    """Return the error for a name used twice."""
    return InputError("two rows have the same name: give each its own", file=file, record=name, line=line)


def _bytes(text: object) -> bytes:
    """Return the original bytes of a text that Biopython read."""
    return str(text).encode("ascii", "surrogateescape")
