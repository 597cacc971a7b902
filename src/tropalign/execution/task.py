"""Interface between jobs and the scheduler: tasks, tiles and devices; and the division of work into tiles.

Work is divided into shares of equal cost, and shares into tiles: runs of neighbouring items, equal on every machine.

    items      . . . . . . . . . . . . . . . . . . . . . . . .
    shares     |     1 of 3    |     2 of 3    |    3 of 3   |
    tiles      |  0  |  1  | 2 |  0  |  1  | 2 |  0  |  1    |     numbered within a share
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ResourceError, ScoringError, TropalignError, UsageError, named, shown
from tropalign.execution.manifest import Shard
from tropalign.resources.limits import human

#: Called with the number of items begun so far; an exception from it ends the computation.
Progress = Callable[[int], None]


def checked_progress(progress: Any) -> Progress | None:
    """Return a caller's progress function; raise UsageError if it is not callable."""
    if progress is not None and not callable(progress):
        raise UsageError(f"progress {shown(repr(progress)[:80])} is not a function: give one that takes a number")
    found: Progress | None = progress
    return found


@dataclass(frozen=True)
class Tile:
    """Part of a task that one device computes at a time.

    - `index`: position among the tiles of its task, which is the output order.
    - `cost_cells`: cells of the dynamic program.
    - `n_bytes`: memory while it runs, including its result.
    - `n_items`: items that progress counts (pairs, reads, ...).
    - `payload`: the task's own data.
    """

    index: int
    cost_cells: int
    n_bytes: int
    n_items: int
    payload: Any


class Task(Protocol):
    """Device-independent description of a computation."""

    def tiles(self) -> Iterable[Tile | None]:
        """Return the tiles in output order, possibly lazily.

        None means that the next tile waits for a result that is not handed over yet; the scheduler asks again
        after the next result.
        """

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Any:
        """Return the result of one tile; `progress` receives the items begun."""


@runtime_checkable
class SplittableTask(Protocol):
    """Task that can compute a tile in smaller steps if memory is short."""

    def split(self, tile: Tile) -> list[Tile]:
        """Return smaller tiles, in order, with the whole tile's index; an empty list if it cannot be split."""

    def join(self, tile: Tile, results: list[Any]) -> Any:
        """Join the results of the pieces into that of the whole tile."""


@runtime_checkable
class FoldingTask(Protocol):
    """Task whose result is a single value: survivors, the best hits, a sum."""

    def fold(self, kept: Any, result: Any) -> Any:
        """Combine `kept` (None at first) with the next tile's result, in the order of the tiles."""


class Device(Protocol):
    """Device that computes tiles; "cpu" is the processor, which also computes tiles at which others failed."""

    @property
    def name(self) -> str:
        """Name for ``--device``."""

    @property
    def n_workers(self) -> int:
        """Number of tiles that the device computes at a time."""

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """Return the tile's result; each call of `progress` is a sign of life."""


@contextmanager
def naming(tile: Tile) -> Iterator[None]:
    """Add the tile and a remedy to errors in this block; errors about user input already name their place."""
    where = f"tile {tile.index} ({tile.n_items} item{'s' * (tile.n_items != 1)}, about {human(tile.n_bytes)})"
    try:
        yield
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        smaller = f"allow less with {named('memory_bytes')}, so that tiles are smaller"
        remedy = smaller if tile.n_items > 1 else "run it on a machine with more memory, or leave this item out"
        raise ResourceError(f"{where} ran out of memory{why}: {remedy}", needed_bytes=tile.n_bytes) from None
    except (InputError, ScoringError, UsageError):
        raise
    except TropalignError as error:
        error.args = (f"{where}: {error}",)
        raise
    except Exception as error:
        raise TropalignError(f"{where} failed with {type(error).__name__}: {error}") from error


class Costed(Protocol):
    """Ordered items with cumulative costs."""

    n: int

    def cost_before(self, position: int) -> float:
        """Return the cost in cells of all items before that position."""

    def position_at(self, cost: float) -> int:
        """Return the position before which the items cost about `cost`."""


class CostList:
    """Items with listed costs in cells: float64, shape (n,)."""

    def __init__(self, costs: NDArray[np.float64]) -> None:
        self.n = len(costs)
        self._before = np.concatenate([[0.0], np.cumsum(costs)])

    def cost_before(self, position: int) -> float:
        """Return the cost in cells of all items before that position."""
        return float(self._before[position])

    def position_at(self, cost: float) -> int:
        """Return the position before which the items cost about `cost`."""
        after = min(int(np.searchsorted(self._before, cost)), self.n)
        if after and cost - self._before[after - 1] < self._before[after] - cost:
            return after - 1
        return after


def share(
    items: Costed, shard: Shard | None, snap: Callable[[int], int] = lambda position: position
) -> tuple[int, int]:
    """Return start and end of the shard's items: costs between (i - 1) / n and i / n of the total for shard i of n.

    `snap` moves a boundary to an allowed position and must not descend. Shards are contiguous and cover every item
    once.
    """
    if shard is None:
        return 0, items.n
    number, count = shard

    def boundary(k: int) -> int:
        return items.n if k == count else snap(items.position_at(items.cost_before(items.n) * k / count)) if k else 0

    return boundary(number - 1), boundary(number)


def cuts(
    items: Costed,
    begin: int,
    end: int,
    most_items: int,
    cost: float,
    snap: Callable[[int], int] = int,
) -> list[int]:
    """Return the tile boundaries of a share: at most `most_items` per tile, and a cost of about `cost`.

    If `snap` allows no boundary within `most_items`, the tile is as large as necessary.
    """
    found = [begin]
    while found[-1] < end:
        last = found[-1]
        by_cost = max(items.position_at(items.cost_before(last) + cost), last + 1)
        wanted = min(last + most_items, by_cost, end)
        cut = snap(wanted) if wanted < end else end
        while cut <= last:  # no boundary in (last, wanted]: look further ahead
            wanted += max(wanted - last, 1)
            cut = snap(wanted) if wanted < end else end
        found.append(cut)
    return found
