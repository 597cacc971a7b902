"""The slots of this machine's devices, a thread for each: which tile it takes, and what becomes of one that fails.

Tiles are taken in descending cost (longest processing time): GPUs take the costliest one, the processor the cheapest
(the scheme of PaPaRa 2, Alachiotis et al. 2012). A device whose rate is known leaves a tile that the others would have
done sooner. Out of memory: the tile is split and queued again. A GPU that fails has its tile done by the processor.

    upcoming tiles -> queue (by cost) -> workers -> ready results
    WINDOW per worker  AHEAD per worker     |
                            ^               v
                            +---- pieces of a tile that ran out of memory
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

from tropalign.errors import DeviceError, ResourceError
from tropalign.execution.job_queue import Job, JobQueue
from tropalign.execution.task import Device, SplittableTask, naming

#: Tiles that are known ahead per worker. Where a run has fewer, they are split, as long as a piece has LEAST_CELLS:
#: some milliseconds of work, of which handing a tile over takes less than one per cent (bench/queue_overhead.py).
WINDOW = 6
LEAST_CELLS = 200_000_000
#: Tiles per worker that may be done before the next one to be handed over: what lies ready takes memory.
AHEAD = 3
#: Weight of the latest tile in a device's rate.
NEWEST = 0.5
#: A GPU that gives no sign of life for as many seconds has failed.
LATE_SECONDS = 120.0
#: Failures in a row after which a device, or a worker of a cluster, gets no more tiles.
MOST_FAILURES = 3
#: Seconds between looks at the clock and the progress.
TICK = 0.1
#: Seconds that the end of a run waits for a GPU that is still busy.
PATIENCE = 5.0


def averaged(rate: float | None, latest: float, weight: float) -> float:
    """A rate (cells per second), the latest with that weight."""
    return latest if rate is None else weight * latest + (1 - weight) * rate


class _Worker:
    """A thread of a device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.job: Job | None = None
        self.thread: threading.Thread | None = None  # of the run
        self.began = self.heard = 0.0  # when the job began, and the last sign of life
        self.items = 0  # begun, of the job
        self.is_lost = False


class _Stopped(Exception):
    """The run ends: no more results are wanted."""


