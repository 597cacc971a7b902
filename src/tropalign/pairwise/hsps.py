"""Further alignments of pairs: each is the best one that reuses no residue pair of the previous ones.

Waterman and Eggert 1987. Each round finds the next alignment of every pair that still has a good enough one.
Scores never rise from one round to the next, so a pair is done at its first insufficient score. Alignments that
are too dissimilar or too short are not reported, but their residue pairs are taken as well.

                  first    second   third         rows, numbered as they were found
    pair 0        120      85       (11)          120, 85
    pair 1        77       (20)                   77
    pair 2        90       90       74            90, 90, 74

Each frame of a translated pair has such a line; the best alignments of all its frames are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import lgamma, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import UsageError, named
from tropalign.pairwise.engines import Rows, Taken
from tropalign.pairwise.filters import evalue_scores, passes_shares
from tropalign.pairwise.options import INTRON, PairOptions
from tropalign.properties import cached
from tropalign.results import aligned_pairs
from tropalign.results.aligned_pairs import query_starts
from tropalign.results.alignments import AlignmentTable, concatenate

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

    from tropalign.execution.task import Progress
    from tropalign.pairwise.composition import Correction
    from tropalign.pairwise.filters import LeastScores
    from tropalign.pairwise.significance import Significance
    from tropalign.pairwise.translated import PairFrames

Index = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class FurtherAlignments:
    """Finds the further alignments of pairs whose first ones are known.

    options: with the number of alignments per pair.
    least_scores: of all rows; None: above 0.
    composition: corrects scores; None for no correction.
    frames: of translated pairs.
    significance: of the run.
    """

    options: PairOptions
    least_scores: LeastScores | None
    composition: Correction | None
    frames: PairFrames | None
    significance: Significance | None

    def __post_init__(self) -> None:
        if self.options.max_intron is not None and len(self._sides) != 1:
            raise UsageError(
                f"{named('max_intron')} requires nucleotides against proteins: add {named('translate')} query or "
                "target, or omit it"
            )

    @property
    def _sides(self) -> tuple[str, ...]:
        return () if self.frames is None else self.frames.sides

    def _least(self, table: AlignmentTable, query: Index, target: Index) -> Index:
        """Return the whole scores, above 0, that further alignments need, alone or in sets."""
        least = None if self.least_scores is None else self.least_scores.of(query, target)
        if self.options.sum_statistics:
            assert self.significance is not None
            statistics, scale = self.significance.statistics, self.options.whole.scale
            lengths = table.queries.lengths[query].astype(np.float64), table.targets.lengths[target].astype(np.float64)
            space = np.log(lengths[0]) + np.log(lengths[1])
            once = np.ceil((space + log(statistics.k)) / statistics.lambda_ * scale).astype(np.int64)
            least = once if least is None else np.minimum(once, least)  # `once`: a score expected once per pair
        return np.ones(len(query), np.int64) if least is None else np.maximum(least, 1)

    def added(
        self,
        table: AlignmentTable,
        align: Callable[[Rows], AlignmentTable],
        n_threads: int,
        progress: Progress | None,
    ) -> AlignmentTable:
        """Return the table with all alignments of its pairs, grouped by pair, first ones first.

        `table` has the first alignment of each pair. `align` aligns rows under the constraint of their `taken`;
        results without columns are insufficient.
        """
        lines, owner = self._lines(table, align)
        found = [replace(lines, hsp=np.ones(len(lines), np.int32))]
        pairs = [np.arange(len(lines))]
        going = np.flatnonzero(lines.n_columns > 0)
        while len(going) and len(found) < self.options.max_hsps:
            rows = self._rows(found, np.concatenate(pairs), going)
            further = align(rows)
            own = np.flatnonzero(further.n_columns > 0)
            further = further.take(own)
            if self.composition is not None:
                whole, again = self.options.whole, rows.scores_of(own)
                raw = np.rint(further.score * whole.scale).astype(np.int32)
                kept, scores = self.composition.judged(further, again, raw, n_threads, progress)
                own, further = own[kept], replace(further.take(kept), corrected_score=whole.given(scores))
            going = going[own]
            found.append(replace(further, hsp=np.full(len(own), len(found) + 1, np.int32)))
            pairs.append(going)
        together, pair = concatenate(found), owner[np.concatenate(pairs)]
        if self.frames is not None:
            # The best alignments over all frames of each pair, renumbered; in case of ties the first frames.
            assert together.hsp is not None
            keys = together.hsp, together.target_index, together.query_index, -together.score, pair
            order = np.lexsort(keys)
            together, pair = together.take(order), pair[order]
            number = np.arange(len(pair)) - np.searchsorted(pair, pair) + 1
            kept = np.flatnonzero(number <= self.options.max_hsps)
            together, pair = replace(together.take(kept), hsp=number[kept].astype(np.int32)), pair[kept]
        order = np.argsort(pair, kind="stable")
        together = together.take(order[passes_shares(together, self.options)[order]])
        if not self.options.sum_statistics:
            return together
        assert self.significance is not None
        return with_sums(
            together, self.significance, rules_of(self._sides, self.options.max_intron), self.options.max_evalue
        )

    def _lines(self, table: AlignmentTable, align: Callable[[Rows], AlignmentTable]) -> tuple[AlignmentTable, Index]:
        """Return the alignments to be continued, and the table row that each belongs to.

        They are the rows; for translated pairs also their other frames, if these score enough.
        """
        own = np.arange(len(table))
        if self.frames is None or not len(table):
            return table, own
        given = (aligned_pairs.given(table, side)[1] for side in ("query", "target"))
        query, target, begins = self.frames.expanded(*given)
        owner = np.repeat(own, np.diff(np.append(begins, len(query))))
        other = np.flatnonzero((query != table.query_index[owner]) | (target != table.target_index[owner]))
        query, target, owner = query[other], target[other], owner[other]
        scores = align(Rows(query, target, "score", None)).score * self.options.whole.scale
        enough = np.flatnonzero(np.rint(scores) >= self._least(table, query, target))
        further = align(Rows(query[enough], target[enough], "alignment", None))
        return concatenate([table, further]), np.concatenate([own, owner[enough]])

    def _rows(self, found: list[AlignmentTable], pair: Index, going: Index) -> Rows:
        """Return rows that request the next alignment of some pairs (ascending); `found` has the `pair` of each row."""
        order = np.argsort(pair, kind="stable")
        order = order[np.isin(pair[order], going)]
        offsets = np.searchsorted(pair[order], np.append(going, len(found[0]))).astype(np.int64)
        earlier, table = concatenate(found).take(order), found[0].take(going)
        least = self._least(table, table.query_index, table.target_index)
        starts = query_starts(earlier), earlier.target_start
        paths = earlier.cigar_offsets, earlier.cigar_ops
        of_rows = Taken(offsets, *starts, *paths, least.astype(np.int32))
        return Rows(table.query_index, table.target_index, "alignment", table.strand, of_rows)


# Alignments of a pair that are judged together: sum statistics (Karlin and Altschul 1993), as in BLAST.
#
#     query   ---AAAAA---------BBBBBBB------CCCC---      x_A + x_B + x_C: one set of three
#     target  ------AAAAA-BBBBBBB---CCCC-----------
#
# Alignments form a set if each one follows the previous one in both sequences, on one strand, with an overlap of at
# most `OVERLAP` residues. With normalised scores x = lambda S - ln K of sum X, effective lengths m and n of the
# pair, and g = overlap + gap + 1 positions at which the next alignment may start, a set of r has the score
#
#     gaps up to `GAP` in both (even)               X - ln(m n) - 2 (r - 1) ln g - ln r!
#     any gaps (even)                               X - r ln(m n) + ln r!
#     `GAP` on one side, an intron on the other     X - ln(m n) - (r - 1) (ln g + ln g') - ln r!
#
# and the E-value ``e A / (m n) / w``, where e is the result of `sum_expectations`, A the search space of the query
# and all targets, and w = .9 .1^(r - 1) the weight of sets of r alignments, which corrects for trying several
# sizes; it is halved for each of the two rules marked (even). For a single alignment the E-value is divided by .9. The
# set with the lowest E-value is taken first, then the best of the remaining ones.


#: Most residues by which neighbours overlap, and most residues between them.
OVERLAP, GAP = 9, 40
#: Factor of a set's weight for each further alignment.
DECAY = 0.1
#: Weight of each of the two (even) rules.
EVEN_SHARE = 0.5


@dataclass(frozen=True)
class Rule:
    """Condition under which alignments may follow each other, and the score of a set of them.

    query_gap, target_gap: largest gap between neighbours in residues (a third of a residue is a nucleotide), or
        infinite.
    places: ln of the number of ways in which one alignment may follow another; None if that is any pair of
        residues.
    share: share of the rule in all sets that are tried.
    """

    query_gap: float
    target_gap: float
    places: float | None
    share: float

    def score(self, sums: Float64 | float, r: int, space: float) -> Any:
        """Return the score of r alignments with this sum; `space` is ln of the pair's number of residue pairs."""
        if self.places is None:
            return sums - r * space + lgamma(r + 1)
        return sums - space - (r - 1) * self.places - lgamma(r + 1)


