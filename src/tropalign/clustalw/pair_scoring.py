"""CLUSTALW's scoring of two sequences: an integer matrix, and gap costs that grow with the shorter sequence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.clustalw.matrices import LETTERS, matrix_table, mismatch_of
from tropalign.clustalw.options import ClustalwOptions
from tropalign.sequences.alphabet import Alphabet

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
        opens = _protein_opens(float(cost), mismatch_of(table, PROTEIN_LETTERS), unit, longest)
        extension = int(extend * np.float32(unit))
    scores = np.zeros((N_CODES, N_CODES), np.int32)
    scores[: len(LETTERS), : len(LETTERS)] = table
    return PairScoring(scores, opens, extension)


def _protein_opens(cost: float, mismatch: int, unit: int, longest: int) -> NDArray[np.int32]:
    """Return the costs of opening a gap by length: proportional to the cost of a mismatch, if that is positive."""
    logs = np.array([math.log(max(length, 1)) for length in range(longest + 1)])
    opens = 2 * np.trunc((cost + logs) * unit) if mismatch <= 0 else np.trunc(2 * mismatch * (cost + logs))
    return opens.astype(np.int32)


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
