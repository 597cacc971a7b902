"""What the residues of two sequences take from the score of their alignment: composition-based statistics.

Sequences that are rich in the same residues score high by chance. Two compositions p and q have the lambda' that
solves ``sum p_i q_j exp(lambda' s_ij) = 1``. With rho = lambda' / lambda (lambda: of average compositions), but no less
than 1/2 and no more than 1, the pair is aligned by the scores rho s_ij and the same gap costs; the score found has the
lambda and K of average compositions (Schaffer and others 2001; blastp's -comp_based_stats 1 is of this kind).

No alignment of pair scores M and gap costs G gains: rho M - G <= rho (M - G) <= M - G. So what a raw score leaves out
would be left out by the scaled one, too, and only the rest is aligned again. rho is rounded to 64ths, with which scaled
scores are whole numbers, as are those of 64 times the gap costs: nothing else is rounded. Where 64 times the scores
would not fit 32 bits (long sequences, many decimals), it is a lesser power of two, and scores are rounded down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError, named
from tropalign.pairwise.engines import Engines, Rows
from tropalign.pairwise.options import PairOptions
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.scoring.letter_scores import MOST
from tropalign.scoring.ungapped import background, rates

if TYPE_CHECKING:
    from tropalign.execution.task import Progress
    from tropalign.sequences import SequenceBatch

Index = NDArray[np.int64]
Float64 = NDArray[np.float64]

#: rho is a whole number of these parts of 1, and half of 1 at least.
STEPS = 64
#: Parts of a unit of the user's scores that scaled ones are rounded down to, at the least.
LEAST_PARTS = 8
#: Pairs whose lambda is sought at a time.
AT_ONCE = 8192
#: Residues that are counted at a time: each takes 8 bytes meanwhile.
PIECE = 1 << 20
#: Rounds of Newton's method, which half of them end as a rule: as many for every pair, whatever stands beside it.
ROUNDS = 12


class Composition:
    """Scores of pairs of these sequences by matrices that are scaled by their compositions.

    Parameters
    ----------
    queries, reverse, targets
        As `Engines` takes them. The other strand of a query has the other letters.
    options
        Those of the raw scores.
    scratch_bytes
        What native code may take.

    Raises
    ------
    ScoringError
        Scores or an alphabet without statistics; sequences too long.
    """

    def __init__(
        self,
        queries: SequenceBatch,
        reverse: SequenceBatch | None,
        targets: SequenceBatch,
        options: PairOptions,
        scratch_bytes: int,
    ) -> None:
        self._sides = queries, reverse, targets
        self._options, self._scratch_bytes = options, scratch_bytes
        self._lambda = rates(options.matrix)[0]
        self._factor = _factor(options, max(int(side.lengths.max(initial=0)) for side in (queries, targets)))

    def parts(self, rows: Rows) -> Index:
        """rho of each row in 64ths; int64, shape (n,), 32 to 64."""
        queries, reverse, targets = self._sides
        of_query, of_target = _Shares(queries, rows.query), _Shares(targets, rows.target)
        of_reverse = of_query if reverse is None else _Shares(reverse, rows.query)
        found = np.empty(len(rows.query), np.int64)
        for begin in range(0, len(found), AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            shares = of_query.of(some)
            if rows.strand is not None:
                shares = np.where(rows.strand[some, None] < 0, of_reverse.of(some), shares)
            found[some] = _parts(self._options.matrix, self._lambda, shares, of_target.of(some))
        return found

    def scores(
        self, rows: Rows, raw: NDArray[np.int32], parts: Index, n_threads: int, progress: Progress | None
    ) -> NDArray[np.int32]:
        """The scores of rows by scaled matrices, rounded; no higher than the raw ones, all of them whole."""
        scaled = raw.copy()
        for part in np.unique(parts[parts < STEPS]).tolist():
            own = np.flatnonzero((parts == part) & (raw > 0))
            found = self._engines(part).native(n_threads, rows.scores_of(own), progress)["score"]
            scaled[own] = np.minimum(np.rint(found / self._factor), raw[own])
        return scaled

    def _engines(self, part: int) -> Engines:
        """What aligns by scores of so many 64ths."""
        options, whole = self._options, self._options.whole
        scores = (self._factor * part * whole.scores.astype(np.int64) // STEPS).astype(np.int32)
        matrix = SubstitutionMatrix(options.matrix.name, options.matrix.alphabet, scores, options.matrix.letters)
        gap = Gap(*(self._factor * cost for cost in (whole.gap if not whole.is_affine else whole.gap[:2])))
        scaled = PairOptions(matrix, gap, mode=options.mode, strand=options.strand, report="score")
        return Engines(*self._sides, scaled, self._scratch_bytes)


def _factor(options: PairOptions, longest: int) -> int:
    """By what scores and gap costs are multiplied. Raises ScoringError where even a little would not fit 32 bits."""
    whole, factor = options.whole, STEPS
    largest = max(int(np.abs(whole.scores).max()), *whole.gap)
    while factor > 1 and (factor * largest > MOST or not options.fits(longest, factor)):
        factor //= 2
    if factor * whole.scale < LEAST_PARTS:
        raise ScoringError(
            f"sequences of {longest:,} residues are too long for scores that composition scales: leave "
            f"{named('composition')} out, or cut them"
        )
    return factor


class _Shares:
    """Shares of the residues of a matrix's background in each sequence of some rows."""

    def __init__(self, batch: SequenceBatch, index: Index) -> None:
        codes, shares = background(batch.alphabet)
        used, self._place = np.unique(index, return_inverse=True)
        number = np.full(256, len(codes), np.intp)
        number[codes] = np.arange(len(codes))
        counts = np.empty((len(used), len(codes)))
        spans = zip(batch.offsets[used].tolist(), batch.offsets[used + 1].tolist(), strict=True)
        for k, (begin, end) in enumerate(spans):
            pieces = (batch.codes[at : min(at + PIECE, end)] for at in range(begin, end, PIECE))
            counts[k] = sum(np.bincount(number[piece], minlength=len(codes) + 1)[:-1] for piece in pieces)
        sums = counts.sum(axis=1, keepdims=True)
        self._shares = np.where(sums > 0, counts / np.maximum(sums, 1), shares)  # without a known letter: as average

    def of(self, rows: slice) -> Float64:
        """Shares of these rows; shape (n, residues)."""
        shares: Float64 = self._shares[self._place[rows]]
        return shares


