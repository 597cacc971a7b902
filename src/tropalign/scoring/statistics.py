"""Bits and E-values of local alignments (Karlin and Altschul 1990; Altschul and Gish 1996; Park and others 2012)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, exp, gcd, log, pi, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.errors import ScoringError, UsageError
from tropalign.properties import cached
from tropalign.scoring.gap import Gap
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
#: Most distinct sums and most steps in K: a matrix that needs more has a mean score too close to 0.
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
            f"E-values require residue frequencies, which are unknown for {alphabet.name} sequences: use scores"
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
        raise ScoringError(f"{matrix.name} has no positive score, so E-values are undefined: choose another matrix")
    if (mean := float(scores @ chances) / matrix.scale) >= 0:
        raise ScoringError(
            f"{matrix.name} has a mean score of {mean:.2g} per pair of random residues, so long sequences score high "
            "by chance and E-values are undefined: choose a matrix with a negative mean score"
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
    """Return lambda by bisection: the sum starts at 1, falls, and rises above 1 when its last term is above 1."""
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
    """Return the sum in K. Sums S(k) beyond `FURTHEST` are dropped: they return too rarely."""
    reach = int(FURTHEST / rate) + len(chances)
    if reach > MOST_SUMS:
        raise ScoringError(f"the mean score of {name} is too close to 0 for E-values: choose more negative scores")
    sums = np.arange(-reach, reach + 1)
    weights = np.exp(rate * np.minimum(sums, 0))
    at = np.zeros(len(sums))
    at[reach] = 1
    total = 0.0
    for k in range(1, MOST_STEPS):
        at = np.convolve(at, chances)[-low : -low + len(sums)]  # S(k) = S(k-1) + a score, at least `low`
        term = float(at @ weights) / k
        total += term
        if term < 1e-12:
            return total
    raise ScoringError(f"the mean score of {name} is too close to 0 for E-values: choose more negative scores")


#: Source of published parameters.
PUBLISHED = "published by NCBI"
#: Prefix of the source of estimated parameters.
ESTIMATED = "estimated by simulation"
#: Largest relative difference between an ungapped parameter and NCBI's, which has four digits.
ROUNDED = 5e-4


class AlignmentLengths(NamedTuple):
    """Number of residues of each sequence that a chance alignment of score S covers (Park and others 2012).

    Each field is (p, q) for the value p S + q; `mean` and `variance` are those of the length in one sequence,
    `covariance` that of the lengths in both.
    """

    mean: tuple[float, float]
    variance: tuple[float, float]
    covariance: tuple[float, float]

    def pairs_of_starts(
        self, scores: NDArray[np.float64], lambda_: float, m: NDArray[np.float64], n: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the mean number of residue pairs at which alignments of these scores can start, for m and n residues.

        With both lengths normally distributed, this is nearly the mean of (m - length)+ (n - length)+: the product
        of both means, plus the covariance if both lengths fit. Variance and covariance are at least those of
        infinite sequences at a score of 2 / lambda.
        """
        taken = self.mean[0] * scores + self.mean[1]
        spread = np.sqrt(_at_least(self.variance, scores, lambda_))
        together = _at_least(self.covariance, scores, lambda_)
        fits, room = [], []
        for length in (m, n):
            z = np.asarray((length - taken) / spread)
            fits.append(_native.normal_cumulative(z.ravel()).reshape(z.shape))
            room.append((length - taken) * fits[-1] + spread * np.exp(-z * z / 2) / sqrt(2 * pi))
        return np.asarray(room[0] * room[1] + together * fits[0] * fits[1])


def _at_least(line: tuple[float, float], scores: NDArray[np.float64], lambda_: float) -> NDArray[np.float64]:
    """Return p S + q, but at least 2 p / lambda."""
    return np.maximum(line[0] * scores + line[1], 2 * line[0] / lambda_)


