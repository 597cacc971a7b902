"""The jobs of a run, from upcoming tiles to ready results, without threads, devices and clusters.

source --look_ahead--> upcoming --admit--> queue (by cost) --take--> a device --finish--> ready --hand_over-->
                           |                     ^                     |
                           |                     +------- again -------+   pieces, and failures of another device
                           +--take_batch--> a cluster --finish--> ready
"""

from __future__ import annotations

import threading
from bisect import insort
from collections import deque
from collections.abc import Iterator
from typing import Any

from tropalign.execution.task import SplittableTask, Task, Tile

#: End of the tiles.
_END: Any = object()


class Job:
    """A tile on its way through the scheduler, or a piece of one that is computed in several steps.

    `position` is that of the whole tile among the run's tiles, `parent` is None for a whole tile, and `is_for_cpu`
    is True if another device failed at it.
    """

    def __init__(self, task: Task, tile: Tile, position: int, parent: Job | None = None, number: int = 0) -> None:
        self.task, self.tile, self.position, self.parent = task, tile, position, parent
        self.cost = max(tile.cost_cells, 1)
        self.is_for_cpu: bool = parent is not None and parent.is_for_cpu
        self.is_done = False
        self.results: list[Any] = []  # of the pieces
        self._number = number  # among the parent's pieces
        self._n_missing = 0  # missing results of pieces

    @property
    def root(self) -> Job:
        """Job of the whole tile."""
        return self if self.parent is None else self.parent.root

    def pieces(self) -> list[Job]:
        """Return jobs for the smaller tiles that make this one up; an empty list if it cannot be split."""
        tiles = self.task.split(self.tile) if isinstance(self.task, SplittableTask) else []
        self.results, self._n_missing = [None] * len(tiles), len(tiles)
        return [Job(self.task, tile, self.position, self, number) for number, tile in enumerate(tiles)]

    def take(self, piece: Job, result: Any) -> bool:
        """Store a piece's result; True if it was the last missing one."""
        self.results[piece._number] = result
        self._n_missing -= 1
        return self._n_missing == 0


