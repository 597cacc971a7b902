"""Selection of pairs: by names, bounds, scores, identity and coverage, and as the best of both sequences.

Scores alone cost a third of an alignment, so only rows that will be kept, on their better strand or frames, are
aligned. The best targets of a query are found without a list of its pairs if there are many
(native/pairwise/best_targets.cpp).

Identity and coverage are known only after a pair has been aligned. The candidates of a query are aligned by
descending score until K of them pass (`BestPassing`):

    scores      90  88  88  75  71  60  52 ...      K = 2
    passes       -   +   -   -   +                  the first five are aligned, the second and the fifth are kept

Candidates may arrive in parts, in the order of the pairs. A pair in a later part is aligned if it scores more than
the K-th one kept so far. The result does not depend on the parts: of equal scores the earlier pair is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.errors import UsageError, named
from tropalign.pairwise.engines import Rows
from tropalign.pairwise.filters import (
    LeastScores,
    coverages_asked,
    evalue_scores,
    may_cover,
    not_culled,
    passes_shares,
    rank,
    selected,
)
from tropalign.properties import cached_property
from tropalign.results import aligned_pairs
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.sequences.batch import parts_of

if TYPE_CHECKING:
    from tropalign.execution.task import Progress, Tile
    from tropalign.pairwise.engines import Engine, Sides
    from tropalign.pairwise.options import PairOptions
    from tropalign.pairwise.plan import Plan
    from tropalign.pairwise.significance import Significance
    from tropalign.pairwise.translated import PairFrames
    from tropalign.sequences import SequenceBatch

Index = NDArray[np.int64]
Codes = NDArray[np.uint8]
Scored = tuple[Rows, NDArray[np.int32]]
#: Predicate over (query indices, target indices, thread count) that returns a mask.
Test = Callable[[Index, Index, int], NDArray[np.bool_]]
#: Aligns rows; the third argument is the whole scores that chose them, if any.
Align = Callable[[Rows, "Progress | None", "NDArray[np.int32] | None"], AlignmentTable]

#: Pairs on which each bound is tried; if more than the share MOST_KEPT passes, it would cost more than it saves.
SAMPLE = 1000
MOST_KEPT = 0.9
#: Factor by which more candidates of a query are aligned if too few have passed.
GROWTH = 2
#: Factor of growth for grouped scans: each time, all targets are scored again.
GROUP_GROWTH = 16


class Selection:
    """Chooses the pairs of a task, aligns them, and keeps the rows that pass.

    `sides` are the sequences by which pairs are scored: masked, if masks are soft.
    """

    def __init__(
        self,
        options: PairOptions,
        sides: Sides,
        frames: PairFrames | None,
        plan: Plan,
        significance: Significance | None,
        skips_self: bool,
    ) -> None:
        self._options, self._sides, self._frames, self._skips_self = options, sides, frames, skips_self
        self._plan = replace(plan, tiles=[])  # tiles travel to workers one by one
        given = (sides.queries, sides.targets) if frames is None else frames.given(sides.queries, sides.targets)
        self._namesakes = namesakes(*given) if options.exclude_self else None
        scored = options, sides.queries, sides.targets, significance
        #: None if any score will do.
        self.least_scores = LeastScores(*scored) if options.asks_scores else None

    def table(
        self, tile: Tile, scorer: Engine, align: Align, n_threads: int, progress: Progress | None, in_groups: bool
    ) -> AlignmentTable:
        """Return the rows of a tile that pass, in the order of its pairs, or the best ones query by query."""
        options, lengths = self._options, (self._sides.queries.lengths, self._sides.targets.lengths)
        again = progress and partial(repeated, progress, tile.n_items)

        def kept(rows: Rows, score: NDArray[np.int32] | None, report: Progress | None = again) -> AlignmentTable:
            table = align(rows, report, score)
            return table.take(passes_shares(table, options)) if options.asks_shares else table

        if options.top is not None and options.asks_shares and not options.top_first:
            passing = BestPassing(options, kept, self._source, self._plan.most_pairs)
            if in_groups:
                self._offer_groups(passing, tile, scorer, progress, n_threads)
            else:
                for part in self._scored_parts(tile, scorer, progress, n_threads):
                    passing.add(*part, lengths)
            none = np.zeros(0, np.int64)
            strand = None if self._sides.reverse is None else np.zeros(0, np.int8)
            return passing.table(Rows(none, none, options.report, strand))
        if in_groups:
            per_query = 1 if self._frames is None else self._frames.most
            report = progress and partial(after, progress, 0, tile.n_items, per_pair=per_query)
            queries = self._plan.grid.queries(*tile.payload)
            return kept(*self._best_of(queries, options.top or len(lengths[1]), n_threads, report))
        is_scored = options.top is not None or self.least_scores is not None or options.is_softly_masked
        if not is_scored and self._sides.reverse is None and self._frames is None:
            begin, end = tile.payload
            pairs = self._within_reach(begin, end, n_threads)
            return kept(Rows(*pairs, options.report, None), None, progress)
        found: list[Scored] = []
        for part in self._scored_parts(tile, scorer, progress, n_threads):
            found.append(part)
            rows = Rows(
                np.concatenate([rows.query for rows, _ in found]),
                np.concatenate([rows.target for rows, _ in found]),
                options.report,
                None if self._sides.reverse is None else np.concatenate([rows.strand for rows, _ in found]),
            )
            score = np.concatenate([score for _, score in found])
            best = selected(self._source(rows.query), score, None, options.top)
            found = [(rows.some(best), score[best])]
        return kept(*found[0])

    def culled(self, table: AlignmentTable) -> AlignmentTable:
        """Return the table without rows that enough better ones envelop."""
        return table if self._options.culling is None else table.take(not_culled(table, self._options.culling))

    def _source(self, query: Index) -> Index:
        """Return the original queries of these rows."""
        return query if self._frames is None else self._frames.source(query)

    def _pairs(self, begin: int, end: int) -> tuple[Index, Index]:
        """Return the pairs from position `begin` to before `end`, without excluded pairs of one name."""
        query, target = self._plan.order.pairs(begin, end)
        if self._namesakes is None:
            return query, target
        differs = self._namesakes[query] != target
        return query[differs], target[differs]

    def _within_reach(self, begin: int, end: int, n_threads: int) -> tuple[Index, Index]:
        """Return the indices of the pairs from position `begin` to before `end` that bounds do not exclude."""
        query, target = self._pairs(begin, end)
        return (query, target) if self._bounds is None else self._bounds.within_reach(query, target, n_threads)

    @cached_property
    def _bounds(self) -> Bounds | None:
        options, order = self._options, self._plan.order
        if (self.least_scores is None and not options.asks_shares) or not order.n or self._frames is not None:
            return None
        if self._sides.queries.has_positions or self._sides.targets.has_positions:  # the bounds are those of a matrix
            return None
        places = distinct(np.linspace(0, order.n - 1, min(order.n, SAMPLE)).astype(np.int64))
        query, target = zip(*(order.pairs(k, k + 1) for k in places.tolist()), strict=True)
        sample = np.concatenate(query), np.concatenate(target)
        return Bounds(self._sides.queries, self._sides.targets, options, self.least_scores, sample)

    def _scored_parts(self, tile: Tile, scorer: Engine, progress: Progress | None, n_threads: int) -> Iterator[Scored]:
        """Yield, in their order, the pairs with sufficient scores, with their better strand or frames, and the scores.

        A query with very many targets, whose best are requested, is scored some pairs at a time.
        """
        frames, depth = self._frames, self._options.report
        per_pair = 1 if frames is None else frames.most
        first, last = tile.payload
        step = max(self._plan.most_pairs // per_pair, 1)
        for begin in range(first, last, step):
            end = min(begin + step, last)
            report = progress and partial(after, progress, begin - first, end - begin, per_pair=per_pair)
            if frames is not None:
                query, target, begins = frames.expanded(*self._pairs(begin, end))
                score = scorer(Rows(query, target, "score", None), report)["score"]
                best = frames.best(query, score, begins, self._least(query, target))
                yield Rows(query[best], target[best], depth, None), score[best]
                continue
            query, target = self._within_reach(begin, end, n_threads)
            strand = None if self._sides.reverse is None else np.ones(len(query), np.int8)
            score = scorer(Rows(query, target, "score", strand), report)["score"]
            if strand is not None:
                report = report and partial(repeated, report, len(query))
                other = scorer(Rows(query, target, "score", -strand), report)["score"]
                strand = np.where(other > score, -1, 1).astype(np.int8)
                score = np.maximum(score, other)
            enough = selected(query, score, self._least(query, target), None)
            yield Rows(query, target, depth, strand).some(enough), score[enough]

    def _least(self, query: Index, target: Index) -> Index | None:
        return None if self.least_scores is None else self.least_scores.of(query, target)

    def _best_of(self, queries: tuple[int, int], top: int, n_threads: int, progress: Progress | None) -> Scored:
        """Find the best targets of queries [first, last): query by query, best first, ties by the earlier target."""
        options, (own, reverse, targets) = self._options, self._sides
        with_self = top if self._namesakes is None else top + 1  # room for the query's namesake
        span = queries if self._frames is None else self._frames.query_span(*queries)
        n_queries = span[1] - span[0]
        if self.least_scores is not None:
            least, class_of_target = self.least_scores.by_class(*span)
        else:
            least = np.full((n_queries, 1), np.iinfo(np.int32).min, np.int32)
            class_of_target = np.zeros(len(targets), np.int32)
        found: dict[str, Any] = {}
        positions: tuple[Any, Any] = (None, None)
        if own.has_positions:
            from tropalign.pairwise.positions import scaled, threads_for

            positions = scaled(own, options), scaled(reverse, options)
            n_threads = threads_for(n_threads, int(own.lengths.max() * targets.lengths.max()), self._plan.scratch_bytes)
        for begin, part in parts_of(targets):
            best_of_part: dict[str, Any] = _native.best_targets(
                own.codes,
                own.offsets,
                None if reverse is None else reverse.codes,
                part.codes,
                part.offsets,
                span,
                self._skips_self,
                min(with_self, len(part)),
                least,
                class_of_target[begin : begin + len(part)],
                options.whole.scores,
                options.whole.gap_open,
                options.whole.gap_extend,
                options.recurrence,
                options.freed(),
                n_threads,
                self._plan.scratch_bytes,
                progress and partial(after, progress, begin * n_queries, len(part) * n_queries),
                *positions,
            )
            best_of_part["target"] = best_of_part["target"] + begin
            if found:
                together = {name: np.concatenate([found[name], best_of_part[name]]) for name in found}
                best = selected(together["query"], together["score"], None, with_self)
                best_of_part = {name: values[best] for name, values in together.items()}
            found = best_of_part
        if self._frames is not None:
            found = self._frames.best_found(found, with_self)
        if self._namesakes is not None:  # at most one per query
            query = self._source(found["query"])
            other = np.flatnonzero(self._namesakes[query] != found["target"])
            best = other[selected(query[other], found["score"][other], None, top)]
            found = {name: values[best] for name, values in found.items()}
        strand = None if self._sides.reverse is None else found["strand"]
        return Rows(found["query"], found["target"], self._options.report, strand), found["score"]

    def _offer_groups(
        self, passing: BestPassing, tile: Tile, scorer: Engine, progress: Progress | None, n_threads: int
    ) -> None:
        """Offer the best targets of each query by score, and more of them if too few pass.

        If a query has too many candidates to be held at once, it is scored again, some of its pairs at a time.
        """
        plan, top, before = self._plan, self._options.top or 1, 0
        lengths = self._sides.queries.lengths, self._sides.targets.lengths
        wanted, runs = top, [plan.grid.queries(*tile.payload)]
        while runs:
            step, short = max(1, plan.most_pairs // wanted), list[tuple[int, int]]()
            for first, last in ((k, min(k + step, end)) for begin, end in runs for k in range(begin, end, step)):
                if before and wanted > plan.most_pairs:
                    passing.forget(first)
                    pairs = plan.tile(tile.index, *plan.grid.span_of(first))
                    for part in self._scored_parts(pairs, scorer, None, n_threads):
                        passing.add(*part, lengths)
                    continue
                report = progress and partial(repeated, progress, tile.n_items if before else 0)
                rows, score = self._best_of((first, last), wanted, n_threads, report)
                source = self._source(rows.query)
                new = np.flatnonzero(rank(source) >= before)
                passing.add(rows.some(new), score[new], lengths)
                queries = np.arange(first, last)
                n_found = np.bincount(source - first, minlength=len(queries))
                more = queries[(n_found >= wanted) & (passing.count(queries) < top)]
                if len(more):
                    consecutive = np.split(more, np.flatnonzero(np.diff(more) > 1) + 1)
                    short += [(int(part[0]), int(part[-1]) + 1) for part in consecutive]
            before, wanted, runs = wanted, min(GROUP_GROWTH * wanted, len(lengths[1])), short
            if before == wanted:
                break


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
        raise UsageError(f"{named('exclude_self')} compares names, but two records have the same name: rename one")
    return found


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
        if options.strand != "both":
            # With `top_first`, the best targets are chosen by score alone, and only then filtered by identity and
            # coverage.
            chooses_after = options.top is None or not options.top_first
            if any(share is not None for share in coverages_asked(options).values()) and chooses_after:
                tests.append(self._coverages)
            if least_scores is not None and options.scores_letters and not options.has_track:
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

    def _coverages(self, query: Index, target: Index, n_threads: int) -> NDArray[np.bool_]:
        return may_cover(self._options, self._queries.lengths[query], self._targets.lengths[target])

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

    @property
    def _codes(self) -> tuple[Codes, Index, Codes, Index]:
        return self._queries.codes, self._queries.offsets, self._targets.codes, self._targets.offsets


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
        left = able[np.lexsort((able, -score[able].astype(np.float64), query[able]))]
        given = self._options.whole.given(score)
        while len(left := self._improving(left, query, given)):
            taken = left[rank(query[left]) < step][: self._most_rows]
            table = self._align(rows.some(taken), score[taken])
            # Earlier rows win ties: they come first in the order of the pairs.
            both = table if self._kept is None else concatenate([self._kept, table])
            source = self._source(both.query_index)
            order = np.lexsort((-evalue_scores(both).astype(np.float64), source))
            self._kept = both.take(order[rank(source[order]) < self._top])
            left = left[~np.isin(left, taken)]
            step *= GROWTH

    def count(self, query: Index) -> Index:
        """Return the number of kept rows of each of these queries, int64, shape (n,)."""
        if self._kept is None:
            return np.zeros(len(query), np.int64)
        kept = np.sort(self._source(self._kept.query_index))
        return np.searchsorted(kept, query, "right") - np.searchsorted(kept, query)

    def forget(self, query: int) -> None:
        """Drop the rows of a query whose candidates will be added again."""
        if self._kept is not None:
            self._kept = self._kept.take(np.flatnonzero(self._source(self._kept.query_index) != query))

    def table(self, nothing: Rows) -> AlignmentTable:
        """Return the kept rows, query by query, best first; `nothing` is used if there is no row."""
        return self._align(nothing, np.zeros(0, np.int32)) if self._kept is None else self._kept

    def _improving(self, left: Index, query: Index, given: NDArray[Any]) -> Index:
        """Return candidates whose query has fewer than `top` rows, or that score more than its last row."""
        if self._kept is None or not len(left):
            return left
        kept, score = self._source(self._kept.query_index), evalue_scores(self._kept)
        last = np.flatnonzero(rank(kept) == self._top - 1)
        place = np.minimum(np.searchsorted(kept[last], query[left]), max(len(last) - 1, 0))
        if not len(last):
            return left
        is_worse = (kept[last][place] == query[left]) & (given[left] <= score[last][place])
        found: Index = left[~is_worse]
        return found


def first_options(options: PairOptions) -> PairOptions:
    """Return options for `reciprocal_pairs`: the best alignment of each passing pair, no deeper than necessary."""
    alone: dict[str, Any] = {"max_hsps": 1, "sum_statistics": False, "max_intron": None, "culling": None}
    alone |= {"co_optimal": None, "within": None}
    alone |= {"top": None, "top_first": False, "reciprocal": False, "max_evalue": options.sought_evalue}
    return replace(options, report="alignment" if options.asks_shares else "score", **alone)


def reciprocal_pairs(tables: Iterable[AlignmentTable], n_queries: int, n_targets: int | None, is_local: bool) -> Index:
    """Return the pairs that score at least as high as all others of their query and of their target.

                     t0   t1   t2     best of the query
    q0               50   80   80     t1, t2
    q1               90   85   30     t0
    best of target   q1   q1   q0     each other's best: q0 with t2, q1 with t0

    In a single set (`n_targets` is None), a sequence has one best score, whether it is query or target. The result
    is int64, shape (n, 2): ascending indices of the original queries and targets; all ties are included.
    """
    of_query = np.full(n_queries, -np.inf)
    of_target = of_query if n_targets is None else np.full(n_targets, -np.inf)
    found, scores = np.zeros((2, 0), np.int64), np.zeros(0)
    for table in tables:
        pairs = np.stack([aligned_pairs.given(table, side)[1] for side in ("query", "target")])
        score = np.asarray(evalue_scores(table), np.float64)
        if is_local:  # a score of 0 means that there is no alignment
            pairs, score = pairs[:, score > 0], score[score > 0]
        np.maximum.at(of_query, pairs[0], score)
        np.maximum.at(of_target, pairs[1], score)
        found, scores = np.concatenate([found, pairs], 1), np.concatenate([scores, score])
        is_best = (scores == of_query[found[0]]) & (scores == of_target[found[1]])
        found, scores = found[:, is_best], scores[is_best]
    return np.unique(found.T, axis=0)


def after(progress: Progress, before: int, most: int, items: int, per_pair: int = 1) -> None:
    """Report the items of a part of a tile; `per_pair` items of an engine count as one."""
    progress(before + min(items // per_pair, most))


def repeated(progress: Progress, n_items: int, items: int) -> None:
    """Report a second pass over a tile whose items have all started; it can be stopped here."""
    progress(n_items)
