"""A bootstrap as a task of tiles, some samples each, for workers elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.execution.task import Progress, Tile
from tropalign.trees.distances import SATURATED

#: Operations of a tile: some seconds of a core.
TILE_OPERATIONS = 5_000_000_000


class BootstrapTask:
    """Trees of resampled columns, and which splits of a tree they have.

    Parameters
    ----------
    codes : uint8, shape (n_rows, n_columns)
        The alignment, as `compared_codes` makes it.
    model, method
        As of `with_support`.
    parents : int32, shape (n_nodes,)
        The node above each node of the tree.
    n_samples, seed
        How many trees to make, and of which draws.
    most_threads
        As many as the memory allows.
    """

    def __init__(
        self,
        codes: NDArray[np.uint8],
        model: str,
        method: str,
        parents: NDArray[np.int32],
        n_samples: int,
        seed: int,
        most_threads: int,
    ) -> None:
        self._codes, self._model, self._method, self._parents = codes, model, method, parents
        self._n_samples, self._seed, self._most_threads = n_samples, seed, most_threads

    @property
    def cost_per_sample(self) -> int:
        """Operations: columns of all pairs (which are compared 16 at a time), and the joins of all taxa."""
        n, n_columns = map(int, self._codes.shape)
        return max(n * n * n_columns // 32 + n * n * n, 1)

    def tiles(self) -> Iterator[Tile]:
        """Runs of samples."""
        cost = self.cost_per_sample
        step = max(1, TILE_OPERATIONS // cost)
        for index, begin in enumerate(range(0, self._n_samples, step)):
            n = min(step, self._n_samples - begin)
            yield Tile(index, n * cost, self._codes.nbytes, n, (begin, n))

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> NDArray[np.int32]:
        """How many of the tile's samples have the split above each node, int32, shape (n_nodes,)."""
        first, n_samples = tile.payload
        threads = max(1, min(n_threads, self._most_threads))
        drawn = (self._parents, n_samples, self._seed, SATURATED, threads, progress, first)
        found: NDArray[np.int32] = _native.bootstrap_counts(self._codes, self._model, self._method == "nj", *drawn)
        return found