class ThreadPool:
    """Threads of this process that compute the jobs of a queue on devices.

    Parameters
    ----------
    devices
        A single slot is filled by the calling thread.
    jobs
    report
        Reports progress, in the midst of a tile where the calling thread computes it.
    """

    def __init__(self, devices: Sequence[Device], jobs: JobQueue, report: Callable[[], None]) -> None:
        self._jobs, self._report = jobs, report
        self._cpu = next((device for device in devices if device.name == "cpu"), None)
        self._workers = [_Worker(device) for device in devices for _ in range(device.n_workers)]
        self._rates: dict[str, float] = {}  # cells per second
        self._failures: dict[str, int] = {}  # in a row
        self._warned_of: set[str] = set()  # devices whose failure the user was warned of
        self._is_alone = len(self._workers) == 1
        self._error: BaseException | None = None
        self._is_stopped = False

    # What the scheduler's thread does.

    def begin(self, finish: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        """Starts a thread for each worker; results are finished by the calling thread."""
        self._error, self._is_stopped = None, False
        if not self._is_alone:
            self._start_threads()
        return finish

    def _start_threads(self) -> None:
        """A worker whose thread cannot be started does not take part."""
        for worker in self._workers:
            if worker.is_lost:
                continue
            worker.thread = threading.Thread(target=copy_context().run, args=(self._work, worker), daemon=True)
            try:
                worker.thread.start()
            except RuntimeError:  # the system allows no more threads
                worker.is_lost, worker.thread = True, None
        devices = [worker.device for worker in self._workers if worker.thread is not None]
        if not devices:
            self._work_alone()
        elif self._cpu not in devices:
            self._cpu = None  # nobody would take what a GPU fails at

    def _work_alone(self) -> None:
        """No thread can be started: the calling one works."""
        own = next((worker for worker in self._workers if worker.device is self._cpu), None)
        if own is None:
            raise DeviceError(f"{self._workers[0].device.name}: no thread can be started for it: end other programs")
        own.is_lost, self._workers, self._is_alone = False, [own], True

    def prepare(self) -> None:
        """Learns of tiles to come, splits them where a whole run has too few for its workers, and queues some."""
        jobs, wanted = self._jobs, WINDOW * len(self._workers)
        is_end = jobs.look_ahead(wanted)
        with jobs.changed:
            if is_end and not self._is_alone and jobs.n_known < wanted:
                jobs.split_upcoming(wanted, LEAST_CELLS)
            # A lone worker computes nothing ahead of its reader.
            jobs.admit(1 if self._is_alone else AHEAD * len(self._workers))
            jobs.changed.notify_all()

    def advance(self) -> None:
        """Computes, or waits for those who do; meanwhile late devices are found."""
        if self._is_alone:
            self._step(self._workers[0])
        with self._jobs.changed:
            if not self._is_alone:
                if not self._jobs.is_ready() and self._error is None:
                    self._jobs.changed.wait(TICK)
                self._find_late()
            if self._error is not None and not self._jobs.is_ready():  # what is done before it is handed over, and kept
                raise self._error

    def items_begun(self) -> int:
        """Items that workers have begun, of the jobs that they compute."""
        return sum(worker.items for worker in self._workers if worker.job is not None)

    def end(self) -> None:
        """Stops the threads; one that hangs is given up, with its device's slot."""
        with self._jobs.changed:
            self._is_stopped = True
            self._jobs.changed.notify_all()
        for worker in self._workers:
            if worker.thread is not None:
                if not worker.is_lost:
                    worker.thread.join(None if worker.device is self._cpu else PATIENCE)
                worker.is_lost |= worker.thread.is_alive()  # its result is of a run that has ended
                worker.job = worker.thread = None

    # What a worker does, in its thread.

    def _work(self, worker: _Worker) -> None:
        while self._step(worker):
            pass

    def _step(self, worker: _Worker) -> bool:
        """Takes a job, computes it and files the result. False when the worker is to take no more."""
        job = self._take(worker)
        if job is None:
            return False
        outcome = self._compute(worker, job)
        with self._jobs.changed:
            if worker.is_lost or self._is_stopped:
                return False
            whole = None
            try:
                whole = self._settle(worker, job, *outcome)
            except BaseException as error:
                self._error = self._error or error
            worker.job = None
            self._jobs.changed.notify_all()
        while whole is not None:
            whole = self._join(whole)
        return True

    def _take(self, worker: _Worker) -> Job | None:
        """The next job for this worker, as soon as there is one; None at the end of the run."""
        with self._jobs.changed:
            while True:
                if self._is_stopped or self._error is not None or worker.is_lost or self._is_out(worker):
                    return None
                job = self._choose(worker)
                if job is not None:
                    self._jobs.take(job)
                    worker.job, worker.items = job, 0
                    worker.began = worker.heard = time.monotonic()
                    return job
                self._jobs.changed.wait()

    def _compute(self, worker: _Worker, job: Job) -> tuple[Any, BaseException | None]:
        """The job's result, or what went wrong."""

        def hear(items: int) -> None:
            worker.items, worker.heard = items, time.monotonic()
            if self._is_stopped or worker.is_lost:
                raise _Stopped
            if self._is_alone:
                self._report_while_computing()

        try:
            return worker.device.compute(job.task, job.tile, hear), None
        except BaseException as error:
            if isinstance(error, MemoryError | ResourceError):
                error.__traceback__ = None  # which would keep the attempt's memory alive
            return None, error

    def _report_while_computing(self) -> None:
        """Reports in the midst of a tile: what the display raises is no failure of the tile."""
        try:
            self._report()
        except BaseException as error:
            self._error = self._error or error
            raise _Stopped from None

    def _join(self, job: Job) -> Job | None:
        """Joins the pieces of a job, without the condition: it may copy much. Returns what is to be joined next."""
        assert isinstance(job.task, SplittableTask)
        results, job.results = job.results, []
        whole = None
        try:
            result = job.task.join(job.tile, results)
        except BaseException as error:
            with self._jobs.changed:
                self._error = self._error or error
                self._jobs.changed.notify_all()
        else:
            with self._jobs.changed:
                whole = self._jobs.file(job, result)
                self._jobs.changed.notify_all()
        return whole

    # What follows runs with the condition held.

    def _is_out(self, worker: _Worker) -> bool:
        return self._failures.get(worker.device.name, 0) >= MOST_FAILURES

    def _choose(self, worker: _Worker) -> Job | None:
        """The job that the worker takes next; None when it had better wait."""
        is_cpu = worker.device is self._cpu
        if is_cpu and (failed := self._jobs.first_for_cpu()):
            return failed
        job = self._jobs.choice(is_cheapest=is_cpu and not self._is_alone)
        return job if job is not None and self._is_worth(worker, job) else None

    def _is_worth(self, worker: _Worker, job: Job) -> bool:
        """Whether this worker would have the job done before the others had all that is left done."""
        own = self._rates.get(worker.device.name)
        others = [w for w in self._workers if w.device is not worker.device and not w.is_lost and not self._is_out(w)]
        names = {worker.device.name for worker in others}
        rates = [self._rates[name] for name in names if name in self._rates]
        if own is None or len(rates) < max(len(names), 1) or not self._jobs.is_exhausted:
            return True
        running = sum(w.job.cost for w in others if w.job is not None) / 2
        # Never sooner than the fastest of them does this job alone: so the fastest device takes any.
        sooner = max((self._jobs.left_cells + running) / sum(rates), job.cost / max(rates))
        return job.cost / own <= sooner

    def _settle(self, worker: _Worker, job: Job, result: Any, error: BaseException | None) -> Job | None:
        """Files a job's result, or finds what becomes of one that failed. Returns a job whose pieces are all there."""
        name = worker.device.name
        if job.is_done:  # it was late, and has been done elsewhere
            return None
        if error is None:
            seconds = max(time.monotonic() - worker.began, 1e-6)
            self._rates[name] = averaged(self._rates.get(name), job.cost / seconds * self._n_busy(name), NEWEST)
            self._failures[name] = 0
            return self._jobs.finish(job, result)
        if isinstance(error, _Stopped):
            return None
        if isinstance(error, MemoryError | ResourceError) and (pieces := job.pieces()):
            for piece in pieces:
                self._jobs.again(piece)
            return None
        if worker.device is self._cpu or self._cpu is None or isinstance(error, KeyboardInterrupt):
            with naming(job.root.tile):
                raise error
        self._retry_on_cpu(worker, job, str(error) or type(error).__name__)
        if not isinstance(error, MemoryError | ResourceError):
            self._failures[name] = self._failures.get(name, 0) + 1
        return None

    def _n_busy(self, name: str) -> int:
        """Workers of that device that are busy: each has a share of its rate."""
        return sum(worker.device.name == name and worker.job is not None for worker in self._workers) or 1

    def _retry_on_cpu(self, worker: _Worker, job: Job, why: str) -> None:
        job.is_for_cpu = True
        self._jobs.again(job)
        if worker.device.name not in self._warned_of:
            self._warned_of.add(worker.device.name)
            self._jobs.warnings.append(
                f"{worker.device.name} failed at tile {job.tile.index} ({why}): the processor computes what it cannot"
            )

    def _find_late(self) -> None:
        """Gives up workers whose GPU has given no sign of life for far too long: the processor takes their jobs."""
        now = time.monotonic()
        for worker in self._workers:
            if worker.job is None or worker.is_lost or worker.device is self._cpu or now - worker.heard < LATE_SECONDS:
                continue
            worker.is_lost = True
            if self._cpu is None:
                self._error = DeviceError(f"{worker.device.name} does not answer: run again without it")
                return
            self._retry_on_cpu(worker, worker.job, "it does not answer")
            worker.job = None
            self._jobs.changed.notify_all()
