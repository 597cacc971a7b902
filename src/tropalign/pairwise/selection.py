"""Selection of the best-scoring pairs of a query, without a list of all pairs if there are many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.errors import UsageError, named
from tropalign.results import nucleotides
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.sequences.batch import parts_of

if TYPE_CHECKING:
    from tropalign.execution.task import Progress
    from tropalign.pairwise.engines import Rows
    from tropalign.pairwise.options import PairOptions
    from tropalign.pairwise.plan import PairOrder
    from tropalign.pairwise.significance import LeastScores
    from tropalign.sequences import SequenceBatch

Index = NDArray[np.int64]
Codes = NDArray[np.uint8]
#: Predicate over (query indices, target indices, thread count) that returns a mask.
Test = Callable[[Index, Index, int], NDArray[np.bool_]]

#: Fewer targets leave lanes empty, and longer ones are better aligned alone: their pairs are listed and planned.
LEAST_TARGETS = 128
LONGEST_TARGET = 1 << 16
#: Cost of a tile without listed pairs, in cells, and overhead of a pair: 16 x 16 residues take 5 ns, and long
#: pairs .015 ns per cell (one AVX-512 core), so that a tile takes a few seconds of one core.
TILE_CELLS = 60_000_000_000
PAIR_CELLS = 100
#: Number of pairs on which bounds are tried; if more than this share passes, they would cost more than they save.
SAMPLE = 1000
MOST_KEPT = 0.9


def suits_groups(targets: SequenceBatch) -> bool:
    """True if a grouped scan suits these targets (native/pairwise/best_targets.cpp)."""
    return len(targets) >= LEAST_TARGETS and int(targets.lengths.max()) <= LONGEST_TARGET


def best_targets(
    queries: SequenceBatch,
    reverse: SequenceBatch | None,
    targets: SequenceBatch,
    span: tuple[int, int],
    skips_self: bool,
    top: int,
    options: PairOptions,
    least_scores: LeastScores | None,
    n_threads: int,
    memory_bytes: int,
    progress: Progress | None,
) -> dict[str, Any]:
    """Find the best targets of some queries among those that reach the least score.

    reverse: the queries' other strand, if the better strand counts.
    span: the first query and the one after the last.
    skips_self: queries and targets are one set, and no sequence is paired with itself.
    least_scores: None to accept any score.

    Returns "query" and "target" (int64), "score" (int32) and "strand" (int8), a row per pair: query by query, best
    first, ties by the earlier target.
    """
    if least_scores is None:
        least = np.full((span[1] - span[0], 1), np.iinfo(np.int32).min, np.int32), np.zeros(len(targets), np.int32)
    else:
        least = least_scores.by_class(*span)

    def best_of(begin: int, part: SequenceBatch) -> dict[str, Any]:
        """Find the best targets in a part that starts at `begin`."""
        n_before = begin * (span[1] - span[0])
        found: dict[str, Any] = _native.best_targets(
            queries.codes,
            queries.offsets,
            None if reverse is None else reverse.codes,
            part.codes,
            part.offsets,
            span,
            skips_self,
            min(top, len(part)),
            least[0],
            least[1][begin : begin + len(part)],
            options.whole.scores,
            options.whole.gap_open,
            options.whole.gap_extend,
            options.recurrence,
            options.freed(),
            n_threads,
            memory_bytes,
            progress and (lambda items: progress(n_before + items)),
        )
        return found | {"target": found["target"] + begin}

    kept: dict[str, Any] | None = None
    for begin, part in parts_of(targets):
        found = best_of(begin, part)
        if kept is not None:
            together = {name: np.concatenate([kept[name], found[name]]) for name in found}
            best = selected(together["query"], together["score"], None, top)
            found = {name: values[best] for name, values in together.items()}
        kept = found
    assert kept is not None  # every store has sequences
    return kept


class Bounds:
    """Drops pairs before they are aligned, by upper bounds from the residues of their sequences.

    `targets` may be `queries`. `least_scores` is None if any score will do. `sample` has some pairs (query and
    target indices): bounds that almost all of them pass are not used.
    """

    def __init__(
        self,
        queries: SequenceBatch,
        targets: SequenceBatch,
        options: PairOptions,
        least_scores: LeastScores | None,
        sample: tuple[Index, Index],
    ) -> None:
        self._queries, self._targets, self._options, self._least = queries, targets, options, least_scores
        tests: list[Test] = []
        if options.strand == "plus":
            # With `top_first`, the best targets are chosen by score alone, and only then filtered by identity and
            # coverage.
            chooses_after = options.top is None or not options.top_first
            if any(share is not None for share in coverages_asked(options).values()) and chooses_after:
                tests.append(self._coverages)
            if least_scores is not None:
                tests.append(self._scores)
            # A global alignment has at least as many columns as the longer sequence, so this also bounds
            # `longer`.
            is_bounded = options.identity in ("columns", "blast", "longer") and options.ambiguous == "differ"
            if options.min_identity is not None and chooses_after and options.pays_ends and is_bounded:
                tests.append(self._identities)
        self._tests = [test for test in tests if np.mean(test(*sample, 1)) <= MOST_KEPT]

    def within_reach(self, query: Index, target: Index, n_threads: int) -> tuple[Index, Index]:
        """Return the pairs that may be kept, in their order; int64, shape (n,) each."""
        for test in self._tests:
            keep = test(query, target, n_threads)
            query, target = query[keep], target[keep]
        return query, target

    def _scores(self, query: Index, target: Index, n_threads: int) -> NDArray[np.bool_]:
        options = self._options
        highest = _native.score_bounds(
            *self._codes,
            query,
            target,
            options.whole.scores,
            options.whole.gap_open,
            options.whole.gap_extend,
            options.recurrence,
            options.pays_ends and options.whole.is_affine,
            n_threads,
        )
        keep: NDArray[np.bool_] = highest >= (0 if self._least is None else self._least.of(query, target))
        return keep

    def _identities(self, query: Index, target: Index, n_threads: int) -> NDArray[np.bool_]:
        columns = np.maximum(self._queries.lengths[query], self._targets.lengths[target])
        most = _native.identity_bounds(*self._codes, query, target, n_threads)
        keep: NDArray[np.bool_] = most / columns >= (self._options.min_identity or 0.0)
        return keep

    def _coverages(self, query: Index, target: Index, n_threads: int) -> NDArray[np.bool_]:
        return may_cover(self._options, self._queries.lengths[query], self._targets.lengths[target])

    @property
    def _codes(self) -> tuple[Codes, Index, Codes, Index]:
        return self._queries.codes, self._queries.offsets, self._targets.codes, self._targets.offsets


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
    """Return the lengths of which a coverage is a share."""
    return {"longer": np.maximum(query, target), "query": query, "target": target}[of]


def coverage(table: AlignmentTable, of: str = "longer") -> NDArray[np.float64]:
    """Return the share of a sequence's residues that are aligned with a residue, float64, shape (n_rows,).

    `of` is "longer", "query" or "target". Needs whole alignments.
    """
    if table.n_columns is None or table.n_gaps is None:
        raise ValueError("only whole alignments have a coverage")
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


def namesakes(queries: SequenceBatch, targets: SequenceBatch) -> Index:
    """Return the target that shares each query's name, or -1; int64, shape (n_queries,)."""
    found = np.full(len(queries), -1, np.int64)
    own = {name: k for k, name in enumerate(queries.names)}
    twice = len(own) < len(queries)
    for target, name in enumerate(targets.name_texts):
        if (query := own.get(name)) is not None:
            twice |= found[query] >= 0
            found[query] = target
    if twice:
        raise UsageError(f"{named('exclude_self')} goes by names, and two records have the same name: rename one")
    return found


