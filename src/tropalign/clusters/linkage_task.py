"""The comparison of all pairs for a linkage as a task of tiles: rows of the triangle of pairs.

  0 1 2 3 4
0   x x x x   | tile 0      A tile leaves the pairs i < j that count, and their similarity. Rows are cut by the
1     x x x   |             cells of their pairs, so that shares and tiles cost the same.
2       x x   | tile 1
3         x   |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.bounds import Reach
from tropalign.clusters.compare import Comparison
from tropalign.clusters.linkage import Index, Reals, compared_rows, counts_only_similar
from tropalign.execution.manifest import Shard
from tropalign.execution.partition import CostList, cuts, share
from tropalign.execution.parts import packed, unpacked
from tropalign.execution.task import Progress, Tile

#: A tile's cost in cells, some seconds of a core.
TILE_CELLS = 15_000_000_000


class Compared(NamedTuple):
    """Pairs first < second and their similarity."""

    first: Index
    second: Index
    similarity: Reals


class LinkageTask:
    """Pairs of a set, those aside that cannot count.

    Parameters
    ----------
    comparison
        Aligns.
    reach
        Leaves pairs out.
    shard
        (i, n): the i-th of n shares of the rows, counted from 1.
    """

    def __init__(self, comparison: Comparison, reach: Reach, shard: Shard) -> None:
        self._comparison, self._reach = comparison, reach
        lengths = comparison.batch.lengths.astype(np.float64)
        after = lengths.sum() - np.cumsum(lengths)
        rows = CostList(lengths * after + 1)
        spans = pairwise(cuts(rows, *share(rows, shard), rows.n, TILE_CELLS))
        self._tiles = [
            Tile(k, int(rows.cost_before(end) - rows.cost_before(begin)), 0, end - begin, (begin, end))
            for k, (begin, end) in enumerate(spans)
        ]

    def tiles(self) -> list[Tile]:
        """Runs of rows."""
        return self._tiles

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Compared:
        """The pairs of the tile's rows, on the devices of the comparison."""
        least = self._comparison.options.min_identity if counts_only_similar(self._comparison.options) else -np.inf
        begin, last = tile.payload
        found = [Compared(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for end, first, second, similarity in compared_rows(self._comparison, self._reach, begin, last):
            keep = similarity >= least
            found.append(Compared(first[keep], second[keep], similarity[keep]))
            if progress is not None:
                progress(end - begin)
        return Compared(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def encoded(found: Compared) -> bytes:
    """What a tile leaves behind."""
    columns = (found.first.astype("<i4"), found.second.astype("<i4"), found.similarity.astype("<f8"))
    return packed([column.tobytes() for column in columns])


def restored(parts: Iterable[bytes], n: int) -> Iterator[tuple[Index, Index, Reals]]:
    """The pairs of all tiles. Raises ValueError where a part is none that `encoded` made of n sequences."""
    for part in parts:
        columns = unpacked(part, 3)
        first, second = (np.frombuffer(column, "<i4").astype(np.int64) for column in columns[:2])
        similarity: NDArray[np.float64] = np.frombuffer(columns[2], "<f8")
        if not len(first) == len(second) == len(similarity) or ((first < 0) | (first >= second) | (second >= n)).any():
            raise ValueError("no pairs of these sequences")
        yield first, second, similarity
