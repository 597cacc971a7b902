"""Tiles over the workers of a cluster, for the length of a run; what `Scheduler` is on one machine.

    tasks -> upcoming tiles -> batches of neighbouring tiles -> workers -> ready results -> the caller
             AHEAD batches      of TARGET_SECONDS each          |
             per place                 ^                        v
                                       +----- a batch whose worker is gone goes again as it is, one that failed, or was
                                              lost PATIENT_LOSSES times, in halves; never where it failed before

A batch takes some seconds, so that what the cluster's scheduler does per batch (a millisecond) is nothing beside it.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tropalign.errors import DeviceError, TropalignWarning, shown
from tropalign.execution.dask_cluster import Cluster, Unreachable
from tropalign.execution.jobs import naming
from tropalign.execution.references import unpacked
from tropalign.execution.remote_worker import Answer, Opener
from tropalign.execution.scheduler import Result
from tropalign.execution.shipped_objects import Sent
from tropalign.execution.task import Progress, Task, Tile, checked_progress

#: Seconds of work in a batch, or a hundredth per tile that the cluster computes at a time if that is more: a scheduler
#: of Dask, and this process, then see a hundred batches per second at the most (docs/scale.md).
TARGET_SECONDS = 2.0
BATCHES_PER_SECOND = 100
#: The same of tiles that are known ahead per place of a worker: while more come, none need be smaller at the end.
AHEAD = 2
#: Weight of the latest batch in the rate.
NEWEST = 0.3
#: Failures of a batch on workers that are not to blame, after which the run ends; and of a worker in a row, after which
#: it gets nothing more.
MOST_TRIES = 4
MOST_FAILURES = 3
#: Times that a batch may be lost with its workers, after which the run ends: a tile that crashes every worker takes
#: what was sent with it, so that Dask does not see that it was always the same one. From PATIENT_LOSSES on in halves.
MOST_LOSSES = 25
PATIENT_LOSSES = 5
#: A batch that takes so many times as long as it should, and so many seconds more, is computed twice when workers idle.
LATE_TIMES, LATE_SECONDS = 3.0, 10.0
#: Seconds without any worker after which the run ends.
PATIENCE = 600.0
#: The same after which a warning says what it waits for.
QUIET_SECONDS = 10.0
#: Seconds between looks at workers and progress.
TICK = 0.25


@dataclass
class _Upcoming:
    position: int
    task: Task
    tile: Tile


def _cost(entry: _Upcoming) -> int:
    return max(entry.tile.cost_cells, 1)


@dataclass
class _Batch:
    """Neighbouring tiles of a task, on their way."""

    entries: list[_Upcoming]
    futures: list[Any] = field(default_factory=list)  # one, or two where the first is late
    began: float = 0.0
    n_failures: int = 0
    n_losses: int = 0
    failed_on: set[str] = field(default_factory=set)
    objects: dict[str, Any] = field(default_factory=dict)  # by name, what its answer may refer to

    @property
    def task(self) -> Task:
        return self.entries[0].task

    @property
    def cost(self) -> int:
        return sum(map(_cost, self.entries))

    def halves(self) -> list[_Batch]:
        middle = len(self.entries) // 2
        pieces = [self.entries[:middle], self.entries[middle:]]
        return [
            _Batch(piece, n_failures=self.n_failures, n_losses=self.n_losses, failed_on=set(self.failed_on))
            for piece in pieces
            if piece
        ]


class RemoteDevice:
    """The workers of a cluster, in the place of devices.

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
        self.sent = Sent(cluster, opener, n_threads)  # by one run after another
        self.name = cluster.name

    @property
    def n_workers(self) -> int:
        """Tiles that they compute at a time."""
        self.cluster.look()
        return max(self.cluster.n_slots, 1)

    def compute(self, task: Any, tile: Tile, progress: Progress | None = None) -> Any:
        """Not here: `RemoteScheduler` gives the workers their tiles."""
        raise DeviceError(f"{self.name} computes batches of tiles alone")


