"""The jobs of a run, from tiles to come to results that lie ready; nothing of threads, devices and clusters.

source --look_ahead--> upcoming --admit--> queue (by cost) --take--> a device --finish--> ready --hand_over-->
                           |                     ^                     |
                           |                     +------- again -------+   pieces, and what another device failed at
                           +--take_batch--> a cluster --finish--> ready
"""

from __future__ import annotations

import threading
from bisect import insort
from collections import deque
from collections.abc import Iterator
from typing import Any

from tropalign.execution.task import SplittableTask, Task, Tile

#: What comes after the last tile.
_END: Any = object()


class Job:
    """A tile on its way through the scheduler, or a piece of one that is done in several steps.

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
        self.cost = max(tile.cost_cells, 1)
        self.is_for_cpu: bool = parent is not None and parent.is_for_cpu
        self.is_done = False
        self.results: list[Any] = []  # of the pieces
        self._number = number  # among the parent's pieces
        self._n_missing = 0  # results of pieces

    @property
    def root(self) -> Job:
        """The whole tile."""
        return self if self.parent is None else self.parent.root

    def pieces(self) -> list[Job]:
        """Jobs for smaller tiles that make this one up; none when it cannot be split."""
        tiles = self.task.split(self.tile) if isinstance(self.task, SplittableTask) else []
        self.results, self._n_missing = [None] * len(tiles), len(tiles)
        return [Job(self.task, tile, self.position, self, number) for number, tile in enumerate(tiles)]

    def take(self, piece: Job, result: Any) -> bool:
        """Files a piece's result; whether it was the last one."""
        self.results[piece._number] = result
        self._n_missing -= 1
        return self._n_missing == 0


class JobQueue:
    """Which jobs are upcoming, queued or done, of one run after another.

    It is shared between threads: whoever calls holds `changed`, but for `look_ahead` and `hand_over`, which belong to
    the thread that takes the results.

    Attributes
    ----------
    changed
        Wakes those who wait for jobs, or for results.
    n_known, n_given
        Whole tiles that were learned of, and those whose results were handed over.
    left_cells
        Cost of what nobody has taken yet.
    is_exhausted
        No more tiles come.
    items_done
        Items of what is done, of all runs.
    warnings
        Sentences for the user, to be given where results are taken.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.items_done = 0
        self.warnings: list[str] = []
        self.begin(iter(()))

    def begin(self, source: Iterator[tuple[Task, Tile] | None], in_order: bool = True) -> None:
        """A new run of these tiles, where None stands for a wait for the next result; its results come in order."""
        self._source, self.in_order = source, in_order
        self.n_known = self.n_given = self.left_cells = 0
        self.is_exhausted = False
        self._waits_at = -1  # results that were handed over when the source waited for another
        self._upcoming: deque[Job] = deque()  # in order
        self._queue: list[Job] = []  # by descending cost
        self._for_cpu: deque[Job] = deque()  # what other devices failed at
        self._ready: dict[int, tuple[Job, Any]] = {}  # by position

    def end(self) -> None:
        """Lets go what lies ready, and what the source reads."""
        self._ready.clear()
        self._source = iter(())

    # What is to come.

    @property
    def n_upcoming(self) -> int:
        """Jobs that wait to be queued."""
        return len(self._upcoming)

    def look_ahead(self, wanted: int, wanted_cells: float = 0.0) -> bool:
        """Learns of tiles until so many are upcoming and so much is left; whether it met the last one just now.

        The source may read, and is asked without the condition.
        """
        while len(self._upcoming) < wanted or self.left_cells < wanted_cells:
            if self.is_exhausted or self._waits_at == self.n_given:
                return False  # the result that it waits for is still to be handed over
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
        """Notes a whole tile that is to come."""
        job = Job(task, tile, self.n_known)
        self.n_known += 1
        self._upcoming.append(job)
        self.left_cells += job.cost

    def split_upcoming(self, wanted: int, least_cells: int) -> None:
        """Splits the costliest upcoming jobs until there are as many as wanted, or pieces would have fewer cells."""
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
        """Queues the upcoming jobs of tiles that are less than `ahead` tiles beyond what was handed over."""
        while self._upcoming and self._upcoming[0].position < self.n_given + ahead:
            self._enqueue(self._upcoming.popleft())

    def take_batch(self, most_cells: float) -> list[Job]:
        """Takes the next upcoming job, and its neighbours of the same task while all cost no more than that."""
        jobs = [self._upcoming.popleft()]
        cost = jobs[0].cost
        while self._upcoming and self._upcoming[0].task is jobs[0].task and cost + self._upcoming[0].cost <= most_cells:
            jobs.append(self._upcoming.popleft())
            cost += jobs[-1].cost
        self.left_cells -= cost
        return jobs

    # What is queued.

    def again(self, job: Job) -> None:
        """Queues a job that failed, or a piece of one."""
        self.left_cells += job.cost
        self._enqueue(job)

    def _enqueue(self, job: Job) -> None:
        if job.is_for_cpu:
            self._for_cpu.append(job)
        else:
            insort(self._queue, job, key=lambda job: -job.cost)

    def first_for_cpu(self) -> Job | None:
        """What another device failed at first; None where nothing is left of that."""
        return self._for_cpu[0] if self._for_cpu else None

    def choice(self, is_cheapest: bool = False) -> Job | None:
        """The costliest job of the queue, or the cheapest."""
        return self._queue[-1 if is_cheapest else 0] if self._queue else None

    def take(self, job: Job) -> None:
        """A worker computes this job, which is the first, costliest or cheapest."""
        if job.is_for_cpu:
            self._for_cpu.remove(job)
        else:
            self._queue.pop(-1 if job is self._queue[-1] else 0)
        self.left_cells -= job.cost

    # What is done.

    def finish(self, job: Job, result: Any) -> Job | None:
        """Files what was computed, or gives it to the tile that it is a piece of; returns that after its last piece."""
        self.items_done += job.tile.n_items
        return self.file(job, result)

    def file(self, job: Job, result: Any) -> Job | None:
        """Files a result whose items count as done already."""
        job.is_done = True
        if job.parent is None:
            self._ready[job.position] = job, result
            return None
        return job.parent if job.parent.take(job, result) else None

    @property
    def n_ready(self) -> int:
        """Results that lie ready."""
        return len(self._ready)

    def is_ready(self) -> bool:
        """Whether a result can be handed over: any, or the next one in order."""
        return self.n_given in self._ready if self.in_order else bool(self._ready)

    def hand_over(self) -> tuple[Job, Any] | None:
        """The next whole tile and its result, which is no longer kept; None where it is not ready."""
        if not self.is_ready():
            return None
        with self.changed:
            position = self.n_given if self.in_order else next(iter(self._ready))
            self.n_given += 1
            return self._ready.pop(position)
