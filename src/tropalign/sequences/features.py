"""Features of sequences, i.e. typed and named parts, from GFF3 (Sequence Ontology's version 1.26) or Stockholm.

Stockholm annotates residues by a letter per column, of a row (#=GR) or of all rows (#=GC):

    a             MK-VLAW          a: a helix of residues 0 to 3
    #=GR a SS     HH.HH--
    b             MKAV-AW          b: a strand of residues 1 to 3
    #=GC SS_cons  .EEE---          (not for a, which has letters of its own)
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, compress, groupby
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import unquote

from tropalign.errors import InputError, TropalignWarning, listed, shown
from tropalign.sequences.aligned_files import STOCKHOLM, biopython_rows
from tropalign.sequences.alphabet import GAP_LETTERS, NUCLEOTIDE
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, file_name, read_lines
from tropalign.sequences.phylip_files import MOST_DIGITS
from tropalign.sequences.texts import decoded

#: Attributes that name a feature, in order of preference.
NAMING = ("Name", "Note", "ID")
#: Columns of a GFF3 line.
N_FIELDS = 9
#: Annotation characters of Stockholm without meaning.
BLANK = GAP_LETTERS + "~ "
#: Meanings of the other characters, by Biopython's name of the line; "" stands for any character.
LETTERS: Mapping[str, Mapping[str, str]] = {
    "secondary_structure": {**dict.fromkeys("HGI", "helix"), **dict.fromkeys("EB", "strand")},
    "transmembrane": {"M": "transmembrane"},
    "ligand_binding": {"": "ligand"},
    "active_site": {"": "active site"},
    "GR:pAS": {"": "active site, predicted"},
    "GR:sAS": {"": "active site"},
    "intron": {"": "intron"},
}
#: Base pairs: brackets, and for pseudoknots A with a, B with b, as Infernal writes them.
PAIRED: Mapping[str, str] = {
    **dict.fromkeys("<([{" + ascii_uppercase, "stem, 5' side"),
    **dict.fromkeys(">)]}" + ascii_lowercase, "stem, 3' side"),
}
#: Stockholm row for a part of a sequence: its name, and its first and last residue, from 1.
_PART = re.compile(r"(.+)/([0-9]{1,15})-([0-9]{1,15})")


@dataclass(frozen=True)
class Feature:
    """A part of a sequence: residues `begin` to `end`, 0-based, half-open.

    `kind` is its type, such as "Domain"; `name` is empty if the file has none.
    """

    sequence: str
    begin: int
    end: int
    kind: str
    name: str


def read_features(path: Source, batch: SequenceBatch) -> tuple[Feature, ...]:
    """Read the features of these sequences from a GFF3 or Stockholm file, in file order.

    Raises InputError for unreadable files, malformed lines, features that end outside their sequence, and rows of
    another length than their sequence. Warns of features of sequences that are not in the batch.
    """
    known = _Known(batch)
    file = file_name(path)
    lines = enumerate(read_lines(path), 1)
    first = next((number, line) for number, line in lines if line.strip())  # an empty file is rejected
    found = list[Feature]()
    others: dict[str, None] = {}
    if first[1].startswith(b">"):
        what = "this is FASTA, not GFF3: give a feature file"
        raise InputError(what, file=file, line=first[0])
    for one in (_of_rows if first[1].startswith(STOCKHOLM) else _of_lines)(chain([first], lines), file, known):
        if isinstance(one, Feature):
            found.append(one)
        else:
            others[one] = None
    if others:
        text = f"{shown(file)}: features of sequences that are not in the family are ignored: {listed(others)}"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    return tuple(found)


class _Known:
    """Sequences by name, and by UniProt accession and entry name: ``sp|Q662F0|EFP_BORBP``."""

    def __init__(self, batch: SequenceBatch) -> None:
        self.length_of = dict(zip(batch.names, batch.lengths.tolist(), strict=True))
        self.is_nucleotide = batch.alphabet == NUCLEOTIDE
        parts = [(part, name) for name in batch.names if name.count("|") == 2 for part in name.split("|")[1:]]
        times = Counter(part for part, _ in parts)
        self._name_of = {part: name for part, name in parts if times[part] == 1} | {name: name for name in batch.names}

    def name(self, said: str) -> str | None:
        """Return the sequence's own name."""
        return self._name_of.get(said)

    def row(self, said: str, n_residues: int) -> tuple[str, int] | None:
        """Return the sequence of a row, named as a whole or as a part of it, and the row's first residue, from 0."""
        whole, part = self.name(said), _PART.fullmatch(said)
        if whole is not None or part is None:
            return None if whole is None else (whole, 0)
        of, begin, end = self.name(part[1]), int(part[2]), int(part[3])
        if of is None or begin < 1 or end - begin + 1 != n_residues or end > self.length_of[of]:
            return None
        return of, begin - 1


