"""The slots of a cluster's workers, filled with batches of tiles.

    upcoming tiles -> batches of neighbouring tiles -> workers -> ready results
    AHEAD batches     of TARGET_SECONDS each             |
    per slot                  ^                          v
                              +-------- a batch whose worker is gone goes again as it is, one that failed, or was lost
                                        PATIENT_LOSSES times, in halves; never where it failed before

A batch takes some seconds, so that what the cluster's scheduler does per batch (a millisecond) is nothing beside it.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tropalign.errors import DeviceError, shown
from tropalign.execution.dask_cluster import Cluster, Unreachable
from tropalign.execution.job_queue import Job, JobQueue
from tropalign.execution.references import unpacked
from tropalign.execution.remote_worker import Answer, Opener
from tropalign.execution.shipped_objects import ShippedObjects
from tropalign.execution.task import Progress, Task, Tile, naming
from tropalign.execution.thread_pool import MOST_FAILURES, averaged

#: Seconds of work in a batch, or a hundredth per slot of the cluster if that is more: a scheduler of Dask, and this
#: process, then see a hundred batches per second at the most (docs/scale.md).
TARGET_SECONDS = 2.0
BATCHES_PER_SECOND = 100
#: Batches that are known ahead per slot: while more come, none need be smaller at the end.
AHEAD = 2
#: Weight of the latest batch in the rate.
NEWEST = 0.3
#: Failures of a batch on workers that are not to blame, after which the run ends.
MOST_TRIES = 4
#: Times that a batch may be lost with its workers, after which the run ends: a tile that crashes every worker takes
#: what was sent with it, so that Dask does not see that it was always the same one. From PATIENT_LOSSES on in halves.
MOST_LOSSES = 25
PATIENT_LOSSES = 5
#: A batch that takes so many times as long as it should, and so many seconds more, is computed twice when workers idle.
LATE_TIMES, LATE_SECONDS = 3.0, 10.0
#: Seconds without any worker after which the run ends.
PATIENCE = 600.0
#: Seconds without any worker after which a warning says what the run waits for.
QUIET_SECONDS = 10.0
#: Seconds between looks at workers and progress.
TICK = 0.25


@dataclass
class _Batch:
    """Neighbouring tiles of a task, on their way."""

    jobs: list[Job]
    futures: dict[str, Any] = field(default_factory=dict)  # by key: one, or two where the first is late
    began: float = 0.0
    n_failures: int = 0
    n_losses: int = 0
    failed_on: set[str] = field(default_factory=set)
    objects: dict[str, Any] = field(default_factory=dict)  # by name, what its answer may refer to

    @property
    def cost(self) -> int:
        return sum(job.cost for job in self.jobs)

    def halves(self) -> list[_Batch]:
        middle = len(self.jobs) // 2
        return [
            _Batch(jobs, n_failures=self.n_failures, n_losses=self.n_losses, failed_on=set(self.failed_on))
            for jobs in (self.jobs[:middle], self.jobs[middle:])
            if jobs
        ]


class ClusterDevice:
    """The workers of a cluster, as one device with many slots.

    Parameters
    ----------
    cluster
    opener
        What opens the devices of a worker, there.
    n_threads
        Of a tile; 0: the processors of a worker's machine, shared by the tiles that it computes at a time.
    """

    def __init__(self, cluster: Cluster, opener: Opener, n_threads: int = 0) -> None:
        self.cluster = cluster
        self.shipped = ShippedObjects(cluster, opener, n_threads)  # by one run after another
        self.name = cluster.name

    @property
    def n_workers(self) -> int:
        """Tiles that they compute at a time."""
        self.cluster.look()
        return max(self.cluster.n_slots, 1)

    def pool(self, jobs: JobQueue) -> ClusterPool:
        """What sends the jobs to the workers."""
        return ClusterPool(self, jobs)

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """Never: a `ClusterPool` gives the workers their tiles."""
        raise DeviceError(f"{self.name} computes batches of tiles alone")


class ClusterPool:
    """Sends the jobs of a queue to the workers of a cluster, and files what comes back; all in the calling thread.

    Parameters
    ----------
    device
    jobs
    """

    def __init__(self, device: ClusterDevice, jobs: JobQueue) -> None:
        self._cluster, self._shipped, self._jobs = device.cluster, device.shipped, jobs
        self._rate: float | None = None  # cells per second of a slot
        self._failures = Counter[str]()  # of workers, in a row
        self._has_warned = False  # that nobody is there

    def begin(self, finish: Callable[[Any], Any] | None) -> None:
        """A run begins, whose results the workers finish."""
        self._finish = finish
        self._again: deque[_Batch] = deque()  # what has to be submitted anew
        self._in_flight: dict[str, _Batch] = {}  # by the key of each future
        self._alone_since: float | None = None
        self._why = ""  # that nobody took the last batch
        self._forgot_at = 0.0  # when what lies on workers was last given up
        self._n_connections = self._cluster.n_connections

    def prepare(self) -> None:
        """Learns whether anything is to come; how much more it has to know, it learns as it fills batches."""
        if self._jobs.n_given == self._jobs.n_known:
            self._jobs.look_ahead(1)

    def advance(self) -> None:
        """Collects what has come back, and submits what there is room for."""
        if self._in_flight:
            self._collect()
        self._submit_more()

    def items_begun(self) -> int:
        """None: workers tell of whole batches."""
        return 0

    def end(self) -> None:
        """Calls back what is on its way."""
        self._cluster.forget([future for batch in self._in_flight.values() for future in batch.futures.values()])
        self._in_flight.clear()

    # What goes there.

    def _submit_more(self) -> None:
        self._cluster.look()
        if self._cluster.n_connections != self._n_connections:
            self._n_connections = self._cluster.n_connections
            self._forget()
            for lost in {id(batch): batch for batch in self._in_flight.values()}.values():
                lost.futures.clear()
                self._again.append(lost)
            self._in_flight.clear()
        n_slots = self._cluster.n_slots
        if not n_slots:
            self._wait_for_workers()
            return
        if not self._again:
            self._alone_since = None
        room = n_slots + max(2, n_slots // 4) - len({id(batch) for batch in self._in_flight.values()})
        while room > 0 and (batch := self._next_batch(n_slots)) is not None:
            if not self._submit(batch):
                self._wait_for_workers()
                return
            room -= 1
        if room > 0 and self._in_flight:
            self._repeat_late(room)

    def _wait_for_workers(self) -> None:
        """Waits for a moment. Raises DeviceError when nobody has taken anything for too long."""
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
        waited = now - self._alone_since
        nobody = f"no worker that takes tiles{self._why}"
        kind = " with --resources GPU=1" if self._cluster.needs_gpu else ""
        if waited > PATIENCE:
            raise DeviceError(
                f"{self._cluster.name} has had {nobody} for {PATIENCE:.0f} seconds: start some{kind} and repeat "
                "the command"
            )
        if waited > QUIET_SECONDS and not self._has_warned:
            self._has_warned = True
            self._jobs.warnings.append(f"{self._cluster.name} has {nobody}: the run waits until some are started{kind}")
        time.sleep(TICK)

    def _next_batch(self, n_slots: int) -> _Batch | None:
        if self._again:
            return self._again.popleft()
        seconds = max(TARGET_SECONDS, n_slots / BATCHES_PER_SECOND)
        target = 0.0 if self._rate is None else self._rate * seconds
        self._jobs.look_ahead(AHEAD * n_slots, AHEAD * n_slots * target)
        if not self._jobs.n_upcoming or (self._jobs.in_order and self._jobs.n_ready > self._most_ready()):
            return None
        # At the end batches become smaller.
        return _Batch(self._jobs.take_batch(min(target, self._jobs.left_cells / (AHEAD * n_slots))))

    def _most_ready(self) -> int:
        """Results that may lie ready while the next one in order is missing."""
        return 2 * max(sum(len(batch.jobs) for batch in self._in_flight.values()), 8)

    def _submit(self, batch: _Batch) -> bool:
        """Whether somebody took it."""
        try:
            parcel = self._shipped.parcel(batch.jobs[0].task, [job.tile for job in batch.jobs], self._finish)
            future = self._cluster.submit(parcel.work, parcel.tiles, parcel.futures, batch.failed_on)
        except Unreachable as error:
            self._why = f" ({shown(str(error)[:200])})" if str(error) else ""
            self._forget()
            if not batch.futures:  # else it was to be a second copy
                self._again.append(batch)
            return False
        self._alone_since, self._why = None, ""
        batch.began = time.monotonic()
        batch.objects |= parcel.objects
        batch.futures[future.key] = future
        self._in_flight[future.key] = batch
        return True

    def _repeat_late(self, room: int) -> None:
        """At the end, or where the next result in order is missing: what takes far too long is computed twice."""
        if self._rate is None:
            return
        latest = time.monotonic() - LATE_SECONDS
        late = [
            batch
            for batch in self._in_flight.values()
            if len(batch.futures) == 1 and batch.began + LATE_TIMES * batch.cost / self._rate < latest
        ]
        for batch in late[:room]:
            self._submit(batch)

    def _forget(self) -> None:
        """What lies on workers is sent anew when it is needed."""
        self._shipped.forget()
        self._forgot_at = time.monotonic()

    # What comes back.

    def _collect(self) -> None:
        keys = [key for key in self._cluster.finished(TICK) if key in self._in_flight]
        answers = self._cluster.answers([self._in_flight[key].futures[key] for key in keys])
        for key, answer in zip(keys, answers, strict=True):
            batch = self._in_flight.pop(key, None)
            if batch is None:
                continue  # its other copy was first
            del batch.futures[key]
            if isinstance(answer, Answer) and answer.data is not None:
                self._take(batch, answer, answer.data)
            elif not batch.futures:
                self._retry(batch, answer)

    def _take(self, batch: _Batch, answer: Answer, data: bytes) -> None:
        for other in batch.futures:
            self._in_flight.pop(other, None)
        self._cluster.forget(list(batch.futures.values()))
        batch.futures.clear()
        self._failures[answer.worker] = 0
        self._rate = averaged(self._rate, batch.cost / max(answer.seconds, 1e-4), NEWEST)
        for job, value in zip(batch.jobs, unpacked(data, batch.objects), strict=True):
            self._jobs.finish(job, value)

    def _retry(self, batch: _Batch, answer: Answer | Exception | None) -> None:
        """What becomes of a batch that failed: an error of the work ends the run, one of a machine does not."""
        if answer is None:  # what was sent is gone with its workers, or the scheduler is
            if batch.began >= self._forgot_at:  # else it has been sent anew since
                self._forget()
            self._send_lost_again(batch)
            return
        batch.n_failures += 1
        if isinstance(answer, Answer):
            assert answer.error is not None
            batch.failed_on.add(answer.worker)
            if not answer.is_of_machine or batch.n_failures >= MOST_TRIES:
                raise answer.error
            self._blame(answer.worker, answer.error)
        elif batch.n_failures >= MOST_TRIES:
            with naming(batch.jobs[0].tile):
                raise DeviceError(f"workers of {self._cluster.name} ended when they computed it ({answer})")
        self._again.extend(batch.halves())

    def _send_lost_again(self, batch: _Batch) -> None:
        """Submits a lost batch anew, or ends the run where it was lost too often."""
        batch.n_losses += 1
        if batch.n_losses >= MOST_LOSSES:
            with naming(batch.jobs[0].tile):
                raise DeviceError(f"workers of {self._cluster.name} ended {MOST_LOSSES} times when they had it")
        self._again.extend(batch.halves() if batch.n_losses >= PATIENT_LOSSES else [batch])

    def _blame(self, worker: str, error: BaseException) -> None:
        """Counts a worker's failures in a row; one that fails at everything gets nothing more."""
        self._failures[worker] += 1
        is_last = len(self._cluster.workers) < 2
        if self._failures[worker] >= MOST_FAILURES and worker not in self._cluster.shunned and not is_last:
            self._cluster.shunned.add(worker)
            self._jobs.warnings.append(f"{worker} gets no more tiles: it failed {MOST_FAILURES} times ({error})")
