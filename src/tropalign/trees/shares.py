"""What takes long in making a tree, as tasks to be shared out: bootstrap samples, and pairs of unaligned sequences.

Both leave whole numbers, which are put together whatever computed them: samples that have each branch, and letters that
are compared and equal in each pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.manifest import Shard
from tropalign.execution.partition import CostList, cuts, share
from tropalign.execution.task import Progress, Tile
from tropalign.pairwise.api import default_scoring
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.batch import SequenceBatch
from tropalign.trees.bootstrap import sample_counts
from tropalign.trees.tree import Tree

#: A tile's cost, in pairs of letters that are compared: about a second of one core.
TILE_CELLS = 5_000_000_000


class SampleTask:
    """Trees of resampled columns.

    Parameters
    ----------
    tree, alignment
        As `with_support` has them.
    n_samples
        Of the whole.
    shard
        (i, n): the i-th of n shares of the samples, counted from 1.
    method, model, gaps, seed, memory_bytes
        As `with_support` has them.
    """

    def __init__(
        self,
        tree: Tree,
        alignment: MultipleAlignment,
        n_samples: int,
        shard: Shard,
        *,
        memory_bytes: int | None = None,
        **made: Any,
    ) -> None:
        self._tree, self._alignment, self._made = tree, alignment, {**made, "memory_bytes": memory_bytes}
        n = tree.n_taxa
        costs = CostList(np.full(n_samples, n * (n - 1) / 2 * (alignment.n_columns + n) + 1))
        spans = pairwise(cuts(costs, *share(costs, shard), n_samples, TILE_CELLS))
        self._tiles = [
            Tile(k, int(costs.cost_before(end) - costs.cost_before(begin)), 14 * n * n, end - begin, (begin, end))
            for k, (begin, end) in enumerate(spans)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tiles": []}  # whoever gets the task gets its tiles one by one

    def tiles(self) -> list[Tile]:
        """Runs of samples."""
        return self._tiles

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> NDArray[np.int32]:
        """How many of the samples have the split above each node; int32, shape (n_nodes,)."""
        samples = range(*tile.payload)
        return sample_counts(self._tree, self._alignment, samples, n_threads=n_threads, progress=progress, **self._made)


def count_bytes(counts: NDArray[np.int32]) -> bytes:
    """What a tile of samples leaves."""
    return counts.astype("<i4").tobytes()


def sum_of(parts: Iterable[bytes], n_nodes: int) -> NDArray[np.int64]:
    """Of the counts of all tiles. Raises ValueError where a part has not one per node."""
    found = np.zeros(n_nodes, np.int64)
    for part in parts:
        found += np.frombuffer(part, "<i4", n_nodes)
    return found


class PairCountTask:
    """Pairs of unaligned sequences: the letters that are compared, and those that are equal.

    Parameters
    ----------
    batch
        The sequences.
    shard
        (i, n): the i-th of n shares of the pairs, counted from 1.
    memory_bytes
        What the task may take beside the sequences.
    """

    def __init__(self, batch: SequenceBatch, shard: Shard, memory_bytes: int | None = None) -> None:
        matrix, gap = default_scoring(batch.alphabet, None, None)
        self._pairs = PairsTask(batch, None, PairOptions(matrix, gap, "global"), None, memory_bytes, shard)

    def tiles(self) -> list[Tile]:
        """Runs of neighbouring pairs."""
        return self._pairs.tiles()

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> NDArray[np.int32]:
        """Letters compared and equal, int32, shape (2, n_pairs)."""
        return _counted(self._pairs.on_cpu(tile, n_threads, progress))

    def on_gpu(self, tile: Tile, device: Any, progress: Progress | None = None) -> NDArray[np.int32]:
        """The same on a GPU."""
        return _counted(self._pairs.on_gpu(tile, device, progress))


def _counted(table: Any) -> NDArray[np.int32]:
    return np.stack([table.n_columns - table.n_gaps, table.n_identical]).astype(np.int32)


def pair_counts_of(parts: Iterable[bytes], n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Letters compared and equal of all pairs. Raises ValueError where the parts are not of n sequences."""
    n_pairs = n * (n - 1) // 2
    found = np.zeros((2, n_pairs), np.int32)
    begin = 0
    for part in parts:
        some = np.frombuffer(part, "<i4").reshape(2, -1)
        found[:, begin : begin + some.shape[1]] = some
        begin += some.shape[1]
    if begin != n_pairs:
        raise ValueError(f"{begin} pairs of {n_pairs}")
    return found[0], found[1]
