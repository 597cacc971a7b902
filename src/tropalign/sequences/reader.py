"""FASTA and FASTQ from files, compressed or not, and from standard input."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tropalign.errors import InputError, TropalignWarning
from tropalign.sequences.alphabet import NUCLEOTIDE, Alphabet
from tropalign.sequences.batch import SequenceBatch, judge_alphabet

Source = str | os.PathLike[str]


def read_sequences(
    paths: Source | Iterable[Source],
    *,
    alphabet: Alphabet | None = None,
    skip_empty: bool = False,
    strict: bool = False,
) -> SequenceBatch:
    """Reads FASTA or FASTQ files (gzip, bzip2, xz or zstd by content; ``-`` is standard input) into one batch.

    Parameters
    ----------
    paths
        One file or several; their records follow one another, and no two may share a name.
    alphabet
        Judged by the letters of all files together when not given.
    skip_empty
        Leaves empty sequences out instead of raising.
    strict
        Raises on letters outside the alphabet instead of reading them as the wildcard with a warning.

    Returns
    -------
    SequenceBatch
        Records in input order. A name is the header up to the first blank; blanks inside a sequence are left out.

    Raises
    ------
    InputError
        A file that cannot be read or is neither FASTA nor FASTQ, that holds no sequence, a record without a name,
        an empty sequence, duplicate names; with ``strict`` an unknown letter.

    Warns
    -----
    TropalignWarning
        Letters outside the alphabet, counted, with the first one's place; an ``alphabet`` that the letters contradict.
    """
    sources = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not sources:
        raise InputError("no file was named: name one, or '-' for standard input")
    records: list[_Record] = []
    for source in sources:
        file = "standard input" if str(source) == "-" else str(source)
        found = _parse(_bytes(source, file), file)
        kept = [record for record in found if record.text] if skip_empty else found
        if not kept:
            raise InputError(
                "every sequence is empty: there is nothing to read" if found else "the file holds no sequence",
                file=file,
            )
        records += kept
    _check(records)
    return _encode(records, alphabet, strict)


def read_text(path: Source) -> str:
    """The text of a file, decompressed; "-" is standard input. Raises InputError as `read_sequences` does."""
    file = "standard input" if str(path) == "-" else str(path)
    text = _bytes(path, file).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Record(NamedTuple):
    name: str
    description: str
    text: str
    file: str
    number: int  # in its file, from 1


def read_lines(path: Source) -> Iterator[bytes]:
    """The lines of a file without their ends, decompressed as they are taken. Raises what `read_sequences` does."""
    file = "standard input" if str(path) == "-" else str(path)
    is_empty = True
    with opened(path, file) as stream:
        for line in stream:
            if is_empty:
                line = line.removeprefix(b"\xef\xbb\xbf")
            is_empty = is_empty and not line.strip()
            yield line.rstrip(b"\r\n")
    if is_empty:
        raise InputError("the file is empty", file=file)


def _bytes(source: Source, file: str) -> bytes:
    """The content of a file, decompressed."""
    with opened(source, file) as stream:
        data: bytes = stream.read()
    if not data.strip():
        raise InputError("the file is empty", file=file)
    return data


@contextmanager
def opened(source: Source, file: str) -> Iterator[Any]:
    """A file ("-": standard input) to be read, decompressed. Raises InputError on what goes wrong within the block."""
    import xopen

    stream: Any
    try:
        if str(source) == "-":
            stream = xopen.xopen(sys.stdin.buffer, "rb", threads=0)
        else:
            path = Path(source)
            if path.is_dir():
                raise InputError("this is a directory: name the files in it", file=file)
            stream = xopen.xopen(path, "rb", threads=0)
        with stream:
            yield stream
    except FileNotFoundError:
        raise InputError("there is no such file", file=file) from None
    except PermissionError:
        raise InputError("no permission to read this file", file=file) from None
    except EOFError:
        raise InputError("the compressed file is truncated: fetch or write it again", file=file) from None
    except InputError:
        raise
    except Exception as error:  # each decompressor has errors of its own
        text = str(error) or type(error).__name__
        if any(sign in text.lower() for sign in ("end-of-stream", "truncated", "unexpected end", "incomplete")):
            raise InputError("the compressed file is truncated: fetch or write it again", file=file) from None
        if isinstance(error, OSError) and error.errno is not None:
            raise InputError(f"the file cannot be read ({error.strerror})", file=file) from None
        raise InputError(f"the compressed file is damaged ({text}): fetch or write it again", file=file) from None


def _parse(data: bytes, file: str) -> list[_Record]:
    """The records of FASTA or FASTQ text; a byte order mark and blank lines may precede them."""
    import dnaio

    body = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    before = data[: len(data) - len(body)].count(b"\n")
    if body[:1] not in (b">", b"@"):
        raise InputError("this is neither FASTA nor FASTQ: a record begins with '>' or '@'", file=file, line=before + 1)
    for sign, what in ((b"\0", "a zero byte"), (None, "a byte outside ASCII")):
        if (at := body.find(sign) if sign else _first_beyond_ascii(body)) >= 0:
            line = before + body.count(b"\n", 0, at) + 1
            raise InputError(f"{what} in the text: write the file in plain ASCII letters", file=file, line=line)
    try:
        with dnaio.open(io.BytesIO(body), mode="r", open_threads=0) as parsed:
            found = [(record.name, record.sequence) for record in parsed]
    except dnaio.exceptions.FileFormatError as error:
        line_or_none = None if error.line is None else before + error.line + 1
        message = str(error.message).partition(". The incomplete")[0].rstrip(".")
        raise InputError(f"{message}: mend the record", file=file, line=line_or_none) from None
    records = []
    for number, (header, text) in enumerate(found, 1):
        name, _, description = header.partition("\t" if "\t" in header.partition(" ")[0] else " ")
        if " " in text or "\t" in text:
            text = "".join(text.split())
        records.append(_Record(name, description.strip(), text, file, number))
    return records


def _first_beyond_ascii(data: bytes) -> int:
    if data.isascii():
        return -1
    return int(np.argmax(np.frombuffer(data, np.uint8) >= 128))


def _check(records: list[_Record]) -> None:
    """Refuses records without a name or a sequence, and names that two records have."""
    first: dict[str, _Record] = {}
    for record in records:
        if not record.name:
            raise InputError(
                "the header holds no name: write one right after the '>' or '@'",
                file=record.file,
                record=f"number {record.number}",
            )
        if not record.text:
            raise InputError(
                "the sequence is empty: remove the record or use --skip-empty", file=record.file, record=record.name
            )
        other = first.setdefault(record.name, record)
        if other is not record:
            both = (
                f"records {other.number} and {record.number} have"
                if other.file == record.file
                else f"record {record.number}, and record {other.number} of {other.file}, have"
            )
            raise InputError(f"{both} the same name: give each record its own", file=record.file, record=record.name)


def _encode(records: list[_Record], alphabet: Alphabet | None, strict: bool) -> SequenceBatch:
    letters = np.frombuffer("".join([record.text for record in records]).encode("ascii"), np.uint8)
    offsets = np.zeros(len(records) + 1, np.int64)
    np.cumsum([len(record.text) for record in records], out=offsets[1:])
    judged = judge_alphabet(letters)
    if alphabet is None:
        alphabet = judged
    elif alphabet is not judged and (alphabet is NUCLEOTIDE or judged is NUCLEOTIDE):
        warnings.warn(
            f"{records[0].file}: read as {alphabet.name} as asked, but judged by its letters it is {judged.name}",
            TropalignWarning,
            stacklevel=3,
        )
    codes, unknown = alphabet.encode(letters)
    count = int(unknown.sum())
    if count:
        at = int(np.flatnonzero(unknown)[0])
        k = int(np.searchsorted(offsets, at, "right")) - 1
        found = (
            f"{count} letter{'s' * (count > 1)} outside the {alphabet.name} alphabet, the first "
            f"{chr(letters[at])!r} at position {at - int(offsets[k]) + 1}"
        )
        file, name = records[k].file, records[k].name
        if strict:
            raise InputError(f"{found}: mend them or leave --strict out", file=file, record=name)
        warnings.warn(f"{file}, record {name!r}: {found}; read as {alphabet.wildcard}", TropalignWarning, stacklevel=3)
    names = tuple(record.name for record in records)
    return SequenceBatch(codes, offsets, names, alphabet, letters, tuple(record.description for record in records))