def rules_of(sides: tuple[str, ...], max_intron: int | None) -> tuple[Rule, ...]:
    """Return the rules of a run whose `sides` are translated."""
    window = OVERLAP + GAP + 1
    if len(sides) != 1:
        small = Rule(GAP, GAP, 2 * log(window), EVEN_SHARE)
        return small, Rule(np.inf, np.inf, None, EVEN_SHARE)
    intron = INTRON if max_intron is None else max_intron
    places = log(window) + log(OVERLAP + (intron - 2) // 3 + 1)
    gaps = (intron / 3, GAP) if sides == ("query",) else (GAP, intron / 3)
    return (Rule(gaps[0], gaps[1], places, 1.0),)


class _Rows(NamedTuple):
    """Alignments of one pair and strand: their positions, normalised scores and individual E-values."""

    begins: Float64  # (2, n): of query and target
    ends: Float64
    scores: Float64
    evalues: Float64

    def some(self, chosen: NDArray[Any]) -> _Rows:
        return _Rows(self.begins[:, chosen], self.ends[:, chosen], self.scores[chosen], self.evalues[chosen])

    def followed(self, rule: Rule) -> NDArray[np.bool_]:
        """Return [i, j]: true if j may directly follow i; shape (n, n)."""
        found = np.ones((len(self.scores),) * 2, bool)
        for begin, end, gap in zip(self.begins, self.ends, (rule.query_gap, rule.target_gap), strict=True):
            between = begin[None, :] - end[:, None]
            found &= (begin[None, :] > begin[:, None]) & (end[None, :] > end[:, None])
            found &= (between >= -OVERLAP) & (between <= gap)
        return found


def with_sums(
    table: AlignmentTable, significance: Significance, rules: tuple[Rule, ...], max_evalue: float | None
) -> AlignmentTable:
    """Return the table with E-values and sizes of sets, without rows whose sets have too high E-values."""
    evalue, count = np.zeros(len(table)), np.ones(len(table), np.int32)
    score, statistics = np.asarray(evalue_scores(table), np.float64), significance.statistics
    lengths = table.queries.lengths[table.query_index], table.targets.lengths[table.target_index]
    evalue[:] = significance.evalues(score, *lengths) / (1 - DECAY)
    rows, space = (
        _Rows(*_places(table), statistics.nats(score), evalue),
        (significance.n_residues, significance.n_sequences),
    )
    # Sets have one pair and one strand of each side.
    given = (aligned_pairs.given(table, side)[1] for side in ("query", "target"))
    strands = [np.sign(aligned_pairs.frame(table, side)) for side in ("query", "target")]
    keys = np.stack([*given, *strands, *([] if table.strand is None else [table.strand])])
    order = np.lexsort(keys[::-1])
    changes = (keys[:, order][:, 1:] != keys[:, order][:, :-1]).any(axis=0)
    for own in np.split(order, np.flatnonzero(changes) + 1):
        if len(own) < 2:
            continue
        query, target = (int(length[own[0]]) for length in lengths)
        shorter = float(statistics.length_adjustments(query, *space))
        of_pair = log(max(query - shorter, 1.0)) + log(max(target - shorter, 1.0))
        of_all = log(float(statistics.search_spaces(query, *space)))
        for chosen, expected in _sets(rows.some(own), rules, (of_pair, of_all)):
            evalue[own[chosen]], count[own[chosen]] = expected, len(chosen)
    table = replace(table, sum_evalue=evalue, sum_count=count)
    return table if max_evalue is None else table.take(evalue <= max_evalue)


def _places(table: AlignmentTable) -> tuple[Float64, Float64]:
    """Return starts and ends along the aligned strands, in residues; shape (2, n) each."""
    first = query_starts(table)
    begins = np.stack([first, table.target_start]).astype(np.float64)
    ends = np.stack([first + table.query_end - table.query_start, table.target_end]).astype(np.float64)
    for k, side in enumerate(("query", "target")):
        shift = (np.abs(aligned_pairs.frame(table, side)).astype(np.float64) - 1) / 3  # a third of a residue per frame
        begins[k] += np.maximum(shift, 0)
        ends[k] += np.maximum(shift, 0)
    return begins, ends


def _sets(rows: _Rows, rules: tuple[Rule, ...], space: tuple[float, float]) -> Iterator[tuple[Index, float]]:
    """Yield sets of two or more rows with their E-values, until no set beats the best single remaining row."""
    left = np.arange(len(rows.scores))
    while len(left) > 1:
        some = rows.some(left)
        alone = int(some.evalues.argmin())
        best, chosen = float(some.evalues[alone]), np.array([alone])
        for rule in rules:
            for r, chain in enumerate(_chains(some, some.followed(rule)), 2):
                score = rule.score(float(some.scores[chain].sum()), r, space[0])
                share = rule.share * (1 - DECAY) * DECAY ** (r - 1)
                expected = float(sum_expectations(r, np.array(score)) * np.exp(space[1] - space[0])) / share
                if expected < best:
                    best, chosen = expected, chain
        if len(chosen) > 1:
            yield left[chosen], best
        left = np.delete(left, chosen)


def _chains(rows: _Rows, followed: NDArray[np.bool_]) -> Iterator[Index]:
    """Yield the chain with the highest sum among chains of two rows, then of three, and so on while there are any."""
    highest, before = rows.scores, []
    while followed.any():
        sums = np.where(followed, highest[:, None], -np.inf)
        best = sums.argmax(axis=0)
        highest = sums[best, np.arange(len(best))] + rows.scores
        if np.isneginf(highest).all():
            return
        before.append(best)
        chain = [int(highest.argmax())]
        for step in reversed(before):
            chain.append(int(step[chain[-1]]))
        yield np.array(chain[::-1])


# Significance of the sum of several local alignment scores (Karlin and Altschul 1993).
#
# The normalised scores lambda S - ln(K m n) of two long random sequences form a Poisson process of density e^-x. So
# the r-th best of them is -ln G, with G gamma-distributed of shape r. The r - 1 better ones exceed it by a total of
# Y, which is gamma-distributed of shape r - 1 and independent of G. The sum of the r best, Y - r ln G, exceeds x
# with the probability
#
#     P_r(x) = 1 / (r - 2)!  integral from 0 to infinity of  y^(r - 2) e^-y  Gamma(r, e^((y - x) / r))  dy
#
# where Gamma(r, v) is the regularised lower incomplete gamma function; both of its tails are used here. It is the
# integral of Karlin and Altschul, over t. For large x it approaches e^-x x^(r - 1) / (r! (r - 1)!).


#: Gauss-Legendre nodes on each piece of an integral.
NODES = 32
#: Distance of knots: near the mean of the sum, and as a share of the distance from the first knot.
STEP, GROWTH = 0.1, 0.03
#: -ln(1 - P) below e^-LEAST_LOG, the least float64, is 0.
LEAST_LOG = 745.0


def sum_expectations(r: int, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected number of sets of r alignments with such a sum of normalised scores, or more: -ln(1 - P_r).

    `sums` are those of lambda S - ln(K m n), any shape. Results are correct to five digits, and at most about 30
    if chance is certain to reach the sum.
    """
    if r == 1:
        return np.exp(-np.maximum(sums, -3.4))
    spline = _logarithms(r)
    lowest, highest = spline.x[0], spline.x[-1]
    logs = np.where(sums > highest, -np.inf, spline(np.clip(sums, lowest, highest)))
    found: NDArray[np.float64] = np.exp(logs)
    return found


@lru_cache(maxsize=1024)
def _logarithms(r: int) -> CubicSpline:
    """Interpolate ln(-ln(1 - P_r)) between sums with P near 1 and with P near 0."""
    from scipy.interpolate import CubicSpline
    from scipy.special import digamma, polygamma

    mean = -r * float(digamma(r)) + r - 1
    spread = float(np.sqrt(r * r * float(polygamma(1, r)) + r - 1))
    first = mean - 7 * spread
    knots, logs = [first], [_log_expectation(r, first)]
    while logs[-1] > -LEAST_LOG:
        knots.append(knots[-1] + max(STEP, GROWTH * (knots[-1] - first)))
        logs.append(_log_expectation(r, knots[-1]))
    return CubicSpline(knots, logs)


@cached
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(NODES)


def _log_expectation(r: int, x: float) -> float:
    """Return ln(-ln(1 - P_r(x))) by quadrature."""
    from scipy.special import gammaln

    # Gamma(r, v) changes between v = e^-12 and about r; beyond that the integrand falls as e^-y.
    begin = max(x - 12.0 * r, 0.0)
    end = max(float(r), x + r * (np.log(r) + 1)) + 40 + 12 * np.sqrt(r)
    bounds = np.concatenate([[0.0] if begin > 0 else [], np.linspace(begin, end, 9 + int(np.sqrt(r)))])
    nodes, weights = _nodes()
    half = np.diff(bounds)[:, None] / 2
    y = (bounds[:-1, None] + half * (1 + nodes)).ravel()
    density = np.log(half * weights).ravel() + (r - 2) * np.log(y) - y - gammaln(r - 1)
    lower, upper = _log_gammas(r, (y - x) / r)
    tail = _log_sum(density + lower)
    if tail < -1:
        return float(np.log(-np.log1p(-np.exp(tail)))) if tail > -30 else tail
    return float(np.log(-_log_sum(density + upper)))


def _log_sum(logs: NDArray[np.float64]) -> float:
    most = logs.max()
    return float(most + np.log(np.exp(logs - most).sum()))


def _log_gammas(r: int, log_v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the logs of the lower and upper regularised incomplete gamma function; the lower stays finite near 0."""
    from scipy.special import gammainc, gammaincc, gammaln, hyp1f1

    v = np.exp(np.minimum(log_v, 700.0))
    small = np.minimum(v, r)
    series = r * log_v - small + np.log(hyp1f1(1, r + 1, small)) - gammaln(r + 1)
    with np.errstate(divide="ignore"):
        return np.where(v < r, series, np.log(gammainc(r, v))), np.log(gammaincc(r, v))
