"""What a job hands to the scheduler: a task, its tiles, and what computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tropalign.errors import InputError, ResourceError, ScoringError, TropalignError, UsageError, named, shown
from tropalign.machine.memory import human

#: Receives the number of items begun so far; what it raises ends the computation.
Progress = Callable[[int], None]


def checked_progress(progress: Any) -> Progress | None:
    """What callers give as progress. Raises UsageError on anything that cannot be called."""
    if progress is not None and not callable(progress):
        raise UsageError(f"progress {shown(repr(progress)[:80])} is not a function: give one that takes a number")
    found: Progress | None = progress
    return found


@dataclass(frozen=True)
class Tile:
    """A part of a task that one device computes at a time.

    Attributes
    ----------
    index
        Its position among the tiles of its task, which is the order of the output.
    cost_cells
        Cells of the dynamic program.
    n_bytes
        Memory that it takes while it runs, its result included.
    n_items
        What progress counts (pairs, reads, ...).
    payload
        What the task needs to know about it.
    """

    index: int
    cost_cells: int
    n_bytes: int
    n_items: int
    payload: Any


class Task(Protocol):
    """What to compute, whatever the device."""

    def tiles(self) -> Iterable[Tile | None]:
        """The tiles in the order of the output; they may be made as they are asked for.

        None says that the next tile waits for a result that has not been handed over yet: it is asked for again after
        the next result.
        """

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Any:
        """The result of one tile; `progress` receives the items begun."""


@runtime_checkable
class SplittableTask(Protocol):
    """A task that can also compute a tile in smaller steps, when memory does not suffice for it at once."""

    def split(self, tile: Tile) -> list[Tile]:
        """Smaller tiles (with the index of the whole one) that make it up, in order; none when it cannot be split."""

    def join(self, tile: Tile, results: list[Any]) -> Any:
        """The result of the whole tile from those of its pieces."""


@runtime_checkable
class FoldingTask(Protocol):
    """A task whose result is one value and no list: survivors, the best hits, a sum."""

    def fold(self, kept: Any, result: Any) -> Any:
        """What is kept after one more tile's result, in the order of the tiles; `kept` is None at first."""


class Device(Protocol):
    """What takes tiles and computes them.

    The one called "cpu" is the processor, which computes what other devices fail at.
    """

    @property
    def name(self) -> str:
        """What ``--device`` calls it."""

    @property
    def n_workers(self) -> int:
        """Tiles that it takes at a time."""

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """The tile's result. Each call of `progress` is a sign of life."""


@contextmanager
def naming(tile: Tile) -> Iterator[None]:
    """Errors in this block name the tile and say what to do; those of what a user gave name its place themselves."""
    where = f"tile {tile.index} ({tile.n_items} item{'s' * (tile.n_items != 1)}, about {human(tile.n_bytes)})"
    try:
        yield
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        smaller = f"allow less with {named('memory_bytes')}, so that tiles are smaller"
        remedy = smaller if tile.n_items > 1 else "run this one where more memory is free, or leave it out"
        raise ResourceError(f"{where} ran out of memory{why}: {remedy}", needed_bytes=tile.n_bytes) from None
    except (InputError, ScoringError, UsageError):
        raise
    except TropalignError as error:
        error.args = (f"{where}: {error}",)
        raise
    except Exception as error:
        raise TropalignError(f"{where} failed with {type(error).__name__}: {error}") from error
