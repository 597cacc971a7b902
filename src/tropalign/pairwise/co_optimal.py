"""All best alignments of a pair, or all within a score of the best: counted exactly, and listed in a fixed order.

An alignment is a path: its start and its columns. A path's last column determines its state: M pairs residues, E has
a residue of the shorter sequence C against a gap, F one of the longer sequence R. Each path has one sequence of
states, so that sums over predecessors count paths (Waterman and Byers 1985), and a path is never counted twice:

    M(i,j) = s(R_i, C_j) + max(M, E, F)(i-1,j-1)      0 at a free start; local paths start where the maximum is 0
    E(i,j) = max(E(i,j-1) - extend, max(M, F)(i,j-1) - open - extend)
    F(i,j) = max(F(i-1,j) - extend, max(M, E)(i-1,j) - open - extend)

A step back to a predecessor that is worse than the maximum by d makes the path d worse than the best. The paths are
visited from their ends, and those that lose more than the allowed score are left out:

    count   row by row, from the last row up: how many paths of each loss reach a cell
    list    best first; of equal scores, the one that follows the tie rule of the best alignment (docs/scoring.md)
            longer, seen from the end
"""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from math import floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ResourceError, TropalignWarning, named, shown
from tropalign.resources.limits import require
from tropalign.results.aligned_pairs import aligned_queries, judged_columns
from tropalign.results.alignments import AlignmentTable, Numbers, columns_of
from tropalign.results.rows import encoded
from tropalign.sequences.batch import in_memory

if TYPE_CHECKING:
    from tropalign.execution.task import Progress
    from tropalign.pairwise.options import PairOptions

Codes = NDArray[np.uint8]
#: Below any score.
LOWEST = -(1 << 40)
#: Bytes of a cell: three scores.
CELL_BYTES = 24
M, E, F, START = range(4)
#: Row and column, counted from 1, and the state of a path's last column; `START`, or M at row or column 0, before it.
Node = tuple[int, int, int]
#: Bytes of a number of paths of one loss, in dicts.
COUNT_BYTES = 200
#: Starts of tracebacks that are kept in addition to the necessary ones, so that they are sorted out rarely.
KEPT = 64
#: Numbers of alignments from here on are rounded in the warning.
MOST_SHOWN = 10**15


class Scheme(NamedTuple):
    """Scores and costs of a pair in terms of rows R and columns C.

    scores: [R's code][C's code]. gap, end_gap: open and extend, within the sequences and at their ends.
    starts_free, ends_free: free ends of R, then of C.
    """

    scores: NDArray[np.int64]
    gap: tuple[int, int]
    end_gap: tuple[int, int]
    is_local: bool
    starts_free: tuple[bool, bool]
    ends_free: tuple[bool, bool]


class Path(NamedTuple):
    """A path: its loss, the cells before its first column and of its last, and the states from its end."""

    loss: int
    begin: tuple[int, int]
    end: tuple[int, int]
    states: bytes


