"""A search as a task of tiles: a batch of models against a block of sequences, with rows of hits as results.

1. The grid of queries and blocks of targets is cut into tiles, a batch of queries against one block after another.
2. Native code runs the filters over a chunk of targets for several models, then the float stages over the survivors.
3. Hits that cannot be reported after further targets are dropped; the others are the result of the tile.
4. As soon as the last target of a query was searched, `Thresholds` decides which hits are reported and included.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.devices.registry import DeviceCache
from tropalign.execution.manifest import Shard
from tropalign.execution.task import CostList, Progress, Tile, cuts, share
from tropalign.profiles.models import Model
from tropalign.profiles.options import SearchOptions
from tropalign.profiles.proteins import Proteins
from tropalign.profiles.sources import NODE_BYTES, Models, ModelSource, TargetSource
from tropalign.resources.limits import environment_number
from tropalign.results.found_hits import (
    DOMAIN_COLUMNS,
    HIT_COLUMNS,
    LINES,
    FoundHits,
    Query,
    chosen,
    is_kept,
    of_all_queries,
)
from tropalign.results.threshold_options import Thresholds
from tropalign.sequences.files import prefetched

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu

Int64 = NDArray[np.int64]

#: Cells of a tile: some seconds of one core if hits are few.
TILE_CELLS = 200_000_000_000
#: Minimum cells of the grid per shard: shard boundaries lie between cells.
CELLS_PER_SHARD = 8


#     block:      0   1   2          shards are runs of cells, row by row; tiles are rectangles of a shard
#     query 0   | a | a | a |        (here shard a, whose second tile is part of a row):
#     query 1   | a | a | a |
#     query 2   | a | b | b |            tiles of a: queries 0 1 x block 0, 1, 2; query 2 x block 0
#     query 3   | b | b | b |            tiles of b: query 2 x block 1, 2; query 3 x block 0, 1, 2
#
# In ``search`` queries are models and blocks hold sequences; in ``scan`` queries are sequences and blocks hold models.
# The cut depends on the lengths, the memory and the number of shards alone: it is the same on every machine.
@dataclass(frozen=True)
class Rectangle:
    """Queries `begin` to `end` against a block."""

    begin: int
    end: int
    block: int
    cost_cells: int


class Grid:
    """The comparisons of queries with blocks of searched items, given the lengths of both in nodes or residues.

    `most_queries`, `most_query_length`: limits of a tile's queries, in number and total length. `most_searched`:
    total length of a block. `most_comparisons`: limit per tile, since each may be a hit in memory. `shard`: (i,
    n), the i-th of n equal shards, from 1. `n`: number of cells of the grid.
    """

    def __init__(
        self,
        query_lengths: Int64,
        searched_lengths: Int64,
        *,
        most_queries: int,
        most_query_length: int,
        most_searched: int,
        most_comparisons: int,
        shard: Shard | None = None,
    ) -> None:
        # An empty sequence also has a cost: otherwise many of them would be one block.
        self._rows = CostList(query_lengths.astype(np.float64) + 1)
        columns = CostList(searched_lengths.astype(np.float64) + 1)
        whole = columns.cost_before(columns.n)
        n_wanted = 1 if shard is None else -(-CELLS_PER_SHARD * shard[1] // max(self._rows.n, 1))
        self._bounds = cuts(columns, 0, columns.n, most_comparisons, min(most_searched, max(whole / n_wanted, 1)))
        self._before = np.array([columns.cost_before(k) for k in self._bounds])
        self.n = self._rows.n * self.n_blocks
        self._begin, self._end = share(self, shard)
        widest = int(np.diff(self._bounds).max(initial=1))
        self._most_queries = max(min(most_queries, most_comparisons // widest), 1)
        costliest = float(np.diff(self._before).max(initial=1))
        self._most_query_length = min(most_query_length, max(TILE_CELLS / costliest, 1))

    @property
    def n_blocks(self) -> int:
        """Columns of the grid."""
        return len(self._bounds) - 1

    def searched(self, block: int) -> tuple[int, int]:
        """Return start and end of a block among the searched items."""
        return self._bounds[block], self._bounds[block + 1]

    def cost_before(self, position: int) -> float:
        """Return the dynamic programming cells before a cell of the grid, row by row."""
        if not self.n:
            return 0.0
        row, block = divmod(position, self.n_blocks)
        whole = self._before[-1]
        cost = self._rows.cost_before(row) * whole
        if block:
            cost += (self._rows.cost_before(row + 1) - self._rows.cost_before(row)) * self._before[block]
        return float(cost)

    def position_at(self, cost: float) -> int:
        """Return the cell of the grid before which the others cost about `cost`."""
        if not self.n:
            return 0
        low, high = 0, self.n
        while low < high:
            middle = (low + high) // 2
            if self.cost_before(middle) < cost:
                low = middle + 1
            else:
                high = middle
        if low and cost - self.cost_before(low - 1) < self.cost_before(low) - cost:
            return low - 1
        return low

    def tiles(self) -> Iterator[Rectangle]:
        """Yield the tiles of the shard: batches of queries in their order, each against one block after another."""
        for begin, end in self.batches():
            first = max(self._begin - begin * self.n_blocks, 0)
            last = min(self._end - begin * self.n_blocks, self.n_blocks)
            length = self._rows.cost_before(end) - self._rows.cost_before(begin)
            for block in range(first, last):
                cost = length * (self._before[block + 1] - self._before[block])
                yield Rectangle(begin, end, block, int(cost))

    def batches(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each batch of queries; a query that the shard has a part of is a batch of its own."""
        if self._begin == self._end:
            return
        per_row = self.n_blocks
        first_whole, last_whole = -(-self._begin // per_row), self._end // per_row
        if self._begin % per_row:
            yield first_whole - 1, first_whole
        if first_whole < last_whole:
            bounds = cuts(self._rows, first_whole, last_whole, self._most_queries, self._most_query_length)
            yield from pairwise(bounds)
        if self._end % per_row and last_whole >= first_whole:
            yield last_whole, last_whole + 1


def query_of(model: Model) -> Query:
    """Return the data of a model that its hits include."""
    return Query(
        model.name,
        model.length,
        model.accession,
        model.description,
        model.gathering,
        model.trusted,
        model.noise,
        model.reference,
        model.structure,
        is_sequence=model.is_sequence,
    )


def found_hits(
    raw: dict[str, Any], models: Models, sequences: Proteins, orientation: str, thresholds: Thresholds
) -> FoundHits:
    """Return the hits of a tile by query, without those that cannot be reported after any number of further targets.

    `raw`: result of ``_native.search_block``. `orientation`: "search" (models are queries) or "scan" (sequences
    are).
    """
    model, target = raw["model"], raw["target"]
    columns = {name: raw[name] for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS, *LINES) if name in raw}
    columns |= {name: raw[name] for name in ("domain_offsets", "line_offsets")}
    n_queries = len(models if orientation == "search" else sequences)
    columns["widths"] = np.zeros((n_queries, 3), np.int64)  # known when all targets have been searched
    columns["n_passed"] = raw["passed_by_model" if orientation == "search" else "passed_by_target"]
    sides: dict[str, Any]
    if orientation == "search":
        at, accessions = target.tolist(), sequences.accessions
        sides = {
            "queries": tuple(map(query_of, models.items)),
            "first_query": models.first,
            "query": model,
            "target": target.astype(np.int64) + sequences.first,
            "length": sequences.lengths[target].astype(np.int32),
            "n_targets": len(sequences),
            "n_target_residues": len(sequences.codes),
            "names": tuple(sequences.names[k] for k in at),
            "accessions": tuple(accessions[k] for k in at) if accessions else ("",) * len(at),
            "descriptions": tuple(sequences.descriptions[k] for k in at),
        }
    else:
        found_models = [models.items[k] for k in model.tolist()]
        accessions = sequences.accessions or ("",) * len(sequences)
        of_queries = (sequences.names, sequences.lengths.tolist(), accessions, sequences.descriptions)
        sides = {
            "queries": tuple(Query(*fields) for fields in zip(*of_queries, strict=True)),
            "first_query": sequences.first,
            "query": target,
            "target": model.astype(np.int64) + models.first,
            "length": np.array([one.length for one in found_models], np.int32),
            "n_targets": len(models),
            "n_target_residues": sum(item.length for item in models.items),
            "names": tuple(one.name for one in found_models),
            "accessions": tuple(one.accession for one in found_models),
            "descriptions": tuple(one.description for one in found_models),
            "models": {models.first + k: query_of(models.items[k]) for k in distinct(model).tolist()},
        }
    found = FoundHits(**columns | sides, orientation=orientation)
    order = np.lexsort((found.target, found.query))
    if not (keeps := is_kept(found, thresholds)).all() or (order[1:] < order[:-1]).any():
        found = FoundHits(**chosen(found, order[keeps[order]]))
    return found


