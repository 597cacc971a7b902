"""Tiles over devices: results come in the order of the tiles, whatever computed them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from tropalign.compute.threads import resolve_threads
from tropalign.compute.tile import Task, Tile
from tropalign.errors import ResourceError


def run(
    task: Task,
    *,
    n_threads: int = 0,
    tiles: Collection[Tile] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[Tile, Any]]:
    """Computes the task's tiles (or the given ones of them) and yields each with its result, in order.

    Parameters
    ----------
    n_threads
        Threads of the CPU; 0 for all that the process may use.
    tiles
        Only these; all by default.
    progress
        Called with the number of items begun so far.
    """
    threads = resolve_threads(n_threads)
    before = 0
    for tile in sorted(task.tiles() if tiles is None else tiles, key=lambda tile: tile.index):
        told = (lambda items, base=before: progress(base + items)) if progress else None
        try:
            result = task.on_cpu(tile, threads, told)
        except MemoryError:
            raise ResourceError(
                f"tile {tile.index} ({tile.n_items} items, about {tile.n_bytes} bytes) ran out of memory: "
                "allow less with --memory, so that tiles are smaller"
            ) from None
        before += tile.n_items
        if progress:
            progress(before)
        yield tile, result