class RemoteScheduler:
    """Computes tasks on the workers of a cluster, one after another.

    Parameters
    ----------
    device
    progress
        Called with the number of items done so far.
    """

    def __init__(self, device: RemoteDevice, progress: Progress | None = None) -> None:
        self._cluster = device.cluster
        self._progress = checked_progress(progress)
        self._done = 0
        self._rate: float | None = None  # cells per second of a place
        self._failures = Counter[str]()  # of workers, in a row
        self._has_warned = False  # that nobody is there
        self._sent = device.sent
        self._begin(iter(()), None, True)

    def run(
        self,
        tasks: Iterable[Task],
        skip: Callable[[Tile], bool] | None = None,
        finish: Callable[[Any], Any] | None = None,
        in_order: bool = True,
    ) -> Iterator[Result]:
        """As `Scheduler.run`; with `in_order` False results come as soon as they are there."""
        self._begin(self._tiles_of(tasks, skip), finish, in_order)
        try:
            while True:
                self._submit_more()
                yield from self._handed_over()
                if self._in_flight:
                    self._collect()
                elif not (self._ready or self._upcoming or self._again):
                    if self._is_exhausted:
                        return
                    if self._waits_at == self._n_given:
                        raise RuntimeError("a task waits for a result, but all results have been handed over")
        finally:
            self._cluster.forget([future for batch in self._in_flight.values() for future in batch.futures])
            self._in_flight.clear()

    def _begin(self, source: Iterator[_Upcoming | None], finish: Callable[[Any], Any] | None, in_order: bool) -> None:
        self._source, self._finish, self._in_order = source, finish, in_order
        self._upcoming: deque[_Upcoming] = deque()
        self._upcoming_cost = 0
        self._again: deque[_Batch] = deque()  # what has to be submitted anew
        self._in_flight: dict[str, _Batch] = {}  # by the key of each future
        self._ready: dict[int, tuple[_Upcoming, Any]] = {}  # by position
        self._n_given, self._waits_at, self._is_exhausted = 0, -1, False
        self._alone_since: float | None = None
        self._why = ""  # that nobody took the last batch
        self._forgot_at = 0.0  # when what lies on workers was last given up
        self._n_connections = self._cluster.n_connections

    def _tiles_of(self, tasks: Iterable[Task], skip: Callable[[Tile], bool] | None) -> Iterator[_Upcoming | None]:
        position = 0
        for task in tasks:
            for tile in task.tiles():
                if tile is None:
                    yield None
                elif skip is not None and skip(tile):
                    self._done += tile.n_items
                else:
                    yield _Upcoming(position, task, tile)
                    position += 1

    # What goes there.

    def _submit_more(self) -> None:
        self._cluster.look()
        if self._cluster.n_connections != self._n_connections:
            self._n_connections = self._cluster.n_connections
            self._forget()
            for lost in {id(batch): batch for batch in self._in_flight.values()}.values():
                lost.futures = []
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
        """For a moment. Raises DeviceError when nobody has taken anything for too long."""
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
            text = f"{self._cluster.name} has {nobody}: the run waits until some are started{kind}"
            warnings.warn(text, TropalignWarning, stacklevel=2)
        time.sleep(TICK)

    def _look_ahead(self, wanted_cost: float, wanted: int) -> None:
        while not self._is_exhausted and (len(self._upcoming) < wanted or self._upcoming_cost < wanted_cost):
            if self._waits_at == self._n_given:
                return  # the same result is still to be handed over
            try:
                entry = next(self._source)
            except StopIteration:
                self._is_exhausted = True
                return
            if entry is None:
                self._waits_at = self._n_given
                return
            self._upcoming.append(entry)
            self._upcoming_cost += _cost(entry)

    def _next_batch(self, n_slots: int) -> _Batch | None:
        if self._again:
            return self._again.popleft()
        seconds = max(TARGET_SECONDS, n_slots / BATCHES_PER_SECOND)
        target = 0.0 if self._rate is None else self._rate * seconds
        self._look_ahead(AHEAD * n_slots * target, AHEAD * n_slots)
        if not self._upcoming or (self._in_order and len(self._ready) > self._most_ready()):
            return None
        most = min(target, self._upcoming_cost / (AHEAD * n_slots))  # at the end batches become smaller
        first = self._upcoming.popleft()
        batch, cost = _Batch([first]), _cost(first)
        while self._upcoming and self._upcoming[0].task is batch.task and cost + _cost(self._upcoming[0]) <= most:
            batch.entries.append(self._upcoming.popleft())
            cost += _cost(batch.entries[-1])
        self._upcoming_cost -= cost
        return batch

    def _most_ready(self) -> int:
        """Results that may lie ready while the next one in order is missing."""
        return 2 * max(sum(len(batch.entries) for batch in self._in_flight.values()), 8)

    def _submit(self, batch: _Batch) -> bool:
        """Whether somebody took it."""
        try:
            parcel = self._sent.of(batch.task, [entry.tile for entry in batch.entries], self._finish)
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
        batch.futures.append(future)
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
        self._sent.forget()
        self._forgot_at = time.monotonic()

    # What comes back.

    def _collect(self) -> None:
        keys = [key for key in self._cluster.finished(TICK) if key in self._in_flight]
        futures = [future for key in keys for future in self._in_flight[key].futures if future.key == key]
        answers = self._cluster.answers(futures)
        for key, answer in zip(keys, answers, strict=True):
            batch = self._in_flight.pop(key, None)
            if batch is None:
                continue  # its other copy was first
            if isinstance(answer, Answer) and answer.data is not None:
                self._take(batch, key, answer, answer.data)
                continue
            batch.futures = [future for future in batch.futures if future.key != key]
            if not batch.futures:
                self._retry(batch, answer)
        if self._progress is not None:
            self._progress(self._done)

    def _take(self, batch: _Batch, key: str, answer: Answer, data: bytes) -> None:
        others = [future for future in batch.futures if future.key != key]
        for future in others:
            self._in_flight.pop(future.key, None)
        self._cluster.forget(others)
        self._failures[answer.worker] = 0
        rate = batch.cost / max(answer.seconds, 1e-4)
        self._rate = rate if self._rate is None else NEWEST * rate + (1 - NEWEST) * self._rate
        for entry, value in zip(batch.entries, unpacked(data, batch.objects), strict=True):
            self._ready[entry.position] = entry, value
            self._done += entry.tile.n_items
        batch.futures = []

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
            with naming(batch.entries[0].tile):
                raise DeviceError(f"workers of {self._cluster.name} ended when they computed it ({answer})")
        self._again.extend(batch.halves())

    def _send_lost_again(self, batch: _Batch) -> None:
        """Or ends the run, where it was lost too often."""
        batch.n_losses += 1
        if batch.n_losses >= MOST_LOSSES:
            with naming(batch.entries[0].tile):
                raise DeviceError(f"workers of {self._cluster.name} ended {MOST_LOSSES} times when they had it")
        self._again.extend(batch.halves() if batch.n_losses >= PATIENT_LOSSES else [batch])

    def _blame(self, worker: str, error: BaseException) -> None:
        """Counts a worker's failures in a row; one that fails at everything gets nothing more."""
        self._failures[worker] += 1
        is_last = len(self._cluster.workers) < 2
        if self._failures[worker] >= MOST_FAILURES and worker not in self._cluster.shunned and not is_last:
            self._cluster.shunned.add(worker)
            text = f"{worker} gets no more tiles: it failed {MOST_FAILURES} times ({error})"
            warnings.warn(text, TropalignWarning, stacklevel=2)

    def _handed_over(self) -> Iterator[Result]:
        while self._ready:
            if not self._in_order:
                position = next(iter(self._ready))
            elif self._n_given in self._ready:
                position = self._n_given
            else:
                return
            entry, value = self._ready.pop(position)
            self._n_given += 1
            yield Result(entry.task, entry.tile, value)
            del value
