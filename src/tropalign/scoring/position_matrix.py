"""Position matrices: scores of each letter at each position of a profile (PSSM), in place of letters and a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign.errors import InputError, UsageError, counted, named, shown
from tropalign.properties import cached_property
from tropalign.resources.limits import decimal_number
from tropalign.scoring.scores import MOST, N_CODES, stand_in_of
from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN, Alphabet, AlphabetLike, alphabet_of
from tropalign.sequences.batch import SequenceBatch

#: Columns of a matrix without `letters`, by number.
COLUMNS = {4: "ACGT", 20: "ACDEFGHIKLMNPQRSTVWY"}
#: Scores per bit of log-odds: default gap costs suit these units. Half bits are those of BLOSUM62.
SCALE = {NUCLEOTIDE: 4, PROTEIN: 2}
#: Highest scale.
MOST_SCALE = 1000

Scores = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PositionMatrix:
    """Integer scores of letters at each position of a profile (a PSSM), for either side of an alignment.

    `align`, `align_many` and `align_all` accept a position matrix in place of a sequence: position i and residue b
    score ``scores[i, letters.index(b)]``.

    Parameters
    ----------
    scores : array_like of integers, shape (length, n_letters)
        A row per position.
    letters : str, optional
        Letters of the columns; ``ACGT`` for 4 columns and ``ACDEFGHIKLMNPQRSTVWY`` for 20 by default. An ambiguous
        letter of the alphabet without a column, such as N or B, scores the mean of the letters that it may be,
        rounded down; X the mean of all columns, rounded down; any other letter the lowest score of its position.
    name : str, optional
        Name in results.
    alphabet : Alphabet or str, optional
        Alphabet of the letters; nucleotides for columns of ``ACGT`` or ``ACGU`` alone, otherwise proteins.
    consensus : str, optional
        A letter per position, which results show and count identities with. By default the best-scoring letter
        (of equal ones the first) among those that are not ambiguous.

    Raises
    ------
    InputError
        The scores are not integers in a table, beyond 1,000,000 in magnitude, or empty; the letters do not fit the
        columns or the alphabet; or the consensus does not fit the positions.

    Examples
    --------
    >>> import numpy as np
    >>> tata = tropalign.PositionMatrix(np.array([[-5, -5, -5, 4], [4, -5, -5, -5], [-5, -5, -5, 4], [4, -5, -5, -5]]))
    >>> tata.consensus, tropalign.align(tata, "GGTATACC").target_start
    ('TATA', 2)
    """

    scores: Scores
    letters: str = ""
    name: str = "matrix"
    alphabet: Alphabet = None  # type: ignore[assignment]  # set on creation
    consensus: str = ""

    def __init__(
        self,
        scores: ArrayLike,
        letters: str | None = None,
        *,
        name: str = "matrix",
        alphabet: AlphabetLike | None = None,
        consensus: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InputError("the name of a position matrix must be a string that is not empty")
        table = _whole(scores, name)
        letters = _columns(table.shape[1], letters, name)
        chosen = (
            alphabet_of(alphabet) if alphabet is not None else NUCLEOTIDE if set(letters) <= set("ACGTU") else PROTEIN
        )
        unknown = next((letter for letter in letters if letter not in chosen.codes_by_letter), None)
        if unknown is not None:
            raise InputError(
                f"the column {unknown!r} is not a letter of the {chosen.name} alphabet: leave the column out, or give "
                "the alphabet of the letters",
                record=name,
            )
        if len({chosen.codes_by_letter[letter] for letter in letters}) < len(letters):
            raise InputError("two columns have the same letter, such as U and T: give each letter once", record=name)
        table.flags.writeable = False
        for field, value in (("scores", table), ("letters", letters), ("name", name), ("alphabet", chosen)):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "consensus", self._consensus(consensus))

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<PositionMatrix {shown(self.name)}: {counted(len(self), 'positions')}, {self.alphabet.name}>"

    def __eq__(self, other: object) -> bool:
        """True if name, alphabet, letters, consensus and scores are equal."""
        if not isinstance(other, PositionMatrix):
            return NotImplemented
        mine, theirs = ((each.name, each.alphabet, each.letters, each.consensus) for each in (self, other))
        return mine == theirs and np.array_equal(self.scores, other.scores)

    def __hash__(self) -> int:
        return hash((self.name, self.letters, self.consensus))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.scores, self.letters, self.name, self.alphabet, self.consensus)

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        letters: str | None = None,
        *,
        background: ArrayLike | None = None,
        pseudocount: float = 1.0,
        scale: float | None = None,
        name: str = "matrix",
        alphabet: AlphabetLike | None = None,
    ) -> PositionMatrix:
        """Make log-odds scores of counts or probabilities: ``rint(scale * log2(p / background))``.

        The probability p is ``(count + pseudocount * background) / (sum of the row + pseudocount)``.

        Parameters
        ----------
        counts : array_like, shape (length, n_letters)
            Numbers of residues, or probabilities, at each position.
        letters
            See `PositionMatrix`.
        background : array_like, shape (n_letters,), optional
            Frequencies of the letters; equal by default.
        pseudocount
            Weight of the background, in residues; above 0 if a count is 0.
        scale
            Scores per bit; 4 for nucleotides and 2 for other letters by default, the units for which the default
            gap costs are made.
        name, alphabet
            See `PositionMatrix`.

        Returns
        -------
        PositionMatrix

        Raises
        ------
        InputError
            A number is negative or not finite, a row adds up to 0, another argument is out of range, or a score would
            be beyond 1,000,000 in magnitude.
        UsageError
            The background or the pseudocount is not made of numbers.

        Examples
        --------
        >>> tropalign.PositionMatrix.from_counts([[8, 0, 0, 0], [2, 2, 2, 2]]).scores.tolist()
        [[7, -13, -13, -13], [0, 0, 0, 0]]
        """
        table = _numbers(counts, name)
        letters = _columns(table.shape[1], letters, name)
        if (table < 0).any():
            i, j = np.argwhere(table < 0)[0].tolist()
            raise InputError(f"the count in row {i}, column {j} (from 0) is {table[i, j]}, below 0", record=name)
        empty = np.flatnonzero(~table.any(axis=1))
        if len(empty):
            raise InputError(f"the counts of row {empty[0]} (from 0) are all 0: leave the row out", record=name)
        n = table.shape[1]
        try:
            given = np.full(n, 1 / n) if background is None else np.asarray(background)
        except ValueError:  # rows of several lengths
            given = np.array(None)
        if given.size and given.dtype.kind not in "iuf":
            raise UsageError(f"{named('background')} is not an array of numbers: give a frequency per column")
        frequencies = given.astype(np.float64)
        if frequencies.shape != (n,) or not (frequencies > 0).all() or not np.isfinite(frequencies).all():
            raise InputError(f"the background must have {n} frequencies above 0, one per column", record=name)
        weight = decimal_number("pseudocount", pseudocount)
        if not 0 <= weight <= np.finfo(np.float64).max:
            raise InputError(f"the pseudocount {pseudocount!r} is not a number of at least 0", record=name)
        if weight == 0 and (table == 0).any():
            raise InputError("a count is 0, so its score is not finite: give a pseudocount above 0", record=name)
        with np.errstate(all="ignore"):  # `log_odds` rejects what is not finite
            frequencies = frequencies / frequencies.sum()
            made = (table + float(weight) * frequencies) / (table.sum(axis=1, keepdims=True) + float(weight))
        return cls(log_odds(made, frequencies, letters, scale, name), letters, name=name, alphabet=alphabet)

    @cached_property
    def by_code(self) -> Scores:
        """Scores by codes of the alphabet, int32, shape (length, 32), with those of letters without a column."""
        own = {self.alphabet.codes_by_letter[letter]: k for k, letter in enumerate(self.letters)}
        of_code = np.repeat(self.scores.min(axis=1, keepdims=True), N_CODES, axis=1)
        for code, letter in enumerate(self.alphabet.letters):
            if code in own:
                of_code[:, code] = self.scores[:, own[code]]
                continue
            codes = [self.alphabet.codes_by_letter[one] for one in self.alphabet.ambiguous.get(letter, "")]
            columns = [own[one] for one in codes if one in own]
            stand_in = stand_in_of(self.alphabet, letter, self.letters)
            if letter == self.alphabet.wildcard:
                columns = list(range(len(self.letters)))
            elif not columns and stand_in is not None:
                columns = [self.letters.index(stand_in)]
            if columns:
                of_code[:, code] = self.scores[:, columns].sum(axis=1, dtype=np.int64) // len(columns)
        of_code.flags.writeable = False
        return of_code

    def _consensus(self, given: str | None) -> str:
        """Return the consensus in the letters of the alphabet."""
        if given is None:
            is_plain = [
                letter in self.alphabet.synonyms  # U, which is also listed as ambiguous
                or (letter != self.alphabet.wildcard and letter not in self.alphabet.ambiguous and letter != "*")
                for letter in self.letters
            ]
            columns = np.flatnonzero(is_plain) if any(is_plain) else np.arange(len(self.letters))
            best = columns[self.scores[:, columns].argmax(axis=1)]
            return "".join(self.letters[k] for k in best.tolist())
        if not isinstance(given, str) or len(given) != len(self):
            raise InputError(f"the consensus must be a string of {len(self)} letters, one per row", record=self.name)
        unknown = next((letter for letter in given if letter not in self.alphabet.codes_by_letter), None)
        if unknown is not None:
            raise InputError(
                f"the consensus has {unknown!r}, which is not a letter of the {self.alphabet.name} alphabet",
                record=self.name,
            )
        return given


def _made(scores: Scores, letters: str, name: str, alphabet: Alphabet, consensus: str) -> PositionMatrix:
    return PositionMatrix(scores, letters, name=name, alphabet=alphabet, consensus=consensus)


def log_odds(
    probabilities: NDArray[np.float64],
    background: NDArray[np.float64],
    letters: str,
    scale: float | None,
    name: str,
) -> Scores:
    """Return rounded log-odds, ``scale`` per bit; shape of the probabilities."""
    if scale is None:
        scale = SCALE[NUCLEOTIDE if set(letters) <= set("ACGTU") else PROTEIN]
    if isinstance(scale, bool) or not isinstance(scale, int | float | Real) or not 0 < scale <= MOST_SCALE:
        raise InputError(f"the scale {scale!r} is not a number above 0 and up to {MOST_SCALE}", record=name)
    with np.errstate(all="ignore"):
        scores = np.rint(float(scale) * np.log2(probabilities / background))
    is_bad = ~(np.abs(scores) <= MOST)
    if is_bad.any():
        i, j = np.argwhere(is_bad)[0].tolist()
        raise InputError(
            f"the score in row {i}, column {j} (from 0) would be {scores[i, j]:.0f}, beyond {MOST}: use counts, a "
            "background and a pseudocount of similar magnitude",
            record=name,
        )
    return scores.astype(np.int32)


def _numbers(given: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return a table of finite numbers."""
    try:
        table = np.asarray(given)
        if table.dtype.kind not in "iuf" and table.size:
            raise TypeError
        table = table.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("the scores are not a table of numbers: give a 2-D array", record=name) from None
    if table.ndim != 2 or not table.size:
        raise InputError(
            f"the scores have the shape {table.shape}, but need a row per position and a column per letter", record=name
        )
    if not np.isfinite(table).all():
        i, j = np.argwhere(~np.isfinite(table))[0].tolist()
        raise InputError(f"the score in row {i}, column {j} (from 0) is {table[i, j]}", record=name)
    return table


