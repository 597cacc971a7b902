"""Models of proteins, DNA or RNA that sequences are aligned to, with data on the alignment that they come from."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, UsageError, named, shown
from tropalign.profiles.models import OLD_TEXT, TEXT, Model, check_probabilities, fields_of, is_binary, pressed_alone
from tropalign.profiles.proteins import BACKGROUND, EASEL_CODES, LETTERS, UNKNOWN, WILDCARD
from tropalign.properties import cached_property
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.aligned_files import read_described
from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN, Alphabet
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, file_name, opened
from tropalign.sequences.texts import decoded


@dataclass(frozen=True, eq=False)
class Letters:
    """The letters of a kind of models, in Easel's order.

    `symbols`: a letter per code: residues, the gap, ambiguous letters, ``*`` and ``~``. `wildcard`: replaces all
    other letters. `codes`: uint8, shape (256,), code of each byte. `background`: float32, frequency of each
    residue in general.
    """

    symbols: str
    wildcard: str
    codes: NDArray[np.uint8]
    background: NDArray[np.float32]
    alphabet: Alphabet

    @cached_property
    def cased(self) -> NDArray[np.uint8]:
        """Letter of each code in upper case, and from 32 on in lower case, uint8, shape (64,)."""
        return np.frombuffer((self.symbols.ljust(32) + self.symbols.lower().ljust(32)).encode(), np.uint8)


def _nucleotides(symbols: str, synonyms: dict[str, str]) -> Letters:
    codes = np.full(256, symbols.index("N"), np.uint8)
    for letter, stands_for in (*zip(symbols, symbols, strict=True), *synonyms.items()):
        codes[[ord(letter), ord(letter.lower())]] = symbols.index(stands_for)
    return Letters(symbols, "N", codes, np.full(4, 0.25, np.float32), NUCLEOTIDE)


#: By the alphabet's name in the files.
LETTERS_OF: Final = {
    "amino": Letters(
        LETTERS,
        WILDCARD,
        np.where(EASEL_CODES == UNKNOWN, LETTERS.index(WILDCARD), EASEL_CODES).astype(np.uint8),
        np.array(BACKGROUND),
        PROTEIN,
    ),
    "dna": _nucleotides("ACGT-RYMKSWHBVDN*~", {"U": "T", "X": "N", "I": "A", "_": "-", ".": "-"}),
    "rna": _nucleotides("ACGU-RYMKSWHBVDN*~", {"T": "U", "X": "N", "I": "A", "_": "-", ".": "-"}),
}


@dataclass(frozen=True, eq=False)
class FamilyModel:
    """A profile hidden Markov model that sequences are aligned to.

    `kind`: "amino", "dna" or "rna". `match`: float32, shape (length + 1, 20 or 4), and `transitions`: float32,
    shape (length + 1, 7), as in `Model`. `mask`: a letter per node, ``m`` if masked; None without any. `columns`:
    int32, shape (length,), column of each node in the model's alignment, from 1, or None; `checksum`: of that
    alignment. `file`: for messages.
    """

    name: str
    kind: str
    match: NDArray[np.float32] = field(repr=False)
    transitions: NDArray[np.float32] = field(repr=False)
    mask: str | None = field(default=None, repr=False)
    columns: NDArray[np.int32] | None = field(default=None, repr=False)
    checksum: int | None = field(default=None, repr=False)
    file: str | None = field(default=None, repr=False)

    @property
    def length(self) -> int:
        """Number of nodes."""
        return len(self.match) - 1

    @property
    def letters(self) -> Letters:
        """Letters of its residues."""
        return LETTERS_OF[self.kind]

    @cached_property
    def native(self) -> _native.AlignmentModel:
        """The model in native form."""
        return _native.AlignmentModel(self.match, self.transitions, self.letters.background)


def read_family_model(source: Source) -> FamilyModel:
    """Read the model of a file that holds one; raises InputError for several, damaged or unsupported models."""
    source = pressed_alone(source)
    file = file_name(source)
    with opened(source) as stream:
        begin = stream.peek(len(OLD_TEXT)).lstrip()
        if begin and not begin.startswith((TEXT, OLD_TEXT, b"#")) and not is_binary(begin):
            raise InputError(
                "this is not a model in HMMER's format: give a model that hmmbuild wrote, or add sequences to an "
                "alignment with "
                f"{named('add')}",
                file=file,
            )
        models = fields_of(stream, file, with_nucleotides=True)
        found, line = next(models)
        kind, name = decoded(found["alphabet"]), decoded(found["name"])
        if kind not in LETTERS_OF:
            raise InputError(
                f"the model is for {shown(kind)}, but sequences can only be aligned to models for "
                f"{', '.join(LETTERS_OF)}",
                file=file,
                record=name,
            )
        check_probabilities(found, file, line)
        if next(models, None) is not None:
            raise InputError(
                f"the file holds several models, {shown(name)!r} and others, but sequences are aligned to one "
                f"model: extract it to a file (hmmfetch)",
                file=file,
            )
    return FamilyModel(
        name=name,
        kind=kind,
        match=found["match"],
        transitions=found["transitions"],
        mask=found["mask"].decode("latin-1") or None,
        columns=found.get("columns"),
        checksum=found.get("checksum"),
        file=file,
    )


def family_model_of(given: Any) -> FamilyModel | None:
    """Return the model that a Python object represents; None for other objects."""
    if isinstance(given, FamilyModel):
        return given
    if isinstance(given, Model):
        found = None if given.text is None else _native.read_model(given.text)  # the alignment's columns and checksum
        known = found if isinstance(found, dict) else {}
        return FamilyModel(
            name=given.name,
            kind="amino",
            match=given.match,
            transitions=given.transitions,
            mask=given.mask,
            columns=known.get("columns"),
            checksum=known.get("checksum"),
        )
    return None


#: Padding of some rows of Stockholm and MSF beyond their ends.
MISSING = ord("~")


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Rows of an alignment, and the positions of their residues in the model.

    `places`: int32, shape (n_residues,), as in native/profiles/target_alignment.hpp.
    """

    sequences: SequenceBatch
    places: NDArray[np.int32]

    def above(self, batch: SequenceBatch) -> SequenceBatch:
        """Return these sequences followed by those of the batch; raises InputError if two share a name."""
        own = self.sequences
        if twice := set(own.names) & set(batch.names):
            raise InputError(
                "the alignment of the model also has a row with this name: rename the sequence", record=min(twice)
            )
        descriptions = [(*one.descriptions,) or ("",) * len(one) for one in (own, batch)]
        return SequenceBatch(
            np.concatenate([own.codes, batch.codes]),
            np.concatenate([own.offsets, own.offsets[-1] + batch.offsets[1:]]),
            (*own.names, *batch.names),
            batch.alphabet,
            np.concatenate([own.letters, batch.letters]),
            (*descriptions[0], *descriptions[1]),
        )


