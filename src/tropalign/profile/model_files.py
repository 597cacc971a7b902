"""Models from files: HMMER's text (3/a to 3/f, and 2), and its pressed and binary files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from tropalign import _native
from tropalign.errors import InputError, shown
from tropalign.profile.models import Model
from tropalign.sequences.files import Source, file_name, opened

#: Bytes that are read at a time.
BLOCK_BYTES = 1 << 20
#: What the files begin with.
TEXT, OLD_TEXT = b"HMMER3/", b"HMMER2.0"


def read_models(source: Source) -> Iterator[Model]:
    """The models of a file one by one, so that a library of any size takes the memory of one.

    Parameters
    ----------
    source
        A file's name ("-" is standard input) or an open file; compression is judged by content.

    Yields
    ------
    Model
        In the order of the file.

    Raises
    ------
    InputError
        A file that holds something else or nothing, a damaged or truncated model, a model of nucleotides.
    """
    file = file_name(source)
    with opened(source) as stream:
        begin = stream.peek(len(OLD_TEXT))[: len(OLD_TEXT)]
        if not begin:
            raise InputError("the file is empty", file=file)
        for line, text in _records(stream):
            yield _read_text(text, file, line)


def _records(stream: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
    """Each model's text, to its line //, and how many lines of the file stand before it."""
    line, rest = 0, b""
    while block := stream.read(BLOCK_BYTES):
        *texts, rest = _split(rest + block)
        for text in texts:
            yield line, text
            line += text.count(b"\n")
    if rest.strip():
        yield line, rest


def _split(data: bytes) -> list[bytes]:
    """Texts that end with a line that begins with //, and what follows the last one."""
    texts, begin = [], 0
    while (end := data.find(b"\n//", begin)) >= 0 and (stop := data.find(b"\n", end + 1)) >= 0:
        texts.append(data[begin : stop + 1])
        begin = stop + 1
    return [*texts, data[begin:]]


def _read_text(text: bytes, file: str, line: int) -> Model:
    found = _native.read_model(text)
    if isinstance(found, tuple):
        at, name, what = found
        record = _text(name) or None
        text = f"{shown(_text(what))}: mend this line, or fetch the file again"
        raise InputError(text, file=file, record=record, line=line + at + 1)
    return _model(found, file, line)


def _model(found: dict[str, Any], file: str, line: int) -> Model:
    name, alphabet = _text(found["name"]), _text(found["alphabet"])
    if alphabet != "amino":
        raise InputError(
            f"the model is one of {shown(alphabet.upper())}, but search is for proteins: "
            "leave it out, or use HMMER's nhmmer for nucleotides",
            file=file,
            record=name,
            line=line + 1,
        )
    return Model(
        name=name,
        accession=_text(found["accession"]),
        description=_text(found["description"]),
        match=found["match"],
        transitions=found["transitions"],
        composition=found["composition"],
        evalue=found["evalue"],
        consensus=_letters(found["consensus"]),
        gathering=found["gathering"],
        trusted=found["trusted"],
        noise=found["noise"],
        reference=_letters(found["reference"]) or None,
        structure=_letters(found["structure"]) or None,
        mask=_letters(found["mask"]) or None,
    )


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _letters(value: bytes) -> str:
    """One letter per byte, whatever the bytes."""
    return value.decode("latin-1")
