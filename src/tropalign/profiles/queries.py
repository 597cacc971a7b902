"""Queries of a search: models, alignments (a model of each, like hmmbuild), sequences (like phmmer)."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, UsageError, shown
from tropalign.formats.format import COMPRESSED
from tropalign.profiles.building import model_of_sequence, models_of_stockholm, refuse_nucleotides, stockholm_of
from tropalign.profiles.model_files import OLD_TEXT, TEXT, is_binary, models_of, pressed_alone
from tropalign.profiles.models import Model
from tropalign.profiles.options import QueryAlphabet, QueryKind
from tropalign.profiles.proteins import EASEL_CODES, UNKNOWN, Encoder, Proteins
from tropalign.sequences.aligned_files import STOCKHOLM, check_stockholm, is_alignment, read_alignment
from tropalign.sequences.blocks import TARGETS, ReadBlocks
from tropalign.sequences.files import Source, file_name, is_stream, mistaken, opened, with_line_ends
from tropalign.sequences.flat_files import BEGINS, is_pir
from tropalign.sequences.records import records_of_file

#: Bytes that are inspected to detect the contents of a file.
FIRST_BYTES = 1 << 12
A2M_MATCH = re.compile(rb"([A-Z-])")
#: File suffixes of formats in which lower-case letters are insertions.
A2M_SUFFIXES = (".a2m", ".a3m")


def read_queries(
    source: Source, kind: QueryKind = "auto", alphabet: QueryAlphabet = "auto", *, skip_foreign: bool = False
) -> Iterator[Model]:
    """Yield the queries of a file one by one, as models.

    Parameters
    ----------
    source
        A file's name ("-" is standard input) or an open file; compression is judged by content. Models are in
        HMMER's formats; alignments in Stockholm's (several in a file), FASTA, A2M, Clustal, PHYLIP or MSF;
        sequences in FASTA or FASTQ, each of them a query.
    kind : {"auto", "models", "alignment", "sequences"}
        Contents of the file. With "auto", FASTA records that contain gaps are an alignment, all others sequences.
    alphabet : {"auto", "protein"}
        "auto" rejects an alignment, and sequences, of more than ten letters that are all A, C, G, T, U or N, as
        nucleotides; "protein" accepts them. One such sequence among proteins is a protein.
    skip_foreign
        Leave out models of nucleotides, and count them in a warning, instead of raising an error.

    Yields
    ------
    Model
        In the order of the file.

    Raises
    ------
    InputError
        A file that cannot be read or has other contents; a query of nucleotides.
    UsageError
        An unknown kind or alphabet.

    Warns
    -----
    TropalignWarning
        A sequence without residues, which is not a query; models that are left out.

    Examples
    --------
    Families of a library by name:

    >>> models = tropalign.read_queries("tests/fuzz/corpus/models/3f.hmm")
    >>> [model.name for model in models if model.name.startswith("sm")]
    ['small']
    """
    return queries_in(source, kind, alphabet, skip_foreign=skip_foreign)


def queries_in(
    source: Source,
    kind: QueryKind = "auto",
    alphabet: QueryAlphabet = "auto",
    *,
    skip_foreign: bool = False,
    keeps_text: bool = True,
) -> Iterator[Model]:
    """Yield queries as `read_queries` does; `keeps_text` allows writing them."""
    if kind not in get_args(QueryKind):
        raise UsageError(f"{kind!r} is not a kind of queries: choose one of {', '.join(get_args(QueryKind))}")
    if alphabet not in get_args(QueryAlphabet):
        raise UsageError(
            f"queries of the alphabet {alphabet!r} are not supported: choose one of "
            f"{', '.join(get_args(QueryAlphabet))}"
        )
    are_proteins = alphabet == "protein"
    source = pressed_alone(source)
    file = file_name(source)
    stem, suffix = stem_and_suffix(source)
    with opened(source) as stream:
        begin = stream.peek(FIRST_BYTES).lstrip()
        held: str = kind
        if kind == "auto":
            held, stream = _judged(begin, stream, file)
        if kind == "models" and begin.startswith(b">"):
            raise InputError(
                "the file holds sequences instead of models: give the models first, then the sequences", file=file
            )
        if held == "models":
            yield from models_of(stream, file, skip_foreign, keeps_text)
        elif held == "sequences":
            encoder = Encoder(are_proteins)
            for block in ReadBlocks(stream, policy=TARGETS):
                if not are_proteins:  # among proteins, "GAGA" is glycine and alanine
                    refuse_nucleotides([EASEL_CODES[block.letters]], "a sequence", block.file, block.names[0])
                yield from _models_of_block(encoder.encode(block), block.file, keeps_text)
        else:
            data, names = stockholm_in(stream, begin, file, suffix)
            yield from models_of_stockholm(data, file, stem, are_proteins, names)


def stockholm_in(stream: io.BufferedReader, begin: bytes, file: str, suffix: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a file's alignments in Stockholm format, for HMMER's builder, and the row names that it lacks.

    `begin`: start of the file without leading blanks. `suffix`: of its name, to recognize A2M and A3M.
    """
    if begin.startswith(STOCKHOLM):
        data = with_line_ends(stream).read()
        check_stockholm(enumerate(data.removesuffix(b"\n").split(b"\n"), 1), file)
        return data, ()
    if begin.startswith(b">"):
        lines: list[str] = []
        texts: list[bytes] = []
        for records in records_of_file(stream):
            letters = records.letters.tobytes()
            lines += records.names
            texts += (letters[begin:end] for begin, end in pairwise(records.offsets.tolist()))
        names = tuple(lines)
        if len({len(text) for text in texts}) > 1 or suffix in A2M_SUFFIXES:
            rows, is_match = _rows_of_a2m(names, texts, file)
            return _stockholm(names, rows, is_match, file), names
        return _stockholm(names, np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), -1), None, file), names
    names, rows = read_alignment(stream)
    return _stockholm(names, rows, None, file), names


