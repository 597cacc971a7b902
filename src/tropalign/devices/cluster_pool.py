"""Slots of a cluster's workers, filled with batches of tiles.

    upcoming tiles -> batches of neighbouring tiles -> workers -> ready results
    AHEAD batches     of TARGET_SECONDS each             |
    per slot                  ^                          v
                              +-------- a batch whose worker is lost is resent unchanged; a batch that failed, or was
                                        lost PATIENT_LOSSES times, in halves; never to a worker where it failed

A batch takes seconds, so that the cluster scheduler's overhead per batch (a millisecond) is negligible.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tropalign.devices.dask_cluster import Cluster, Unreachable
from tropalign.devices.remote_worker import Answer, Opener, Work, is_made_anew, packed, unpacked
from tropalign.errors import DeviceError, shown
from tropalign.execution.scheduler import MOST_FAILURES, Job, JobQueue, averaged
from tropalign.execution.task import Progress, Task, Tile, naming

#: Number of batches after which an unused object is forgotten.
KEPT_BATCHES = 64


class Parcel(NamedTuple):
    """Tiles of a task, ready to submit.

    - `work`: future of the `Work`.
    - `tiles`: a packed list.
    - `futures`, `objects`: by name, the objects that work and tiles refer to, remote and local; the answer may
      also refer to them.
    """

    work: Any
    tiles: bytes
    futures: dict[str, Any]
    objects: dict[str, Any]


class ShippedObjects:
    """Copies on a cluster's workers of each `Work`, and of the objects that it and its tiles refer to.

    Only users of the objects hold them, so that blocks of a file that are read one after another do not accumulate
    here. `opener` opens a worker's devices, `n_threads` is the number per tile.
    """

    def __init__(self, cluster: Cluster, opener: Opener, n_threads: int) -> None:
        self._cluster, self._opener, self._n_threads = cluster, opener, n_threads
        self._names: MutableMapping[Any, str] = WeakKeyDictionary()
        self._n_named, self._n_connections = 0, cluster.n_connections
        self._futures: dict[str, Any] = {}  # sent objects by name
        self._works: dict[tuple[int, int], tuple[Any, Any, dict[str, Any]]] = {}
        self._last_used: dict[str, int] = {}  # number of the last batch with each name
        self._n_batches = 0

    def parcel(self, task: Task, batch: list[Tile], finish: Callable[[Any], Any] | None) -> Parcel:
        """Pack tiles for submission, and send the objects that they refer to and that the workers lack."""
        self._n_batches += 1
        if self._n_connections != self._cluster.n_connections:  # objects of an earlier connection are lost
            self._n_connections = self._cluster.n_connections
            self.forget()
        work, of_work = self._work(task, finish)
        objects = dict(of_work)
        tiles = packed(batch, lambda value: self._name(value, objects))
        self._last_used |= dict.fromkeys(objects, self._n_batches)
        # Release objects that no batch has used recently.
        held = {name for _, _, used in self._works.values() for name in used} | set(of_work)
        latest = self._n_batches - max(KEPT_BATCHES, 2 * self._cluster.n_slots)
        for name in [name for name, last in self._last_used.items() if last < latest and name not in held]:
            del self._last_used[name]
            self._futures.pop(name, None)
        for name, value in objects.items():
            if name not in self._futures:
                self._futures[name] = self._cluster.send(value, to_all=name in of_work)
        return Parcel(work, tiles, {name: self._futures[name] for name in objects}, objects)

    def _work(self, task: Task, finish: Callable[[Any], Any] | None) -> tuple[Any, dict[str, Any]]:
        found = self._works.get((id(task), id(finish)))
        if found is None:
            objects: dict[str, Any] = {}
            data = packed((task, finish, self._opener), lambda value: self._name(value, objects))
            work = Work(data, self._n_threads, self._cluster.tiles_per_machine)
            if len(self._works) >= 2:  # from earlier tasks
                del self._works[next(iter(self._works))]
            found = (task, finish), self._cluster.send(work, to_all=True), objects
            self._works[id(task), id(finish)] = found  # holding both keeps their ids unique
        return found[1], found[2]

    def _name(self, value: Any, used: dict[str, Any]) -> str:
        """Return the name of an object that is sent once; equal objects of `is_made_anew` classes share a name."""
        name = self._names.get(value)
        if name is None:
            self._n_named += 1
            mark = _hash(value) if is_made_anew(value) else str(self._n_named)
            name = self._names[value] = f"{type(value).__name__}-{mark}"
        used[name] = value
        return name

    def forget(self) -> None:
        """Forget all objects after their workers are lost, so that they are sent again when needed."""
        self._futures.clear()
        self._works.clear()


def _hash(value: Any) -> str:
    """Return a hash of an object's pickle: equal objects with equal pickles have equal hashes."""
    return hashlib.blake2b(packed(value, lambda one: None), digest_size=16).hexdigest()


