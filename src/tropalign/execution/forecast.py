"""What a run will take, from a second of it: pieces of its tiles are computed as they would be, and nothing is written.

tiles     [......][......][......][......]     all are counted: cells, items, bytes
pieces      [.]      [.]             [.]       some are computed, each small enough to be one of many in a second

Where a tile takes less time than its pieces do, the task says itself what to try (`ForetellingTask`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tropalign.execution.task import Device, SplittableTask, Task, Tile

#: Seconds that are measured.
SAMPLE_SECONDS = 1.0
#: A piece takes about this share of them: large enough to be as fast as a whole tile, whose items fill lanes better.
PIECE_SHARE = 0.5
#: Cells of the first piece, which warms the engine up and tells how large the next one may be.
FIRST_CELLS = 500_000_000
#: The first piece is not computed beyond as many cells, some ten seconds of alignment: a tile that cannot be split.
MOST_CELLS = 50_000_000_000


class Forecastable(Protocol):
    """What is computed, and what a result becomes: a `Run`."""

    @property
    def task(self) -> Task:
        """Yields tiles, and computes them."""

    def encoded(self, result: Any) -> list[bytes]:
        """What a result leaves behind for each output."""


@runtime_checkable
class ForetellingTask(Protocol):
    """A task of tiles whose pieces do not tell what the whole takes."""

    def foretold(self, device: Device, encoded: Callable[[Any], list[bytes]]) -> tuple[float, tuple[float, ...]] | None:
        """Seconds of the whole task on the device and bytes of its outputs; None where pieces do tell."""


@dataclass(frozen=True)
class Forecast:
    """What a run will take.

    Attributes
    ----------
    n_tiles, n_items, cost_cells
        Of the whole run.
    most_tile_bytes
        Memory of its largest tile.
    seconds
        Expected on the device that was sampled; None where no tile was small enough to be tried.
    output_bytes
        Expected per output, before compression.
    """

    n_tiles: int
    n_items: int
    cost_cells: int
    most_tile_bytes: int
    seconds: float | None
    output_bytes: tuple[float, ...]


def forecast(run: Forecastable, device: Device) -> Forecast:
    """Goes through all tiles of a run, and computes pieces of some.

    Parameters
    ----------
    device
        What the run would compute on.

    Raises
    ------
    TropalignError
        What is wrong with the inputs, as in the run itself.
    """
    tiles = run.task.tiles()
    if isinstance(tiles, list):  # known beforehand: the sample comes from anywhere
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
    """Pieces of tiles, and what they took."""

    def __init__(self, run: Forecastable, device: Device) -> None:
        self._run, self._device = run, device
        self._random = random.Random(1)
        self._tiles: list[Tile] = []  # some that were seen
        self._rate: float | None = None  # cells per second of the fastest piece
        self.seconds, self.cells, self.n_items = 0.0, 0, 0
        self.n_bytes: list[int] = []

    def take(self, tile: Tile) -> None:
        """A piece of the tile, while there is time."""
        if self.seconds >= SAMPLE_SECONDS:
            return
        if len(self._tiles) < 16:
            self._tiles.append(tile)
        self._compute(tile)

    def fill(self) -> None:
        """More pieces of the same tiles, where these were few."""
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
        """A piece from anywhere in the tile, of about as many cells, or the least that there is."""
        task = self._run.task
        while tile.cost_cells > most_cells and isinstance(task, SplittableTask) and (halves := task.split(tile)):
            tile = self._random.choice(halves)
        return tile
