"""Models from files: HMMER's text (3/a to 3/f, and 2), and its pressed and binary files."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from typing import Any

from tropalign import _native
from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.profile.binary_models import is_binary, read_binary
from tropalign.profile.calibration import calibrate
from tropalign.profile.models import Model, not_protein
from tropalign.sequences.files import Source, file_name, opened
from tropalign.sequences.texts import decoded

#: Bytes that are read at a time.
BLOCK_BYTES = 1 << 20
#: Above 1 a probability may be by rounding alone, as native code has it (`kMostProbability`).
MOST_PROBABILITY = 1.001
#: What the files begin with.
TEXT, OLD_TEXT = b"HMMER3/", b"HMMER2.0"


def read_models(source: Source, *, skip_foreign: bool = False) -> Iterator[Model]:
    """The models of a file one by one, so that a library of any size takes the memory of one.

    Parameters
    ----------
    source
        A file's name ("-" is standard input) or an open file; compression is judged by content.
    skip_foreign
        Leaves models of nucleotides out, and counts them in a warning, instead of raising.

    Yields
    ------
    Model
        In the order of the file.

    Raises
    ------
    InputError
        A file that holds something else or nothing, a damaged or truncated model, a model of nucleotides.

    Warns
    -----
    TropalignWarning
        Models without calibration; models that are left out.
    """
    source = pressed_alone(source)
    with opened(source) as stream:
        yield from models_of(stream, file_name(source), skip_foreign)


def models_of(stream: io.BufferedReader, file: str, skip_foreign: bool = False) -> Iterator[Model]:
    """The same, from a stream of plain bytes that messages call `file`."""
    has_told = False
    foreign: list[str] = []
    for found, line in _found(stream, file):
        if skip_foreign and not _is_protein(found):
            foreign.append(_text(found["name"]))
            continue
        _require_protein(found, file, line)
        _check_probabilities(found, file, line)
        if not found.pop("is_calibrated"):
            _calibrate(found, file, line)
            if not has_told:
                name = shown(_text(found["name"]))
                text = "has no calibration: it is calibrated here, and so is every further one without"
                warnings.warn(f"{shown(file)}: the model {name!r} {text}", TropalignWarning, stacklevel=2)
            has_told = True
        yield model_of_fields(found)
    if foreign:
        warnings.warn(f"{shown(file)}: {of_foreign(foreign)}", TropalignWarning, stacklevel=2)


def of_foreign(names: list[str]) -> str:
    """What a warning says of models that are left out since they are not of proteins."""
    if len(names) == 1:
        return f"the model {names[0]!r} is not one of proteins, and is left out"
    return f"{len(names):,} models, {names[0]!r} for one, are not of proteins, and are left out"


def pressed_alone(source: Source) -> Source:
    """The pressed file of a library of which only that is there."""
    if isinstance(source, str | os.PathLike) and not os.path.exists(source):
        pressed = f"{os.fsdecode(source)}.h3m"
        return pressed if os.path.exists(pressed) else source
    return source


def _found(stream: io.BufferedReader, file: str) -> Iterator[tuple[dict[str, Any], int | None]]:
    """The models of a file in the words of `_native.read_model`, and the line before each of a text."""
    begin = stream.peek(len(OLD_TEXT))[: len(OLD_TEXT)]
    if is_binary(begin):
        for found in read_binary(stream, file):
            yield found, None
        return
    is_old = begin == OLD_TEXT
    if is_old:
        from tropalign.profile.hmmer2_models import read_hmmer2
    is_empty = True
    for line, text in _records(stream):
        is_empty = False
        yield read_hmmer2(text, file, line) if is_old else _read_text(text, file, line), line
    if is_empty:
        raise InputError("the file is empty", file=file)


def _records(stream: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
    """Each model's text, to its line //, and how many lines of the file stand before it."""
    line, rest = 0, b""
    while block := stream.read(BLOCK_BYTES):
        *texts, rest = _split(rest + block)
        for text in texts:
            yield line, text
            line += text.count(b"\n")
    if any(not text.startswith(b"#") for text in map(bytes.strip, rest.split(b"\n")) if text):
        yield line, rest


def _split(data: bytes) -> list[bytes]:
    """Texts that end with a line that begins with //, and what follows the last one."""
    texts, begin = [], 0
    while (end := data.find(b"\n//", begin)) >= 0 and (stop := data.find(b"\n", end + 1)) >= 0:
        texts.append(data[begin : stop + 1])
        begin = stop + 1
    return [*texts, data[begin:]]


def _read_text(text: bytes, file: str, line: int) -> dict[str, Any]:
    found = _native.read_model(text)
    if isinstance(found, tuple):
        at, name, what = found
        message = f"{shown(_text(what))}: mend this line, or fetch the file again"
        raise InputError(message, file=file, record=_text(name) or None, line=line + at + 1)
    return found


def _is_protein(found: dict[str, Any]) -> bool:
    return bool(found["alphabet"] == b"amino")


def _require_protein(found: dict[str, Any], file: str, line: int | None) -> None:
    if not _is_protein(found):
        raise InputError(
            not_protein(_text(found["alphabet"]).upper()),
            file=file,
            record=_text(found["name"]),
            line=None if line is None else line + 1,
        )


def _check_probabilities(found: dict[str, Any], file: str, line: int | None) -> None:
    if max(float(found[name].max()) for name in ("match", "transitions", "composition")) > MOST_PROBABILITY:
        raise InputError(
            "the model holds a probability above 1: fetch the file again",
            file=file,
            record=_text(found["name"]),
            line=None if line is None else line + 1,
        )


def _calibrate(found: dict[str, Any], file: str, line: int | None) -> None:
    try:
        found["evalue"] = calibrate(found["match"], found["transitions"], found["composition"])
    except (ArithmeticError, ValueError):
        raise InputError(
            "the model has no calibration and can have none, since it gives random sequences no scores: build it again",
            file=file,
            record=_text(found["name"]),
            line=None if line is None else line + 1,
        ) from None


def model_of_fields(found: dict[str, Any]) -> Model:
    """The model out of what `_native.read_model` finds."""
    return Model(
        name=_text(found["name"]),
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
    return decoded(value)


def _letters(value: bytes) -> str:
    """One letter per byte, whatever the bytes."""
    return value.decode("latin-1")