def _of_lines(lines: Iterable[tuple[int, bytes]], file: str, known: _Known) -> Iterator[Feature | str]:
    """Yield features of GFF3, and names of unknown sequences."""
    for number, fields in _fields(lines, file):
        said = unquote(fields[0])
        name = known.name(said)
        if name is None:
            yield said
            continue
        begin, end = _span(fields, known.length_of[name], file, number)
        yield Feature(name, begin, end, unquote(fields[2]), _name(fields[8]))


def _of_rows(lines: Iterable[tuple[int, bytes]], file: str, known: _Known) -> Iterator[Feature | str]:
    """Yield features of Stockholm rows: a row's own annotation, else that of the columns; and names of unknown rows."""
    numbers, texts = zip(*lines, strict=True)
    alignment = biopython_rows(texts, "stockholm", file, numbers[0])
    for row in alignment:
        said = decoded(row.id.encode("ascii", "surrogateescape"))
        is_residue = [letter not in BLANK for letter in str(row.seq)]
        found = known.row(said, sum(is_residue))
        if found is None:
            yield said
            continue
        name, first = found
        if known.name(said) is not None and sum(is_residue) != known.length_of[name]:
            raise InputError(
                f"the row has {sum(is_residue):,} residues, but the sequence of the family has "
                f"{known.length_of[name]:,}: give the alignment of these sequences",
                file=file,
                record=said,
            )
        for line, usual in LETTERS.items():
            text = row.letter_annotations.get(line) or alignment.column_annotations.get(line)
            if text is not None:
                meant = PAIRED if known.is_nucleotide and line == "secondary_structure" else usual
                yield from _runs(name, first, compress(text, is_residue), meant)


def _runs(name: str, begin: int, letters: Iterable[str], meant: Mapping[str, str]) -> Iterator[Feature]:
    """Yield a feature per run of residues, starting at `begin`, whose letters have the same meaning."""
    for kind, run in groupby("" if one in BLANK else meant.get(one, meant.get("", "")) for one in letters):
        end = begin + len(list(run))
        if kind:
            yield Feature(name, begin, end, kind, "")
        begin = end


def _fields(lines: Iterable[tuple[int, bytes]], file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of feature lines, with line numbers from 1."""
    for number, line in lines:
        text = line.decode("utf-8", "replace")
        if text.startswith(("##FASTA", ">")):
            return
        if not text.strip() or text.startswith("#"):
            continue
        fields = text.split("\t")
        if len(fields) != N_FIELDS:
            raise InputError(
                f"a GFF3 line must have {N_FIELDS} tab-separated fields, but this one has {len(fields)}: correct it, "
                "or give a GFF3 or Stockholm file",
                file=file,
                line=number,
            )
        yield number, fields


def _span(fields: list[str], length: int, file: str, number: int) -> tuple[int, int]:
    is_number = all(text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS for text in fields[3:5])
    begin, end = (int(fields[3]), int(fields[4])) if is_number else (0, 0)
    if not 1 <= begin <= end:
        what = "a feature must extend from a residue to the same or a later one, counted from 1"
        said = f"not from {fields[3][:20]!r} to {fields[4][:20]!r}: correct the line"
        raise InputError(f"{what}, {said}", file=file, line=number)
    if end > length:
        raise InputError(
            f"the feature ends at residue {end:,}, but the sequence has {length:,} residues: give the feature file of "
            "these sequences",
            file=file,
            record=unquote(fields[0]),
            line=number,
        )
    return begin - 1, end


def _name(attributes: str) -> str:
    pairs = (word.partition("=") for word in attributes.split(";"))
    known = {key.strip(): unquote(value) for key, _, value in pairs}
    return next((known[key] for key in NAMING if known.get(key)), "")
