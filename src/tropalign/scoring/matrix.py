"""Substitution matrices: by name (those of `matrices.txt`, Biopython's, aliases), and from files in NCBI format."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign.errors import InputError, ScoringError, TropalignWarning, did_you_mean, named, shown
from tropalign.properties import cached, cached_property
from tropalign.scoring.scores import (
    MOST,
    N_CODES,
    by_code,
    factor_of,
    is_match_mismatch,
    kept_scores,
    letters_and_scores,
    matched,
    number,
    stand_in_of,
)
from tropalign.sequences.alphabet import (
    IUPAC_RULES,
    NUCLEOTIDE,
    PROTEIN,
    Alphabet,
    IupacRule,
    alphabet_of,
    alphabet_of_letters,
)
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import read_text

#: Largest matrix file in bytes; a matrix of 32 letters takes a few thousand.
MOST_BYTES = 1 << 20

_NO_MATRIX = "this is not a matrix in NCBI format (letters, then a letter and its scores per line)"


def read_ncbi(path: str | os.PathLike[str]) -> tuple[str, NDArray[np.float64]]:
    """Read a matrix file in NCBI format, possibly compressed: a line of letters, then a letter and its scores per line.

    ``#`` starts a comment. Not Biopython's reader, because that accepts rows that are too short. Raises InputError
    if the file cannot be read or is not such a matrix.
    """
    file = str(path)
    text = read_text(path, MOST_BYTES)
    letters = ""
    rows: dict[str, list[float]] = {}
    for at, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        is_text = line.isascii() and "".join(words).isprintable()
        if any(len(word) > 1 for word in (words if not letters else words[:1])) or not is_text:
            raise InputError(_NO_MATRIX, file=file, line=at)
        if not letters:
            letters = "".join(words).upper()
            if len(set(letters)) < len(letters):
                raise InputError("the matrix has a letter twice: remove one of them", file=file, line=at)
            continue
        letter = words[0].upper()
        if letter not in letters or letter in rows:
            what = "second row of" if letter in rows else "row of a letter without a column:"
            raise InputError(f"{what} {letter}: a matrix must have one row per column", file=file, line=at)
        rows[letter] = _row(letter, words[1:], len(letters), file, at)
    if not letters:
        raise InputError(_NO_MATRIX, file=file)
    if missing := [letter for letter in letters if letter not in rows]:
        raise InputError(f"there is no row of {', '.join(missing)}: a matrix must have one row per column", file=file)
    return letters, np.array([rows[letter] for letter in letters])


def _row(letter: str, words: list[str], n_letters: int, file: str, line: int) -> list[float]:
    if len(words) != n_letters:
        raise InputError(
            f"the row of {letter} has {len(words)} scores for {n_letters} letters: correct it", file=file, line=line
        )
    try:
        if any("_" in word for word in words):  # float accepts 1_0 as 10
            raise ValueError
        return [float(word) for word in words]
    except ValueError:
        what = f"the row of {letter} contains a value that is not a number: correct it"
        raise InputError(what, file=file, line=line) from None


#: Aliases of matrices; the prefix E of EMBOSS is accepted for all names.
ALIASES = {"DNAFULL": "NUC.4.4", "NUC44": "NUC.4.4"}


@cached
def _shipped_files() -> dict[str, str]:
    """Return Biopython's matrix files by name; importing Bio would take a third of a short run.

    Empty if they are not stored as files in the folder that releases use.
    """
    package = find_spec("Bio")
    for folder in (package and package.submodule_search_locations) or ():
        data = os.path.join(folder, "Align", "substitution_matrices", "data")
        if os.path.isdir(data):
            return {name: os.path.join(data, name) for name in sorted(os.listdir(data)) if name != "README.txt"}
    return {}


@cached
def _triangles() -> dict[str, str]:
    """Return the matrices that Biopython lacks, as text: the lower triangle, a letter and its scores per line."""
    text = Path(__file__).with_name("matrices.txt").read_text("ascii")
    entries = (entry.partition("\n") for entry in text.split(">")[1:])
    return {name: triangle for name, _, triangle in entries}


def triangle(name: str) -> str:
    """Return the lower triangle of a matrix of `matrices.txt`, a letter and its scores per line."""
    return _triangles()[name]


@cached
def known_names() -> tuple[str, ...]:
    """Return the names of all matrices, without duplicates."""
    biopython = tuple(_shipped_files())
    if not biopython:
        from Bio.Align import substitution_matrices

        biopython = tuple(substitution_matrices.load())
    return (*biopython, *(name for name in _triangles() if name not in biopython))


@lru_cache(maxsize=256)
def canonical(name: str) -> str | None:
    """Return the name in `known_names` for a name or alias in either case; None if it is unknown.

    >>> canonical("eblosum62"), canonical("EDNAFULL"), canonical("blosum61")
    ('BLOSUM62', 'NUC.4.4', None)
    """
    upper = name.upper()
    for word in (upper, upper.removeprefix("E")):
        word = ALIASES.get(word, word)
        if word in _shipped_files() or word in known_names():
            return word
    return None


def no_matrix(name: str, what: str) -> ScoringError:
    """Return the error for an unknown name; it names the nearest known one, or the most used ones."""
    near = did_you_mean(name, known_names())
    others = "; available are BLOSUM62, BLOSUM50, PAM120, VTML200, NUC.4.4 and others, listed in docs/scoring.md"
    return ScoringError(f"there is no {what} {name!r}{near or others}")


@cached
def shipped(name: str) -> tuple[str, NDArray[np.float64]]:
    """Return letters and scores of a matrix by its name in `known_names`. Raises ScoringError if it scores codons.

    Biopython's reader is the fallback only: it takes longer than aligning a thousand pairs.
    """
    if name in (found := _shipped_files()):
        try:
            return read_ncbi(found[name])
        except InputError:  # codons, or a form that only Biopython reads
            pass
    elif name in _triangles():
        return _whole(_triangles()[name])
    from Bio.Align import substitution_matrices

    matrix = substitution_matrices.load(name)
    if not isinstance(matrix.alphabet, str):
        raise ScoringError(f"{name} scores codons, not residues: choose another matrix")
    return matrix.alphabet, np.asarray(matrix, dtype=float)


def _whole(lower: str) -> tuple[str, NDArray[np.float64]]:
    """Return letters and scores of a lower triangle."""
    rows = [line.split() for line in lower.splitlines()]
    values = np.zeros((len(rows), len(rows)))
    for k, (_, *scores) in enumerate(rows):
        values[k, : k + 1] = values[: k + 1, k] = [float(score) for score in scores]
    return "".join(letter for letter, *_ in rows), values


@dataclass(frozen=True, eq=False)
class SubstitutionMatrix:
    """Scores of letter pairs.

    Attributes
    ----------
    name : str
        Name in headers and messages.
    alphabet : Alphabet
    scores : int32 or float64, shape (32, 32)
        Scores by codes of ``alphabet``, [query's letter][target's letter]; cells of letters that the matrix lacks
        hold its lowest score. Floats only if a score has decimals.
    letters : str
        Letters that the matrix itself has.

    Raises
    ------
    ScoringError
        The scores have another shape or type, more than four decimals, or exceed 1,000,000 in magnitude (times
        `scale`).

    Examples
    --------
    >>> matrix = tropalign.SubstitutionMatrix.from_name("BLOSUM62")
    >>> code = matrix.alphabet.code
    >>> int(matrix.scores[code("W"), code("W")])
    11
    """

    name: str
    alphabet: Alphabet
    scores: NDArray[np.int32] | NDArray[np.float64]
    letters: str

    def __post_init__(self) -> None:
        scores = self.scores
        if not isinstance(self.name, str) or not isinstance(self.letters, str):
            raise ScoringError("the name and the letters of a matrix must be strings")
        if not isinstance(self.alphabet, Alphabet):
            raise ScoringError(f"the alphabet of the matrix {self.name} must be an Alphabet, such as PROTEIN")
        if not isinstance(scores, np.ndarray) or scores.shape != (N_CODES, N_CODES) or scores.dtype.kind not in "iuf":
            raise ScoringError(f"the scores of {self.name} must be numbers in an array of {N_CODES} x {N_CODES}")
        kept = kept_scores(self.name, scores)
        kept.flags.writeable = False
        object.__setattr__(self, "scores", kept)

    @cached_property
    def scale(self) -> int:
        """The smallest factor that turns all scores into integers: 1 for scores without decimals."""
        return 1 if self.scores.dtype == np.int32 else factor_of(self.scores)

    def scaled(self, factor: int) -> NDArray[np.int32]:
        """Return the scores times a factor, as the engines use them.

        Parameters
        ----------
        factor
            A multiple of `scale`.

        Returns
        -------
        int32, shape (32, 32)

        Raises
        ------
        ScoringError
            A product is not an integer, or exceeds 1,000,000 in magnitude.

        Examples
        --------
        >>> matrix = tropalign.SubstitutionMatrix.match_mismatch(1.5, -0.5)
        >>> matrix.scale, matrix.scaled(2)[0, :2].tolist()
        (2, [3, -1])
        """
        if factor % self.scale:
            raise ScoringError(
                f"{factor} times the scores of {self.name} are not integers: use a multiple of {self.scale}"
            )
        if float(np.abs(self.scores).max()) * factor > MOST:
            raise ScoringError(
                f"the scores of {self.name}, times {factor} for the decimals of scores and costs, are beyond {MOST}: "
                "give fewer decimals, or divide all scores and costs by a common factor"
            )
        return np.rint(self.scores * factor).astype(np.int32)

    def __repr__(self) -> str:
        return f"<SubstitutionMatrix {self.name}: {self.alphabet.name}>"

    def __eq__(self, other: object) -> bool:
        """True if name, alphabet, letters and scores are equal."""
        if not isinstance(other, SubstitutionMatrix):
            return NotImplemented
        mine, theirs = ((each.name, each.alphabet, each.letters) for each in (self, other))
        return mine == theirs and np.array_equal(self.scores, other.scores)

    def __hash__(self) -> int:
        return hash((self.name, self.letters))

    def __reduce__(self) -> tuple[Any, ...]:
        return SubstitutionMatrix, (self.name, self.alphabet, self.scores, self.letters)

    @classmethod
    def of(cls, source: Any, alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        """Return a matrix from any supported source.

        Parameters
        ----------
        source
            A SubstitutionMatrix; a name or file (see `load`); a Biopython Array; a mapping of letter pairs
            (query's, target's) to scores, each pair in one order or in both; letters and an array of their
            scores, one row per letter of the query; or the scores (match, mismatch).
        alphabet
            Alphabet of the sequences; inferred from the matrix's letters if not given, or if it lacks one of them. An
            alphabet of your own is kept: other letters of the matrix are ignored.

        Returns
        -------
        SubstitutionMatrix

        Raises
        ------
        ScoringError
            The source is of another type, or its scores cannot be used.
        InputError
            The file cannot be read.

        Examples
        --------
        >>> tropalign.SubstitutionMatrix.of({("A", "A"): 2, ("A", "C"): -1, ("C", "C"): 3}).letters
        'AC'
        """
        if isinstance(source, SubstitutionMatrix):
            return source
        if isinstance(source, str | os.PathLike):
            return cls.load(source, alphabet)
        if is_match_mismatch(source):
            return cls.match_mismatch(source[0], source[1], NUCLEOTIDE if alphabet is None else alphabet)
        letters, values = letters_and_scores(source)
        return cls._from_values("custom", letters, values, alphabet)

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str], alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        """Load a matrix by name, else from a file in NCBI format.

        Parameters
        ----------
        name_or_path
            A name (see `from_name`), or a file.
        alphabet
            Alphabet of the sequences; inferred from the matrix's letters if not given.

        Returns
        -------
        SubstitutionMatrix

        Raises
        ------
        ScoringError
            There is neither such a name nor such a file, or the scores cannot be used.
        InputError
            The file cannot be read.

        Examples
        --------
        >>> tropalign.SubstitutionMatrix.load("pam250").name
        'PAM250'
        """
        name = os.fspath(name_or_path)
        if isinstance(name_or_path, str) and canonical(name) is not None:
            return cls.from_name(name, alphabet)
        if not isinstance(name_or_path, str) or ("\0" not in name and os.path.exists(name)):
            return cls.from_file(name, alphabet)
        raise no_matrix(name, "matrix or file")

    @classmethod
    def from_name(cls, name: str, alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        """Return one of the named matrices.

        Parameters
        ----------
        name
            One of `names`, such as "BLOSUM62", in either case; the names of EMBOSS and parasail ("EBLOSUM62",
            "EDNAFULL", "nuc44") work as well.
        alphabet
            Alphabet of the sequences; inferred from the matrix's letters if not given.

        Returns
        -------
        SubstitutionMatrix

        Raises
        ------
        ScoringError
            No matrix has this name.

        Examples
        --------
        >>> tropalign.SubstitutionMatrix.from_name("BLOSUM50").alphabet.name
        'protein'
        """
        if not isinstance(name, str):
            raise ScoringError(f"an object of type {type(name).__name__} is not a matrix name: give a string")
        known = canonical(name)
        if known is None:
            raise no_matrix(name, "matrix")
        letters, values = shipped(known)
        if alphabet == PROTEIN and NUCLEOTIDE.has_letters(letters):  # all nucleotide letters are also amino acids
            alphabet = NUCLEOTIDE
        return cls._from_values(known, letters, values, alphabet)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all named matrices.

        Returns
        -------
        tuple of str
            Matrices of Biopython, then others: BLOSUM30 to BLOSUM85, PAM10 to PAM500, VTML200.

        Examples
        --------
        >>> "PAM120" in tropalign.SubstitutionMatrix.names()
        True
        """
        return known_names()

    def __getitem__(self, letters: str | tuple[str, str]) -> float:
        """Return the score of a query's letter against a target's: ``matrix["A", "R"]``, ``matrix["ar"]``."""
        codes = self.alphabet.codes_by_letter
        try:
            one, other = (codes[letter] for letter in letters)
        except (KeyError, TypeError, ValueError):
            wanted = f"two letters of the {self.alphabet.name} alphabet, such as ('A', 'R')"
            raise KeyError(f"{letters!r}: give {wanted}") from None
        score: float = self.scores[one, other].item()
        return score

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], alphabet: Alphabet | None = None) -> SubstitutionMatrix:
        r"""Read a matrix file in NCBI format.

        Parameters
        ----------
        path
            Lines that start with ``#`` are comments; then follow the targets' letters, then one row per letter of
            the queries.
        alphabet
            Alphabet of the sequences; inferred from the matrix's letters if not given.

        Returns
        -------
        SubstitutionMatrix

        Raises
        ------
        InputError
            The file cannot be read; the error names the line.
        ScoringError
            The scores cannot be used.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "own.txt")
        ...     _ = path.write_text("   A  C\nA  2 -1\nC -1  3\n")
        ...     matrix = tropalign.SubstitutionMatrix.from_file(path)
        >>> matrix.name, matrix.letters
        ('own.txt', 'AC')
        """
        letters, values = read_ncbi(path)
        return cls._from_values(shown(Path(path).name), letters, values, alphabet)

    @classmethod
    def _from_values(
        cls, name: str, letters: str, values: NDArray[np.float64], alphabet: Alphabet | None
    ) -> SubstitutionMatrix:
        if not np.isfinite(values).all():
            raise ScoringError(f"the matrix {name} has a score that is not a number: correct it")
        values = kept_scores(name, values)
        alphabet = None if alphabet is None else alphabet_of(alphabet)
        if alphabet is None or (alphabet.judged and not alphabet.has_letters(letters)):
            alphabet = alphabet_of_letters(letters)
        if not set(letters) & set(alphabet.letters):
            raise ScoringError(f"the matrix {name} has no letter of the {alphabet.name} alphabet: choose another")
        return cls(name, alphabet, by_code(alphabet, letters, values), letters)

    @classmethod
    def match_mismatch(
        cls, match: float, mismatch: float, alphabet: Alphabet = NUCLEOTIDE, iupac: IupacRule = "mismatch"
    ) -> SubstitutionMatrix:
        """Score equal letters ``match`` and others ``mismatch``; `iupac` decides the scores of ambiguous letters.

        Parameters
        ----------
        match, mismatch
            Scores of equal and of different letters.
        alphabet
            Alphabet of the letters.
        iupac : {"mismatch", "zero", "match"}
            Treatment of letters that stand for several, such as R for A or G, and of the wildcard, such as N for
            any: "mismatch" scores them like any letter, the wildcard 0; "zero" scores all of them 0, like vsearch;
            "match" matches letters that can stand for the same residue, like edlib's equalities.

        Returns
        -------
        SubstitutionMatrix

        Raises
        ------
        ScoringError
            A score is not a number, has more than four decimals or exceeds 1,000,000; or `iupac` is another word.

        Examples
        --------
        >>> tropalign.SubstitutionMatrix.match_mismatch(5, -4).name
        'match 5 mismatch -4'
        >>> matrix = tropalign.SubstitutionMatrix.match_mismatch(5, -4, iupac="match")
        >>> matrix["R", "A"], matrix["R", "C"], matrix["R", "K"], matrix["N", "C"]
        (5, -4, 5, 5)
        """
        match, mismatch = number(match, "the match score", MOST), number(mismatch, "the mismatch score", MOST)
        if not isinstance(iupac, str) or iupac not in IUPAC_RULES:
            raise ScoringError(f"iupac {iupac!r} is not one of {', '.join(IUPAC_RULES)}")
        alphabet = alphabet_of(alphabet)
        letters, values = alphabet.letters, matched(alphabet, match, mismatch, iupac)
        name = f"match {match} mismatch {mismatch}" + (f" iupac {iupac}" if iupac != "mismatch" else "")
        return cls(name, alphabet, by_code(alphabet, letters, kept_scores(name, values)), letters)

    @classmethod
    def default(cls, alphabet: Alphabet) -> SubstitutionMatrix:
        """Return the default matrix of an alphabet.

        Parameters
        ----------
        alphabet
            Alphabet of the sequences.

        Returns
        -------
        SubstitutionMatrix

        Raises
        ------
        ScoringError
            The alphabet has no default.

        Examples
        --------
        >>> tropalign.SubstitutionMatrix.default(tropalign.PROTEIN).name
        'BLOSUM62'
        """
        return _default(alphabet_of(alphabet))

    @property
    def is_symmetric(self) -> bool:
        """True if every score stays the same when query and target are exchanged.

        Examples
        --------
        >>> tropalign.SubstitutionMatrix.of({("A", "C"): -1, ("C", "A"): -3, ("A", "A"): 2, ("C", "C"): 2}).is_symmetric
        False
        """
        return bool((self.scores == self.scores.T).all())

    def codes_lacked(self) -> list[int]:
        """Return the codes of alphabet letters that the matrix has neither as such nor under a synonym.

        Returns
        -------
        list of int
            Codes that `check` warns of or rejects.

        Examples
        --------
        >>> matrix = tropalign.SubstitutionMatrix.from_name("BLOSUM62")
        >>> "".join(matrix.alphabet.letters[code] for code in matrix.codes_lacked())
        'JUO'
        """
        lacked = []
        for code, letter in enumerate(self.alphabet.letters):
            stand_in = None if letter in self.letters else stand_in_of(self.alphabet, letter, self.letters)
            if letter not in self.letters and (stand_in is None or self.alphabet.synonyms.get(stand_in) != letter):
                lacked.append(code)
        return lacked

    def check(self, batch: SequenceBatch) -> None:
        """Check that the matrix can score these sequences; warn of letters that are scored like another one.

        Parameters
        ----------
        batch
            Sequences to be aligned with this matrix.

        Raises
        ------
        ScoringError
            The matrix is for another alphabet, or lacks a letter of the batch that has no stand-in.

        Examples
        --------
        >>> matrix = tropalign.SubstitutionMatrix.from_name("BLOSUM62")
        >>> try:
        ...     matrix.check(tropalign.SequenceBatch.from_strings(["ACGTACGT"]))
        ... except tropalign.ScoringError as error:
        ...     print(error)
        BLOSUM62 is a protein matrix, but the sequences look like nucleotide: ...
        """
        if not isinstance(batch, SequenceBatch):
            raise ScoringError(f"an object of type {type(batch).__name__} is not a SequenceBatch")
        if batch.alphabet != self.alphabet:
            raise ScoringError(
                f"{self.name} is a {self.alphabet.name} matrix, but the sequences look like {batch.alphabet.name}: "
                f"choose another matrix, or set the kind of the sequences with {named('alphabet')}"
            )
        if batch.alphabet.letters != self.alphabet.letters:  # same name, different letters
            raise ScoringError(
                f"{self.name} and the sequences have different alphabets of the same name, {self.alphabet.name}: "
                "rename one of them"
            )
        counts = batch.code_counts
        for code in self.codes_lacked():
            if not counts[code]:
                continue
            letter = batch.alphabet.letters[code]
            stand_in = stand_in_of(self.alphabet, letter, self.letters)
            if stand_in is None:
                at = int(np.flatnonzero(batch.codes == code)[0])
                k = int(np.searchsorted(batch.offsets, at, "right")) - 1
                raise ScoringError(
                    f"the matrix {self.name} has no letter {letter}, but record {batch.names[k]!r} contains it at "
                    f"position {at - int(batch.offsets[k]) + 1}: add it to the matrix, or choose another matrix"
                )
            warnings.warn(
                f"the matrix {self.name} has no letter {letter}: {counts[code]} are scored like {stand_in}",
                TropalignWarning,
                stacklevel=2,
            )


@cached
def _default(alphabet: Alphabet) -> SubstitutionMatrix:
    """Return the default matrix, made once: making one takes longer than aligning a pair, and it is immutable."""
    if alphabet.match_mismatch is not None:
        return SubstitutionMatrix.match_mismatch(*alphabet.match_mismatch, alphabet)
    if alphabet.matrix is not None:
        return SubstitutionMatrix.from_name(alphabet.matrix, alphabet)
    raise ScoringError(f"there is no default matrix for {alphabet.name} sequences: choose one")


#: Types that `SubstitutionMatrix.of` accepts.
MatrixLike = SubstitutionMatrix | str | os.PathLike[str] | Mapping[Any, Any] | tuple[str, ArrayLike] | Any
