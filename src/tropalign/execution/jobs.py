"""A tile on its way through the scheduler, or a piece of one, and how an error names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tropalign.errors import InputError, ResourceError, ScoringError, TropalignError, UsageError, named
from tropalign.execution.task import Task, Tile
from tropalign.machine.memory import human


class Job:
    """A tile, or a piece of one that is done in several steps.

    Attributes
    ----------
    position
        Place of the whole tile among all tiles of the run.
    parent
        What this is a piece of; None for a whole tile.
    is_for_cpu
        Another device failed at it.
    """

    def __init__(self, task: Task, tile: Tile, position: int, parent: Job | None = None, number: int = 0) -> None:
        self.task, self.tile, self.position, self.parent = task, tile, position, parent
        self.is_for_cpu: bool = parent is not None and parent.is_for_cpu
        self.is_done = False
        self.results: list[Any] = []  # of the pieces
        self._number = number  # among the parent's pieces
        self._n_missing = 0  # results of pieces

    @property
    def root(self) -> Job:
        """The whole tile."""
        return self if self.parent is None else self.parent.root

    def split(self, tiles: list[Tile]) -> list[Job]:
        """Jobs for the tiles that make this one up."""
        self.results, self._n_missing = [None] * len(tiles), len(tiles)
        return [Job(self.task, tile, self.position, self, number) for number, tile in enumerate(tiles)]

    def take(self, piece: Job, result: Any) -> bool:
        """Files a piece's result; whether it was the last one."""
        self.results[piece._number] = result
        self._n_missing -= 1
        return self._n_missing == 0


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