class Paths:
    """The paths of a pair of sequences of codes that score at most `most` less than the best score."""

    def __init__(
        self, rows: Codes, columns: Codes, scheme: Scheme, best: int, most: int, progress: Progress | None = None
    ) -> None:
        self.scheme, self.best, self.most, self._progress = scheme, best, most, progress
        self.m, self.n = len(rows), len(columns)
        #: Ends with their losses, in the order of the tie rule.
        self.ends: list[tuple[int, Node]] = []
        if best > 0 or not scheme.is_local:
            self._tables = self._filled(rows, columns)
            self.ends = sorted(self.ends, key=lambda end: end[1][1::-1]) if scheme.is_local else self._ends()

    def _costs(self, line: int, last: int, is_free: bool) -> tuple[int, int]:
        """Return the cost of a gap along a row or column, which is at an end of the other sequence or not."""
        is_end = not self.scheme.is_local and (line == 0 or (line == last and not is_free))
        return self.scheme.end_gap if is_end else self.scheme.gap

    def _filled(self, rows: Codes, columns: Codes) -> NDArray[np.int64]:
        """Return the scores of all states; int64, shape (3, m + 1, n + 1)."""
        scheme, m, n = self.scheme, self.m, self.n
        tables = np.full((3, m + 1, n + 1), LOWEST)
        open_, extend = scheme.end_gap
        tables[M, 0, 0] = 0
        if scheme.starts_free[0]:
            tables[M, :, 0] = 0
        else:
            tables[F, 1:, 0] = -open_ - extend * np.arange(1, m + 1)
        if scheme.starts_free[1]:
            tables[M, 0] = 0
        else:
            tables[E, 0, 1:] = -open_ - extend * np.arange(1, n + 1)
        along = np.full((2, n), 0)  # cost of a gap down each column: open, extend
        along[:] = np.array(scheme.gap)[:, None]
        along[:, -1] = self._costs(n, n, scheme.ends_free[0])
        index = np.arange(n + 1)
        for i in range(1, m + 1):
            above, here = tables[:, i - 1], tables[:, i]
            best = above.max(axis=0)
            here[M, 1:] = scheme.scores[rows[i - 1], columns] + (np.maximum(best, 0) if scheme.is_local else best)[:-1]
            if scheme.is_local:  # a path ends where it first has the best score
                is_end = np.flatnonzero(here[M] == self.best)
                here[M, is_end] = LOWEST
                self.ends += [(0, (i, j, M)) for j in is_end.tolist()]
            opened = np.maximum(above[M], above[E])[1:] - along[0]
            here[F, 1:] = np.maximum(opened, above[F, 1:]) - along[1]
            open_, extend = self._costs(i, m, scheme.ends_free[1])
            opened = np.maximum(here[M], here[F]) + extend * index
            here[E, 1:] = np.maximum.accumulate(opened)[:-1] - open_ - extend * index[1:]
            if self._progress is not None:
                self._progress(0)
        return tables

    def _ends(self) -> list[tuple[int, Node]]:
        """Return the ends of global and semiglobal paths."""
        (rows_free, columns_free), m, n = self.scheme.ends_free, self.m, self.n
        over = [(0, 0, (m, n))]  # residues that overhang, of R (0) or C (1), and the cell
        has_cost = self.scheme.gap != (0, 0)  # else a gap at a free end is as good as an overhang, and counts once
        over += [(m - i, 0, (i, n)) for i in range(m)] if rows_free and has_cost else []
        over += [(n - j, 1, (m, j)) for j in range(n)] if columns_free and has_cost else []
        ends = []
        for _, _, (i, j) in sorted(over):
            is_over = {E: has_cost and columns_free and i == m, F: has_cost and rows_free and j == n, M: False}
            for state in (M, E, F):
                loss = self.best - int(self._tables[state, i, j])
                if loss <= self.most and not is_over[state]:
                    ends.append((loss, (i, j, state)))
        return ends

    def count(self, most_bytes: int) -> int:
        """Return the number of paths. Raises MemoryError if their losses are too many to be counted apart."""
        total, waiting = 0, dict[int, dict[int, dict[int, dict[int, int]]]]()  # row, column, state, loss: paths
        for loss, (i, j, state) in self.ends:
            waiting.setdefault(i, {}).setdefault(j, {})[state] = {loss: 1}
        for i in range(self.m, -1, -1):
            if self._progress is not None:
                self._progress(0)
            here = waiting.pop(i, {})
            n_counts = 0
            for j in range(max(here, default=-1), -1, -1):
                for state, losses in here.pop(j, {}).items():
                    if (steps := self._before((i, j, state))) is None:
                        total += sum(losses.values())
                        continue
                    for step, (row, column, before) in steps:
                        if step + min(losses) > self.most:
                            continue
                        of_row = here if row == i else waiting.setdefault(row, {})
                        into = of_row.setdefault(column, {}).setdefault(before, {})
                        for loss, n in losses.items():
                            if loss + step <= self.most:
                                into[loss + step] = into.get(loss + step, 0) + n
                        n_counts += len(into)
                if n_counts * COUNT_BYTES > most_bytes:
                    raise MemoryError
        return total

    def first(self, n: int) -> Iterator[Path]:
        """Yield the first `n` paths.

        The heap has starts of tracebacks that differ from all paths so far, by their loss and then by their choices.
        Each can be continued without a further loss, so that the `n` least ones suffice.
        """
        heap = [(loss, k.to_bytes(4, "big"), node, b"", node) for k, (loss, node) in enumerate(self.ends)]
        heapq.heapify(heap)
        while heap and n:
            if self._progress is not None:
                self._progress(0)
            loss, choices, node, states, end = heapq.heappop(heap)
            walked, chosen = bytearray(states), bytearray(choices)
            while (steps := self._before(node)) is not None:
                walked.append(node[2])
                choices, following = bytes(chosen), -1
                for k, (step, before) in enumerate(steps):
                    if step == 0 and following < 0:
                        following, node = k, before
                    elif loss + step <= self.most:
                        heapq.heappush(heap, (loss + step, choices + bytes([k]), before, bytes(walked), end))
                chosen.append(following)
            yield Path(loss, node[:2], end[:2], bytes(walked))
            n -= 1
            if len(heap) > 2 * n + KEPT:
                heap = heapq.nsmallest(n, heap)

    def _before(self, node: Node) -> list[tuple[int, Node]] | None:
        """Return the predecessors by the tie rule, with the loss of each step; None at the start of a path."""
        i, j, state = node
        if state == START or (state == M and (i == 0 or j == 0)):
            return None
        tables, scheme = self._tables, self.scheme
        open_, order = 0, (M, E, F)
        if state == M:
            i, j = i - 1, j - 1
        else:
            line = (i, self.m, scheme.ends_free[1]) if state == E else (j, self.n, scheme.ends_free[0])
            i, j = (i, j - 1) if state == E else (i - 1, j)
            open_ = self._costs(*line)[0]
            if state == E and open_:
                order = (M, F, E)  # a gap starts rather than continues
        values = [value - (0 if k == state else open_) for k, value in enumerate(tables[:, i, j].tolist())]
        best = max(values)
        if state == M and scheme.is_local and best <= 0:
            return [(0, (i, j, START))]
        return [(best - values[k], (i, j, k)) for k in order if best - values[k] <= self.most]