def _parts(matrix: SubstitutionMatrix, average: float, query: Float64, target: Float64) -> Index:
    """rho in 64ths of pairs of compositions, where `average` is lambda of average ones."""
    codes, _ = background(matrix.alphabet)
    scores = matrix.scores[np.ix_(codes, codes)].astype(np.float64)
    values = np.unique(scores)
    chances = np.stack([((query @ (scores == value)) * target).sum(axis=1) for value in values], axis=1)
    # From above the root, where sum p exp(lambda s) is convex, Newton's steps come down to it and do not pass it.
    root = np.full(len(query), 1.25 * average)
    for _ in range(ROUNDS):
        terms = chances * np.exp(root[:, None] * values)
        excess, slope = terms.sum(axis=1) - 1, terms @ values
        root = np.where((excess > 0) & (slope > 0), root - excess / np.where(slope > 0, slope, 1), root)
    has_root = chances @ values < 0
    rho = np.where(has_root, root / average, 0.5)
    parts: Index = np.clip(np.rint(STEPS * rho), STEPS // 2, STEPS).astype(np.int64)
    return parts


def at_most(raw: NDArray[np.int32], parts: Index) -> NDArray[np.int32]:
    """What scaled scores cannot pass: rho S, rounded."""
    return np.rint(raw * (parts / STEPS)).astype(np.int32)
