"""Flat files of UniProt, EMBL and GenBank, converted to FASTA while they are read.

    ID   7LESS_DROME    Reviewed;   2554 AA.       LOCUS       SCU49845   5028 bp    DNA
    DE   RecName: Full=Protein sevenless;          DEFINITION  Saccharomyces cerevisiae TCP1-beta gene.
    ...                                            VERSION     U49845.1
    SQ   SEQUENCE   2554 AA;  287107 MW; ...       ORIGIN
         MTMFWQQNVD HQSDEQDKQA ...                         1 gatcctccat atacaacggt ...
    //                                             //

Names are those of the database's own FASTA files, as one word: UniProt's entry name, and the accession with
version of EMBL and GenBank. UniProt's first accession is kept in addition. Features, references and comments are
dropped.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Iterator
from string import ascii_letters

from tropalign.errors import InputError
from tropalign.sequences.files import BYTE_ORDER_MARK, Pieces

#: Start of the first record of a flat file.
BEGINS = (b"ID   ", b"LOCUS ")
#: The line before the residues, or the end of a record without any.
_LETTERS_OR_END = re.compile(rb"^(?:SQ   |ORIGIN|//)[^\n]*\n", re.MULTILINE)
#: Characters between residues.
_BETWEEN = b"0123456789 \t\r\n"
_LETTERS = ascii_letters.encode() + b"*-.?"
#: Other bytes become "?" for verbs that accept any byte.
_REPLACED = bytes(byte if byte in _LETTERS else ord("?") for byte in range(256))
#: Least number of bytes to read at a time: pieces of 1 MiB, which each record copies, took twice as long.
_PIECE_BYTES = 1 << 16


_ACCESSION = re.compile(rb"^AC   ([A-Za-z0-9_.]+)", re.MULTILINE)
#: Text in line 1 of GenBank's release files, which have a header before the first record.
RELEASE = b"Genetic Sequence Data Bank"
#: Start of a PIR (NBRF) record: a code of two characters and a semicolon.
_PIR = re.compile(rb">(?:P1|F1|D[LC]|R[LC]|N[13]|XX);")


def is_pir(begin: bytes) -> bool:
    """True if a file that starts with these bytes is in PIR format."""
    return _PIR.match(begin) is not None


class PirText(Pieces):
    """FASTA bytes made from PIR format.

    >P1;CRAB_ANAPL                      >CRAB_ANAPL ALPHA CRYSTALLIN B CHAIN
    ALPHA CRYSTALLIN B CHAIN     ->     MDITIHNPLI
    MDITIHNPLI*
    """

    def __init__(self, stream: io.BufferedReader, file: str) -> None:
        self._lines, self._file = enumerate(stream, 1), file
        super().__init__(self._fasta())

    def _fasta(self) -> Iterator[bytes]:
        for number, line in self._lines:
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if not line.startswith(b">"):  # blank, or text after the last record
                continue
            if not is_pir(line):
                what = "a PIR record must begin with '>', a code such as P1, and ';': write all records in one format"
                raise InputError(what, file=self._file, line=number)
            name = line.partition(b";")[2].strip()
            _, title = next(self._lines, (0, b""))
            yield b">" + name + b" " + title.strip() + b"\n"
            yield from self._letters(name)
            yield b"\n"

    def _letters(self, name: bytes) -> Iterator[bytes]:
        number: int | None
        for number, line in self._lines:  # noqa: B007 (named in the error)
            letters, end, _ = line.partition(b"*")
            if line.startswith(b">"):
                break
            yield b"".join(letters.split())
            if end:
                return
        else:
            number = None
        raise InputError(
            "the sequence of a PIR record must end with '*': add it, or fetch the file again",
            file=self._file,
            record=name.decode("utf-8", "replace"),
            line=number,
        )


class FlatFileText(Pieces):
    """FASTA bytes made from a flat file: one line per header, and one per sequence.

    `stream` starts at the first record, except for blanks. `replaces_bytes`: read non-residues as ``?`` instead of
    raising an InputError.
    """

    def __init__(self, stream: io.BufferedReader, file: str, replaces_bytes: bool) -> None:
        self._stream, self._file, self._replaces_bytes = stream, file, replaces_bytes
        self._data = b""  # starts at the start of a line
        self._name = ""
        self._accessions = deque[str]()
        super().__init__(self._fasta())

    def next_accessions(self, n: int) -> tuple[str, ...]:
        """Return the first accessions of the next n records, "" for records without an AC line."""
        return tuple(self._accessions.popleft() for _ in range(n))

    def _more(self) -> bool:
        """Read more bytes; False at the end of the file. The last line gets an end if it has none."""
        data = self._stream.read(max(_PIECE_BYTES, len(self._data)))  # doubles, for long heads
        if not data and self._data and not self._data.endswith(b"\n"):
            data = b"\n"
        self._data += data
        return bool(data)

    def _fasta(self) -> Iterator[bytes]:
        while head := self._head():
            # UniProt's primary accession, which HMMER's tables show; "" if the name is an accession already.
            is_bare = head.startswith(b"LOCUS") or b"; SV " in head.partition(b"\n")[0]
            found = None if is_bare else _ACCESSION.search(head)
            self._accessions.append("" if found is None else found[1].decode("ascii"))
            yield b">" + _header(head) + b"\n"
            if not head.rstrip().endswith(b"\n//"):
                yield from self._letters()
            yield b"\n"

    def _head(self) -> bytes:
        """Read the lines of a record before its residues; b"" after the last record."""
        searched = 0
        while not (found := _LETTERS_OR_END.search(self._data, searched)):
            searched = self._data.rfind(b"\n") + 1
            if not self._more():
                if self._data.strip():
                    raise InputError(
                        "the file ends before the sequence of its last record: fetch it again", file=self._file
                    )
                return b""
        head, self._data = self._data[: found.end()].removeprefix(BYTE_ORDER_MARK).lstrip(), self._data[found.end() :]
        if RELEASE in head[: head.find(b"\n")]:
            head = head[head.find(b"\nLOCUS ") + 1 :]
        if not head.startswith(BEGINS):
            line = head.partition(b"\n")[0][:40].decode("latin-1").strip()
            what = f"a record must begin with 'ID' or 'LOCUS', not {line!r}: correct the record"
            raise InputError(what, file=self._file, record=f"after {self._name}")
        self._name = _header(head).partition(b" ")[0].decode("utf-8", "replace")
        return head

    def _letters(self) -> Iterator[bytes]:
        """Yield the residues of a sequence; consume its record to the end."""
        while True:
            end = 0 if self._data.startswith(b"//") else self._data.find(b"\n//") + 1
            is_end = self._data.startswith(b"//", end)
            taken = end if is_end else self._data.rfind(b"\n") + 1
            yield self._checked(self._data[:taken].translate(None, _BETWEEN))
            self._data = self._data[taken:]
            if is_end:
                while b"\n" not in self._data and self._more():
                    pass
                self._data = self._data.partition(b"\n")[2]
                return
            if not self._more():
                raise InputError(
                    "the file ends within this record, which must end with '//': fetch it again",
                    file=self._file,
                    record=self._name,
                )

    def _checked(self, letters: bytes) -> bytes:
        odd = letters.translate(None, _LETTERS)
        if odd and not self._replaces_bytes:
            shown = repr(chr(odd[0])) if odd[0] < 127 else "a non-ASCII byte"
            raise InputError(f"{shown} in the sequence: correct the record", file=self._file, record=self._name)
        return letters.translate(_REPLACED) if odd else letters


def _header(head: bytes) -> bytes:
    """Return name and description of a record.

    EMBL and UniProt: the first word of the ID line, with EMBL's version, and the DE lines. GenBank: the first word of
    VERSION, else of LOCUS, and the DEFINITION.
    """
    lines = head.splitlines()
    if not head.startswith(b"LOCUS"):
        words = lines[0][5:].split()
        name = words[0].rstrip(b";") if words else b""
        if words[1:2] == [b"SV"] and len(words) > 2:
            name += b"." + words[2].rstrip(b";")
        return b" ".join([name, *b" ".join(line[5:] for line in lines if line.startswith(b"DE   ")).split()])
    fields, field = {b"LOCUS": b"", b"DEFINITION": b"", b"VERSION": b""}, b""
    for line in lines:
        if not line.startswith(b" " * 10):
            field = line.split(b" ", 1)[0]
        if field in fields:
            fields[field] += b" " + line[12:]
    names = [*fields[b"VERSION"].split()[:1], *fields[b"LOCUS"].split()[:1], b""]
    description = b" ".join(fields[b"DEFINITION"].split()).removesuffix(b".")  # the format ends it with a full stop
    return names[0] + b" " + description
