"""Distribution of tiles over devices during a run; results come in the order of the tiles.

    tasks --tiles--> upcoming --> slots of devices --> ready results --> the caller, in order

A device has slots, each of which computes one tile at a time: the processor has one, a GPU as many as keep it
busy, a cluster as many as its workers have. A pool of workers fills the slots: threads of this process
(`thread_pool`), or batches of tiles that are sent to a cluster (`cluster_pool`).

One object serves a whole run, including all its tasks (blocks of reads, stages, rounds): it keeps rates, failures,
lost devices and the warnings already shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tropalign.errors import TropalignError, TropalignWarning
from tropalign.execution.task import Device, FoldingTask, Progress, Task, Tile, checked_progress
from tropalign.execution.thread_pool import JobQueue, ThreadPool


class Result(NamedTuple):
    """Result of a tile."""

    task: Task
    tile: Tile
    value: Any


class WorkerPool(Protocol):
    """Fills the slots of devices with jobs of a queue, and returns results to the queue."""

    def begin(self, finish: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        """Start a run; return the function still to apply to each result here, None if workers apply `finish`."""

    def prepare(self) -> None:
        """Fetch upcoming tiles, before each result is handed over."""

    def advance(self) -> None:
        """Advance the work, for a moment at most; raise the error that ends the run."""

    def items_begun(self) -> int:
        """Return the items of unfinished tiles that have begun, for progress."""

    def end(self) -> None:
        """End the run; results in flight are discarded."""


@runtime_checkable
class PooledDevice(Protocol):
    """Device with remote slots, which fills them itself; other devices do not compute at the same time."""

    def pool(self, jobs: JobQueue) -> WorkerPool:
        """Return the pool that fills the slots with these jobs."""


class Scheduler:
    """Scheduler of consecutive tasks on devices during a run.

    A single worker computes in the calling thread, so that Ctrl-C reaches it at once. `progress` is called with
    the number of items begun so far, which never decreases; an exception from it ends the run.
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
        """Compute the tiles of tasks and yield each with its result, by default in the order of tasks and tiles.

        Tasks are requested as soon as workers may need their tiles, so that the start of one task overlaps the end
        of another. The method may be called repeatedly, but each call must end before the next starts.

        `skip` selects tiles that are not computed but count as done. It is called before the task is asked for the
        following tile: if that tile waits for a result (`Task.tiles` yields None), `skip` can pass an earlier
        run's result to the task. `finish` is applied to each result before it is handed over. Without `in_order`,
        results come as soon as they exist.
        Raises ResourceError if a tile fits no device or memory, and cannot be split further; TropalignError, with
        the tile, if one failed.
        """
        return self.run_tiles(self._tiles_of(tasks, skip), finish, in_order)

    def run_tiles(
        self,
        tiles: Iterator[tuple[Task, Tile] | None],
        finish: Callable[[Any], Any] | None = None,
        in_order: bool = True,
    ) -> Iterator[Result]:
        """Compute tiles, given as (task, tile); None: the next tile depends on a result that is not handed over yet."""
        self._jobs.begin(tiles, in_order)
        finish_here = self._pool.begin(finish)
        try:
            while True:
                self._pool.prepare()
                if self._jobs.n_given == self._jobs.n_known:
                    break
                yield self._next_result(finish_here)  # the result is not held while the next one is computed
            if not self._jobs.is_exhausted:
                raise RuntimeError(
                    "a task waits for a result, but all results except those of skipped tiles have been handed over"
                )
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

    def _next_result(self, finish: Callable[[Any], Any] | None) -> Result:
        """Wait for the next result; meanwhile report progress and show warnings."""
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
        """Report progress, never less than before: a failed attempt does not reduce it.

        Unchanged values are reported again, so that the callback can interrupt an item that takes long.
        """
        if self._progress is None:
            return
        with self._jobs.changed:  # otherwise a tile that just finished counts twice
            items = self._jobs.items_done + self._pool.items_begun()
        self._most_reported = max(items, self._most_reported)
        self._progress(self._most_reported)


def folded(results: Iterable[Result]) -> Iterator[tuple[Task, Any]]:
    """Yield one value per task, in order: its results combined by ``fold``.

    Raises TropalignError if a task has no ``fold``.
    """
    for task, of_task in groupby(results, key=lambda result: result.task):
        kept = None
        for result in of_task:
            if not isinstance(task, FoldingTask):
                raise TropalignError(f"the results of {type(task).__name__} cannot be folded")
            kept = task.fold(kept, result.value)
        yield task, kept