#: Maximum models of a search's tile, since the output waits for them; a tile of a scan holds all that fit.
MOST_MODELS = 64
#: Maximum sequences of a scan's tile: the output waits for them.
MOST_SEQUENCES = 4096
#: Maximum residues of a search's block.
MOST_RESIDUES = 1 << 26
#: Bytes of a residue while it is searched, and of a hit with its domains and their alignments.
RESIDUE_BYTES, HIT_BYTES = 2, 5_000
#: Blocks in memory at once if they are read again: those queued in the scheduler, and two in progress.
HELD_BLOCKS = 8
#: Residues of a block that is read again for each batch of models.
PASS_RESIDUES = 1 << 23
#: Share of comparisons for whose hits memory is reserved: HITS, or HITS_BY_CHANCE times option `f3` if more.
HITS, HITS_BY_CHANCE = 0.02, 100
#: Shares of the memory for a tile's models, sequences and hits; the rest is for kept items.
MODELS_SHARE, SEQUENCES_SHARE, HITS_SHARE = 0.2, 0.2, 0.3
#: Minimum work for storing intermediate results, in cells: some seconds of one core.
LEAST_KEPT_CELLS = 300_000_000_000


def least_kept_cells() -> int:
    """Return the number of cells at which results are stored; TROPALIGN_LEAST_KEPT_CELLS overrides the default."""
    name = "TROPALIGN_LEAST_KEPT_CELLS"
    return environment_number(name, os.environ[name]) if name in os.environ else LEAST_KEPT_CELLS


