"""Task for pairs of unaligned sequences: the numbers of compared and equal residues of each pair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.manifest import Shard
from tropalign.execution.task import Progress, Tile
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.scoring import default_scoring
from tropalign.sequences.batch import SequenceBatch


class PairCountTask:
    """Task that counts compared and equal residues in global alignments of all pairs.

    shard: (i, n), the i-th of n shares of the pairs, counted from 1. memory_bytes: limit excluding the sequences.
    """

    def __init__(self, batch: SequenceBatch, shard: Shard, memory_bytes: int | None = None) -> None:
        self.options = PairOptions(*default_scoring(batch.alphabet, None, None), mode="global")
        self._pairs = PairsTask(batch, None, self.options, None, memory_bytes, shard)

    def tiles(self) -> list[Tile]:
        """Return the runs of neighbouring pairs."""
        return self._pairs.tiles()

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> NDArray[np.int32]:
        """Count compared and equal residues, int32, shape (2, n_pairs)."""
        return _counted(self._pairs.on_cpu(tile, n_threads, progress))

    def on_gpu(self, tile: Tile, device: Any, progress: Progress | None = None) -> NDArray[np.int32]:
        """Compute the tile on a GPU."""
        return _counted(self._pairs.on_gpu(tile, device, progress))


def _counted(table: Any) -> NDArray[np.int32]:
    return np.stack([table.n_columns - table.n_gaps, table.n_identical]).astype(np.int32)


def pair_counts_of(parts: Iterable[bytes], n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Join the counts of compared and equal residues of all pairs. Raises ValueError if they do not fit n sequences."""
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
