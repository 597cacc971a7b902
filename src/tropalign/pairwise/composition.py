"""Correction of alignment scores for the composition of both sequences: composition-based statistics.

Sequences that are rich in the same residues score high by chance. There are two corrections; both scores have the
lambda and K of average compositions.

**Scaled** (Schaffer and others 2001; blastp's -comp_based_stats 1 is of this kind). Two compositions p and q have
the lambda' that solves ``sum p_i q_j exp(lambda' s_ij) = 1``. With rho = lambda' / lambda (lambda of average
compositions), limited to 1/2 <= rho <= 1, the pair is aligned by the scores rho s_ij and the same gap costs. No
alignment with pair scores M and gap costs G gains: rho M - G <= rho (M - G) <= M - G. So every pair that its raw
score excludes is also excluded by the scaled one, and only the others are aligned again. rho is rounded to 64ths,
so that 64 times the scaled scores and gap costs are integers: nothing else is rounded. If 64 times the scores
would not fit 32 bits (long sequences, many decimals), the factor is a smaller power of two, and scores are rounded
down.

**Adjusted** (Yu and Altschul 2005; -comp_based_stats 2). The pair is aligned by the matrix that is right for
sequences of these compositions (native/pairwise/adjusted.hpp), in 32nds of a unit. Such a score may exceed the raw
one, so pairs are judged up to `filters.STRETCH` times the requested E-value. Compositions that are too poor for a
matrix of their own are scaled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import ScoringError, named
from tropalign.pairwise.engines import Engines, Rows, used_targets
from tropalign.pairwise.filters import evalue_scores, suffices
from tropalign.pairwise.options import PairOptions
from tropalign.results.alignments import AlignmentTable
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.scoring.scores import MOST
from tropalign.scoring.statistics import background, rates
from tropalign.sequences import PROTEIN
from tropalign.sequences.batch import in_memory

if TYPE_CHECKING:
    from tropalign.execution.task import Progress
    from tropalign.sequences import SequenceBatch

Index = NDArray[np.int64]
Float64 = NDArray[np.float64]

#: Adjusted scores are computed in units of 1 / ADJUSTED_PARTS.
ADJUSTED_PARTS = 32
#: Largest ratio of adjusted scores to those of the matrix (kMostStretch in native/pairwise/adjusted.hpp).
MOST_STRETCH = 4
#: Residues of average composition that are added to each sequence's own (Altschul and others 2005).
PSEUDOCOUNTS = 20.0
#: rho is a multiple of 1 / STEPS, and at least 1/2.
STEPS = 64
#: Least number of parts of a user's score unit to which scaled scores are rounded down.
LEAST_PARTS = 8
#: Pairs whose lambda is computed at a time.
AT_ONCE = 8192
#: Residues that are counted at a time, at 8 bytes each.
PIECE = 1 << 20
#: Rounds of Newton's method. Half of them usually suffice; the number is fixed, so that a pair's result does not
#: depend on other pairs.
ROUNDS = 12


class Correction:
    """Base of both corrections: drops rows with insufficient corrected scores."""

    _options: PairOptions

    def judged(
        self, table: AlignmentTable, rows: Rows, raw: NDArray[np.int32], n_threads: int, progress: Progress | None
    ) -> tuple[Index, NDArray[np.int32]]:
        """Return the rows of the table whose corrected scores suffice, and these scores, rounded.

        `rows` request the scores of the table's rows again, and `raw` are these whole scores.
        """
        raise NotImplementedError

    def corrected(self, table: AlignmentTable, n_threads: int, progress: Progress | None) -> AlignmentTable:
        """Return the rows that pass by their corrected scores, with these scores; if `top` is set, best first."""
        whole, rows = self._options.whole, Rows(table.query_index, table.target_index, "score", table.strand)
        raw = np.rint(evalue_scores(table) * whole.scale).astype(np.int32)
        index, scores = self.judged(table, rows, raw, n_threads, progress)
        if self._options.top is not None:
            order = np.lexsort((-scores, table.query_index[index]))
            index, scores = index[order], scores[order]
        return replace(table.take(index), corrected_score=whole.given(scores))


class Scaled(Correction):
    """Correction that scores each pair with a matrix scaled to the pair's compositions.

    `engines` computed the raw scores; the reverse strand of a query has another composition. Raises ScoringError
    for scores or alphabets without statistics, and for sequences that are too long.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines, self._options = engines, engines.options
        self._lambda = rates(self._options.matrix)[0]
        self._factor = _factor(self._options, STEPS, engines.longest)

    def judged(
        self, table: AlignmentTable, rows: Rows, raw: NDArray[np.int32], n_threads: int, progress: Progress | None
    ) -> tuple[Index, NDArray[np.int32]]:
        """Return the rows whose scaled scores suffice, and these scores, rounded: at most the raw ones."""
        parts, options = self._parts(rows), self._options
        index = np.arange(len(raw))
        index = index[
            suffices(table, options, index, np.rint(raw * (parts / STEPS)).astype(np.int32))
        ]  # rho S is an upper bound
        scores = self._scores(rows.scores_of(index), raw[index], parts[index], n_threads, progress)
        is_kept = suffices(table, options, index, scores)
        return index[is_kept], scores[is_kept]

    def scores(
        self, rows: Rows, raw: NDArray[np.int32], n_threads: int, progress: Progress | None
    ) -> NDArray[np.int32]:
        """Return the scaled scores of rows."""
        return self._scores(rows, raw, self._parts(rows), n_threads, progress)

    def _parts(self, rows: Rows) -> Index:
        """Return rho of each row in 64ths; int64, shape (n,), 32 to 64."""
        queries, reverse, targets = self._engines.queries, self._engines.reverse, self._engines.targets
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

    def _scores(
        self, rows: Rows, raw: NDArray[np.int32], parts: Index, n_threads: int, progress: Progress | None
    ) -> NDArray[np.int32]:
        scaled = raw.copy()
        for part in np.unique(parts[parts < STEPS]).tolist():
            own = np.flatnonzero((parts == part) & (raw > 0))
            found = self._scaled(part).native(n_threads, rows.scores_of(own), progress)["score"]
            scaled[own] = np.minimum(np.rint(found / self._factor), raw[own])
        return scaled

    def _scaled(self, part: int) -> Engines:
        """Return engines whose scores are scaled by `part` / 64."""
        scores = (self._factor * part * self._options.whole.scores.astype(np.int64) // STEPS).astype(np.int32)
        return _by_scores(self._engines, scores, self._factor)


class Adjusted(Correction):
    """Correction that scores each pair with a matrix adjusted to the pair's compositions.

    Arguments and errors are those of `Scaled`; nucleotides and gap costs of two pieces are ScoringErrors as well.
    """

    def __init__(self, engines: Engines) -> None:
        options, scaled = engines.options, f"use {named('composition')} scaled"
        if options.matrix.alphabet != PROTEIN:
            raise ScoringError(f"only protein matrices can be adjusted to composition: {scaled}")
        if not options.whole.is_affine:
            raise ScoringError(f"matrices cannot be adjusted to composition with gap costs of two pieces: {scaled}")
        self._engines, self._options, self._scaled = engines, options, Scaled(engines)
        self._lambda, self._entropy = rates(options.matrix)
        self._parts = _factor(options, ADJUSTED_PARTS, MOST_STRETCH * engines.longest)

    def judged(
        self, table: AlignmentTable, rows: Rows, raw: NDArray[np.int32], n_threads: int, progress: Progress | None
    ) -> tuple[Index, NDArray[np.int32]]:
        """Return the rows whose adjusted scores suffice, and these scores, rounded."""
        score: Any = _native.adjusted_scores
        if rows.taken is None:
            found = score(*self._native_arguments(rows), n_threads, self._engines.scratch_bytes, progress)
        else:
            # Pairs have few further alignments: score them one by one.
            found = _native.adjusted_matrices(*self._native_arguments(rows))
            found["score"] = np.zeros(len(rows.query), np.int32)
            for k in np.flatnonzero(found["is_adjusted"]):
                engines = _by_scores(self._engines, found["matrix"][k], self._parts)
                found["score"][k] = engines.native(n_threads, rows.scores_of(np.array([k])), None)["score"][0]
        scores = np.rint(found["score"] / self._parts).astype(np.int32)
        if len(poor := np.flatnonzero(found["is_adjusted"] == 0)):
            scores[poor] = self._scaled.scores(rows.scores_of(poor), raw[poor], n_threads, progress)
        is_kept = suffices(table, self._options, np.arange(len(raw)), scores)
        return np.flatnonzero(is_kept), scores[is_kept]

    def _native_arguments(self, rows: Rows) -> tuple[Any, ...]:
        """Return the arguments of native code."""
        whole = self._options.whole
        target, codes, offsets, _ = used_targets(rows.target, self._engines.targets)
        return (
            self._engines.queries.codes,
            self._engines.queries.offsets,
            codes,
            offsets,
            rows.query,
            target,
            whole.scores,
            whole.gap_open,
            whole.gap_extend,
            *background(self._options.matrix.alphabet),
            self._lambda / whole.scale,
            self._entropy,
            PSEUDOCOUNTS,
            self._parts,
        )


def composition_of(engines: Engines) -> Scaled | Adjusted:
    """Return the correction that the options of these engines request."""
    return Adjusted(engines) if engines.options.composition == "adjusted" else Scaled(engines)


def _by_scores(engines: Engines, scores: NDArray[np.int32], factor: int) -> Engines:
    """Return engines for the same sequences with these scores, and gap costs times the factor."""
    options, whole = engines.options, engines.options.whole
    matrix = SubstitutionMatrix(options.matrix.name, options.matrix.alphabet, scores, options.matrix.letters)
    gap = Gap(*(factor * cost for cost in (whole.gap if not whole.is_affine else whole.gap[:2])))
    corrected = PairOptions(matrix, gap, mode=options.mode, strand=options.strand, report="score")
    return Engines(engines.sides, corrected, engines.scratch_bytes)


def _factor(options: PairOptions, factor: int, longest: int) -> int:
    """Return `factor`, or a smaller one if scores and gap costs times `factor` would not fit 32 bits.

    Raises ScoringError if even a small one would not fit.
    """
    whole = options.whole
    largest = max(int(np.abs(whole.scores).max()), *whole.gap)
    while factor > 1 and (factor * largest > MOST or not options.fits(longest, factor)):
        factor //= 2
    if factor * whole.scale < LEAST_PARTS:
        raise ScoringError(
            f"sequences of {longest:,} residues are too long for scores corrected for composition: omit "
            f"{named('composition')}, or cut the sequences"
        )
    return factor


class _Shares:
    """Residue frequencies in each sequence of some rows, for the residues of the background."""

    def __init__(self, batch: SequenceBatch, index: Index) -> None:
        codes, shares = background(batch.alphabet)
        batch, index = in_memory(batch, index)
        used, self._place = np.unique(index, return_inverse=True)
        number = np.full(256, len(codes), np.intp)
        number[codes] = np.arange(len(codes))
        counts = np.empty((len(used), len(codes)))
        spans = zip(batch.offsets[used].tolist(), batch.offsets[used + 1].tolist(), strict=True)
        for k, (begin, end) in enumerate(spans):
            pieces = (batch.codes[at : min(at + PIECE, end)] for at in range(begin, end, PIECE))
            counts[k] = sum(np.bincount(number[piece], minlength=len(codes) + 1)[:-1] for piece in pieces)
        sums = counts.sum(axis=1, keepdims=True)
        self._shares = np.where(sums > 0, counts / np.maximum(sums, 1), shares)  # average, if no residue is known

    def of(self, rows: slice) -> Float64:
        """Return the frequencies for these rows; shape (n, residues)."""
        shares: Float64 = self._shares[self._place[rows]]
        return shares


def _parts(matrix: SubstitutionMatrix, average: float, query: Float64, target: Float64) -> Index:
    """Return rho in 64ths for pairs of compositions; `average` is lambda of average compositions."""
    codes, _ = background(matrix.alphabet)
    scores = matrix.scores[np.ix_(codes, codes)].astype(np.float64)
    values = np.unique(scores)
    chances = np.stack([((query @ (scores == value)) * target).sum(axis=1) for value in values], axis=1)
    # Above the root, sum p exp(lambda s) is convex, so that Newton's steps descend to the root and never pass it.
    root = np.full(len(query), 1.25 * average)
    for _ in range(ROUNDS):
        terms = chances * np.exp(root[:, None] * values)
        excess, slope = terms.sum(axis=1) - 1, terms @ values
        root = np.where((excess > 0) & (slope > 0), root - excess / np.where(slope > 0, slope, 1), root)
    has_root = chances @ values < 0
    rho = np.where(has_root, root / average, 0.5)
    parts: Index = np.clip(np.rint(STEPS * rho), STEPS // 2, STEPS).astype(np.int64)
    return parts