class CoOptimal:
    """Adds the co-optimal alignments of pairs, at most `co_optimal` of each, and their numbers.

    scratch_bytes: memory limit of a pair.
    """

    def __init__(self, options: PairOptions, scratch_bytes: int) -> None:
        self._options, self._scratch_bytes, self._has_told = options, scratch_bytes, False
        self._most = floor(Fraction(str(options.within or 0)) * options.whole.scale)

    def added(self, table: AlignmentTable, progress: Progress | None) -> AlignmentTable:
        """Return the alignments of each pair of a table, the given one first. Raises ResourceError for long pairs."""
        _, codes, offsets, query_index = aligned_queries(table)
        targets, target_index = in_memory(table.targets, table.target_index)
        owner, rows, counts = list[int](), list[Numbers](), list[str]()
        for k, (i, j) in enumerate(zip(query_index.tolist(), target_index.tolist(), strict=True)):
            query = codes[offsets[i] : offsets[i + 1]]
            target = targets.codes[targets.offsets[j] : targets.offsets[j + 1]]
            names = f"{shown(table.row(k).query)} with {shown(table.row(k).target)}"
            score = table.score[k].item()
            count, found = self._counted(query, target, score, names, progress)
            if count > len(found) > 1 and not self._has_told:  # a list of one is there for its number
                self._tell(names, count)
            found = found or [(score, 0, 0, 0, 0, 0, 0, 0, 0, "*")]  # a local score of 0
            rows += found
            owner += [k] * len(found)
            counts += [format(Decimal(count), "f")] * len(found)  # `str` is limited to 4,300 digits
        table = replace(table.take(np.array(owner, np.int64)), **columns_of(rows, None))
        digits, offsets = encoded(counts)
        hsp = (np.arange(len(rows)) - np.searchsorted(owner, owner) + 1).astype(np.int32)
        table = replace(table, hsp=hsp, count_digits=digits, count_offsets=offsets)
        if table.strand is not None:
            minus = table.strand < 0
            lengths = np.where(minus, table.queries.lengths[table.query_index], 0).astype(np.int32)
            spans = lengths - table.query_end, lengths - table.query_start
            query_start, query_end = np.where(minus, spans, (table.query_start, table.query_end))
            table = replace(table, query_start=query_start, query_end=query_end)
        return replace(table, **judged_columns(table, self._options.ambiguous))

    def _counted(
        self, query: Codes, target: Codes, score: float, names: str, progress: Progress | None
    ) -> tuple[int, list[Numbers]]:
        """Return the number of alignments of a pair with this best score, and the rows of the first ones."""
        options, table_bytes = self._options, CELL_BYTES * (len(query) + 1) * (len(target) + 1)
        remedy = f"allow more with {named('memory_bytes')}, or leave the pair out"
        what = f"{named('co_optimal')} for {names} ({len(query):,} x {len(target):,} residues)"
        require(table_bytes, self._scratch_bytes, what, remedy)
        scores, free = options.whole.scores.astype(np.int64), options.freed()
        starts = (True, True) if options.is_local else (free[0], free[2])
        ends = free[1], free[3]
        sides = query, target
        if len(query) < len(target):
            scores, starts, ends, sides = scores.T, starts[::-1], ends[::-1], sides[::-1]
        scheme = Scheme(scores, options.whole.gap[:2], options.whole.end_gap[:2], options.is_local, starts, ends)
        best = round(score * options.whole.scale)
        paths = Paths(*sides, scheme, best, self._most, progress)
        try:
            count = paths.count(self._scratch_bytes - table_bytes)
        except MemoryError:
            raise ResourceError(
                f"{names}: alignments within {options.within:g} of the best have too many scores to count them: lower "
                f"{named('within')}, or allow more with {named('memory_bytes')}"
            ) from None
        return count, [self._row(query, target, best, path) for path in paths.first(options.co_optimal or 1)]

    def _row(self, query: Codes, target: Codes, best: int, path: Path) -> Numbers:
        """Return a path as the numbers of a row and its CIGAR."""
        states = np.frombuffer(path.states, np.uint8)[::-1]
        is_query_r = len(query) >= len(target)
        of_query, of_target = (states != E, states != F) if is_query_r else (states != F, states != E)
        begin, end = (path.begin, path.end) if is_query_r else (path.begin[::-1], path.end[::-1])
        is_pair = states == M
        one = query[(begin[0] + np.cumsum(of_query) - 1)[is_pair]]
        other = target[(begin[1] + np.cumsum(of_target) - 1)[is_pair]]
        letters = np.where(of_query, np.uint8(ord("I")), np.uint8(ord("D")))
        letters[is_pair] = np.where(one == other, np.uint8(ord("=")), np.uint8(ord("X")))
        cigar = "".join(f"{len(list(run))}{letter}" for letter, run in groupby(letters.tobytes().decode("ascii")))
        whole = self._options.whole
        score = best - path.loss if whole.scale == 1 else (best - path.loss) / whole.scale
        n_similar = int((whole.scores[one, other] > 0).sum())
        counts = int((one == other).sum()), n_similar, len(states) - len(one), len(states)
        return (score, begin[0], end[0], begin[1], end[1], *counts, cigar or "*")

    def _tell(self, names: str, count: int) -> None:
        """Warn once that a list is shorter than its count."""
        self._has_told = True
        number = f"{count:,}" if count < MOST_SHOWN else f"about {Decimal(count):.2e}"
        within = self._options.within
        what = "co-optimal alignments" if within is None else f"alignments within {within:g} of the best"
        warnings.warn(
            f"{names}: {number} {what}, of which the first {self._options.co_optimal} are listed (column co_optimal "
            f"has the number of each pair): allow more with {named('co_optimal')}",
            TropalignWarning,
            stacklevel=2,
        )
