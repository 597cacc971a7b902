"""Exact parameters of ungapped alignments (Karlin and Altschul 1990), and the residue frequencies behind them."""

from __future__ import annotations

from math import exp, gcd, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError
from tropalign.scoring.matrix import SubstitutionMatrix
from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN, Alphabet

#: Residues per 1000 in proteins (Robinson and Robinson 1991), as in BLAST.
AMINO_ACIDS = {
    "A": 78.05, "C": 19.25, "D": 53.64, "E": 62.95, "F": 38.56, "G": 73.77, "H": 21.99, "I": 51.42, "K": 57.44,
    "L": 90.19, "M": 22.43, "N": 44.87, "P": 52.03, "Q": 42.64, "R": 51.29, "S": 71.20, "T": 58.41, "V": 64.41,
    "W": 13.30, "Y": 32.16,
}  # fmt: skip
#: Nucleotides, equally frequent.
BASES = dict.fromkeys("ACGT", 250.0)

#: Sums of scores beyond this many nats, either way, add less to K than a float resolves.
FURTHEST = 40.0
#: Limits of distinct sums and of steps in K: a matrix that needs more has almost no statistics.
MOST_SUMS = 20_000
MOST_STEPS = 20_000


class Ungapped(NamedTuple):
    """Parameters of ungapped local alignments: lambda per unit of score, K, and H in nats per pair of residues."""

    lambda_: float
    k: float
    h: float


def background(alphabet: Alphabet) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return codes and probabilities of the residues of random sequences: uint8 and float64, shape (n,).

    Raises ScoringError if the alphabet is neither that of proteins nor that of nucleotides.
    """
    of = {PROTEIN.name: AMINO_ACIDS, NUCLEOTIDE.name: BASES}.get(alphabet.name)
    if of is None:
        raise ScoringError(
            f"E-values need the frequencies of residues, which are not known of {alphabet.name} sequences: use scores"
        )
    codes = np.array([alphabet.letters.index(letter) for letter in of], np.uint8)
    shares = np.array(list(of.values()))
    return codes, shares / shares.sum()


def score_distribution(matrix: SubstitutionMatrix) -> tuple[int, NDArray[np.float64]]:
    """Return the lowest score of two random residues, times `matrix.scale`, and the probabilities from it upwards."""
    codes, shares = background(matrix.alphabet)
    scores = matrix.scaled(matrix.scale)[np.ix_(codes, codes)].astype(np.int64)
    low = int(scores.min())
    return low, np.bincount((scores - low).ravel(), np.outer(shares, shares).ravel()).astype(np.float64)


def check_has_statistics(matrix: SubstitutionMatrix) -> None:
    """Raise ScoringError if no score is positive, or if scores of random sequences grow with their length."""
    low, chances = score_distribution(matrix)
    scores = low + np.arange(len(chances))
    if scores[chances > 0].max() <= 0:
        raise ScoringError(f"{matrix.name} has no positive score, so that no alignment has an E-value: choose another")
    if (mean := float(scores @ chances) / matrix.scale) >= 0:
        raise ScoringError(
            f"{matrix.name} scores {mean:.2g} per pair of random residues, so that long sequences score high by "
            "chance and no score has an E-value: choose a matrix whose mean is negative"
        )


def ungapped(matrix: SubstitutionMatrix) -> Ungapped:
    """Return lambda, K and H of ungapped local alignments of random sequences.

    With p(s) the probability of score s: lambda > 0 solves sum p(s) exp(lambda s) = 1, H = lambda sum s p(s)
    exp(lambda s). With S(k) the sum of k scores, and d the greatest common divisor of all scores (Karlin and
    Altschul 1990, equations 4 to 7; Karlin and Dembo 1992),

        sigma = sum over k >= 1 of (1/k) [E(exp(lambda S(k)); S(k) < 0) + P(S(k) >= 0)]
        K = lambda d exp(-2 sigma) / [H (1 - exp(-lambda d))]

    Raises ScoringError like `check_has_statistics`, and if the sum does not converge.
    """
    rate, h, step, low, chances = _rates(matrix)
    k = rate * exp(-2 * _sigma(low, chances, rate, matrix.name)) / (h * (1 - exp(-rate)))
    return Ungapped(rate * matrix.scale / step, k, h)


def rates(matrix: SubstitutionMatrix) -> tuple[float, float]:
    """Return lambda and H of `ungapped` without the cost of K."""
    rate, h, step, *_ = _rates(matrix)
    return rate * matrix.scale / step, h


def _rates(matrix: SubstitutionMatrix) -> tuple[float, float, int, int, NDArray[np.float64]]:
    """Return lambda and H in steps of the scores' greatest common divisor, that step, and the distribution in steps."""
    check_has_statistics(matrix)
    low, chances = score_distribution(matrix)
    scores = low + np.arange(len(chances))
    step = gcd(*(int(score) for score in scores[chances > 0]))
    chances, low = chances[(-low) % step :: step], -((-low) // step)
    scores = low + np.arange(len(chances))
    rate = _root(scores, chances)
    h = rate * float((scores * chances * np.exp(rate * scores)).sum())
    return rate, h, step, low, chances


def _root(scores: NDArray[np.int64], chances: NDArray[np.float64]) -> float:
    """Return lambda, by bisection: the sum is convex, 1 at 0, falls there, and exceeds 1 once its last term does."""
    top = int(scores[-1])
    below, above = 0.0, -log(chances[-1]) / top
    for _ in range(100):
        middle = (below + above) / 2
        if float(chances @ np.exp(middle * scores)) < 1:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _sigma(low: int, chances: NDArray[np.float64], rate: float, name: str) -> float:
    """Return the sum in K. S(k) is followed within `FURTHEST` only: sums beyond it return too rarely."""
    reach = int(FURTHEST / rate) + len(chances)
    if reach > MOST_SUMS:
        raise ScoringError(
            f"{name} is too near to a mean score of 0 for E-values: choose scores that are more negative"
        )
    sums = np.arange(-reach, reach + 1)
    weights = np.exp(rate * np.minimum(sums, 0))
    at = np.zeros(len(sums))
    at[reach] = 1
    total = 0.0
    for k in range(1, MOST_STEPS):
        at = np.convolve(at, chances)[-low : -low + len(sums)]  # S(k) = S(k-1) + a score, whose minimum is low
        term = float(at @ weights) / k
        total += term
        if term < 1e-12:
            return total
    raise ScoringError(f"{name} is too near to a mean score of 0 for E-values: choose scores that are more negative")
