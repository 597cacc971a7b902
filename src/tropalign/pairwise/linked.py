"""Alignments of a pair that are judged together: sum statistics (Karlin and Altschul 1993), as in BLAST.

    query   ---AAAAA---------BBBBBBB------CCCC---      x_A + x_B + x_C: one set of three
    target  ------AAAAA-BBBBBBB---CCCC-----------

Alignments form a set if each one follows the previous one in both sequences, on one strand, with an overlap of at
most `OVERLAP` residues. With normalised scores x = lambda S - ln K of sum X, effective lengths m and n of the
pair, and g = overlap + gap + 1 positions at which the next alignment may start, a set of r has the score

    gaps up to `GAP` in both (even)               X - ln(m n) - 2 (r - 1) ln g - ln r!
    any gaps (even)                               X - r ln(m n) + ln r!
    `GAP` on one side, an intron on the other     X - ln(m n) - (r - 1) (ln g + ln g') - ln r!

and the E-value ``e A / (m n) / w``, where e is the result of `sum_expectations`, A the search space of the query
and all targets, and w = .9 .1^(r - 1) the share of sets of r among those that are tried, halved for each of the
two even rules. The E-value of a single alignment is divided by .9. The set of the lowest E-value is taken first,
then the best of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import lgamma, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.pairwise.options import INTRON, PairOptions
from tropalign.results import nucleotides
from tropalign.results.gapped import query_starts
from tropalign.scoring.sums import sum_expectations

if TYPE_CHECKING:
    from tropalign.pairwise.significance import Significance
    from tropalign.results.alignments import AlignmentTable

Float64 = NDArray[np.float64]
Index = NDArray[np.int64]

#: Residues by which neighbours may overlap, and that may lie between them.
OVERLAP, GAP = 9, 40
#: Factor by which sets are tried more rarely for each further alignment.
DECAY = 0.1
#: Share of each of the two even rules.
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


@dataclass(frozen=True)
class LinkedAlignments:
    """Adds sum statistics to tables of alignments; `sides` are the translated sides of a pair."""

    options: PairOptions
    significance: Significance
    sides: tuple[str, ...] = ()

    def least(self, query: Index, target: Index, whole: Callable[[Index, Index], Index | None], lengths: Any) -> Index:
        """Return the whole scores that further alignments need: expected once in such a pair, or as requested if lower.

        `whole` returns the requested scores; `lengths` are those of aligned queries and targets.
        """
        statistics, scale = self.significance.statistics, self.options.whole.scale
        space = np.log(lengths[0][query].astype(np.float64)) + np.log(lengths[1][target].astype(np.float64))
        once = np.ceil((space + log(statistics.k)) / statistics.lambda_ * scale).astype(np.int64)
        asked = whole(query, target)
        least: Index = np.maximum(once if asked is None else np.minimum(once, asked), 1)
        return least

    def added(self, table: AlignmentTable) -> AlignmentTable:
        """Return the table with E-values and sizes of sets, without rows whose sets have too high E-values."""
        evalue, count = np.zeros(len(table)), np.ones(len(table), np.int32)
        score = np.asarray(table.score if table.corrected_score is None else table.corrected_score, np.float64)
        lengths = table.queries.lengths[table.query_index], table.targets.lengths[table.target_index]
        evalue[:] = self.significance.evalues(score, *lengths) / (1 - DECAY)
        rows = _Rows(*_places(table), self.significance.statistics.nats(score), evalue)
        rules = rules_of(self.sides, self.options.max_intron)
        for own in _of_one_strand(table):
            space = self._space(*(int(length[own[0]]) for length in lengths))
            for chosen, expected in _sets(rows.some(own), rules, space):
                evalue[own[chosen]], count[own[chosen]] = expected, len(chosen)
        table = replace(table, sum_evalue=evalue, sum_count=count)
        most = self.options.max_evalue
        return table if most is None else table.take(evalue <= most)

    def _space(self, query: int, target: int) -> tuple[float, float]:
        """Return ln of the adjusted search space of the pair, and of the query with all targets."""
        space = self.significance.n_residues, self.significance.n_sequences
        statistics = self.significance.statistics
        shorter = float(statistics.length_adjustments(query, *space))
        of_pair = log(max(query - shorter, 1.0)) + log(max(target - shorter, 1.0))
        return of_pair, log(float(statistics.search_spaces(query, *space)))


def _places(table: AlignmentTable) -> tuple[Float64, Float64]:
    """Return starts and ends along the aligned strands, in residues; shape (2, n) each."""
    first = query_starts(table)
    begins = np.stack([first, table.target_start]).astype(np.float64)
    ends = np.stack([first + table.query_end - table.query_start, table.target_end]).astype(np.float64)
    for k, side in enumerate(("query", "target")):
        shift = (np.abs(nucleotides.frame(table, side)).astype(np.float64) - 1) / 3  # frames are a third apart
        begins[k] += np.maximum(shift, 0)
        ends[k] += np.maximum(shift, 0)
    return begins, ends


def _of_one_strand(table: AlignmentTable) -> Iterator[Index]:
    """Yield groups of two or more rows that share pair and strands."""
    query, target = (nucleotides.given(table, side)[1] for side in ("query", "target"))
    frames = (nucleotides.frame(table, side) for side in ("query", "target"))
    strands = [np.sign(frame) for frame in frames]
    if table.strand is not None:
        strands.append(table.strand)
    keys = np.stack([query, target, *strands])
    order = np.lexsort(keys[::-1])
    changes = (keys[:, order][:, 1:] != keys[:, order][:, :-1]).any(axis=0)
    return (rows for rows in np.split(order, np.flatnonzero(changes) + 1) if len(rows) > 1)


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
    """Yield the chain of rows with the highest sum, first of two, then of three, ..., as long as there are any."""
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