def some_pairs(order: PairOrder) -> tuple[Index, Index]:
    """Return a sample of the pairs, spread over all of them."""
    places = distinct(np.linspace(0, order.n - 1, min(order.n, SAMPLE)).astype(np.int64))
    pairs = [order.pairs(k, k + 1) for k in places.tolist()]
    query, target = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return query, target


def selected(query: Index, score: NDArray[np.int32], least: Index | None, top: int | None) -> Index:
    """Return rows to keep by score: at least `least`, and the top of each query if `top` is given."""
    rows = np.arange(len(query))
    if least is not None:
        rows = rows[score >= least]
    if top is not None and len(rows):
        order = np.lexsort((rows, -score[rows].astype(np.int64), query[rows]))
        ordered = query[rows][order]
        begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.concatenate([begins, [len(order)]])))
        rows = rows[order[rank < top]]  # the best first, query by query
    return rows


#: Rows that are compared with the kept ones at a time.
ROWS_AT_ONCE = 512


def not_culled(table: AlignmentTable, most: int) -> NDArray[np.bool_]:
    """Return which rows are enveloped by fewer than `most` better ones of the same query; bool, shape (n_rows,).

    Compared are spans on the original query, on any strand or frame, and the scores on which E-values are based;
    equal scores are not better.
    """
    query = nucleotides.given(table, "query")[1]
    begin, end = nucleotides.span(table, "query")
    score = np.asarray(table.score if table.corrected_score is None else table.corrected_score, np.float64)
    keep = np.ones(len(table), bool)
    order = np.lexsort((-score, query))
    for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1):
        keep[rows] = _kept(begin[rows], end[rows], score[rows], most)
    return keep


