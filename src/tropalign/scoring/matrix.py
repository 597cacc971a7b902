"""Substitution matrices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ScoringError, TropalignWarning
from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN, Alphabet
from tropalign.sequences.batch import SequenceBatch

N_CODES = 32
#: Scored like another letter where a matrix lacks them.
STAND_INS = {"U": "C", "J": "X", "O": "X", "B": "X", "Z": "X", "*": "X"}

_NO_MATRIX = "this is no matrix in NCBI format (letters, then a letter and its scores a line)"


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
        letters, values = _shipped(name.upper())
        return cls._from_values(name.upper(), letters, values, alphabet)

    @classmethod
    def from_file(cls, path: str | Path, alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        """A matrix file in NCBI format. Raises InputError, with the line, when it cannot be read."""
        letters, values = read_ncbi(path)
        return cls._from_values(Path(path).name, letters, values, alphabet)

    @classmethod
    def _from_values(
        cls, name: str, letters: str, values: NDArray[np.float64], alphabet: Alphabet | None
    ) -> SubstitutionMatrix:
        if not np.isfinite(values).all():
            raise ScoringError(f"the matrix {name} has a score that is no number: mend it")
        if not (values == values.T).all():
            i, j = (int(k[0]) for k in np.nonzero(values != values.T))
            raise ScoringError(
                f"the matrix {name} is not symmetric, which pairwise alignment needs: {letters[i]} against "
                f"{letters[j]} scores {values[i, j]:g}, the reverse {values[j, i]:g}"
            )
        factor = next((f for f in (1, 10, 100, 1000) if np.allclose(f * values, np.round(f * values), 0, 1e-6)), None)
        if factor is None:
            raise ScoringError(f"the scores of {name} have more than three decimals: round them")
        values = np.round(factor * values)
        if np.abs(values).max() > 1_000_000:
            raise ScoringError(f"the matrix {name} has scores beyond {1_000_000 // factor}")
        if factor > 1:
            warnings.warn(
                f"the scores of {name} have decimals: they are multiplied by {factor}, so give gap costs and scores "
                f"{factor} times as large",
                TropalignWarning,
                stacklevel=4,
            )
            name = f"{name} x {factor}"
        if alphabet is None:
            alphabet = NUCLEOTIDE if set(letters) <= set(NUCLEOTIDE.letters + "U*") else PROTEIN
        if not set(letters) & set(alphabet.letters):
            raise ScoringError(f"the matrix {name} has no letter of the {alphabet.name} alphabet: choose another")
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
            if not counts[code] or letter in self.letters:
                continue
            stand_in = _stand_in(self.alphabet, letter, self.letters)
            if (letter, stand_in) == ("T", "U"):
                continue
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


@lru_cache(maxsize=8)
def _shipped(name: str) -> tuple[str, NDArray[np.float64]]:
    """Letters and scores of a matrix of Biopython's, whose reader takes longer than aligning a thousand pairs."""
    from Bio.Align import substitution_matrices

    try:
        matrix = substitution_matrices.load(name)
    except FileNotFoundError:
        known = ", ".join(substitution_matrices.load())
        raise ScoringError(f"there is no matrix {name!r}; there are {known}") from None
    if not isinstance(matrix.alphabet, str):
        raise ScoringError(f"{name} scores codons, not residues: choose another matrix")
    return matrix.alphabet, np.asarray(matrix, dtype=float)


def read_ncbi(path: str | Path) -> tuple[str, NDArray[np.float64]]:
    """Letters and scores of a matrix file in NCBI format: a line of letters, then a letter and its scores a line.

    Biopython's reader takes rows that are too short, so this one is ours. ``#`` begins a comment.

    Raises
    ------
    InputError
        A file that cannot be read or is no such matrix.
    """
    file = str(path)
    try:
        lines = Path(path).read_text("ascii").splitlines()
    except OSError as error:
        raise InputError(f"the matrix cannot be read ({error.strerror})", file=file) from None
    except UnicodeDecodeError:
        raise InputError(_NO_MATRIX, file=file) from None
    letters = ""
    rows: dict[str, list[float]] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if any(len(word) > 1 for word in (words if not letters else words[:1])):
            raise InputError(_NO_MATRIX, file=file, line=number)
        if not letters:
            letters = "".join(words).upper()
            if len(set(letters)) < len(letters):
                raise InputError("the matrix has a letter twice: leave one out", file=file, line=number)
            continue
        letter = words[0].upper()
        if letter not in letters or letter in rows:
            what = "second row of" if letter in rows else "row of a letter without a column:"
            raise InputError(f"{what} {letter}: a matrix has one row a column", file=file, line=number)
        if len(words) - 1 != len(letters):
            raise InputError(
                f"the row of {letter} has {len(words) - 1} scores for {len(letters)} letters: mend it",
                file=file,
                line=number,
            )
        try:
            rows[letter] = [float(word) for word in words[1:]]
        except ValueError:
            raise InputError(
                f"the row of {letter} holds a word that is no number: mend it", file=file, line=number
            ) from None
    if not letters:
        raise InputError(_NO_MATRIX, file=file)
    if missing := [letter for letter in letters if letter not in rows]:
        raise InputError(f"there is no row of {', '.join(missing)}: a matrix has one row a column", file=file)
    return letters, np.array([rows[letter] for letter in letters])


def _stand_in(alphabet: Alphabet, letter: str, letters: str) -> str | None:
    if alphabet is not PROTEIN:
        if letter == "T" and "U" in letters:
            return "U"
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
            source = _stand_in(alphabet, letter, letters)
        if source is not None:
            place[code] = letters.index(source)
    codes = np.array(list(place), dtype=np.intp)
    rows = np.array(list(place.values()), dtype=np.intp)
    if len(codes):
        scores[np.ix_(codes, codes)] = values[np.ix_(rows, rows)]
    return scores