def mapped_rows(given: Any, model: FamilyModel) -> MappedRows:
    """Return the rows of the alignment that a model was built from, given as MultipleAlignment or file.

    Raises InputError for another alignment than the model's, or for a model without columns and checksum.
    """
    descriptions: tuple[str, ...] = ()
    if isinstance(given, MultipleAlignment):
        names, letters, file = given.names, given.letters, None
        descriptions = tuple(given.sequences.descriptions)
    elif isinstance(given, str | os.PathLike):
        names, letters, descriptions = read_described(given)
        file = file_name(given)
    else:
        raise UsageError(f"{named('mapali')}: an object of type {type(given).__name__} is not an alignment")
    if model.columns is None or model.checksum is None:
        raise InputError(
            "the model lacks the columns and the checksum of its alignment (MAP, CKSUM): build it again, or "
            f"leave {named('mapali')} out",
            file=model.file,
            record=model.name,
        )
    is_known = _native.alignment_checksum(model.letters.codes[letters].ravel()) == model.checksum
    if not is_known or int(model.columns[-1]) > letters.shape[1]:
        raise InputError(
            f"by its checksum, this is not the alignment from which the model {model.name!r} was built: give that "
            f"alignment, or leave {named('mapali')} out",
            file=file,
        )
    plain = np.where(letters == MISSING, ord("-"), letters).astype(np.uint8)
    rows = MultipleAlignment.from_rows(names, plain, model.letters.alphabet)
    node = np.zeros(letters.shape[1] + 1, np.int32)
    node[model.columns] = 1
    place = -np.cumsum(node, dtype=np.int32)
    place[model.columns] *= -1
    own = rows.sequences
    batch = SequenceBatch(own.codes, own.offsets, own.names, own.alphabet, own.letters, descriptions)
    return MappedRows(batch, place[1:][rows.columns])