def _kept(begin: NDArray[np.int32], end: NDArray[np.int32], score: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Return which rows of one query are kept, given best first."""
    keep = np.ones(len(begin), bool)
    for first in range(0, len(begin), ROWS_AT_ONCE):
        own = slice(first, first + ROWS_AT_ONCE)
        others = np.flatnonzero(keep[: first + ROWS_AT_ONCE])
        envelops = begin[others] <= begin[own, None]
        envelops &= end[others] >= end[own, None]
        envelops &= score[others] > score[own, None]
        keep[own] = envelops.sum(axis=1) < most
    return keep


#: Factor by which more candidates of a query are aligned if too few have passed.
GROWTH = 2


class BestPassing:
    """Collects the best passing rows of each query.

    options: `top` and the limits.
    align: aligns candidates (rows and their whole scores) and drops those that do not pass.
    source: maps aligned queries to the original ones.
    most_rows: candidates to align at a time.
    """

    def __init__(
        self,
        options: PairOptions,
        align: Callable[[Rows, NDArray[np.int32]], AlignmentTable],
        source: Callable[[Index], Index],
        most_rows: int,
    ) -> None:
        self._options, self._align, self._source, self._most_rows = options, align, source, most_rows
        self._top = options.top or 1
        self._kept: AlignmentTable | None = None

    def add(self, rows: Rows, score: NDArray[np.int32], lengths: tuple[Index, Index]) -> None:
        """Align those candidates of a part that can be among the best.

        rows: in the order of the pairs.
        score: int32, shape (n,), whole scores of all unmasked residues.
        lengths: of the aligned queries and targets.
        """
        able = np.flatnonzero(may_cover(self._options, lengths[0][rows.query], lengths[1][rows.target]))
        query, step = self._source(rows.query), self._top
        left = able[np.lexsort((able, -score[able].astype(np.int64), query[able]))]
        given = self._options.whole.given(score)
        while len(left := self._improving(left, query, given)):
            taken = left[rank(query[left]) < step][: self._most_rows]
            self._merge(self._align(some(rows, taken), score[taken]))
            left = left[~np.isin(left, taken)]
            step *= GROWTH

    def count(self, query: Index) -> Index:
        """Return the number of kept rows of each of these queries, int64, shape (n,)."""
        if self._kept is None:
            return np.zeros(len(query), np.int64)
        kept = np.sort(self._source(self._kept.query_index))
        return np.searchsorted(kept, query, "right") - np.searchsorted(kept, query)

    def forget(self, query: int) -> None:
        """Drop the rows of a query, whose candidates will come again."""
        if self._kept is not None:
            self._kept = self._kept.take(np.flatnonzero(self._source(self._kept.query_index) != query))

    def table(self, nothing: Rows) -> AlignmentTable:
        """Return the kept rows, query by query, best first; `nothing` is used if there is no row."""
        return self._align(nothing, np.zeros(0, np.int32)) if self._kept is None else self._kept

    def _improving(self, left: Index, query: Index, given: NDArray[Any]) -> Index:
        """Return candidates whose query has fewer than `top` rows, or that score more than the last of these."""
        if self._kept is None or not len(left):
            return left
        kept, score = self._source(self._kept.query_index), _deciding(self._kept)
        last = np.flatnonzero(rank(kept) == self._top - 1)
        place = np.minimum(np.searchsorted(kept[last], query[left]), max(len(last) - 1, 0))
        if not len(last):
            return left
        is_worse = (kept[last][place] == query[left]) & (given[left] <= score[last][place])
        found: Index = left[~is_worse]
        return found

    def _merge(self, table: AlignmentTable) -> None:
        """Merge the best rows; of equal scores those kept earlier win, which come first in the order of the pairs."""
        both = table if self._kept is None else concatenate([self._kept, table])
        query, score = self._source(both.query_index), _deciding(both)
        order = np.lexsort((-score.astype(np.float64), query))
        self._kept = both.take(order[rank(query[order]) < self._top])


def _deciding(table: AlignmentTable) -> NDArray[Any]:
    """Return the score that decides: the one without masked residues, if residues are masked."""
    return table.score if table.corrected_score is None else table.corrected_score


def rank(query: Index) -> Index:
    """Return the rank of each row within its run of rows of one query, from 0."""
    begins = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])[: len(query)])
    return np.arange(len(query)) - np.repeat(begins, np.diff(np.append(begins, len(query))))


def some(rows: Rows, chosen: Index) -> Rows:
    """Select rows by index."""
    strand = None if rows.strand is None else rows.strand[chosen]
    return replace(rows, query=rows.query[chosen], target=rows.target[chosen], strand=strand)
