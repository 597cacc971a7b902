"""Tiles over devices: results come in the order of the tiles, whatever computed them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tropalign.compute.devices import CpuDevice, Device
from tropalign.compute.memory import human
from tropalign.compute.shard import tiles_of_shard
from tropalign.compute.tile import Progress, SplittableTask, Task, Tile
from tropalign.errors import ResourceError, TropalignError


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
        What computes: a tile goes to the first that it fits. The CPU alone by default.
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
    workers = [CpuDevice(n_threads)] if devices is None else devices
    tiles = sorted(task.tiles() if shard is None else tiles_of_shard(task.tiles(), shard), key=lambda tile: tile.index)
    done = sum(tile.n_items for tile in tiles if tile.index in skip)
    for tile in tiles:
        if tile.index in skip:
            continue
        try:
            result = _compute(task, tile, workers, progress, done)
        except MemoryError:
            smaller = "allow less with --memory, so that tiles are smaller"
            remedy = smaller if tile.n_items > 1 else "run this one where more memory is free, or leave it out"
            raise ResourceError(f"{_named(tile)} ran out of memory: {remedy}", needed_bytes=tile.n_bytes) from None
        except TropalignError as error:
            error.args = (f"{_named(tile)}: {error}",)
            raise
        except Exception as error:
            raise TropalignError(f"{_named(tile)} failed with {type(error).__name__}: {error}") from error
        done += tile.n_items
        if progress:
            progress(done)
        yield tile, result


def _named(tile: Tile) -> str:
    return f"tile {tile.index} ({tile.n_items} item{'s' * (tile.n_items != 1)}, about {human(tile.n_bytes)})"


def _compute(task: Task, tile: Tile, devices: Sequence[Device], progress: Progress | None, done: int) -> Any:
    """The tile's result, in smaller steps where memory does not suffice; `done` items came before it."""
    told = None if progress is None else (lambda items: progress(done + items))
    try:
        device = next((device for device in devices if device.fits(tile)), None)
        if device is None:
            names = ", ".join(device.name for device in devices)
            raise ResourceError(f"it fits none of {names}: add --device cpu", needed_bytes=tile.n_bytes)
        return device.compute(task, tile, told)
    except (MemoryError, ResourceError):
        if not isinstance(task, SplittableTask) or not (pieces := task.split(tile)):
            raise
    results = []
    for piece in pieces:  # outside of the handler, which would keep the failed attempt's memory alive
        results.append(_compute(task, piece, devices, progress, done))
        done += piece.n_items
    return task.join(tile, results)
