"""Bits and E-values of local alignments (Karlin and Altschul 1990; Altschul and Gish 1996; Park and others 2012)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, gcd, log, pi, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.errors import UsageError
from tropalign.properties import cached
from tropalign.scoring.gap import Gap
from tropalign.scoring.matrix import SubstitutionMatrix
from tropalign.scoring.ungapped import background, rates, ungapped
from tropalign.sequences.alphabet import NUCLEOTIDE

#: Where a published row of statistics comes from.
PUBLISHED = "published by NCBI"
#: How the source of an estimate begins.
ESTIMATED = "estimated by simulation"
#: By how much of itself a parameter without gaps may differ from what NCBI prints, with four digits.
ROUNDED = 5e-4


class AlignmentLengths(NamedTuple):
    """How many residues of each sequence a chance alignment of score S takes (Park and others 2012).

    Parameters
    ----------
    mean, variance, covariance
        (p, q) each, which is p S + q: of the length in one sequence, and of the lengths in both.
    """

    mean: tuple[float, float]
    variance: tuple[float, float]
    covariance: tuple[float, float]

    def pairs_of_starts(
        self, scores: NDArray[np.float64], lambda_: float, m: NDArray[np.float64], n: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Pairs of residues of sequences of m and n at which alignments of such scores can begin, on average.

        With both lengths normally distributed, about the mean of (m - length)+ (n - length)+: the product of both
        means, and the covariance where both have room. Variance and covariance are not below those of infinite
        sequences at a score of 2 / lambda.
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
    """p S + q, or 2 p / lambda where that is more."""
    return np.maximum(line[0] * scores + line[1], 2 * line[0] / lambda_)


@dataclass(frozen=True)
class ScoreStatistics:
    """What scores of local alignments mean: how often random sequences reach them.

    Two random sequences of m and n residues have ``K m n exp(-lambda S)`` local alignments of score S or more on
    average, where both are long (Karlin and Altschul 1990). Real ones end, and an alignment that begins near an end
    has no room. Where `lengths` are known, m n is the mean number of pairs of residues that have room for an alignment
    of such a score (Park and others 2012); else m and n are made shorter first, by the length that an alignment has
    that is expected once (Altschul and Gish 1996). BLAST does both.

    Parameters
    ----------
    lambda_
        Nats per unit of score.
    k
        K, the share of independent starts.
    h
        Nats per pair of residues in alignments that score high by chance.
    alpha, beta
        An alignment of score S has some ``alpha S + beta`` residues of each sequence, where that is not negative.
    source
        Where these numbers come from, for headers and messages.
    score_step
        Scores count in multiples of this one, and are rounded down to one first: 1 (less, where scores have decimals),
        or 2 where NCBI's numbers ask for it, as for some scores of nucleotides.
    lengths
        Of chance alignments, where these are published: for matrices of proteins.

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
        """Whether the numbers come from a simulation, which whoever reads results should know."""
        return self.source.startswith(ESTIMATED)

    def bits(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Scores on a scale that knows no matrix: (lambda S - ln K) / ln 2.

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
        """How many alignments with these scores, or higher ones, the search of a query has by chance.

        Parameters
        ----------
        scores : numbers, any shape
            Scores of local alignments.
        query_lengths : whole numbers, the same shape or one number
            Residues of the query of each alignment.
        n_residues, n_sequences
            Residues of all targets together, and how many targets there are.
        target_lengths : whole numbers, the same shape or one number
            Residues of the target of each alignment, which count where `lengths` are known; else, and by default, all
            targets are taken to be as long as their mean.

        Returns
        -------
        float64, the shape of scores and lengths together

        Raises
        ------
        UsageError
            No residue, no sequence, or an empty sequence.

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
        """The lowest score that occurs whose E-value is no higher than this one.

        Parameters
        ----------
        evalue
            More than 0.
        query_lengths : whole numbers, any shape
            Residues of each query.
        n_residues, n_sequences, target_lengths
            As of `evalues`.

        Returns
        -------
        int64 (float64 where `score_step` is not a whole number), the shape of the lengths together
            0 or more.

        Raises
        ------
        UsageError
            An E-value that is not above 0; what `evalues` refuses.

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
        # E-values fall as scores grow. The first guess suffices where no more than each pair of residues has room.
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
        """Pairs of residues at which alignments may begin: m' n', both lengths without what an alignment takes.

        Parameters
        ----------
        query_lengths : whole numbers, any shape
            Residues of each query.
        n_residues, n_sequences
            As of `evalues`.

        Returns
        -------
        float64, the shape of query_lengths

        Raises
        ------
        UsageError
            As `evalues`.

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
        """Residues that an alignment takes which is expected once: by so much both lengths are shorter than they seem.

        Parameters
        ----------
        query_lengths : whole numbers, any shape
            Residues of each query.
        n_residues, n_sequences
            As of `evalues`.

        Returns
        -------
        float64, the shape of query_lengths
            Whole numbers, 0 or more.

        Raises
        ------
        UsageError
            As `evalues`.

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
        """Scores as sums of several take them: lambda S - ln K, of scores in whole steps (`score_step`).

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
        """What is taken off both lengths, as BLAST_ComputeLengthAdjustment finds it.

        The largest whole l >= 0 with ``K (m - l) (n - N l) > max(m, n)`` and ``l <= alpha / lambda ln(K (m - l) (n - N
        l)) + beta``, which is the length of an alignment that is expected once. Its right side falls as l grows, so
        that l is found by halving.
        """
        shortest = np.maximum(m, n) / self.k
        c = n * m - shortest
        b = m * n_sequences + n
        root = np.sqrt(np.maximum(b * b - 4 * n_sequences * c, 0))
        low, high = np.zeros(len(m)), np.floor(np.where(c > 0, 2 * c / (b + root), 0))  # where l is too long already

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
    """Residues of sequences as floats. Raises UsageError where they are none."""
    given = np.asarray(lengths)
    if given.dtype.kind not in "iu" or (given < 1).any():
        raise UsageError(f"the lengths of {whose} have to be whole numbers above 0")
    return given.astype(np.float64)


def _check_space(n_residues: int, n_sequences: int) -> None:
    """Raises UsageError where targets have no residue, or there is none."""
    for word, number in (("residues", n_residues), ("sequences", n_sequences)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise UsageError(f"the number of {word} of all targets has to be a whole number above 0, not {number!r}")


class _Row(NamedTuple):
    lambda_: float
    k: float
    h: float
    alpha: float
    beta: float
    variance: float | None = None  # of the length of an alignment per unit of its score, and of both lengths
    covariance: float | None = None


@cached
def _tables() -> tuple[Mapping[str, Mapping[tuple[int, int] | None, _Row]], Mapping[str, tuple[int, int]]]:
    """What statistics.txt holds: rows by matrix and gap costs (None: no gaps), and the costs of no gaps."""
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
    """NCBI's numbers for a matrix and gap costs, or a multiple of both; None where there are none.

    Matrices are known by what they score, not by their names: under one name there are several.

    Raises
    ------
    ScoringError
        A matrix whose scores have no statistics.
    """
    if gap.has_two_pieces:
        return None
    codes, _ = background(matrix.alphabet)
    lambda_, h = rates(matrix)
    whole = matrix.scaled(matrix.scale)[np.ix_(codes, codes)]
    common = gcd(*(int(score) for score in distinct(whole)))
    unit = common / matrix.scale  # of the user's scores, in one of NCBI's
    costs = (gap.open / unit, gap.extend / unit)
    if any(abs(cost - round(cost)) > 1e-6 for cost in costs):
        return None
    costs, scores = (round(costs[0]), round(costs[1])), whole // common
    if matrix.alphabet == NUCLEOTIDE:
        return _of_nucleotides(matrix, scores, unit, costs)
    for name, rows in _tables()[0].items():
        if None in rows and costs in rows and _is_like(rows[None], lambda_ * unit, h):
            source = f"{PUBLISHED} for {name} and gaps of {costs[0]} + {costs[1]} k"
            lengths = _lengths(rows[costs], rows[None], sum(costs), unit)
            return _published(rows[costs], source, unit, 1 / matrix.scale, lengths)
    return None


def _lengths(row: _Row, ungapped_row: _Row, gap: int, unit: float) -> AlignmentLengths | None:
    """Lengths of chance alignments, where a gap of one residue costs so much; None where they are not published."""
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
    """NCBI's numbers for one score of equal letters and one of others."""
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
        beta = -2.0 if name in ("1/-1", "2/-3") else 0.0  # as BLAST has it of ungapped alignments
        row = _Row(exact.lambda_ * unit, exact.k, exact.h, exact.lambda_ * unit / exact.h, beta)
        return _published(row, f"computed for {name} without gaps, which cost too much to matter", unit, step)
    return None


def _published(
    row: _Row, source: str, unit: float, step: float, lengths: AlignmentLengths | None = None
) -> ScoreStatistics:
    """A row for scores that are ``unit`` times those of the table."""
    return ScoreStatistics(row.lambda_ / unit, row.k, row.h, row.alpha / unit, row.beta, source, step, lengths)


def _is_like(row: _Row, lambda_: float, h: float) -> bool:
    """Whether a row without gaps is what a matrix has, as far as its digits say."""
    return abs(row.lambda_ - lambda_) <= ROUNDED * row.lambda_ and abs(row.h - h) <= ROUNDED * row.h
