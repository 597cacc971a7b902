"""Substitution matrices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ScoringError, TropalignWarning
from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN, Alphabet
from tropalign.sequences.batch import SequenceBatch

N_CODES = 32
#: Scored like another letter where a matrix lacks them.
STAND_INS = {"U": "C", "J": "X", "O": "X", "B": "X", "Z": "X", "*": "X"}


@dataclass(frozen=True, eq=False)
class SubstitutionMatrix:
    """Scores of letter pairs.

    Attributes
    ----------
    scores : int32, shape (32, 32)
        By codes of ``alphabet``; cells of letters that the matrix lacks hold its lowest score.
    letters : str
        Letters that the matrix itself has.
    """

    name: str
    alphabet: Alphabet
    scores: NDArray[np.int32]
    letters: str

    @classmethod
    def load(cls, name_or_path: str, alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        """A matrix by Biopython's name, else from a file in NCBI format."""
        from Bio.Align import substitution_matrices

        if name_or_path.upper() in substitution_matrices.load():
            return cls.from_name(name_or_path, alphabet)
        if Path(name_or_path).exists():
            return cls.from_file(name_or_path, alphabet)
        known = ", ".join(substitution_matrices.load())
        raise ScoringError(f"there is no matrix and no file {name_or_path!r}; the matrices are {known}")

    @classmethod
    def from_name(cls, name: str, alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        """One of the matrices that Biopython ships."""
        from Bio.Align import substitution_matrices

        try:
            matrix = substitution_matrices.load(name.upper())
        except FileNotFoundError:
            known = ", ".join(substitution_matrices.load())
            raise ScoringError(f"there is no matrix {name!r}; there are {known}") from None
        return cls._from_biopython(name.upper(), matrix, alphabet)

    @classmethod
    def from_file(cls, path: str | Path, alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        """A matrix file in NCBI format. Raises InputError when it cannot be read."""
        from Bio.Align import substitution_matrices

        try:
            matrix = substitution_matrices.read(str(path))
        except OSError as error:
            raise InputError(f"the matrix cannot be read ({error.strerror})", file=str(path)) from None
        except Exception:
            raise InputError(
                "this is no matrix in NCBI format (letters, then a row of numbers a letter)", file=str(path)
            ) from None
        return cls._from_biopython(Path(path).name, matrix, alphabet)

    @classmethod
    def _from_biopython(cls, name: str, matrix: object, alphabet: Alphabet | None) -> SubstitutionMatrix:
        letters = "".join(matrix.alphabet)  # type: ignore[attr-defined]
        values = np.asarray(matrix, dtype=float)
        if not (values == np.round(values)).all():
            raise ScoringError(
                f"the scores of {name} are no whole numbers: multiply matrix and gap costs by a power of ten"
            )
        if not (values == values.T).all():
            raise ScoringError(f"the matrix {name} is not symmetric, which pairwise alignment needs")
        if np.abs(values).max() > 1_000_000:
            raise ScoringError(f"the matrix {name} has scores beyond 1000000")
        if alphabet is None:
            alphabet = NUCLEOTIDE if set(letters) <= set(NUCLEOTIDE.letters + "U*") else PROTEIN
        return cls(name, alphabet, _by_code(alphabet, letters, values.astype(np.int32)), letters)

    @classmethod
    def match_mismatch(cls, match: int, mismatch: int, alphabet: Alphabet = NUCLEOTIDE) -> SubstitutionMatrix:
        """``match`` for equal letters, ``mismatch`` else; a wildcard scores 0 against everything."""
        letters = alphabet.letters
        values = np.full((len(letters), len(letters)), mismatch, np.int32)
        np.fill_diagonal(values, match)
        wild = letters.index(alphabet.wildcard)
        values[wild, :] = values[:, wild] = 0
        return cls(f"match {match} mismatch {mismatch}", alphabet, _by_code(alphabet, letters, values), letters)

    def check(self, batch: SequenceBatch) -> None:
        """Warns of letters scored like another one.

        Raises
        ------
        ScoringError
            The matrix is for another alphabet, or lacks a letter of the batch that has no stand-in.
        """
        if batch.alphabet is not self.alphabet:
            raise ScoringError(
                f"{self.name} is a {self.alphabet.name} matrix but the sequences were judged {batch.alphabet.name}: "
                "choose another matrix or say which they are with --alphabet"
            )
        counts = np.bincount(batch.codes, minlength=N_CODES)
        for code, letter in enumerate(batch.alphabet.letters):
            if not counts[code] or letter in self.letters or (letter == "T" and "U" in self.letters):
                continue
            stand_in = _stand_in(self.alphabet, letter, self.letters)
            if stand_in is None:
                at = int(np.flatnonzero(batch.codes == code)[0])
                k = int(np.searchsorted(batch.offsets, at, "right")) - 1
                raise ScoringError(
                    f"the matrix {self.name} has no letter {letter}, which record {batch.names[k]!r} holds at position "
                    f"{at - int(batch.offsets[k]) + 1}: add it to the matrix or choose another"
                )
            warnings.warn(
                f"the matrix {self.name} has no letter {letter}: {counts[code]} are scored like {stand_in}",
                TropalignWarning,
                stacklevel=2,
            )


def _stand_in(alphabet: Alphabet, letter: str, letters: str) -> str | None:
    if alphabet is not PROTEIN:
        return alphabet.wildcard if alphabet.wildcard in letters and letter not in "ACGT" else None
    other = STAND_INS.get(letter)
    if other is not None and other not in letters:
        other = "X" if "X" in letters else None
    return other


def _by_code(alphabet: Alphabet, letters: str, values: NDArray[np.int32]) -> NDArray[np.int32]:
    scores = np.full((N_CODES, N_CODES), values.min(), np.int32)
    place = {}
    for code, letter in enumerate(alphabet.letters):
        source: str | None = letter
        if letter not in letters:
            source = "U" if letter == "T" and "U" in letters else _stand_in(alphabet, letter, letters)
        if source is not None:
            place[code] = letters.index(source)
    codes = np.array(list(place), dtype=np.intp)
    rows = np.array(list(place.values()), dtype=np.intp)
    if len(codes):
        scores[np.ix_(codes, codes)] = values[np.ix_(rows, rows)]
    return scores