class SearchTask:
    """Search of models against sequences, in a single round.

    `thresholds`: hits that cannot be reported are dropped as soon as that is known. `orientation`: "search"
    (queries are models) or "scan"; hits come by query. `shard`: (i, n), the i-th of n equal shards, from 1.
    `n_threads`: for the survivors of a GPU's filters; with more than one, sequences that are not kept are read
    ahead. `is_one_pass`: the sequences are read once and never all in memory, for a short search with few models;
    its tiles are not known in advance.
    """

    n_rounds = 1

    def __init__(
        self,
        models: ModelSource,
        sequences: TargetSource,
        options: SearchOptions,
        thresholds: Thresholds,
        *,
        orientation: str,
        memory_bytes: int,
        shard: Shard | None = None,
        n_threads: int = 1,
    ) -> None:
        models.check_cutoffs(thresholds)
        self.options, self.thresholds, self.orientation = options, thresholds, orientation
        self._on_devices = DeviceCache()
        self._n_threads = n_threads
        most_nodes = max(int(MODELS_SHARE * memory_bytes / NODE_BYTES), 1)
        most_residues = max(min(MOST_RESIDUES, int(SEQUENCES_SHARE * memory_bytes / RESIDUE_BYTES)), 1)
        passing_residues = max(most_residues // HELD_BLOCKS, 1)
        hit_share = min(max(HITS, HITS_BY_CHANCE * options.f3), 1.0)
        most_comparisons = max(int(HITS_SHARE * memory_bytes / (HIT_BYTES * hit_share)), 1)
        self._hit_bytes = int(HIT_BYTES * hit_share) + 1
        n_models, n_nodes = len(models.lengths), int(models.lengths.sum())
        self.is_one_pass = (
            (orientation, shard) == ("search", None)
            and n_models <= MOST_MODELS
            and n_nodes <= most_nodes
            and n_nodes * (sequences.n_expected or 0) < least_kept_cells()
        )
        if self.is_one_pass:
            self._models, self._sequences = models, sequences
            self._block_size = min(passing_residues, PASS_RESIDUES), max(most_comparisons // n_models, 1)
            return
        if not sequences.is_kept:
            most_residues = min(passing_residues, PASS_RESIDUES)
        self._queries: ModelSource | TargetSource
        self._searched: ModelSource | TargetSource
        if orientation == "search":
            self._queries, self._searched = models, sequences
            sizes = {"most_queries": MOST_MODELS, "most_query_length": most_nodes, "most_searched": most_residues}
        else:
            self._queries, self._searched = sequences, models
            sizes = {"most_queries": MOST_SEQUENCES, "most_query_length": most_residues, "most_searched": most_nodes}
        self._grid = Grid(
            self._queries.lengths, self._searched.lengths, most_comparisons=most_comparisons, shard=shard, **sizes
        )

    def __getstate__(self) -> dict[str, Any]:
        only_for_tiles = ("_models", "_sequences", "_queries", "_searched", "_grid")
        return {name: value for name, value in vars(self).items() if name not in only_for_tiles}

    def outline(self) -> list[Tile] | None:
        """Return the tiles without their payloads, or None if they are not known in advance."""
        if self.is_one_pass:
            return None
        return [self._tile(index, cut, None) for index, cut in enumerate(self._grid.tiles())]

    def _tile(self, index: int, cut: Rectangle, payload: Any) -> Tile:
        begin, end = self._grid.searched(cut.block)
        n_comparisons = (cut.end - cut.begin) * (end - begin)
        return Tile(index, cut.cost_cells, n_comparisons * self._hit_bytes, n_comparisons, payload)

    def tiles(self) -> Iterator[Tile]:
        """Yield batches of queries in their order, each against one block after another."""
        if self.is_one_pass:
            (models,) = self._models.parts([(0, len(self._models.lengths))])
            stream = self._sequences.stream(*self._block_size)
            for index, block in enumerate(prefetched(stream) if self._n_threads > 1 else stream):
                n_comparisons = len(models) * len(block)
                cost_cells = int(self._models.lengths.sum()) * len(block.codes)
                yield Tile(index, cost_cells, n_comparisons * self._hit_bytes, n_comparisons, (models, block))
            return
        by_batch = [list(cuts) for _, cuts in groupby(self._grid.tiles(), key=lambda cut: cut.begin)]
        batches = self._queries.parts([(row[0].begin, row[0].end) for row in by_batch])
        index = 0
        for row, queries in zip(by_batch, batches, strict=True):
            blocks: Iterator[Any] = self._searched.parts([self._grid.searched(cut.block) for cut in row])
            if self._n_threads > 1 and isinstance(self._searched, TargetSource) and not self._searched.is_kept:
                blocks = prefetched(blocks)
            for cut, searched in zip(row, blocks, strict=True):
                yield self._tile(index, cut, (queries, searched))
                index += 1

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> FoundHits:
        """Return the hits of the tile's queries in its block."""
        models, sequences = tile.payload if self.orientation == "search" else tile.payload[::-1]
        native = [model.native for model in models.items]
        raw = _native.search_block(
            native, sequences.native, self.options.numbers(), n_threads, progress, self._reporting(models, sequences)
        )
        return found_hits(raw, models, sequences, self.orientation, self.thresholds)

    def _reporting(self, models: Models, sequences: Proteins) -> tuple[float, float, float, int, bool]:
        """Return the thresholds for native code, so that it does not hold hits that will not be reported."""
        own, is_scan = self.thresholds, self.orientation == "scan"
        return (
            math.inf if own.T is not None or own.is_by_model else float(own.E),
            0.0 if own.Z is None else float(own.Z),
            -math.inf if own.T is None or own.is_by_model else float(own.T),
            models.first if is_scan else sequences.first,
            is_scan,
        )

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> FoundHits:
        """Return the hits of a tile, with the integer filters on a GPU; their survivors are processed on the CPU."""
        from tropalign.profiles.gpu import FiltersOnGpu

        models, sequences = tile.payload if self.orientation == "search" else tile.payload[::-1]
        filters = self._on_devices.get(device, "filters", lambda: FiltersOnGpu(device))
        alive = None if progress is None else partial(progress, 0)
        native = [model.native for model in models.items]
        survivors = filters.survivors(native, sequences, self.options.f1, alive)
        raw = _native.finish_block(
            native,
            sequences.native,
            *survivors,
            self.options.numbers(),
            self._n_threads,
            progress,
            self._reporting(models, sequences),
        )
        return found_hits(raw, models, sequences, self.orientation, self.thresholds)

    def split(self, tile: Tile) -> list[Tile]:
        """Return two tiles of half the queries each; an empty list for a single query."""
        queries, searched = tile.payload
        n = len(queries)
        if n < 2:
            return []
        halves = [queries.part(a, b) for a, b in ((0, n // 2), (n // 2, n))]
        return [
            Tile(tile.index, tile.cost_cells // 2, tile.n_bytes // 2, len(half) * len(searched), (half, searched))
            for half in halves
        ]

    def join(self, tile: Tile, results: list[FoundHits]) -> FoundHits:
        """Concatenate the results of split tiles."""
        return of_all_queries(results)
