"""CLUSTALW's alphabet and substitution matrices, and the matrix and gap cost factor for two profiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tropalign.clustalw.options import ClustalwOptions
from tropalign.properties import cached
from tropalign.sequences.alphabet import Alphabet
from tropalign.sequences.batch import SequenceBatch

#: A letter's code is its index. U is not T here.
LETTERS = "ABCDEFGHIKLMNOPQRSTUVWXYZ"


def clustalw_codes(batch: SequenceBatch) -> NDArray[np.uint8]:
    """Return the codes of all residues, uint8, shape (n_residues,): case is ignored, J and non-letters become X.

    CLUSTALW itself leaves out J and ``*``.
    """
    table = np.full(256, LETTERS.index("X"), np.uint8)
    for code, letter in enumerate(LETTERS):
        table[ord(letter)] = table[ord(letter.lower())] = code
    return table[batch.letters]


#: Transitions between purines, and between pyrimidines (U is T of RNA).
TRANSITIONS = (("A", "G"), ("C", "T"), ("C", "U"))


@dataclass(frozen=True)
class SeriesEntry:
    """A matrix of a series and the profiles that it is meant for; the first entry that fits is used.

    `above`: lower bound on the percent identity of the profiles, exclusive. `shorter_than`: upper bound on the
    mean sequence length of the shorter profile, exclusive. `scale`: factor of the cost of opening a gap.
    """

    above: float
    shorter_than: int
    name: str
    scale: float


_ANY, _ANY_LENGTH = -1e9, 2**31 - 1


def _rows(*entries: tuple[float, str, float]) -> tuple[SeriesEntry, ...]:
    return tuple(SeriesEntry(above, _ANY_LENGTH, name, scale) for above, name, scale in entries)


#: Protein matrices by series name.
SERIES: dict[str, tuple[SeriesEntry, ...]] = {
    "gonnet": (
        SeriesEntry(35, _ANY_LENGTH, "GONNET80", 0.75 / 4),
        SeriesEntry(25, 100, "GONNET250", 0.75 / 2),
        SeriesEntry(25, _ANY_LENGTH, "GONNET120", 0.75 / 2),
        SeriesEntry(_ANY, 100, "GONNET350", 0.75 / 2),
        SeriesEntry(_ANY, _ANY_LENGTH, "GONNET160", 0.75 / 2),
    ),
    "blosum": _rows(
        (80, "BLOSUM80", 0.75),
        (60, "BLOSUM62", 0.75),
        (40, "BLOSUM45", 0.75),
        (30, "BLOSUM45", 0.5),
        (20, "BLOSUM45", 0.6),
        (_ANY, "BLOSUM30", 0.6),
    ),
    "pam": _rows((80, "PAM20", 0.75), (60, "PAM60", 0.75), (40, "PAM120", 0.75), (_ANY, "PAM350", 0.75)),
    "id": _rows((_ANY, "IDENTITY", 0.75)),
}
#: Nucleotide matrices by name.
NUCLEOTIDE_SERIES: dict[str, tuple[SeriesEntry, ...]] = {
    "iub": _rows((_ANY, "IUB", 1.0)),
    "clustalw": _rows((_ANY, "DNA_IDENTITY", 0.66)),
}
#: If negative scores are kept, a single matrix serves all profiles.
NEGATIVE_SERIES = {"gonnet": "GONNET250", "blosum": "BLOSUM40", "pam": "PAM120", "id": "IDENTITY"}


def series_of(options: ClustalwOptions, is_nucleotide: bool) -> tuple[SeriesEntry, ...]:
    """Return the matrices for profiles; the first entry that fits is used."""
    if is_nucleotide:
        return NUCLEOTIDE_SERIES[options.nucleotide_matrix]
    if options.negative_matrix:
        scale = 0.75 / 2 if options.series == "gonnet" else 0.75
        return _rows((_ANY, NEGATIVE_SERIES[options.series], scale))
    return SERIES[options.series]


@dataclass(frozen=True)
class ProfileMatrix:
    """A matrix for the comparison of profiles.

    `scores`: int32, shape (25, 25), by codes of `LETTERS`, in hundredths; 0 for letters that the matrix lacks;
    raised to 0 or more unless negative scores are kept. `mismatch`: minus the mean score of two different letters
    before that, truncated.
    """

    scores: NDArray[np.int32]
    mismatch: int


@cached
def _tables() -> dict[str, tuple[str, NDArray[np.int32]]]:
    """Read the letters and the square of each matrix in matrices.txt."""
    found: dict[str, tuple[str, NDArray[np.int32]]] = {}
    lines = Path(__file__).with_name("matrices.txt").read_text("ascii").splitlines()
    rows = iter([line.split() for line in lines if not line.startswith("#")])
    for name, letters in rows:
        square = np.zeros((len(letters), len(letters)), np.int32)
        for i in range(len(letters)):
            square[i, : i + 1] = square[: i + 1, i] = [int(value) for value in next(rows)]
        found[name] = letters, square
    return found


def matrix_table(name: str) -> NDArray[np.int32]:
    """Return a matrix of matrices.txt by codes of `LETTERS`, int32, shape (25, 25); 0 for letters that it lacks."""
    letters, square = _tables()[name]
    codes = [LETTERS.index(letter) for letter in letters]
    table = np.zeros((len(LETTERS), len(LETTERS)), np.int32)
    table[np.ix_(codes, codes)] = square
    return table


def mismatch_of(table: NDArray[np.int32], n_letters: int) -> int:
    """Return minus the mean of the off-diagonal scores, truncated; one letter too few is counted."""
    n = n_letters - 1
    total = int(np.tril(table, -1).sum())
    return -int(np.float32(total) / (np.float32(n * n - n) / np.float32(2)))


def profile_matrix(name: str, options: ClustalwOptions) -> ProfileMatrix:
    """Return the named matrix for the comparison of profiles.

    As in CLUSTALW, the score to subtract is the lower of A with itself and the minimum among the other letters.
    """
    letters, _ = _tables()[name]
    table = matrix_table(name) * (10 if name.startswith("GONNET") else 100)
    mismatch = mismatch_of(table, len(letters))
    lowest = min(int(table[0, 0]), int(table[1:, 1:].min()))
    if lowest < 0 and not options.negative_matrix:
        codes = [LETTERS.index(letter) for letter in letters]
        table[np.ix_(codes, codes)] -= lowest
    if name in ("IUB", "DNA_IDENTITY"):
        transition = int(np.float32(options.transition_weight) * np.float32(table[0, 0]))
        for one, other in TRANSITIONS:
            i, j = LETTERS.index(one), LETTERS.index(other)
            table[i, j] = table[j, i] = transition
    return ProfileMatrix(table, mismatch)


#: Matrices for pairs of proteins, by series name.
PAIR_MATRICES = {"gonnet": "GONNET250", "blosum": "BLOSUM30", "pam": "PAM350", "id": "IDENTITY"}
NUCLEOTIDE_PAIR_MATRICES = {"iub": "IUB", "clustalw": "DNA_IDENTITY"}
#: Factors of the gap costs with these matrices: opening, extension.
NUCLEOTIDE_SCALES = {"iub": (1.0, 1.0), "clustalw": (0.6667, 0.751)}
#: Letters in each protein matrix, including B, Z and X; and the number of codes in native code.
PROTEIN_LETTERS, N_CODES = 23, 32
#: The original uses indices into its list of nucleotides as codes, so that A with E, C with M and C with N get the
#: score of a transition, and A with G, C with T and C with U do not.
MISPLACED = ((0, 4), (2, 11), (2, 12))
#: Units per score of 1, unless pairs are aligned exactly as in the original. All matrix scores are whole tenths;
#: gap costs, which grow with the logarithm of the length, take a few integer values; and 16 bits hold the scores
#: of most families.
UNITS = 10


@dataclass(frozen=True)
class PairScoring:
    """Integer scores of a pair.

    `scores`: int32, shape (32, 32), by code; 0 for letters that the matrix lacks. `gap_open`: int32, shape
    (longest + 1,), by the length of the shorter sequence: a gap of k residues costs
    ``gap_open[length] + k * gap_extend``.
    """

    scores: NDArray[np.int32]
    gap_open: NDArray[np.int32]
    gap_extend: int


def compat_scoring(options: ClustalwOptions, is_nucleotide: bool, longest: int) -> PairScoring:
    """Return the scoring of CLUSTALW 2.1 including its roundings, by codes of `LETTERS`."""
    cost, extend = (np.float32(options.cost(name, is_nucleotide)) for name in ("pw_gap_open", "pw_gap_extend"))
    name = NUCLEOTIDE_PAIR_MATRICES[options.nucleotide_matrix] if is_nucleotide else PAIR_MATRICES[options.series]
    unit = 10 if name.startswith("GONNET") else 100
    table = matrix_table(name) * unit
    if is_nucleotide:
        transition = int(np.float32(options.transition_weight) * np.float32(table[0, 0]))
        for i, j in MISPLACED:
            table[i, j] = table[j, i] = transition
        opening, extending = (np.float32(scale) for scale in NUCLEOTIDE_SCALES[options.nucleotide_matrix])
        opens = np.full(longest + 1, int(np.float32(2) * cost * np.float32(unit) * opening), np.int32)
        extension = int(extend * np.float32(unit) * extending)
    else:
        # The opening cost is proportional to the cost of a mismatch if that is positive, else to the unit.
        logs = np.array([math.log(max(length, 1)) for length in range(longest + 1)])
        mismatch, sums = mismatch_of(table, PROTEIN_LETTERS), float(cost) + logs
        opens = (2 * np.trunc(sums * unit) if mismatch <= 0 else np.trunc(2 * mismatch * sums)).astype(np.int32)
        extension = int(extend * np.float32(unit))
    scores = np.zeros((N_CODES, N_CODES), np.int32)
    scores[: len(LETTERS), : len(LETTERS)] = table
    return PairScoring(scores, opens, extension)


def pair_scoring(options: ClustalwOptions, alphabet: Alphabet, longest: int) -> tuple[str, PairScoring]:
    """Return the name of the matrix and the scoring of the same alignments in UNITS, by codes of `alphabet`.

    Transitions are mismatches, as in the original (`MISPLACED`): otherwise many more residues would be identical
    by chance.
    """
    is_nucleotide = alphabet.name == "nucleotide"
    cost, extend = (options.cost(name, is_nucleotide) for name in ("pw_gap_open", "pw_gap_extend"))
    name = NUCLEOTIDE_PAIR_MATRICES[options.nucleotide_matrix] if is_nucleotide else PAIR_MATRICES[options.series]
    tenth = 0.1 if name.startswith("GONNET") else 1.0
    table = matrix_table(name) * tenth
    lengths = np.maximum(np.arange(longest + 1), 1)
    if is_nucleotide:
        opening, extending = NUCLEOTIDE_SCALES[options.nucleotide_matrix]
        opens = np.full(longest + 1, 2 * cost * opening)
    else:
        mismatch = mismatch_of(matrix_table(name) * (10 if tenth < 1 else 100), PROTEIN_LETTERS) / 100
        opens = 2 * (mismatch if mismatch > 0 else tenth) * (cost + np.log(lengths))
        extending = tenth
    codes = [LETTERS.index(letter) if letter in LETTERS else LETTERS.index("X") for letter in alphabet.letters]
    scores = np.zeros((N_CODES, N_CODES), np.int32)
    scores[: len(codes), : len(codes)] = np.rint(UNITS * table[np.ix_(codes, codes)])
    return name, PairScoring(scores, np.rint(UNITS * opens).astype(np.int32), round(UNITS * extend * extending))