#: Seconds of work in a batch, or 0.01 s times the slots of the cluster if that is more: Dask's scheduler and this
#: process then handle at most a hundred batches per second (docs/scale.md).
TARGET_SECONDS = 2.0
BATCHES_PER_SECOND = 100
#: Batches that are known ahead per slot: batches shrink only if fewer are left, towards the end of the run.
AHEAD = 2
#: Weight of the latest batch in the rate.
NEWEST = 0.3
#: Machine failures of a batch after which the run ends.
MOST_TRIES = 4
#: Losses of a batch with its workers after which the run ends. A tile that crashes every worker also takes down
#: the batches that were sent with it, so Dask cannot identify it. From PATIENT_LOSSES on, the batch is halved.
MOST_LOSSES = 25
PATIENT_LOSSES = 5
#: A batch that takes longer than LATE_TIMES its expected time plus LATE_SECONDS is computed a second time if
#: workers idle.
LATE_TIMES, LATE_SECONDS = 3.0, 10.0
#: Seconds without any worker after which the run ends.
PATIENCE = 600.0
#: Seconds without any worker after which a warning tells the user what the run waits for.
QUIET_SECONDS = 10.0
#: Seconds between checks of workers and progress.
TICK = 0.25


@dataclass
class _Batch:
    """Neighbouring tiles of a task that are sent together."""

    jobs: list[Job]
    futures: dict[str, Any] = field(default_factory=dict)  # by key: two if the first one is late, else one
    began: float = 0.0
    n_failures: int = 0
    n_losses: int = 0
    failed_on: set[str] = field(default_factory=set)
    objects: dict[str, Any] = field(default_factory=dict)  # objects by name, to which the answer may refer

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
    """The workers of a cluster as one device with many slots.

    `opener` opens a worker's devices, on the worker. `n_threads` is the number per tile; 0 divides the processors
    of a worker's machine among the tiles that it computes at a time.
    """

    def __init__(self, cluster: Cluster, opener: Opener, n_threads: int = 0) -> None:
        self.cluster = cluster
        self.shipped = ShippedObjects(cluster, opener, n_threads)  # shared by consecutive runs
        self.name = cluster.name

    @property
    def n_workers(self) -> int:
        """Number of tiles that the workers compute at a time."""
        self.cluster.look()
        return max(self.cluster.n_slots, 1)

    def pool(self, jobs: JobQueue) -> ClusterPool:
        """Return the pool that sends the jobs to the workers."""
        return ClusterPool(self, jobs)

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """Raise DeviceError: tiles reach the workers only through a `ClusterPool`."""
        raise DeviceError(f"{self.name} computes only batches of tiles")


