"""Tiles over devices, for the length of a run: results come in the order of the tiles, whatever computed them.

    tasks --tiles--> upcoming --> slots of devices --> ready results --> the caller, in order

A device has slots, each of which computes a tile at a time: the processor one, a GPU as many as keep it busy, a cluster
as many as its workers have. What fills them is a pool of workers: threads of this process (`thread_pool`), or batches
of tiles on their way to a cluster (`cluster_pool`).

One object serves a whole run, however many tasks (blocks of reads, stages, rounds) it computes: rates, failures, lost
devices and the warnings already given stay known.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tropalign.errors import TropalignError, TropalignWarning
from tropalign.execution.job_queue import JobQueue
from tropalign.execution.task import Device, FoldingTask, Progress, Task, Tile, checked_progress
from tropalign.execution.thread_pool import ThreadPool


class Result(NamedTuple):
    """What a tile came to."""

    task: Task
    tile: Tile
    value: Any


class WorkerPool(Protocol):
    """Fills the slots of devices with the jobs of a queue, where their results come back."""

    def begin(self, finish: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        """A run begins. Returns what is still to be made of each result here: nothing where workers apply `finish`."""

    def prepare(self) -> None:
        """Learns of tiles to come, before each result is handed over."""

    def advance(self) -> None:
        """Gets the work on, for a moment at most. Raises what ends the run."""

    def items_begun(self) -> int:
        """Items of tiles that are not done yet, for the progress."""

    def end(self) -> None:
        """The run is over; what is still being computed is nobody's."""


@runtime_checkable
class PooledDevice(Protocol):
    """A device whose slots are elsewhere: it fills them itself, and no other device computes beside it."""

    def pool(self, jobs: JobQueue) -> WorkerPool:
        """What fills the slots with these jobs."""


class Scheduler:
    """Computes tasks on devices, one after another, for the length of a run.

    Parameters
    ----------
    devices
        What computes. A single worker computes in the calling thread, so that Ctrl-C reaches it at once.
    progress
        Called now and then with the number of items begun so far; never less than before. What it raises ends the run.
    """

    def __init__(self, devices: Sequence[Device], progress: Progress | None = None) -> None:
        self._progress = checked_progress(progress)
        self._most_reported = -1
        self._jobs = JobQueue()
        pooled = next((device for device in devices if isinstance(device, PooledDevice)), None)
        self._pool: WorkerPool = (
            ThreadPool(devices, self._jobs, self._report) if pooled is None else pooled.pool(self._jobs)
        )

    def run(
        self,
        tasks: Iterable[Task],
        skip: Callable[[Tile], bool] | None = None,
        finish: Callable[[Any], Any] | None = None,
        in_order: bool = True,
    ) -> Iterator[Result]:
        """Computes the tiles of tasks and yields each with its result, tasks in order and tiles in order.

        Tasks are asked for as soon as workers may need their tiles, so that one task's beginning overlaps the end of
        the one before. May be called again with what comes next; one call ends before another begins.

        Parameters
        ----------
        skip
            Tiles for which this is true are not computed; their items count as done. It is called before the task is
            asked for the tile after it, so that what a later tile waits for (`Task.tiles` gives None) can be handed to
            the task there: an earlier run's result.
        finish
            What is made of each result before it is handed over.
        in_order
            Whether the caller needs the results in order; else they come as soon as they are there.

        Raises
        ------
        ResourceError
            A tile fits no device, or memory ran out, and the task cannot split the tile further.
        TropalignError
            A tile failed. The error names the tile.
        """
        return self.run_tiles(self._tiles_of(tasks, skip), finish, in_order)

    def run_tiles(
        self,
        tiles: Iterator[tuple[Task, Tile] | None],
        finish: Callable[[Any], Any] | None = None,
        in_order: bool = True,
    ) -> Iterator[Result]:
        """Computes tiles, each of them beside its task, where None says that the next one waits for a result."""
        self._jobs.begin(tiles, in_order)
        finish_here = self._pool.begin(finish)
        try:
            while self._is_more_to_come():
                yield self._next_result(finish_here)  # which is not held while the next one is computed
        finally:
            self._pool.end()
            self._jobs.end()

    def _tiles_of(
        self, tasks: Iterable[Task], skip: Callable[[Tile], bool] | None
    ) -> Iterator[tuple[Task, Tile] | None]:
        for task in tasks:
            for tile in task.tiles():
                if tile is None:
                    yield None
                elif skip is not None and skip(tile):
                    with self._jobs.changed:
                        self._jobs.items_done += tile.n_items
                else:
                    yield task, tile

    def _is_more_to_come(self) -> bool:
        self._pool.prepare()
        if self._jobs.n_given < self._jobs.n_known:
            return True
        if not self._jobs.is_exhausted:
            raise RuntimeError(
                "a task waits for a result, but all results have been handed over, those of skipped tiles aside"
            )
        return False

    def _next_result(self, finish: Callable[[Any], Any] | None) -> Result:
        """The next result, once it is there; meanwhile progress is reported and warnings are given."""
        while True:
            found = self._jobs.hand_over()
            if found is None:
                self._pool.advance()
                found = self._jobs.hand_over()
            if self._jobs.warnings:
                with self._jobs.changed:
                    texts, self._jobs.warnings = self._jobs.warnings, []
                for text in texts:
                    warnings.warn(text, TropalignWarning, stacklevel=3)
            self._report()
            if found is not None:
                job, value = found
                return Result(job.task, job.tile, value if finish is None else finish(value))

    def _report(self) -> None:
        """Reports progress, never less than before: an attempt that failed takes nothing back.

        What was said before is said again, so that whoever is told can end an item that takes long.
        """
        if self._progress is None:
            return
        with self._jobs.changed:  # else a tile that is just done counts twice
            items = self._jobs.items_done + self._pool.items_begun()
        self._most_reported = max(items, self._most_reported)
        self._progress(self._most_reported)


def folded(results: Iterable[Result]) -> Iterator[tuple[Task, Any]]:
    """One value per task, in order: what its ``fold`` makes of the results of its tiles.

    Raises
    ------
    TropalignError
        A task does not say how its results fold.
    """
    for task, of_task in groupby(results, key=lambda result: result.task):
        kept = None
        for result in of_task:
            if not isinstance(task, FoldingTask):
                raise TropalignError(f"the results of {type(task).__name__} do not fold")
            kept = task.fold(kept, result.value)
        yield task, kept
