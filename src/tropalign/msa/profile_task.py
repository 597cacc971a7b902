"""Pairs of profiles as a task of tiles, on the CPU or a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.launcher import DeviceCache
from tropalign.execution.partition import CostList, cuts
from tropalign.execution.task import Progress, Tile
from tropalign.msa.gpu_profiles import Merged, ProfilesOnGpu

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu

Profile = NDArray[np.float64]

#: Cells of a tile: some seconds of a core.
TILE_CELLS = 4_000_000_000


class ProfilePairTask:
    """Alignments of pairs of profiles, given as shares of columns of one alphabet."""

    def __init__(self, pairs: Sequence[tuple[Profile, Profile]]) -> None:
        self._pairs, self._cache = pairs, DeviceCache()
        self._costs = CostList(np.array([len(p) * len(q) for p, q in pairs], np.float64))

    @property
    def n_cells(self) -> int:
        """Cost of all pairs in cells."""
        return int(self._costs.cost_before(len(self._pairs)))

    def tiles(self) -> Iterator[Tile]:
        """Yield tiles of neighbouring pairs."""
        n = len(self._pairs)
        for index, (begin, end) in enumerate(pairwise(cuts(self._costs, 0, n, n, TILE_CELLS))):
            cells = int(self._costs.cost_before(end) - self._costs.cost_before(begin))
            n_bytes = sum(4 * (len(p) + len(q)) for p, q in self._pairs[begin:end])
            yield Tile(index, cells, n_bytes, end - begin, slice(begin, end))

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> list[Merged]:
        """Align the tile's pairs, one per thread."""
        found: list[Merged] = []
        with ThreadPoolExecutor(n_threads) as pool:
            for merged in pool.map(lambda pair: _native.align_profiles(*pair), self._pairs[tile.payload]):
                found.append(merged)
                if progress:
                    progress(len(found))
        return found

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> list[Merged]:
        """Align the tile's pairs on a GPU, many at once."""
        profiles: ProfilesOnGpu = self._cache.get(device, "profiles", partial(ProfilesOnGpu, device))
        return profiles.profiles(self._pairs[tile.payload], progress and partial(progress, 0))
