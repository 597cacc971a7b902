"""Features of sequences, parts with a type and a name, out of GFF3 files (the Sequence Ontology's, version 1.26)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from tropalign.errors import InputError, TropalignWarning, listed, shown
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, file_name, read_lines

#: Attributes that say what a feature is called, the best first.
NAMING = ("Name", "Note", "ID")
#: Columns of a line.
N_FIELDS = 9


@dataclass(frozen=True)
class Feature:
    """A part of a sequence.

    Attributes
    ----------
    sequence
        Its name.
    begin, end
        Residues, from 0, half-open.
    kind
        Its type, such as "Domain".
    name
        What it is called; empty where nothing says so.
    """

    sequence: str
    begin: int
    end: int
    kind: str
    name: str


def read_features(path: Source, batch: SequenceBatch) -> tuple[Feature, ...]:
    """The features of these sequences in a GFF3 file, in its order.

    Raises
    ------
    InputError
        A file that cannot be read; a line that is no feature, or one that ends outside its sequence.

    Warns
    -----
    TropalignWarning
        Features of sequences that the batch has not.
    """
    length_of = dict(zip(batch.names, batch.lengths.tolist(), strict=True))
    found = list[Feature]()
    others: dict[str, None] = {}
    for number, fields in _lines(path):
        name = unquote(fields[0])
        if name not in length_of:
            others[name] = None
            continue
        begin, end = _span(fields, length_of[name], file_name(path), number)
        found.append(Feature(name, begin, end, unquote(fields[2]), _name(fields[8])))
    if others:
        name = shown(file_name(path))
        text = f"{name}: features of sequences that are not in the family are left out: {listed(others)}"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    return tuple(found)


def _lines(path: Source) -> Iterator[tuple[int, list[str]]]:
    """The lines of features, by their numbers from 1."""
    for number, line in enumerate(read_lines(path), 1):
        text = line.decode("utf-8", "replace")
        if text.startswith(("##FASTA", ">")):
            return
        if not text.strip() or text.startswith("#"):
            continue
        fields = text.split("\t")
        if len(fields) != N_FIELDS:
            raise InputError(
                f"this is no line of GFF3, which has {N_FIELDS} fields between tabs, and it has {len(fields)}",
                file=file_name(path),
                line=number,
            )
        yield number, fields


def _span(fields: list[str], length: int, file: str, number: int) -> tuple[int, int]:
    try:
        begin, end = int(fields[3]), int(fields[4])
    except ValueError:
        begin, end = 0, 0
    if not 1 <= begin <= end:
        said = f"a feature goes from a residue to the same or a later one, counted from 1, not from {fields[3]!r} to "
        raise InputError(said + repr(fields[4]), file=file, line=number)
    if end > length:
        raise InputError(
            f"the feature ends at {end:,}, and the sequence has {length:,} residues: name the file of these sequences",
            file=file,
            record=unquote(fields[0]),
            line=number,
        )
    return begin - 1, end


def _name(attributes: str) -> str:
    pairs = (word.partition("=") for word in attributes.split(";"))
    known = {key.strip(): unquote(value) for key, _, value in pairs}
    return next((known[key] for key in NAMING if known.get(key)), "")
