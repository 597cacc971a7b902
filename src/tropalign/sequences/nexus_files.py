"""Alignments in NEXUS files: the matrix of a block DATA or CHARACTERS (Maddison, Swofford and Maddison 1997).

    #NEXUS [written by a program [with a nested comment]]
    begin data;
      dimensions ntax=2 nchar=8;
      format datatype=dna missing=? gap=- matchchar=. interleave;
      matrix
        mouse       ACGT
        'house cat' ..-.

        mouse       AC{AG}T
        'house cat' ...?
      ;
    end;

Underscores in names are kept, as most programs do, although in the paper they stand for blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tropalign.errors import InputError, shown
from tropalign.sequences.alphabet import NUCLEOTIDE
from tropalign.sequences.phylip_files import MOST_DIGITS, Row, UnequalRowsError
from tropalign.sequences.texts import decoded

#: The first word of a NEXUS file, in upper or lower case.
BEGIN = b"#NEXUS"
#: Data types with letters for ambiguous states; and all data types of residues.
NUCLEOTIDES = ("dna", "rna", "nucleotide")
DATATYPES = ("", "protein", *NUCLEOTIDES)
#: Longest statement in bytes, except for the matrix.
MOST_BYTES = 1 << 16
#: Words of FORMAT that change the meaning of the matrix in unsupported ways.
UNSUPPORTED = ("transpose", "tokens", "equate", "nolabels", "statesformat")
_BEGIN = re.compile(rb"\bbegin\s+(\w+)\s*;", re.IGNORECASE)
_OUTSIDE = re.compile(rb"\[|'(?:[^'\n]++|'')*+'")
_INSIDE = re.compile(rb"[\[\]]")
_STATEMENT = re.compile(rb"(?:[^;']++|'(?:[^'\n]++|'')*+')*+;")
#: A quoted word, a set of states, or text between these and blanks.
_TOKEN = re.compile(rb"'(?:[^'\n]++|'')*+'|\{[^}]*\}|\([^)]*\)|[^\s'{(]+")
_FLAG = re.compile(r"([a-z]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|\([^)]*\)|[^\s=]+))?")
#: IUPAC's letter for each set of nucleotides.
_SETS = {
    frozenset(states): letter
    for letter, states in {**NUCLEOTIDE.ambiguous, **{one: one for one in "ACGT"}, "N": "ACGT"}.items()
    if letter != "U"
}
_RESIDUES = re.compile(rb"[A-Za-z*?.~_-]*")


@dataclass
class _Format:
    """The format of the matrix, from the statements before it."""

    n_rows: int | None = None
    width: int | None = None
    flags: dict[str, str] = field(default_factory=dict)

    def mark(self, name: str) -> bytes | None:
        """Return the character for `name` (gap, missing data, or a match with the first row), or None."""
        found = self.flags.get(name, "").strip("'\"").encode()
        return found if len(found) == 1 else None


def holds_only_alignment(lines: Iterable[bytes]) -> bool:
    """True if a NEXUS file has a block of sequences and no block of trees."""
    blocks = {match[1].lower() for line in lines for match in _BEGIN.finditer(line)}
    return b"trees" not in blocks and not blocks.isdisjoint((b"data", b"characters"))


def rows_of_nexus(data: bytes, file: str) -> Iterator[Row]:
    """Return the rows of the only alignment in a NEXUS file.

    Gaps become ``-`` and missing data ``?``; match characters become the first row's residue, and sets of
    nucleotides their IUPAC letter. Raises InputError for damaged files, zero or several alignments, and other data
    than residues.
    """
    found: Iterator[Row] | None = None
    block, said = "", _Format()
    for line, statement in _statements(_without_comments(data, file), file):
        words = decoded(statement[:MOST_BYTES]).lower().split()
        verb = words[0] if words else ""
        if verb == "begin":
            block = words[1] if len(words) > 1 else ""
        elif verb == "dimensions" and block in ("taxa", "data", "characters"):
            for name, value in _FLAG.findall(" ".join(words[1:])):
                if name not in ("ntax", "nchar"):
                    continue
                if not value.isdecimal() or len(value) > MOST_DIGITS:
                    raise InputError(f"{name} must be a number, not {shown(repr(value))}", file=file, line=line)
                if name == "ntax":
                    said.n_rows = int(value)
                else:
                    said.width = int(value)
        elif block not in ("data", "characters"):
            continue
        elif verb in ("format", "eliminate"):
            _set_format(said, verb, " ".join(words[1:]), file, line)
        elif verb == "matrix":
            if found is not None:
                raise InputError(
                    "a second alignment begins here, but only one is read: split the file", file=file, line=line
                )
            found = _rows(statement, line, said, file)
    if found is None:
        raise InputError("this NEXUS file contains no alignment (a MATRIX in a block DATA or CHARACTERS)", file=file)
    return found


def _without_comments(data: bytes, file: str) -> bytes:
    """Remove comments, but keep their line breaks."""
    pieces: list[bytes] = []
    at = 0
    while (match := _OUTSIDE.search(data, at)) is not None:
        if match[0] != b"[":
            pieces.append(data[at : match.end()])
            at = match.end()
            continue
        pieces.append(data[at : match.start()])
        depth, begin = 1, match.start()
        at = match.end()
        while depth:
            sign = _INSIDE.search(data, at)
            if sign is None:
                line = data.count(b"\n", 0, begin) + 1
                raise InputError("a comment begins here and does not end: add a ]", file=file, line=line)
            depth += 1 if sign[0] == b"[" else -1
            at = sign.end()
        pieces.append(b"\n" * data.count(b"\n", begin, at))
    return b"".join([*pieces, data[at:]])


def _statements(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    """Yield each statement up to its semicolon, with the number of its first line."""
    at, line = data.upper().index(BEGIN) + len(BEGIN), 1
    while (match := _STATEMENT.match(data, at)) is not None:
        text = match[0][:-1]
        begin = len(text) - len(text.lstrip())
        yield line + text.count(b"\n", 0, begin), text[begin:]
        line += match[0].count(b"\n")
        at = match.end()
    rest = data[at:]
    if rest.strip():
        begin = line + rest.count(b"\n", 0, len(rest) - len(rest.lstrip()))
        raise InputError(
            "this statement lacks its semicolon or a closing quote: the file may be truncated",
            file=file,
            line=begin,
        )


def _set_format(said: _Format, verb: str, text: str, file: str, line: int) -> None:
    flags = {"eliminate": ""} if verb == "eliminate" else dict(_FLAG.findall(text))
    unsupported = next((name for name in (*UNSUPPORTED, "eliminate") if name in flags), None)
    if flags.get("labels") in ("no", "right") or unsupported:
        name = (unsupported or "labels").upper()
        what = f"matrices with {name} are not supported: export the alignment without it, or as FASTA"
        raise InputError(what, file=file, line=line)
    kind = flags.get("datatype", "")
    if kind not in DATATYPES:
        what = (
            f"the matrix contains data of type {shown(kind)}, but residues are required (dna, rna, nucleotide, protein)"
        )
        raise InputError(f"{what}: give an alignment of sequences", file=file, line=line)
    said.flags.update(flags)


def _rows(statement: bytes, line: int, said: _Format, file: str) -> Iterator[Row]:
    """Yield the rows of a matrix, with gaps and missing data in their usual characters."""
    body = statement[len(b"matrix") :]
    is_interleaved = said.flags.get("interleave", "no") != "no"
    found = (_interleaved if is_interleaved else _sequential)(body, line, said, file)
    if said.n_rows is not None and len(found) != said.n_rows:
        what = f"ntax is {said.n_rows}, but there are {len(found)} rows"
        raise InputError(f"{what}: the file may be truncated, or its dimensions wrong", file=file, line=line)
    gap, missing, same = (said.mark(name) for name in ("gap", "missing", "matchchar"))
    first = b""
    for number, name, (letters,) in found:
        width = len(first or letters) if said.width is None else said.width
        if len(letters) != width:
            raise UnequalRowsError(
                f"{len(letters)} characters, but {width} expected: all rows of an alignment must have the same length",
                file=file,
                record=decoded(name),
                line=number,
            )
        if same is not None and first:
            letters = bytes(top if own == same[0] else own for top, own in zip(first, letters, strict=True))
        first = first or letters
        for mark, usual in (gap, b"-"), (missing, b"?"):
            if mark is not None and not mark.isalnum() and mark != b"-":
                letters = letters.replace(mark, usual)
        if not _RESIDUES.fullmatch(letters):
            odd = next(byte for byte in letters if not _RESIDUES.fullmatch(bytes([byte])))
            what = f"{chr(odd)!r} is not a residue: remove it, or write the name in single quotes if it is part of one"
            raise InputError(what, file=file, record=decoded(name), line=number)
        yield Row(number, name, [letters])


def _interleaved(body: bytes, line: int, said: _Format, file: str) -> list[Row]:
    """Return the rows; every line starts with the name, in which blanks may be written as underscores."""
    rows: dict[bytes, Row] = {}
    for number, text in enumerate(body.split(b"\n"), line):
        tokens = _TOKEN.findall(text)
        if tokens:
            name = _unquoted(tokens[0])
            row = rows.setdefault(name.replace(b" ", b"_"), Row(number, name, []))
            row.pieces.extend(_letters(token, said, file, number) for token in tokens[1:])
    return [Row(row.line, row.name, [b"".join(row.pieces)]) for row in rows.values()]


def _sequential(body: bytes, line: int, said: _Format, file: str) -> list[Row]:
    """Return the rows; a row ends when it has as many residues as the dimensions state."""
    if not said.width:
        raise InputError("the dimensions of the matrix lack nchar: add it", file=file, line=line)
    rows: list[Row] = []
    size = said.width
    at = 0
    for match in _TOKEN.finditer(body):
        line += body.count(b"\n", at, match.start())
        at = match.start()
        if size >= said.width:
            rows.append(Row(line, match[0], []))
            size = 0
        else:
            rows[-1].pieces.append(_letters(match[0], said, file, line))
            size += len(rows[-1].pieces[-1])
    return [Row(row.line, _unquoted(row.name), [b"".join(row.pieces)]) for row in rows]


def _letters(token: bytes, said: _Format, file: str, line: int) -> bytes:
    """Return the residues of a token; a set of nucleotides becomes one IUPAC letter."""
    if not token.startswith((b"{", b"(")):
        return token
    states = decoded(token[1:-1]).upper().replace("U", "T")
    letter = _SETS.get(frozenset(states) - {" ", ","})
    if letter is None or said.flags.get("datatype") not in NUCLEOTIDES:
        what = f"{shown(decoded(token))} is not a set of nucleotides: write one letter per residue"
        raise InputError(what, file=file, line=line)
    return letter.encode()


def _unquoted(name: bytes) -> bytes:
    return name[1:-1].replace(b"''", b"'") if name.startswith(b"'") else name
