"""FASTA and FASTQ from files, compressed or not, and from standard input."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
    alphabet
        Judged by the letters when not given.
    skip_empty
        Leaves empty sequences out instead of raising.
    strict
        Raises on letters outside the alphabet instead of reading them as the wildcard with a warning.

    Raises
    ------
    InputError
        A file that cannot be read or is neither FASTA nor FASTQ, that holds no sequence, an empty sequence,
        duplicate names; with ``strict`` an unknown letter.
    """
    sources = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names: list[str] = []
    descriptions: list[str] = []
    texts: list[str] = []
    origins: list[str] = []
    for source in sources:
        file = "standard input" if str(source) == "-" else str(source)
        before = len(texts)
        for header, text in _records(source, file):
            name, _, description = header.partition(" ") if "\t" not in header else _split(header)
            if not text:
                if skip_empty:
                    continue
                raise InputError(
                    "the sequence is empty: remove the record or use --skip-empty",
                    file=file,
                    record=name or f"number {len(texts) - before + 1}",
                )
            names.append(name)
            descriptions.append(description)
            texts.append(text)
            origins.append(file)
        if len(texts) == before:
            raise InputError("the file holds no sequence", file=file)
    _check_names(names, origins)
    return _encode(names, descriptions, texts, origins, alphabet, strict)


def _split(header: str) -> tuple[str, str, str]:
    name, *rest = header.split(None, 1)
    return name, " ", rest[0] if rest else ""


def _records(source: Source, file: str) -> list[tuple[str, str]]:
    import dnaio
    import xopen

    stream: Any
    try:
        if str(source) == "-":
            stream = xopen.xopen(sys.stdin.buffer, "rb")
        else:
            path = Path(source)
            if path.is_dir():
                raise InputError("this is a directory: name the files in it", file=file)
            if path.stat().st_size == 0:
                raise InputError("the file is empty", file=file)
            stream = xopen.xopen(path, "rb", threads=0)
        with stream:
            data = stream.read()
        if not data.strip():
            raise InputError("the file is empty", file=file)
        if data[:1] not in (b">", b"@", b";"):
            raise InputError("this is neither FASTA nor FASTQ: a record begins with '>' or '@'", file=file, line=1)
        with dnaio.open(io.BytesIO(data), mode="r", open_threads=0) as records:
            return [(record.name, record.sequence) for record in records]
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError("there is no such file", file=file) from None
    except PermissionError:
        raise InputError("no permission to read this file", file=file) from None
    except EOFError:
        raise InputError("the compressed file is truncated: fetch or write it again", file=file) from None
    except dnaio.exceptions.FileFormatError as error:
        line = None if error.line is None else error.line + 1
        raise InputError(f"{str(error.message).rstrip('.')}: mend the record", file=file, line=line) from None
    except UnicodeDecodeError:
        raise InputError("this is no text: neither FASTA nor FASTQ", file=file) from None
    except Exception as error:
        text = str(error) or type(error).__name__
        if "end-of-stream" in text or "truncated" in text.lower() or "unexpected end" in text.lower():
            raise InputError("the compressed file is truncated: fetch or write it again", file=file) from None
        raise InputError(f"the file cannot be read ({text})", file=file) from None


def _check_names(names: list[str], origins: list[str]) -> None:
    first: dict[str, int] = {}
    for k, name in enumerate(names):
        if name in first:
            raise InputError(
                f"records {first[name] + 1} and {k + 1} have the same name: give each record its own",
                file=origins[k],
                record=name,
            )
        first[name] = k


def _encode(
    names: list[str],
    descriptions: list[str],
    texts: list[str],
    origins: list[str],
    alphabet: Alphabet | None,
    strict: bool,
) -> SequenceBatch:
    letters = np.frombuffer("".join(texts).encode("latin-1", "replace"), np.uint8)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    judged = judge_alphabet(letters)
    if alphabet is None:
        alphabet = judged
    elif alphabet is not judged and (alphabet is NUCLEOTIDE or judged is NUCLEOTIDE):
        warnings.warn(
            f"{origins[0]}: read as {alphabet.name} as asked, but judged by its letters it is {judged.name}",
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
        if strict:
            raise InputError(f"{found}: mend them or leave --strict out", file=origins[k], record=names[k])
        warnings.warn(
            f"{origins[k]}, record {names[k]!r}: {found}; read as {alphabet.wildcard}", TropalignWarning, stacklevel=3
        )
    return SequenceBatch(codes, offsets, tuple(names), alphabet, letters, tuple(descriptions))