def _whole(scores: ArrayLike, name: str) -> Scores:
    """Return scores as a new array of int32."""
    table = _numbers(scores, name)
    if (table % 1 != 0).any():
        i, j = np.argwhere(table % 1 != 0)[0].tolist()
        raise InputError(
            f"the score in row {i}, column {j} (from 0) is {table[i, j]}, not a whole number: multiply all scores by a "
            "scale and round them with numpy.rint",
            record=name,
        )
    if np.abs(table).max() > MOST:
        i, j = np.argwhere(np.abs(table) > MOST)[0].tolist()
        raise InputError(f"the score in row {i}, column {j} (from 0) is {table[i, j]:.0f}, beyond {MOST}", record=name)
    return table.astype(np.int32)


def _columns(n: int, letters: str | None, name: str) -> str:
    """Return the letters of the columns in upper case."""
    if letters is None:
        if n not in COLUMNS:
            raise InputError(
                f"the scores have {n} columns, but {' or '.join(map(str, COLUMNS))} without letters: give the letters "
                "of the columns",
                record=name,
            )
        return COLUMNS[n]
    if not isinstance(letters, str) or len(letters) != n or len(set(letters.upper())) < n:
        raise InputError(f"the letters must be a string of {n} different letters, one per column", record=name)
    return letters.upper()


