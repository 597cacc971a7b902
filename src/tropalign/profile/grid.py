"""The comparisons of a search as a grid, cut into shards and tiles: a row per query, a column per searched block.

    block:      0   1   2          shards are runs of cells, row by row; tiles are rectangles of a shard
    query 0   | a | a | a |        (here shard a, of which the second tile is part of a row):
    query 1   | a | a | a |
    query 2   | a | b | b |            tiles of a: queries 0 1 x block 0, 1, 2; query 2 x block 0
    query 3   | b | b | b |            tiles of b: query 2 x block 1, 2; query 3 x block 0, 1, 2

In ``search`` queries are models and blocks hold sequences; in ``scan`` queries are sequences and blocks hold models.
The cut depends on the lengths, the memory and the number of shards alone: it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.manifest import Shard
from tropalign.execution.partition import CostList, cuts, share

Int64 = NDArray[np.int64]

#: Cells of a tile: some seconds of one core if hits are few.
TILE_CELLS = 200_000_000_000
#: Minimum cells of the grid per shard: shard boundaries lie between cells.
CELLS_PER_SHARD = 8


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
