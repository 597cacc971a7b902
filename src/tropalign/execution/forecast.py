"""Forecast of a run from about a second of sampling: pieces of its tiles are computed, and nothing is written.

tiles     [......][......][......][......]     all are counted: cells, items, bytes
pieces      [.]      [.]             [.]       some are computed, each small enough to be one of many in a second

If pieces are not representative because whole tiles are faster, the task chooses the samples (`ForetellingTask`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tropalign.execution.task import Device, SplittableTask, Task, Tile

#: Total seconds of sampling.
SAMPLE_SECONDS = 1.0
#: Share of SAMPLE_SECONDS per piece: smaller pieces would be slower than whole tiles, whose items fill lanes better.
PIECE_SHARE = 0.5
#: Cells of the first piece, which warms up the engine and calibrates the size of the next one.
FIRST_CELLS = 500_000_000
#: Maximum cells of the first piece, about ten seconds of alignment: for tiles that cannot be split.
MOST_CELLS = 50_000_000_000


class Forecastable(Protocol):
    """Task and encoder of a `Run`."""

    @property
    def task(self) -> Task:
        """Task that yields the tiles and computes them."""

    def encoded(self, result: Any) -> list[bytes]:
        """Return the output bytes of a result, one section per output."""


@runtime_checkable
class ForetellingTask(Protocol):
    """Task whose pieces are not representative of its whole tiles."""

    def foretold(self, device: Device, encoded: Callable[[Any], list[bytes]]) -> tuple[float, tuple[float, ...]] | None:
        """Forecast seconds on the device and bytes of each output; None if a sample of the pieces suffices."""


@dataclass(frozen=True)
class Forecast:
    """Expected cost of a run.

    - `n_tiles`, `n_items`, `cost_cells`: totals of the run.
    - `most_tile_bytes`: memory of its largest tile.
    - `seconds`: expected time on the sampled device; None if no tile was small enough to try.
    - `output_bytes`: expected size per output before compression.
    """

    n_tiles: int
    n_items: int
    cost_cells: int
    most_tile_bytes: int
    seconds: float | None
    output_bytes: tuple[float, ...]


def forecast(run: Forecastable, device: Device) -> Forecast:
    """Count all tiles of a run, and compute pieces of some on `device`; raise the run's errors about inputs."""
    tiles = run.task.tiles()
    if isinstance(tiles, list):  # known in advance: sample from anywhere
        tiles = random.Random(2).sample(tiles, len(tiles))
    own = run.task.foretold(device, run.encoded) if isinstance(run.task, ForetellingTask) else None
    sample = _Sample(run, device)
    n_tiles = n_items = cost_cells = most_bytes = 0
    for tile in filter(None, tiles):
        n_tiles, n_items, cost_cells = n_tiles + 1, n_items + tile.n_items, cost_cells + tile.cost_cells
        most_bytes = max(most_bytes, tile.n_bytes)
        if own is None:
            sample.take(tile)
    if own is not None:
        return Forecast(n_tiles, n_items, cost_cells, most_bytes, *own)
    sample.fill()
    seconds = sample.seconds * cost_cells / sample.cells if sample.cells else None
    grown = n_items / max(sample.n_items, 1)
    sizes = tuple(size * grown for size in sample.n_bytes)
    return Forecast(n_tiles, n_items, cost_cells, most_bytes, seconds, sizes)


class _Sample:
    """Pieces of tiles, with their time and output size."""

    def __init__(self, run: Forecastable, device: Device) -> None:
        self._run, self._device = run, device
        self._random = random.Random(1)
        self._tiles: list[Tile] = []  # up to 16 tiles for `fill`
        self._rate: float | None = None  # cells per second of the fastest piece
        self.seconds, self.cells, self.n_items = 0.0, 0, 0
        self.n_bytes: list[int] = []

    def take(self, tile: Tile) -> None:
        """Compute a piece of the tile, if time is left."""
        if self.seconds >= SAMPLE_SECONDS:
            return
        if len(self._tiles) < 16:
            self._tiles.append(tile)
        self._compute(tile)

    def fill(self) -> None:
        """Compute more pieces of the same tiles if time is left."""
        while self._tiles and self._rate is not None and self.seconds < SAMPLE_SECONDS:
            self._compute(self._random.choice(self._tiles))

    def _compute(self, tile: Tile) -> None:
        if self._rate is None:
            begin = time.perf_counter()
            piece = self._piece(tile, FIRST_CELLS)
            if piece.cost_cells > MOST_CELLS:
                return
            self._device.compute(self._run.task, piece)
            self._rate = piece.cost_cells / (time.perf_counter() - begin)
        piece = self._piece(tile, self._rate * PIECE_SHARE * SAMPLE_SECONDS)
        begin = time.perf_counter()
        sections = self._run.encoded(self._device.compute(self._run.task, piece))
        took = time.perf_counter() - begin
        self._rate = max(self._rate, piece.cost_cells / took)
        self.seconds += took
        self.cells, self.n_items = self.cells + piece.cost_cells, self.n_items + piece.n_items
        sizes = [len(section) for section in sections]
        self.n_bytes = [a + b for a, b in zip(self.n_bytes or [0] * len(sizes), sizes, strict=True)]

    def _piece(self, tile: Tile, most_cells: float) -> Tile:
        """Return a random piece of the tile with at most `most_cells`, or the smallest possible one."""
        task = self._run.task
        while tile.cost_cells > most_cells and isinstance(task, SplittableTask) and (halves := task.split(tile)):
            tile = self._random.choice(halves)
        return tile
