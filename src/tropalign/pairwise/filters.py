"""Filters of rows: by scores, by identity and coverage, and by better rows that envelop them."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.properties import cached_property
from tropalign.results import aligned_pairs

if TYPE_CHECKING:
    from tropalign.pairwise.options import PairOptions
    from tropalign.pairwise.significance import Significance
    from tropalign.results.alignments import AlignmentTable
    from tropalign.sequences import SequenceBatch

Index = NDArray[np.int64]

#: Highest score.
MOST = 2**31 - 1
#: Largest table of least scores, in pairs of lengths (8 bytes each).
MOST_CLASSES = 1 << 20
#: Raw E-values up to this multiple of the requested one are judged by adjusted scores. Of 2,742 pairs of relatives
#: with adjusted E-values up to 0.001, 12 have raw ones more than twice as large, 5 more than 5 times, 1 more than
#: 20 times, none more than 50 times (BLAST uses 5).
STRETCH = 20.0
#: Rows that are compared with the kept ones at a time.
ROWS_AT_ONCE = 512


class LeastScores:
    """The whole score that a pair needs to be kept, by the filters of a run.

    `min_score`, `min_bits` and `max_evalue` of `options` count.
    """

    def __init__(
        self, options: PairOptions, queries: SequenceBatch, targets: SequenceBatch, significance: Significance | None
    ) -> None:
        whole, stretch = options.whole, STRETCH if options.composition == "adjusted" else 1.0
        self._lengths = queries.lengths, targets.lengths
        self._significance, self._scale, self._evalue = significance, whole.scale, None
        #: Minimum for every pair.
        self._floor: float = -MOST
        if whole.min_score is not None:
            self._floor = min(max(whole.min_score, -MOST), MOST)
        if significance is not None and options.min_bits is not None:
            bits = options.min_bits - log2(stretch)
            self._floor = max(self._floor, significance.least_of_bits(bits, whole.scale))
        if significance is not None and options.sought_evalue is not None:
            self._evalue = options.sought_evalue * stretch

    def of(self, query: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the least scores of pairs, by query and target; int64, shape (n,)."""
        if self._evalue is None:
            return np.full(len(query), self._floor)  # float64 for scores of vectors
        (query_lengths, of_query), (target_lengths, of_target) = self._classes
        n = len(target_lengths)
        both = of_query[query] * n + of_target[target]
        if len(query_lengths) * n > MOST_CLASSES:
            each, both = np.unique(both, return_inverse=True)
            return self._of_lengths(query_lengths[each // n], target_lengths[each % n])[both]
        least: NDArray[np.int64] = np.zeros(len(query_lengths) * n, np.int64)
        least[both] = 1  # marks lengths that occur, in a tenth of the time of sorting
        each = np.flatnonzero(least)
        least[each] = self._of_lengths(query_lengths[each // n], target_lengths[each % n])
        found: NDArray[np.int64] = least[both]
        return found

    @cached_property
    def _classes(self) -> list[Any]:
        """Distinct lengths of queries and of targets (one if irrelevant), and the index of each sequence's length."""
        knows_targets = self._significance is not None and self._significance.knows_targets
        queries, targets = self._lengths
        sides = queries, targets if knows_targets else np.ones_like(targets)
        return [np.unique(lengths, return_inverse=True) for lengths in sides]

    def by_class(self, begin: int, end: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the least scores of queries [begin, end) by classes of targets, and the class of each target.

        int32, shape (n_queries, n_classes); int32, shape (n_targets,).
        """
        if self._evalue is None:
            return np.full((end - begin, 1), self._floor, np.int32), np.zeros(len(self._lengths[1]), np.int32)
        (query_lengths, of_query), (target_lengths, of_target) = self._classes
        each, place = np.unique(of_query[begin:end], return_inverse=True)
        rows = [self._of_lengths(np.full_like(target_lengths, m), target_lengths) for m in query_lengths[each]]
        table = np.array(rows, np.int32).reshape(len(each), len(target_lengths))
        return table[place], of_target.astype(np.int32)

    def _of_lengths(self, query: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
        assert self._significance is not None
        assert self._evalue is not None
        least = self._significance.least_of_evalue(self._evalue, query, target, self._scale)
        return np.maximum(least, self._floor)


def suffices(table: AlignmentTable, options: PairOptions, rows: Index, scores: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which of these rows have sufficient bits and E-value with these whole scores; bool, shape (n,)."""
    significance, given = table.significance, options.whole.given(scores)
    assert significance is not None
    keep = np.ones(len(rows), bool)
    if options.sought_evalue is not None:
        lengths = table.queries.lengths[table.query_index[rows]], table.targets.lengths[table.target_index[rows]]
        keep &= significance.evalues(given, *lengths) <= options.sought_evalue
    if options.min_bits is not None:
        keep &= significance.bits(given) >= options.min_bits
    return keep


def coverages_asked(options: PairOptions) -> dict[str, float | None]:
    """Return the least coverage of the longer sequence, of the query and of the target."""
    return {
        "longer": options.min_coverage,
        "query": options.min_query_coverage,
        "target": options.min_target_coverage,
    }


def may_cover(options: PairOptions, query: Index, target: Index) -> NDArray[np.bool_]:
    """Return which pairs of sequences of these lengths can have the requested coverages; bool, shape (n,)."""
    keep = np.ones(len(query), bool)
    for of, least in coverages_asked(options).items():
        if least is not None:
            keep &= np.minimum(query, target) / _covered(of, query, target) >= least
    return keep


def _covered(of: str, query: Index, target: Index) -> Index:
    """Return the lengths that a coverage refers to."""
    return {"longer": np.maximum(query, target), "query": query, "target": target}[of]


def coverage(table: AlignmentTable, of: str = "longer") -> NDArray[np.float64]:
    """Return the share of a sequence's residues that are aligned with a residue, float64, shape (n_rows,).

    `of` is "longer", "query" or "target". Needs whole alignments.
    """
    if table.n_columns is None or table.n_gaps is None:
        raise ValueError("coverage requires whole alignments")
    lengths = _covered(of, table.queries.lengths[table.query_index], table.targets.lengths[table.target_index])
    share: NDArray[np.float64] = (table.n_columns - table.n_gaps) / lengths
    return share


def passes_shares(table: AlignmentTable, options: PairOptions) -> NDArray[np.bool_]:
    """Return which rows have the requested identity and coverages; bool, shape (n_rows,)."""
    keep = np.ones(len(table), bool)
    if options.min_identity is not None:
        keep &= table.identity >= options.min_identity
    for of, least in coverages_asked(options).items():
        if least is not None:
            keep &= coverage(table, of) >= least
    return keep


def rank(query: Index) -> Index:
    """Return the rank of each row within its run of rows of one query, from 0."""
    begins = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])[: len(query)])
    return np.arange(len(query)) - np.repeat(begins, np.diff(np.append(begins, len(query))))


def selected(query: Index, score: NDArray[np.int32], least: Index | None, top: int | None) -> Index:
    """Return rows to keep by score: at least `least`, and the top of each query if `top` is given."""
    rows = np.arange(len(query))
    if least is not None:
        rows = rows[score >= least]
    if top is not None and len(rows):
        order = np.lexsort((rows, -score[rows].astype(np.float64), query[rows]))
        rows = rows[order[rank(query[rows][order]) < top]]  # the best first, query by query
    return rows


def evalue_scores(table: AlignmentTable) -> NDArray[Any]:
    """Return the corrected scores (for masks or composition) if the table has them, else the scores."""
    return table.score if table.corrected_score is None else table.corrected_score


# Alignments that better ones of the same query envelop (``--culling``):
#
#     query     ---------------------------------------
#     score 90        =============                        kept
#     score 70       ===============                       kept: no better one envelops it
#     score 60          ========                           removed by --culling 2: two better ones envelop it
#     score 50                           ==========        kept
#
# The help of blastp (2.12) describes its -culling_limit: "If the query range of a hit is enveloped by that of at
# least this many higher-scoring hits, delete the hit". The program drops more than that. It does not matter whether
# removed alignments count: of the better ones that envelop an alignment, the best `most` are kept, because an
# alignment that envelops one of these also envelops the first one and is better still.


def not_culled(table: AlignmentTable, most: int) -> NDArray[np.bool_]:
    """Return which rows are enveloped by fewer than `most` better ones of the same query; bool, shape (n_rows,).

    Compared are spans on the original query, on any strand or frame, and the scores on which E-values are based;
    equal scores are not better.
    """
    query = aligned_pairs.given(table, "query")[1]
    begin, end = aligned_pairs.span(table, "query")
    score = np.asarray(evalue_scores(table), np.float64)
    keep = np.ones(len(table), bool)
    order = np.lexsort((-score, query))
    for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1):
        keep[rows] = _kept(begin[rows], end[rows], score[rows], most)
    return keep


def _kept(begin: NDArray[np.int32], end: NDArray[np.int32], score: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Return which rows of one query, sorted best first, are kept."""
    keep = np.ones(len(begin), bool)
    for first in range(0, len(begin), ROWS_AT_ONCE):
        own = slice(first, first + ROWS_AT_ONCE)
        others = np.flatnonzero(keep[: first + ROWS_AT_ONCE])
        envelops = begin[others] <= begin[own, None]
        envelops &= end[others] >= end[own, None]
        envelops &= score[others] > score[own, None]
        keep[own] = envelops.sum(axis=1) < most
    return keep