def _judged(begin: bytes, stream: io.BufferedReader, file: str) -> tuple[str, io.BufferedReader]:
    """Return the kind of a file's queries, and the file from its start."""
    if begin.startswith((TEXT, OLD_TEXT)) or is_binary(begin):
        return "models", stream
    if begin.startswith((b"@", *BEGINS)) or is_pir(begin):
        return "sequences", stream
    if begin.startswith(b">"):
        data = io.BytesIO(stream.read())
        data.name = file
        has_gaps = any(not line.startswith(b">") and any(gap in line for gap in (b"-", b".", b"~")) for line in data)
        data.seek(0)
        return "alignment" if has_gaps else "sequences", io.BufferedReader(data)
    if is_alignment(begin) or begin[:1].isdigit():
        return "alignment", stream
    if not begin:
        raise InputError("the file is empty", file=file)
    raise InputError(
        mistaken(begin, "queries")
        or "the file holds no queries: give models in HMMER's format, an alignment, or sequences in FASTA",
        file=file,
    )


def _models_of_block(proteins: Proteins, file: str, keeps_text: bool) -> Iterator[Model]:
    """Yield a model of each sequence that has residues; warn of the others."""
    bounds = pairwise(proteins.offsets.tolist())
    for name, description, (begin, end) in zip(proteins.names, proteins.descriptions, bounds, strict=True):
        if begin == end:
            text = f"{shown(file)}, record {shown(name)!r}: the sequence is empty and is skipped"
            warnings.warn(text, TropalignWarning, stacklevel=2)
            continue
        yield model_of_sequence(name, proteins.codes[begin:end], description, file, keeps_text)


def _rows_of_a2m(names: tuple[str, ...], texts: list[bytes], file: str) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return rows with columns for insertions, whose residues are flush left and padded with dots, and the matches.

    A2M (UCSC SAM): a match is an upper-case letter or a "-", an insertion a lower-case letter; dots are ignored.

        MKvlAW   (two matches, two insertions, two matches)        MKvlAW
        MKAW                                                  ->   MK..AW
    """
    # Per row, the insertions before each match, and after the last one.
    split = [A2M_MATCH.split(text.replace(b".", b"")) for text in texts]
    n_match = len(split[0]) // 2
    for name, parts in zip(names, split, strict=True):
        if len(parts) // 2 != n_match:
            raise InputError(
                f"{len(parts) // 2} match columns, but other rows have {n_match}: rows must have the same length, "
                f"or in A2M the same number of upper-case letters and '-'",
                file=file,
                record=name,
            )
    widths = [max(len(parts[2 * k]) for parts in split) for k in range(n_match + 1)]
    padded = (
        b"".join(part if k % 2 else part.ljust(widths[k // 2], b".") for k, part in enumerate(parts)) for parts in split
    )
    rows = np.frombuffer(b"".join(padded), np.uint8).reshape(len(texts), -1)
    is_match = np.zeros(rows.shape[1], np.bool_)
    is_match[np.cumsum(widths[:-1]) + np.arange(n_match)] = True
    return rows, is_match


def _stockholm(names: tuple[str, ...], rows: NDArray[np.uint8], is_match: NDArray[np.bool_] | None, file: str) -> bytes:
    """Return an alignment in the format for HMMER's builder; raises InputError if it is not of proteins."""
    unknown = EASEL_CODES[rows] == UNKNOWN
    if unknown.any():
        k, at = np.argwhere(unknown)[0].tolist()
        letter = shown(chr(rows[k, at]))
        raise InputError(f"{letter!r} is not a protein letter: correct the alignment", file=file, record=names[k])
    letters = rows[EASEL_CODES[rows] != EASEL_CODES[ord("-")]]
    if not letters.size:
        raise InputError("the alignment holds no residues: give another one", file=file)
    return stockholm_of(rows, is_match)


def stem_and_suffix(source: Source) -> tuple[str, str]:
    """Return the name of a model after its file, and the file's suffix, ignoring compression."""
    if is_stream(source) or source == "-":
        return "query", ""
    name = os.path.basename(os.fsdecode(source))  # type: ignore[arg-type]
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    stem, suffix = os.path.splitext(name)
    return stem or "query", suffix