@dataclass(frozen=True)
class ScoreStatistics:
    """Significance of local alignment scores: how often random sequences reach them.

    Two random sequences of m and n residues have on average ``K m n exp(-lambda S)`` local alignments of score S
    or more, if both are long (Karlin and Altschul 1990). Real sequences end, and an alignment that starts near an
    end has no room. If `lengths` are known, m n is replaced by the mean number of residue pairs with room for an
    alignment of that score (Park and others 2012). Otherwise m and n are first reduced by the length of an
    alignment that is expected once (Altschul and Gish 1996). BLAST does both.

    Parameters
    ----------
    lambda_
        Nats per unit of score.
    k
        K, the share of independent starts.
    h
        Nats per pair of residues in alignments that score high by chance.
    alpha, beta
        An alignment of score S covers about ``alpha S + beta`` residues of each sequence, if that is not negative.
    source
        Source of these numbers, for headers and messages.
    score_step
        Scores are first rounded down to a multiple of this: 1 (less for scores with decimals), or 2 if NCBI's
        numbers require it, as for some nucleotide scores.
    lengths
        Lengths of chance alignments, if published: for protein matrices.

    Examples
    --------
    >>> statistics = tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1))
    >>> statistics.lambda_, statistics.k
    (0.267, 0.041)
    >>> statistics.bits([50, 100]).round(1).tolist()
    [23.9, 43.1]
    >>> statistics.evalues([50, 100], 200, n_residues=1_000_000, n_sequences=3000, target_lengths=300).tolist()
    [6.90..., 3.04...e-06]
    """

    lambda_: float
    k: float
    h: float
    alpha: float
    beta: float
    source: str
    score_step: float = 1
    lengths: AlignmentLengths | None = None

    def __str__(self) -> str:
        return f"lambda {self.lambda_:.4g}, K {self.k:.3g}, H {self.h:.3g} ({self.source})"

    @property
    def is_estimated(self) -> bool:
        """True if the numbers come from a simulation, which readers of results should know."""
        return self.source.startswith(ESTIMATED)

    def bits(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return bit scores, which do not depend on the matrix: (lambda S - ln K) / ln 2.

        Parameters
        ----------
        scores : numbers, any shape
            Scores of local alignments.

        Returns
        -------
        float64, the same shape

        Examples
        --------
        >>> float(tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1)).bits(100).round(2))
        43.13
        """
        return np.asarray((self.lambda_ * np.asarray(scores, np.float64) - log(self.k)) / log(2))

    def evalues(
        self,
        scores: ArrayLike,
        query_lengths: ArrayLike,
        n_residues: int,
        n_sequences: int,
        target_lengths: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Return how many alignments of these scores or higher the search of a query finds by chance.

        Parameters
        ----------
        scores : numbers, any shape
            Scores of local alignments.
        query_lengths : whole numbers, the same shape or one number
            Residues of the query of each alignment.
        n_residues, n_sequences
            Total residues of all targets, and number of targets.
        target_lengths : whole numbers, the same shape or one number
            Residues of the target of each alignment; used only if `lengths` are known. Otherwise, and by default,
            all targets are assumed to have the mean length.

        Returns
        -------
        float64, the shape of scores and lengths together

        Raises
        ------
        UsageError
            There are no residues or no sequences, or a sequence is empty.

        Examples
        --------
        >>> statistics = tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1))
        >>> statistics.evalues(100, 200, n_residues=1_000_000, n_sequences=3000, target_lengths=[100, 400])
        array([5.52...e-07, 3.48...e-06])
        """
        stepped = self._stepped(scores)
        if self.lengths is None or target_lengths is None:
            spaces = self.search_spaces(query_lengths, n_residues, n_sequences)
            spaces = np.broadcast_arrays(spaces, 1 if target_lengths is None else target_lengths)[0]
        else:
            query, target = _checked_lengths(query_lengths, "queries"), _checked_lengths(target_lengths, "targets")
            _check_space(n_residues, n_sequences)
            spaces = self.lengths.pairs_of_starts(stepped, self.lambda_, query, target) * (n_residues / target)
        with np.errstate(over="ignore"):
            return np.asarray(spaces * np.exp(log(self.k) - self.lambda_ * stepped))

    def least_score(
        self,
        evalue: float,
        query_lengths: ArrayLike,
        n_residues: int,
        n_sequences: int,
        target_lengths: ArrayLike | None = None,
    ) -> Any:
        """Return the lowest possible score with an E-value of at most `evalue`.

        Parameters
        ----------
        evalue
            Greater than 0.
        query_lengths : whole numbers, any shape
            Residues of each query.
        n_residues, n_sequences, target_lengths
            See `evalues`.

        Returns
        -------
        int64 (float64 if `score_step` is not a whole number), the shape of the lengths together
            0 or more.

        Raises
        ------
        UsageError
            The E-value is not above 0, or `evalues` rejects an argument.

        Examples
        --------
        >>> statistics = tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1))
        >>> int(statistics.least_score(1e-3, 200, n_residues=1_000_000, n_sequences=3000))
        83
        >>> int(statistics.least_score(1e-3, 200, n_residues=1_000_000, n_sequences=3000, target_lengths=100))
        77
        """
        if isinstance(evalue, bool) or not isinstance(evalue, int | float | np.number) or not 0 < evalue < np.inf:
            raise UsageError(f"the E-value {evalue!r} is not a number above 0: give one such as 1e-3")
        step = int(self.score_step) if float(self.score_step).is_integer() else self.score_step
        space = query_lengths, n_residues, n_sequences, target_lengths
        # E-values fall as scores grow. The first guess suffices unless the correction for ends raises the E-value.
        sizes = float(np.max(query_lengths, initial=1)), max(float(n_residues), 1.0), self.k
        room = sum(map(log, sizes)) - log(evalue)  # the quotient itself can be infinite
        highest = ceil(max(room, 0) / self.lambda_ / step) + 1
        while (self.evalues(highest * step, *space) > evalue).any():
            highest *= 2
        low = np.zeros(np.shape(self.evalues(0, *space)), np.int64)
        high = np.full_like(low, highest)
        while (low < high).any():
            middle = (low + high) // 2
            suffices = self.evalues(middle * step, *space) <= evalue
            low, high = np.where(suffices, low, middle + 1), np.where(suffices, middle, high)
        return (low * step)[()]

    def search_spaces(self, query_lengths: ArrayLike, n_residues: int, n_sequences: int) -> NDArray[np.float64]:
        """Return the number of residue pairs at which alignments can start: m' n', both lengths adjusted.

        Parameters
        ----------
        query_lengths : whole numbers, any shape
            Residues of each query.
        n_residues, n_sequences
            See `evalues`.

        Returns
        -------
        float64, the shape of query_lengths

        Raises
        ------
        UsageError
            See `evalues`.

        Examples
        --------
        >>> statistics = tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1))
        >>> statistics.search_spaces([200], n_residues=1_000_000, n_sequences=3000).tolist()
        [94587000.0]
        """
        lengths = _checked_lengths(query_lengths, "queries")
        shorter = self.length_adjustments(query_lengths, n_residues, n_sequences)
        return np.asarray((lengths - shorter) * np.maximum(n_residues - n_sequences * shorter, 1.0))

    def length_adjustments(self, query_lengths: ArrayLike, n_residues: int, n_sequences: int) -> NDArray[np.float64]:
        """Return the length of an alignment that is expected once, by which both sequences are effectively shorter.

        Parameters
        ----------
        query_lengths : whole numbers, any shape
            Residues of each query.
        n_residues, n_sequences
            See `evalues`.

        Returns
        -------
        float64, the shape of query_lengths
            Whole numbers, 0 or more.

        Raises
        ------
        UsageError
            See `evalues`.

        Examples
        --------
        >>> statistics = tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1))
        >>> statistics.length_adjustments([200], n_residues=1_000_000, n_sequences=3000).tolist()
        [77.0]
        """
        lengths = _checked_lengths(query_lengths, "queries")
        _check_space(n_residues, n_sequences)
        each, where = np.unique(lengths, return_inverse=True)
        shorter = self._adjustments(each, float(n_residues), float(n_sequences))
        return np.asarray(shorter[where].reshape(lengths.shape))

    def nats(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return scores in nats, lambda S - ln K, as needed for sums of several; S is rounded down to `score_step`.

        Parameters
        ----------
        scores : numbers, any shape
            Scores of local alignments.

        Returns
        -------
        float64, the same shape

        Examples
        --------
        >>> float(tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1)).nats(100).round(2))
        29.89
        """
        return np.asarray(self.lambda_ * self._stepped(scores) - log(self.k))

    def _adjustments(self, m: NDArray[np.float64], n: float, n_sequences: float) -> NDArray[np.float64]:
        """Return the reduction of both lengths, computed like BLAST_ComputeLengthAdjustment.

        The largest integer l >= 0 with ``K (m - l) (n - N l) > max(m, n)`` and
        ``l <= alpha / lambda ln(K (m - l) (n - N l)) + beta``, which is the length of an alignment that is
        expected once. The right side falls as l grows, so that bisection finds l.
        """
        shortest = np.maximum(m, n) / self.k
        c = n * m - shortest
        b = m * n_sequences + n
        root = np.sqrt(np.maximum(b * b - 4 * n_sequences * c, 0))
        low, high = np.zeros(len(m)), np.floor(np.where(c > 0, 2 * c / (b + root), 0))  # high: l is too long beyond it

        def fits(length: NDArray[np.float64]) -> NDArray[np.bool_]:
            starts = np.maximum((m - length) * (n - n_sequences * length), shortest)
            return np.asarray(length <= self.alpha / self.lambda_ * np.log(self.k * starts) + self.beta)

        while (low < high).any():
            middle = np.ceil((low + high) / 2)
            is_fit = fits(middle)
            low, high = np.where(is_fit, middle, low), np.where(is_fit, high, middle - 1)
        return low

    def _stepped(self, scores: ArrayLike) -> NDArray[np.float64]:
        steps = np.floor(np.asarray(scores, np.float64) / self.score_step + 1e-6)  # 0.3 / 0.1 is 2.99...
        return np.asarray(self.score_step * steps)


def _checked_lengths(lengths: ArrayLike, whose: str) -> NDArray[np.float64]:
    """Return sequence lengths as floats. Raises UsageError if they are not positive integers."""
    given = np.asarray(lengths)
    if given.dtype.kind not in "iu" or (given < 1).any():
        raise UsageError(f"the lengths of {whose} must be integers above 0")
    return given.astype(np.float64)


def _check_space(n_residues: int, n_sequences: int) -> None:
    """Raise UsageError if there are no targets, or targets without residues."""
    for word, number in (("residues", n_residues), ("sequences", n_sequences)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise UsageError(f"the number of {word} of all targets must be an integer above 0, not {number!r}")


class _Row(NamedTuple):
    lambda_: float
    k: float
    h: float
    alpha: float
    beta: float
    variance: float | None = None  # of the alignment length, per unit of score; `covariance`: of both lengths
    covariance: float | None = None


@cached
def _tables() -> tuple[Mapping[str, Mapping[tuple[int, int] | None, _Row]], Mapping[str, tuple[int, int]]]:
    """Read statistics.txt: rows by matrix and gap costs (None: ungapped), and the gap costs that amount to no gaps."""
    rows: dict[str, dict[tuple[int, int] | None, _Row]] = {}
    high: dict[str, tuple[int, int]] = {}
    for line in Path(__file__).with_name("statistics.txt").read_text("ascii").splitlines():
        if line.startswith("#"):
            continue
        name, first, second, *numbers = line.split()
        if first.startswith(">="):
            high[name] = (int(first[2:]), int(second[2:]))
        else:
            costs = None if first == "-" else (int(first), int(second))
            rows.setdefault(name, {})[costs] = _Row(*map(float, numbers))
    return rows, high


def published_statistics(matrix: SubstitutionMatrix, gap: Gap) -> ScoreStatistics | None:
    """Return NCBI's numbers for a matrix and gap costs, or a multiple of both; None if there are no such numbers.

    Matrices are recognised by their scores, because different ones share a name. Raises ScoringError if scores
    have no statistics.
    """
    if gap.has_two_pieces:
        return None
    codes, _ = background(matrix.alphabet)
    lambda_, h = rates(matrix)
    whole = matrix.scaled(matrix.scale)[np.ix_(codes, codes)]
    common = gcd(*(int(score) for score in distinct(whole)))
    unit = common / matrix.scale  # user's score units per unit of NCBI's
    costs = (gap.open / unit, gap.extend / unit)
    if any(abs(cost - round(cost)) > 1e-6 for cost in costs):
        return None
    costs, scores = (round(costs[0]), round(costs[1])), whole // common
    if matrix.alphabet == NUCLEOTIDE:
        return _of_nucleotides(matrix, scores, unit, costs)
    for name, rows in _tables()[0].items():
        if None not in rows or costs not in rows:
            continue
        known = rows[None]
        if abs(known.lambda_ - lambda_ * unit) <= ROUNDED * known.lambda_ and abs(known.h - h) <= ROUNDED * known.h:
            source = f"{PUBLISHED} for {name} and gaps of {costs[0]} + {costs[1]} k"
            lengths = _lengths(rows[costs], known, sum(costs), unit)
            return _published(rows[costs], source, unit, 1 / matrix.scale, lengths)
    return None


def _lengths(row: _Row, ungapped_row: _Row, gap: int, unit: float) -> AlignmentLengths | None:
    """Return lengths of chance alignments, or None if not published; `gap` is the cost of a gap of one residue."""
    found = []
    for name, without in (("alpha", "alpha"), ("variance", "variance"), ("covariance", "variance")):
        rate, rate_without = getattr(row, name), getattr(ungapped_row, without)
        if rate is None or rate_without is None:
            return None
        found.append((rate / unit, 2 * gap * (rate_without - rate)))
    return AlignmentLengths(*found)


def _of_nucleotides(
    matrix: SubstitutionMatrix, scores: NDArray[np.int32], unit: float, costs: tuple[int, int]
) -> ScoreStatistics | None:
    """Return NCBI's numbers for one match and one mismatch score."""
    rest = scores[~np.eye(len(scores), dtype=bool)]
    match, mismatch = int(scores[0, 0]), int(rest[0])
    rows, high = _tables()
    name = f"{match}/{mismatch}"
    if (np.diag(scores) != match).any() or (rest != mismatch).any() or name not in high:
        return None
    step = 2 * unit if name in ("2/-7", "2/-5", "2/-3", "3/-4") else 1 / matrix.scale
    if costs in rows[name]:
        source = f"{PUBLISHED} for {name} and gaps of {costs[0]} + {costs[1]} k"
        return _published(rows[name][costs], source, unit, step)
    if costs[0] >= high[name][0] and costs[1] >= high[name][1]:
        exact = ungapped(matrix)
        beta = -2.0 if name in ("1/-1", "2/-3") else 0.0  # BLAST's values for ungapped alignments
        row = _Row(exact.lambda_ * unit, exact.k, exact.h, exact.lambda_ * unit / exact.h, beta)
        return _published(row, f"computed for {name} without gaps, which cost too much to matter", unit, step)
    return None


def _published(
    row: _Row, source: str, unit: float, step: float, lengths: AlignmentLengths | None = None
) -> ScoreStatistics:
    """Convert a row of the table to scores that are ``unit`` times as large."""
    return ScoreStatistics(row.lambda_ / unit, row.k, row.h, row.alpha / unit, row.beta, source, step, lengths)
