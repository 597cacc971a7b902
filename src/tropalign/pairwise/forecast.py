"""Forecast of the best targets of all queries (``--top``): each kind of work is sampled separately.

              groups of targets that lie side by side, the longest first
    queries   |####|    |    |####|    |    |####|    |    |      scores: all queries of a tile, some of the groups
    of a tile |####|    |    |####|    |    |####|    |    |      alignments: the best of these
              |####|####|####|####|####|####|####|####|####|      results: single queries with all targets

A group is laid out once for all queries of a tile. A sample of few queries with all targets, like the pieces of
tiles in other forecasts, would therefore overestimate the time several times.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import quiet
from tropalign.execution.task import Device, Tile
from tropalign.pairwise.options import SHARES, PairOptions
from tropalign.pairwise.plan import GROUP_PAIR_CELLS, LEAST_TARGETS
from tropalign.results.alignments import concatenate

Index = NDArray[np.int64]
PairsTask = Any  # its module imports this one

#: Alignments in the first sample, which shows whether there is time for all.
FIRST_PAIRS = 64
#: Targets per group with the widest vectors, and most queries that share a group (native/pairwise/best_targets.cpp).
GROUP, MOST_QUERIES = 64, 256
#: Least number of groups that hold the LEAST_TARGETS of a grouped scan.
LEAST_GROUPS = LEAST_TARGETS // GROUP + 1
#: Cells of the first sample, which determines the size of the second; seconds for the second, and for the others.
FIRST_CELLS, SCORE_SECONDS, OTHER_SECONDS = 4_000_000_000, 1.0, 0.3


def foretold(task: PairsTask, device: Device, encoded: Callable[[Any], list[bytes]]) -> tuple[float, tuple[float, ...]]:
    """Return the seconds of the whole task, and the bytes of its outputs."""
    with quiet():  # the task has already warned about its sequences
        tiles = task.tiles()
        n_pairs, cost_cells = sum(tile.n_items for tile in tiles), sum(tile.cost_cells for tile in tiles)
        results, scored = _Results(task, device, encoded), _Scored(task, device)
        n_rows, n_queries = results.rows_per_pair * n_pairs, sum(len(range(*task.query_span(tile))) for tile in tiles)
        seconds = scored.seconds_per_cell * cost_cells + scored.seconds_per_query * n_queries
        seconds += results.seconds_per_row * n_rows
        if task.options.report != "score" and len(scored.best):
            # The number of alignments that fail identity or coverage is unknown.
            is_known = all(getattr(task.options, name) is None for name in SHARES)
            n_aligned = n_rows if is_known else n_queries * (task.options.top or 1)
            seconds += _seconds_per_alignment(task, scored.best, device) * n_aligned
        return seconds, tuple(size * n_pairs for size in results.bytes_per_pair)


class _Results:
    """Sample of queries with all targets: rows kept per pair, and their cost and size in the output."""

    def __init__(self, task: PairsTask, device: Device, encoded: Callable[[Any], list[bytes]]) -> None:
        chance = random.Random(1)
        begin, took = time.perf_counter(), 0.0
        n_pairs = n_rows = 0
        sizes: list[int] = []
        while not n_pairs or time.perf_counter() - begin < OTHER_SECONDS:
            piece = _by_chance(task.tiles(), chance)
            while halves := task.split(piece):
                piece = _by_chance(halves, chance)
            table = device.compute(task, piece)
            start = time.perf_counter()
            sections = [len(section) for section in encoded(table)]
            took += time.perf_counter() - start
            n_pairs, n_rows = n_pairs + piece.n_items, n_rows + len(table)
            sizes = [a + b for a, b in zip(sizes or [0] * len(sections), sections, strict=True)]
        self.rows_per_pair, self.seconds_per_row = n_rows / n_pairs, took / max(n_rows, 1)
        self.bytes_per_pair = [size / n_pairs for size in sizes]


def _by_chance(tiles: Sequence[Tile], chance: random.Random) -> Tile:
    """Draw a tile with a probability proportional to its pairs, so that all queries are equally likely, even giants."""
    return chance.choices(tiles, [tile.n_items for tile in tiles])[0]


class _Scored:
    """Timings of a tile's (many) queries against some groups of targets, then against more groups.

    seconds_per_cell, seconds_per_query: slope between both samples, and the rest: work done once per query of a
        tile.
    best: int64, shape (n, 2), the best pairs found: query and target.
    """

    def __init__(self, task: PairsTask, device: Device) -> None:
        self._task, self._device = task, device
        by_length = np.argsort(-task.targets.lengths, kind="stable")
        self._groups = np.split(by_length, range(GROUP, len(by_length), GROUP))
        first, last = task.query_span(random.Random(1).choice(task.tiles()))
        queries = np.arange(first, min(last, first + MOST_QUERIES))
        residues = float(task.targets.lengths[self._some_targets(LEAST_GROUPS)].sum())
        cells_before = np.cumsum(task.queries.lengths[queries]) * residues
        self._queries = queries[: max(1, int(np.searchsorted(cells_before, FIRST_CELLS)))]
        few_cells, few_seconds, self.best = self._timed_groups(LEAST_GROUPS)
        self.seconds_per_cell, self.seconds_per_query = few_seconds / few_cells, 0.0
        n_groups = int(SCORE_SECONDS / few_seconds * LEAST_GROUPS)
        if len(self._groups) < 2 * LEAST_GROUPS:
            return
        cells, seconds, self.best = self._timed_groups(max(2 * LEAST_GROUPS, min(n_groups, len(self._groups))))
        self.seconds_per_cell = max(seconds - few_seconds, 0.0) / (cells - few_cells)
        self.seconds_per_query = max(seconds - self.seconds_per_cell * cells, 0.0) / len(self._queries)

    def _some_targets(self, n_groups: int) -> Index:
        places = distinct(np.linspace(0, len(self._groups) - 1, n_groups).astype(np.int64))
        return np.sort(np.concatenate([self._groups[place] for place in places.tolist()]))

    def _timed_groups(self, n_groups: int) -> tuple[int, float, Index]:
        """Return cells and seconds of this many groups, and the best pairs."""
        task, targets = self._task, self._some_targets(n_groups)
        queries = task.queries[self._queries]
        kept = {name: getattr(task.options, name) for name in ("min_score", "min_bits")}
        kept["max_evalue"] = task.options.sought_evalue
        # A query that is among the targets finds itself.
        top = (task.options.top or 1) + task.skips_self
        options = _unfiltered(task).replaced(report="score", top=top, **kept)
        block = type(task)(queries, task.targets[targets], options, None, task.memory_bytes)
        begin = time.perf_counter()
        found = concatenate([self._device.compute(block, tile) for tile in block.tiles()])
        took = time.perf_counter() - begin
        residues = [int(lengths.sum()) for lengths in (queries.lengths, task.targets.lengths[targets])]
        best = np.stack([self._queries[found.query_index], targets[found.target_index]], 1)
        best = best[best[:, 0] != best[:, 1]] if task.skips_self else best
        return residues[0] * residues[1] + GROUP_PAIR_CELLS * len(queries) * len(targets), took, best


def _seconds_per_alignment(task: PairsTask, best: Index, device: Device) -> float:
    """Return the mean seconds per alignment, from as many as time permits."""
    sides = [np.unique(side, return_inverse=True) for side in best.T]
    queries, targets = task.queries[sides[0][0]], task.targets[sides[1][0]]
    pairs = np.stack([places for _, places in sides], 1).astype(np.int64)
    options, per_pair = _unfiltered(task).replaced(top=None), 0.0
    for n in sorted({min(FIRST_PAIRS, len(pairs)), len(pairs)}):
        if per_pair * n > OTHER_SECONDS:
            break
        aligning = type(task)(queries, targets, options, pairs[:n], task.memory_bytes)
        begin = time.perf_counter()
        for tile in aligning.tiles():
            device.compute(aligning, tile)
        per_pair = (time.perf_counter() - begin) / n
    return per_pair


def _unfiltered(task: PairsTask) -> PairOptions:
    """Return the options without those that drop or add rows; E-values remain those of all targets."""
    n_residues = None if task.significance is None else task.significance.n_residues
    nothing: dict[str, Any] = dict.fromkeys((*SHARES, "min_score", "max_evalue", "min_bits"))
    alone: dict[str, Any] = {"max_hsps": 1, "sum_statistics": False, "max_intron": None, "top_first": False}
    alone |= {"co_optimal": None, "within": None}
    options: PairOptions = task.options.replaced(db_size=n_residues, **alone, **nothing)
    return options