class JobQueue:
    """Upcoming, queued and finished jobs of consecutive runs, shared between threads.

    Callers hold `changed`, which wakes threads that wait for jobs or results; exceptions are `look_ahead` and
    `hand_over`, which belong to the thread that takes the results.

    - `n_known`, `n_given`: whole tiles known, and those whose results were handed over.
    - `left_cells`: cost of jobs that no worker has taken.
    - `is_exhausted`: True if no more tiles come.
    - `items_done`: items of finished jobs, over all runs.
    - `warnings`: sentences for the user, shown when results are taken.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.items_done = 0
        self.warnings: list[str] = []
        self.begin(iter(()))

    def begin(self, source: Iterator[tuple[Task, Tile] | None], in_order: bool = True) -> None:
        """Start a run of `source`, in which None means that the next tile needs another result."""
        self._source, self.in_order = source, in_order
        self.n_known = self.n_given = self.left_cells = 0
        self.is_exhausted = False
        self._waits_at = -1  # `n_given` when the source last waited for a result
        self._upcoming: deque[Job] = deque()  # in order
        self._queue: list[Job] = []  # by descending cost
        self._for_cpu: deque[Job] = deque()  # jobs at which other devices failed
        self._ready: dict[int, tuple[Job, Any]] = {}  # by position

    def end(self) -> None:
        """Release ready results, and the source with its inputs."""
        self._ready.clear()
        self._source = iter(())

    # Upcoming jobs.

    @property
    def n_upcoming(self) -> int:
        """Number of jobs that are not yet queued."""
        return len(self._upcoming)

    def look_ahead(self, wanted: int, wanted_cells: float = 0.0) -> bool:
        """Learn of tiles until `wanted` are upcoming and `wanted_cells` are left; True if the last tile was just met.

        The source may read files, so it is called without the lock.
        """
        while len(self._upcoming) < wanted or self.left_cells < wanted_cells:
            if self.is_exhausted or self._waits_at == self.n_given:
                return False  # it waits for a result that is not handed over yet
            entry = next(self._source, _END)
            if entry is _END:
                self.is_exhausted = True
                return True
            if entry is None:
                self._waits_at = self.n_given
                return False
            with self.changed:
                self.add(*entry)
        return False

    def add(self, task: Task, tile: Tile) -> None:
        """Add a whole tile to the upcoming ones."""
        job = Job(task, tile, self.n_known)
        self.n_known += 1
        self._upcoming.append(job)
        self.left_cells += job.cost

    def split_upcoming(self, wanted: int, least_cells: int) -> None:
        """Split the costliest upcoming jobs until there are `wanted`, or pieces would be below `least_cells`."""
        leaves = list(self._upcoming)
        while 0 < len(leaves) < wanted:
            largest = max(leaves, key=lambda job: job.cost)
            pieces = largest.pieces() if largest.cost >= 2 * least_cells else []
            if not pieces:
                break
            at = leaves.index(largest)
            leaves[at : at + 1] = pieces
        self._upcoming = deque(leaves)
        self.left_cells = sum(job.cost for job in [*leaves, *self._queue, *self._for_cpu])

    def admit(self, ahead: int) -> None:
        """Queue upcoming jobs of tiles that are less than `ahead` tiles beyond the results handed over."""
        while self._upcoming and self._upcoming[0].position < self.n_given + ahead:
            self._enqueue(self._upcoming.popleft())

    def take_batch(self, most_cells: float) -> list[Job]:
        """Take the next upcoming job, and neighbours of the same task while the total cost is at most `most_cells`."""
        jobs = [self._upcoming.popleft()]
        cost = jobs[0].cost
        while self._upcoming and self._upcoming[0].task is jobs[0].task and cost + self._upcoming[0].cost <= most_cells:
            jobs.append(self._upcoming.popleft())
            cost += jobs[-1].cost
        self.left_cells -= cost
        return jobs

    # Queued jobs.

    def again(self, job: Job) -> None:
        """Queue a failed job, or a piece of one."""
        self.left_cells += job.cost
        self._enqueue(job)

    def _enqueue(self, job: Job) -> None:
        if job.is_for_cpu:
            self._for_cpu.append(job)
        else:
            insort(self._queue, job, key=lambda job: -job.cost)

    def first_for_cpu(self) -> Job | None:
        """Return the first job at which another device failed, or None."""
        return self._for_cpu[0] if self._for_cpu else None

    def choice(self, is_cheapest: bool = False) -> Job | None:
        """Return the costliest job of the queue, or the cheapest."""
        return self._queue[-1 if is_cheapest else 0] if self._queue else None

    def take(self, job: Job) -> None:
        """Remove a job that a worker starts, which is the first, costliest or cheapest."""
        if job.is_for_cpu:
            self._for_cpu.remove(job)
        else:
            self._queue.pop(-1 if job is self._queue[-1] else 0)
        self.left_cells -= job.cost

    # Finished jobs.

    def finish(self, job: Job, result: Any) -> Job | None:
        """Store a result, or pass it to the parent tile; return the parent after its last piece."""
        self.items_done += job.tile.n_items
        return self.file(job, result)

    def file(self, job: Job, result: Any) -> Job | None:
        """Store a result whose items are already counted as done."""
        job.is_done = True
        if job.parent is None:
            self._ready[job.position] = job, result
            return None
        return job.parent if job.parent.take(job, result) else None

    @property
    def n_ready(self) -> int:
        """Number of ready results."""
        return len(self._ready)

    def is_ready(self) -> bool:
        """True if a result can be handed over: any, or the next one in order."""
        return self.n_given in self._ready if self.in_order else bool(self._ready)

    def hand_over(self) -> tuple[Job, Any] | None:
        """Remove and return the next whole tile with its result, or None if it is not ready."""
        if not self.is_ready():
            return None
        with self.changed:
            position = self.n_given if self.in_order else next(iter(self._ready))
            self.n_given += 1
            return self._ready.pop(position)