class ClusterPool:
    """Pool that sends a queue's jobs to a cluster's workers and files the results, all in the calling thread."""

    def __init__(self, device: ClusterDevice, jobs: JobQueue) -> None:
        self._cluster, self._shipped, self._jobs = device.cluster, device.shipped, jobs
        self._rate: float | None = None  # cells per second of a slot
        self._failures = Counter[str]()  # consecutive failures per worker
        self._has_warned = False  # warned that there is no worker

    def begin(self, finish: Callable[[Any], Any] | None) -> None:
        """Start a run whose results are finished by the workers."""
        self._finish = finish
        self._again: deque[_Batch] = deque()  # batches to resubmit
        self._in_flight: dict[str, _Batch] = {}  # by the key of each future
        self._alone_since: float | None = None
        self._why = ""  # reason that no worker took the last batch
        self._forgot_at = 0.0  # time when objects on workers were last forgotten
        self._n_connections = self._cluster.n_connections

    def prepare(self) -> None:
        """Check whether more tiles come; filling batches looks further ahead."""
        if self._jobs.n_given == self._jobs.n_known:
            self._jobs.look_ahead(1)

    def advance(self) -> None:
        """Collect finished batches, and submit as many as there is room for."""
        if self._in_flight:
            keys = [key for key in self._cluster.finished(TICK) if key in self._in_flight]
            answers = self._cluster.answers([self._in_flight[key].futures[key] for key in keys])
            for key, answer in zip(keys, answers, strict=True):
                batch = self._in_flight.pop(key, None)
                if batch is None:
                    continue  # the other copy of the batch was faster
                del batch.futures[key]
                if isinstance(answer, Answer) and answer.data is not None:
                    self._take(batch, answer, answer.data)
                elif not batch.futures:
                    self._retry(batch, answer)
        self._submit_more()

    def items_begun(self) -> int:
        """Return 0: workers report whole batches only."""
        return 0

    def end(self) -> None:
        """Cancel the batches in flight."""
        self._cluster.forget([future for batch in self._in_flight.values() for future in batch.futures.values()])
        self._in_flight.clear()

    # Sending.

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
        if room > 0 and self._rate is not None:  # batches that are far too late are submitted a second time
            latest = time.monotonic() - LATE_SECONDS
            late = [
                batch
                for batch in self._in_flight.values()
                if len(batch.futures) == 1 and batch.began + LATE_TIMES * batch.cost / self._rate < latest
            ]
            for batch in late[:room]:
                self._submit(batch)

    def _wait_for_workers(self) -> None:
        """Sleep for a moment; raise DeviceError after PATIENCE seconds without a worker that takes tiles."""
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
        waited = now - self._alone_since
        nobody = f"no worker that takes tiles{self._why}"
        kind = " with --resources GPU=1" if self._cluster.needs_gpu else ""
        if waited > PATIENCE:
            raise DeviceError(
                f"{self._cluster.name} has had {nobody} for {PATIENCE:.0f} seconds: start workers{kind} and repeat "
                "the command"
            )
        if waited > QUIET_SECONDS and not self._has_warned:
            self._has_warned = True
            self._jobs.warnings.append(f"{self._cluster.name} has {nobody}: the run waits until one is started{kind}")
        time.sleep(TICK)

    def _next_batch(self, n_slots: int) -> _Batch | None:
        if self._again:
            return self._again.popleft()
        seconds = max(TARGET_SECONDS, n_slots / BATCHES_PER_SECOND)
        target = 0.0 if self._rate is None else self._rate * seconds
        self._jobs.look_ahead(AHEAD * n_slots, AHEAD * n_slots * target)
        # Results that may wait while the next one in order is missing.
        most_ready = 2 * max(sum(len(batch.jobs) for batch in self._in_flight.values()), 8)
        if not self._jobs.n_upcoming or (self._jobs.in_order and self._jobs.n_ready > most_ready):
            return None
        # Batches shrink towards the end.
        return _Batch(self._jobs.take_batch(min(target, self._jobs.left_cells / (AHEAD * n_slots))))

    def _submit(self, batch: _Batch) -> bool:
        """Submit a batch; True if the cluster accepted it."""
        try:
            parcel = self._shipped.parcel(batch.jobs[0].task, [job.tile for job in batch.jobs], self._finish)
            future = self._cluster.submit(parcel.work, parcel.tiles, parcel.futures, batch.failed_on)
        except Unreachable as error:
            self._why = f" ({shown(str(error)[:200])})" if str(error) else ""
            self._forget()
            if not batch.futures:  # else the first copy is still in flight
                self._again.append(batch)
            return False
        self._alone_since, self._why = None, ""
        batch.began = time.monotonic()
        batch.objects |= parcel.objects
        batch.futures[future.key] = future
        self._in_flight[future.key] = batch
        return True

    def _forget(self) -> None:
        """Forget the objects on workers, so that they are sent again when needed."""
        self._shipped.forget()
        self._forgot_at = time.monotonic()

    # Receiving.

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
        """Handle a failed batch: an error of the work ends the run, an error of a machine does not."""
        if answer is None:  # the batch is lost with its workers or the scheduler
            if batch.began >= self._forgot_at:  # otherwise the objects were forgotten since
                self._forget()
            batch.n_losses += 1
            if batch.n_losses >= MOST_LOSSES:
                with naming(batch.jobs[0].tile):
                    raise DeviceError(f"workers of {self._cluster.name} ended {MOST_LOSSES} times while they had it")
            self._again.extend(batch.halves() if batch.n_losses >= PATIENT_LOSSES else [batch])
            return
        batch.n_failures += 1
        if isinstance(answer, Answer):
            assert answer.error is not None
            batch.failed_on.add(answer.worker)
            if not answer.is_of_machine or batch.n_failures >= MOST_TRIES:
                raise answer.error
            worker, shunned = answer.worker, self._cluster.shunned
            self._failures[worker] += 1
            if self._failures[worker] >= MOST_FAILURES and worker not in shunned and len(self._cluster.workers) > 1:
                shunned.add(worker)
                what = f"{worker} gets no more tiles, because it failed {MOST_FAILURES} times ({answer.error})"
                self._jobs.warnings.append(what)
        elif batch.n_failures >= MOST_TRIES:
            with naming(batch.jobs[0].tile):
                raise DeviceError(f"workers of {self._cluster.name} ended while they computed this tile ({answer})")
        self._again.extend(batch.halves())
