#!/usr/bin/env python3
"""What the scheduler over several devices costs: fake devices whose tiles take 10 ms, against the time of tiles alone.

python bench/queue_overhead.py [--milliseconds 10] [--tiles 1000]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Tile


class Sleeper:
    """A device whose tiles take a given time."""

    def __init__(self, name: str, seconds: float, n_workers: int) -> None:
        self.name, self.seconds, self.n_workers, self.busy = name, seconds, n_workers, 0.0

    def compute(self, task: Any, tile: Tile, progress: Any = None) -> int:
        """Nothing, in that time."""
        begin = time.perf_counter()
        time.sleep(self.seconds)
        self.busy += time.perf_counter() - begin
        return tile.index


class Tiles:
    """That many equal tiles."""

    def __init__(self, count: int) -> None:
        self._tiles = [Tile(k, 10**9, 100, 1, (k, k + 1)) for k in range(count)]

    def tiles(self) -> list[Tile]:
        """All of them."""
        return self._tiles


def main() -> None:
    """Prints the share of the workers' time that no tile had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--milliseconds", type=float, default=10.0)
    parser.add_argument("--tiles", type=int, default=1000)
    options = parser.parse_args()
    for shape in ([1], [2], [2, 2, 1], [2, 2, 2, 2, 1]):
        names = [f"fake:{k}" if workers == 2 else "cpu" for k, workers in enumerate(shape)]
        devices = [
            Sleeper(name, options.milliseconds / 1e3, workers) for name, workers in zip(names, shape, strict=True)
        ]
        count = options.tiles // sum(shape) * sum(shape)
        begin, processor = time.perf_counter(), time.process_time()
        results = [result.value for result in Scheduler(devices).run([Tiles(count)])]
        wall, processor = time.perf_counter() - begin, time.process_time() - processor
        assert results == list(range(count))
        idle = 1 - sum(device.busy for device in devices) / (wall * sum(shape))
        name = f"{'+'.join(names):36s} {count} tiles"
        print(f"{name}: {wall:.3f} s, without a tile {idle:.2%}, queue {processor / wall:.2%} of a core")


if __name__ == "__main__":
    main()