class PositionBatch(SequenceBatch):
    """Position matrices as sequences for engines: the consensus of each, and scores by position, int32, (n, 32)."""

    has_positions = True
    scores: Scores

    @classmethod
    def of(cls, matrices: Iterable[PositionMatrix]) -> PositionBatch:
        """Make a batch of one or more matrices of one alphabet. Raises InputError otherwise, and for equal names."""
        listed = list(matrices)
        other = next((one for one in listed if not isinstance(one, PositionMatrix)), None)
        if other is not None:
            raise InputError(
                f"a list has position matrices and an object of type {type(other).__name__}: give one kind per list"
            )
        alphabet = listed[0].alphabet
        for one in listed:
            if one.alphabet != alphabet or one.alphabet.letters != alphabet.letters:
                raise InputError(
                    f"the position matrices have {alphabet.name} and {one.alphabet.name} letters: give those of one "
                    "alphabet",
                    record=one.name,
                )
        names = tuple(one.name for one in listed)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError("two position matrices have the same name: give each its own", record=twice)
        letters = np.frombuffer("".join(one.consensus for one in listed).encode(), np.uint8)
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in listed])]).astype(np.int64)
        return cls._with(offsets, names, alphabet, letters, np.concatenate([one.by_code for one in listed]))

    @classmethod
    def _with(
        cls,
        offsets: NDArray[np.int64],
        names: tuple[str, ...],
        alphabet: Alphabet,
        letters: NDArray[np.uint8],
        scores: Scores,
    ) -> PositionBatch:
        batch = cls(alphabet.encode(letters)[0], offsets, names, alphabet, letters)
        object.__setattr__(batch, "scores", np.ascontiguousarray(scores, np.int32))
        return batch

    def __reduce__(self) -> tuple[Any, ...]:
        return PositionBatch._with, (self.offsets, self.names, self.alphabet, self.letters, self.scores)

    def reverse_complement(self) -> PositionBatch:
        """Return the matrices of the other strand."""
        turned = super().reverse_complement()
        rows = np.arange(len(self.codes))
        codes = np.arange(N_CODES)
        for code, letter in enumerate(self.alphabet.letters):
            codes[code] = self.alphabet.codes_by_letter[self.alphabet.complement[letter]]
        for begin, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            rows[begin:end] = rows[begin:end][::-1]
        return self._with(self.offsets, self.names, self.alphabet, turned.letters, self.scores[rows][:, codes])

    def rows(self, k: int) -> Scores:
        """Return the scores of matrix k, int32, shape (length, 32)."""
        return self.scores[self.offsets[k] : self.offsets[k + 1]]

    def _digest_residues(self, digest: Any) -> None:
        super()._digest_residues(digest)
        digest.update(self.scores.tobytes())


def positions_of(given: Any) -> PositionBatch | None:
    """Return the batch of a position matrix or a list of them; None for anything else."""
    if isinstance(given, PositionBatch):
        return given
    if isinstance(given, PositionMatrix):
        return PositionBatch.of([given])
    if isinstance(given, list | tuple) and any(isinstance(one, PositionMatrix) for one in given):
        return PositionBatch.of(given)
    return None
