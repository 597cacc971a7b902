"""The only classifier of letters: nucleotides or proteins, record by record.

A record of IUPAC nucleotide codes only is nucleotide: it contains none of E, F, I, L, P, Q (nor J, O, Z, ``*``).
Two exceptions keep real data readable: inosine (I) among nucleotides, and one wrong letter in a hundred.

A short peptide may also consist of nucleotide codes. Its *score* decides: the number of bases (A, C, G, T, U)
minus that of the other codes. From `CERTAIN` on, with three different bases, a record is certainly nucleotide. A
record that is not certain follows the certain ones of its set:

    certain records          the set is read as
    both kinds               an error that names one of each
    proteins alone           protein
    nucleotides alone        nucleotide
    none                     the verdict of `Tally.is_nucleotide` on all of them, with a warning if that is close
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, named, said, shown
from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN, Alphabet, byte_counts

#: Score from which a record is certainly nucleotide: a peptide may have fewer bases by chance (also HMMER's
#: number).
CERTAIN = 11
#: Different bases among A, C, G, T (or U) in a certain record: (AT)n and (GA)n occur in proteins as well.
LEAST_BASES = 3
#: Least score of a record with inosine: with fewer bases it is a peptide.
LEAST_WITH_INOSINE = 7
#: Largest share of letters in a nucleotide record that are not nucleotide codes: typing errors.
MOST_WRONG = 0.01
#: Share of bases and unknown letters (N, X) in a record that is a protein by a few letters only.
NEAR_SHARE = 0.9
#: A remedy for sequences of two kinds.
ONE_KIND = "give sequences of one kind"
#: Scores that are a close call for a set without a certain record.
CLOSE = range(4)

_BASES, _CODES, _B, _UNKNOWN, _INOSINE, _OTHER = (b"ACGTU", b"RYSWKMDHV", b"B", b"NX", b"I", b"EFLPQJOZ*")


def _both_cases(letters: bytes) -> bytes:
    return letters + letters.lower()


#: Classes of bytes: A, C, G, T and U, codes, unknown, inosine, other letters, not a letter.
_CLASSES = (b"A", b"C", b"G", b"TU", _CODES, _B, _UNKNOWN, _INOSINE, _OTHER)
_CLASS = np.full(256, len(_CLASSES), np.intp)
for _number, _letters in enumerate(_CLASSES):
    _CLASS[list(_both_cases(_letters))] = _number
#: Letters that are not nucleotide codes.
_INOSINE_SIGN, _OTHER_SIGN = 1, 2
_ODDITY = np.zeros(256, np.uint8)
_ODDITY[list(_both_cases(_INOSINE))], _ODDITY[list(_both_cases(_OTHER))] = _INOSINE_SIGN, _OTHER_SIGN
_IS_ODD = _ODDITY > 0
_COUNTED = [*map(_both_cases, (_BASES, _CODES, _B, _UNKNOWN, _INOSINE, _OTHER))]


class Kind(IntEnum):
    """The kind of a record, judged by its letters."""

    NONE = 0  # no letters
    PROTEIN = 1  # certain
    NEAR = 2  # a protein by a few letters; nucleotides with errors if the other records are nucleotides
    EITHER = 3  # nucleotide codes with too few bases to be certain
    NUCLEOTIDE = 4  # certain


_CERTAIN = (Kind.PROTEIN, Kind.NUCLEOTIDE)


class Tally(NamedTuple):
    """Number of letters of each class; `n_different` counts the different bases."""

    bases: int = 0
    codes: int = 0
    b: int = 0
    unknown: int = 0
    inosine: int = 0
    other: int = 0
    n_different: int = 0

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> Tally:
        """Count by the occurrences of each byte, int64, shape (256,)."""
        found = [int(n) for n in np.bincount(_CLASS, counts, len(_CLASSES) + 1)]
        return cls._make([sum(found[:4]), *found[4:9], sum(n > 0 for n in found[:4])])

    @classmethod
    def of_text(cls, text: bytes) -> Tally:
        """Count in a short text, within one or two microseconds."""
        numbers, rest = [0] * len(_COUNTED), text
        for k, letters in enumerate(_COUNTED):
            if not rest:
                break
            before, rest = len(rest), rest.translate(None, letters)
            numbers[k] = before - len(rest)
        return cls._make([*numbers, len({*text.upper().replace(b"U", b"T")} & {*b"ACGT"})])

    @property
    def score(self) -> int:
        """Bases minus other codes and inosine."""
        return self.bases - self.codes - self.inosine

    @property
    def kind(self) -> Kind:
        """The kind of these letters."""
        plain, wrong = self.bases + self.unknown, self.inosine + self.other
        n = plain + self.codes + self.b + wrong
        if not n:
            return Kind.NONE
        is_inosine = not self.other and self.score >= LEAST_WITH_INOSINE
        if not wrong or is_inosine or (wrong <= MOST_WRONG * n and plain >= NEAR_SHARE * n):
            is_certain = self.score >= CERTAIN and self.n_different >= LEAST_BASES
            return Kind.NUCLEOTIDE if is_certain else Kind.EITHER
        is_near = plain >= NEAR_SHARE * n or (not self.other and self.score > 0)
        return Kind.NEAR if is_near else Kind.PROTEIN

    @property
    def is_nucleotide(self) -> bool:
        """True if letters of `Kind.EITHER` are nucleotides, provided that nothing else decides.

        No primer has more other codes than bases. B is in no real peptide. Without other codes any bases suffice.
        """
        return self.b > 0 or (self.score >= 0 and (not self.codes or self.n_different >= LEAST_BASES))

    @property
    def is_close(self) -> bool:
        """True if the kind of these letters is a close call, so that the user should be warned."""
        if not self.bases + self.codes + self.inosine:
            return False
        return self.score in CLOSE or (self.score >= 0 and self.codes > 0 and self.n_different < LEAST_BASES)

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        """Add counts; keep the larger number of different bases."""
        sums = map(sum, zip(self[:-1], other[:-1], strict=True))
        return Tally._make([*sums, max(self.n_different, other.n_different)])


def alphabet_by(kind: Kind, tally: Tally) -> Alphabet:
    """Return the alphabet of a set of this kind; `tally` counts the letters of the uncertain records."""
    is_nucleotide = kind == Kind.NUCLEOTIDE or (kind == Kind.EITHER and tally.is_nucleotide)
    return NUCLEOTIDE if is_nucleotide else PROTEIN


def judge_counts(counts: NDArray[np.int64]) -> Alphabet:
    """Judge the alphabet by the occurrences of each byte, int64, shape (256,)."""
    tally = Tally.of_counts(counts)
    return alphabet_by(tally.kind, tally)


def judge_alphabet(letters: NDArray[np.uint8]) -> Alphabet:
    """Judge the alphabet of raw bytes."""
    return judge_counts(byte_counts(letters))


@dataclass
class Evidence:
    """The kinds of a set's records. Only the first record of each kind is kept.

    certain: name and file of the first record that is certainly of a kind.
    either: the first record that may be of either kind.
    tally: letters of all records that are not certain.
    is_near: true if one of them is a protein by a few letters.
    """

    certain: dict[Kind, tuple[str, str | None]] = field(default_factory=dict)
    either: tuple[str, str | None] | None = None
    tally: Tally = field(default_factory=Tally)
    is_near: bool = False

    def add(
        self,
        names: Sequence[str],
        letters: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        counts: NDArray[np.int64],
        file: str | None = None,
    ) -> None:
        """Add records; both kinds are searched for until one record of each is found.

        `names`, `letters` and `offsets` are those of a `SequenceBatch`; `counts` are those of each byte, int64,
        shape (256,).
        """
        has_odd = bool(counts[_IS_ODD].any())
        if len(self.certain) == 2 or (Kind.NUCLEOTIDE in self.certain and not has_odd):
            return
        filled = np.flatnonzero(offsets[1:] > offsets[:-1])
        if not len(filled):
            return
        oddest = np.zeros(len(filled), np.uint8)  # the sign of the oddest letter of each record
        if has_odd:
            from tropalign import _native

            signs = np.empty(len(letters), np.uint8)
            _native.recode(letters, _ODDITY, signs)  # 0.2 ns per letter
            oddest = np.maximum.reduceat(signs, offsets[filled])
        # Nearly all records with other letters are proteins, and records without any odd letter never are.
        for oddity, wanted in ((_OTHER_SIGN, {Kind.PROTEIN}), (0, {Kind.NUCLEOTIDE}), (_INOSINE_SIGN, {*_CERTAIN})):
            for k in filled[oddest == oddity].tolist():
                if wanted <= self.certain.keys():
                    break
                tally = Tally.of_counts(byte_counts(letters[offsets[k] : offsets[k + 1]]))
                kind = tally.kind
                if kind in _CERTAIN:
                    self.certain.setdefault(kind, (names[k], file))
                    continue
                self.tally += tally
                self.is_near = self.is_near or kind == Kind.NEAR
                if self.either is None and kind == Kind.EITHER:
                    self.either = names[k], file

    @property
    def kind(self) -> Kind:
        """The kind of the whole set."""
        near = [Kind.NEAR] if self.is_near else []
        return together([*self.certain, *near, *([] if self.either is None else [Kind.EITHER])])

    def alphabet(self) -> Alphabet:
        """Return the alphabet of the set. Raises InputError if it holds both kinds."""
        if len(self.certain) == 2:
            (nucleotide, file), (protein, other_file) = (self.certain[kind] for kind in (Kind.NUCLEOTIDE, Kind.PROTEIN))
            raise mixed(nucleotide, protein, file, other_file)
        return alphabet_by(self.kind, self.tally)

    def tell(self) -> None:
        """Warn if the kind is a close call, unless `agreed` will have more evidence."""
        if self.kind == Kind.EITHER and self.either is not None:
            if waits.get() or not self.tally.is_close:
                return
            name, file = self.either
            where = f"record {shown(name)!r}" if file is None else f"{shown(file)}, record {shown(name)!r}"
            kind, other = ("nucleotide", "protein") if self.tally.is_nucleotide else ("protein", "nucleotide")
            text = (
                f"{where}: the sequence may be nucleotide or protein; read as {kind}. If that is wrong, use "
                f"{said('alphabet', other)}"
            )
            warnings.warn(text, TropalignWarning, stacklevel=3)


def together(kinds: Collection[Kind]) -> Kind:
    """Return the kind of a set with records of these kinds, of which at most one is certain."""
    order = (Kind.PROTEIN, Kind.NUCLEOTIDE, Kind.NEAR, Kind.EITHER)
    return next((kind for kind in order if kind in kinds), Kind.NONE)


#: True while close calls wait for the other side of an alignment.
waits: ContextVar[bool] = ContextVar("waits", default=False)


def alphabet_of_rows(names: Sequence[str], rows: NDArray[np.uint8], file: str | None = None) -> Alphabet:
    """Judge the alphabet of an alignment, uint8, shape (n_rows, n_columns), in which ``*`` counts as a gap.

    Raises InputError if it holds both kinds; warns if the kind is a close call.
    """
    counts, letters, n_columns = byte_counts(rows.reshape(-1)), rows.reshape(-1), rows.shape[1]
    if counts[ord("*")]:
        letters = np.where(letters == ord("*"), np.uint8(ord("-")), letters)
    evidence = Evidence()
    evidence.add(names, letters, np.arange(len(rows) + 1, dtype=np.int64) * n_columns, counts, file)
    evidence.tell()
    return evidence.alphabet()


def mixed(
    nucleotide: str, protein: str, file: str | None, other_file: str | None, remedy: str = ONE_KIND
) -> InputError:
    """Return the error for a set of both kinds, with names and files of one record each."""
    beside = "" if other_file in (None, file) else f" of {shown(str(file))}"
    return InputError(
        f"this looks like a protein, but record {shown(nucleotide)!r}{beside} is a nucleotide sequence: {remedy}, or "
        f"set the kind of all sequences with {named('alphabet')}",
        file=other_file,
        record=protein,
    )
