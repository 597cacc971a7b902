"""Best paths or forward sums of many sequences as a task of tiles, on the CPU or a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.launcher import DeviceCache
from tropalign.execution.partition import CostList, cuts
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Progress, Tile
from tropalign.hmm.gpu import ModelsOnGpu, Steps
from tropalign.hmm.observations import Observations

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu

Floats = NDArray[np.float64]
#: start, transition, and emission if there are codes.
Tables = tuple[Floats, Floats, Floats | None]
Alive = Callable[[], None] | None
#: Functions that compute some sequences: with a number of threads; and on a GPU.
OnCpu = Callable[[Observations, int], Any]
OnGpu = Callable[[ModelsOnGpu, Observations, Alive], Any]

#: Sums of a tile: some seconds of a core.
TILE_SUMS = 100_000_000_000


class ModelTask:
    """Sequences that a model explains, some neighbours per tile; `on_cpu` and `on_gpu` compute some of them."""

    def __init__(self, seen: Observations, n_states: int, on_cpu: OnCpu, on_gpu: OnGpu) -> None:
        self._seen, self._n_states, self._on_cpu, self._on_gpu = seen, n_states, on_cpu, on_gpu
        self._cache = DeviceCache()

    def tiles(self) -> Iterator[Tile]:
        """Yield tiles of neighbouring sequences."""
        offsets = self._seen.offsets
        costs, n = CostList((np.diff(offsets) + 1.0) * self._n_states**2), len(offsets) - 1
        for index, (begin, end) in enumerate(pairwise(cuts(costs, 0, n, n, TILE_SUMS))):
            steps = int(offsets[end] - offsets[begin])
            cost = int(costs.cost_before(end) - costs.cost_before(begin))
            yield Tile(index, cost, 8 * steps * self._n_states, end - begin, (begin, end))

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Any:
        """Compute the tile's sequences."""
        return self._on_cpu(_part(self._seen, *tile.payload), n_threads)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Any:
        """Compute the tile's sequences on a GPU."""
        models: ModelsOnGpu = self._cache.get(device, "models", partial(ModelsOnGpu, device))
        return self._on_gpu(models, _part(self._seen, *tile.payload), progress and partial(progress, 0))


def _part(seen: Observations, begin: int, end: int) -> Observations:
    offsets = seen.offsets[begin : end + 1]
    codes = None if seen.codes is None else seen.codes[offsets[0] : offsets[-1]]
    frames = None if seen.frames is None else seen.frames[offsets[0] : offsets[-1]]
    return Observations(codes, frames, offsets - offsets[0], False)


def _steps(some: Observations) -> Steps:
    steps = some.codes if some.frames is None else some.frames
    assert steps is not None
    return Steps(steps, some.offsets)


def paths_on(devices: Sequence[Device], seen: Observations, logs: Tables, on_cpu: OnCpu) -> tuple[NDArray[Any], Floats]:
    """Return the best paths, one after another, and their scores; `logs` are the logarithms of the model's tables."""

    def on_gpu(models: ModelsOnGpu, some: Observations, alive: Alive) -> tuple[NDArray[Any], Floats]:
        return models.paths(*logs, _steps(some), alive)

    task = ModelTask(seen, len(logs[0]), on_cpu, on_gpu)
    found = [result.value for result in Scheduler(devices).run([task])]
    return np.concatenate([paths for paths, _ in found]), np.concatenate([scores for _, scores in found])


def sums_on(devices: Sequence[Device], seen: Observations, tables: Tables, on_cpu: OnCpu) -> Floats:
    """Return the log-probability of each sequence; `tables` are probabilities, but frames are logarithms."""

    def on_gpu(models: ModelsOnGpu, some: Observations, alive: Alive) -> Floats:
        sums = _forward(models, tables, _steps(some), alive)
        for j in map(int, np.flatnonzero(np.isneginf(sums))):  # impossible, or below the range of doubles
            sums[j] = on_cpu(_part(some, j, j + 1), 1)[0]
        return sums

    task = ModelTask(seen, len(tables[0]), on_cpu, on_gpu)
    return np.concatenate([result.value for result in Scheduler(devices).run([task])])


def _forward(models: ModelsOnGpu, tables: Tables, some: Steps, alive: Alive) -> Floats:
    if not some.are_frames:
        return models.forward(*tables, some, alive)
    highest = some.steps.max(axis=1, initial=-np.inf)
    highest[np.isneginf(highest)] = 0
    above = np.concatenate([[0.0], np.cumsum(highest)])[some.offsets]
    scaled = Steps(np.exp(some.steps - highest[:, None]), some.offsets)
    return models.forward(*tables, scaled, alive) + np.diff(above)
