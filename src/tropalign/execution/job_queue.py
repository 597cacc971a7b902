"""The jobs of a run, from tiles to come to results that lie ready; nothing of threads and devices.

    add -> upcoming -> admit -> queue (by cost) -> take -> finish -> ready -> hand_over
                                  ^                   |
                                  +------ again ------+   (pieces, and what another device failed at)

It is shared between threads: whoever calls holds the scheduler's condition.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from typing import Any

from tropalign.execution.jobs import Job
from tropalign.execution.task import SplittableTask, Task, Tile


def pieces_of(job: Job) -> list[Job]:
    """The job's tile split in jobs of their own; none when it cannot be split."""
    return job.split(job.task.split(job.tile)) if isinstance(job.task, SplittableTask) else []


class Ledger:
    """Which jobs are upcoming, queued or done.

    Attributes
    ----------
    n_known
        Whole tiles that were added.
    left_cells
        Cost of what nobody has taken yet.
    """

    def __init__(self) -> None:
        self.n_known = self.left_cells = 0
        self._n_given = 0  # results handed over
        self._order: deque[Job] = deque()  # whole tiles that were not handed over yet, in order
        self._upcoming: deque[Job] = deque()  # jobs that wait to be queued, in order
        self._queue: list[Job] = []  # by descending cost
        self._for_cpu: deque[Job] = deque()  # what other devices failed at
        self._ready: dict[int, Any] = {}  # by position

    @property
    def n_upcoming(self) -> int:
        """Jobs that wait to be queued."""
        return len(self._upcoming)

    @property
    def n_unclaimed(self) -> int:
        """Whole tiles that `claim_next` has not given yet."""
        return len(self._order)

    def add(self, task: Task, tile: Tile) -> None:
        """Notes a whole tile that is to come."""
        job = Job(task, tile, self.n_known)
        self.n_known += 1
        self._order.append(job)
        self._upcoming.append(job)
        self.left_cells += tile.cost_cells

    def claim_next(self) -> Job:
        """The whole tile whose result is to be handed over next."""
        return self._order.popleft()

    def split_upcoming(self, wanted: int, least_cells: int) -> None:
        """Splits the costliest upcoming jobs until there are as many as wanted, or pieces would have fewer cells."""
        leaves = list(self._upcoming)
        while 0 < len(leaves) < wanted:
            largest = max(leaves, key=lambda job: job.tile.cost_cells)
            pieces = pieces_of(largest) if largest.tile.cost_cells >= 2 * least_cells else []
            if not pieces:
                break
            at = leaves.index(largest)
            leaves[at : at + 1] = pieces
        self._upcoming = deque(leaves)
        self.left_cells = sum(job.tile.cost_cells for job in [*leaves, *self._queue, *self._for_cpu])

    def admit(self, ahead: int) -> None:
        """Queues the upcoming jobs of tiles that are less than `ahead` tiles beyond what was handed over."""
        while self._upcoming and self._upcoming[0].position < self._n_given + ahead:
            self._enqueue(self._upcoming.popleft())

    def again(self, job: Job) -> None:
        """Queues a job that failed, or a piece of one."""
        self.left_cells += job.tile.cost_cells
        self._enqueue(job)

    def _enqueue(self, job: Job) -> None:
        if job.is_for_cpu:
            self._for_cpu.append(job)
        else:
            insort(self._queue, job, key=lambda job: -job.tile.cost_cells)

    def first_for_cpu(self) -> Job | None:
        """What another device failed at first; None where nothing is left of that."""
        return self._for_cpu[0] if self._for_cpu else None

    def costliest(self) -> Job | None:
        """The costliest job of the queue."""
        return self._queue[0] if self._queue else None

    def cheapest(self) -> Job | None:
        """The cheapest job of the queue."""
        return self._queue[-1] if self._queue else None

    def take(self, job: Job) -> None:
        """A worker computes this job, which is the first, costliest or cheapest."""
        if job.is_for_cpu:
            self._for_cpu.remove(job)
        else:
            self._queue.pop(-1 if job is self._queue[-1] else 0)
        self.left_cells -= job.tile.cost_cells

    def finish(self, job: Job, result: Any) -> Job | None:
        """Files a result, or gives it to the tile that the job is a piece of; returns that if it was the last piece."""
        job.is_done = True
        if job.parent is None:
            self._ready[job.position] = result
            return None
        return job.parent if job.parent.take(job, result) else None

    def is_ready(self, position: int) -> bool:
        """Whether the result of the whole tile at this position lies ready."""
        return position in self._ready

    def hand_over(self, position: int) -> Any:
        """The result of the whole tile at this position, which is no longer kept."""
        self._n_given += 1
        return self._ready.pop(position)

    def forget_results(self) -> None:
        """Lets go what lies ready."""
        self._ready.clear()
