"""Tiles over devices: results come in the order of the tiles, whatever computed them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tropalign.devices.registry import CpuDevice, Device
from tropalign.errors import ResourceError
from tropalign.execution.hybrid import Hybrid, naming
from tropalign.execution.shard import tiles_of_shard
from tropalign.execution.task import Progress, SplittableTask, Task, Tile


def run(
    task: Task,
    *,
    n_threads: int = 0,
    devices: Sequence[Device] | None = None,
    shard: tuple[int, int] | None = None,
    skip: Collection[int] = frozenset(),
    progress: Progress | None = None,
) -> Iterator[tuple[Tile, Any]]:
    """Computes the task's tiles and yields each with its result, in the order of their indices.

    Parameters
    ----------
    n_threads
        Threads of the CPU; 0 for all that the process may use.
    devices
        What computes, each tile on whichever is free (compute/hybrid.py). The CPU alone by default.
    shard
        (i, n): the tiles of the i-th of n shards only, counted from 1.
    skip
        Indices of tiles that are not computed again; their items count as done.
    progress
        Called with the number of items begun so far.

    Raises
    ------
    ResourceError
        A tile fits no device, or memory ran out, and the task cannot split the tile further.
    TropalignError
        A tile failed. The error names the tile.
    """
    workers = [CpuDevice(n_threads)] if devices is None else list(devices)
    tiles = sorted(task.tiles() if shard is None else tiles_of_shard(task.tiles(), shard), key=lambda tile: tile.index)
    done = sum(tile.n_items for tile in tiles if tile.index in skip)
    left = [tile for tile in tiles if tile.index not in skip]
    progress = progress and _rising(progress)
    if len(workers) > 1 or workers[0].n_workers > 1:
        yield from Hybrid(task, left, workers, progress, done).run()
        return
    for tile in left:
        with naming(tile):
            result = _compute(task, tile, workers[0], progress, done)
        done += tile.n_items
        if progress:
            progress(done)
        yield tile, result


def _rising(progress: Progress) -> Progress:
    """Tells what is more than was told before: an attempt that failed takes nothing back."""
    most = -1

    def told(items: int) -> None:
        nonlocal most
        if items > most:
            most = items
            progress(items)

    return told


def _compute(task: Task, tile: Tile, device: Device, progress: Progress | None, done: int) -> Any:
    """The tile's result, in smaller steps where memory does not suffice; `done` items came before it."""
    told = None if progress is None else (lambda items: progress(done + items))
    try:
        return device.compute(task, tile, told)
    except (MemoryError, ResourceError):
        if not isinstance(task, SplittableTask) or not (pieces := task.split(tile)):
            raise
    results = []
    for piece in pieces:  # outside of the handler, which would keep the failed attempt's memory alive
        results.append(_compute(task, piece, device, progress, done))
        done += piece.n_items
    return task.join(tile, results)
