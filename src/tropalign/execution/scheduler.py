"""Tiles over devices, for the length of a run: results come in the order of the tiles, whatever computed them.

Tiles are taken in descending cost (longest processing time): GPUs take the costliest one, the processor the cheapest
(the scheme of PaPaRa 2, Alachiotis et al. 2012). A device whose rate is known leaves a tile that the others would have
done sooner. Out of memory: the tile is split and queued again. A GPU that fails has its tile done by the processor.

    tasks -> upcoming tiles -> queue (by cost) -> workers -> ready results -> the caller, in order
             WINDOW per worker  AHEAD per worker                |
                      ^                                         v
                      +------------ pieces of a tile that ran out of memory

One object serves a whole run, however many tasks (blocks of reads, stages, rounds) it computes: rates, failures, lost
devices and the warnings already given stay known.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from tropalign.errors import DeviceError, ResourceError, TropalignError, TropalignWarning
from tropalign.execution.jobs import Job, naming
from tropalign.execution.job_queue import Ledger, pieces_of
from tropalign.execution.task import Device, FoldingTask, Progress, SplittableTask, Task, Tile, checked_progress

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
#: Failures in a row after which a device gets no more tiles.
MOST_FAILURES = 3
#: Seconds between looks at the clock and the progress.
TICK = 0.1
#: Seconds that the end of a run waits for a GPU that is still busy.
PATIENCE = 5.0


class Result(NamedTuple):
    """What a tile came to."""

    task: Task
    tile: Tile
    value: Any


class _Worker:
    """A thread of a device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.job: Job | None = None
        self.began = self.heard = 0.0  # when the job began, and the last sign of life
        self.items = 0  # begun, of the job
        self.is_lost = False


#: What comes after the last tile.
_END: Any = object()


class _Stopped(Exception):
    """The run ends: no more results are wanted."""


class Scheduler:
    """Computes tasks on devices, one after another, for the length of a run.

    Parameters
    ----------
    devices
        What computes. A single worker computes in the calling thread, so that Ctrl-C reaches it at once.
    progress
        Called with the number of items begun so far; never less than before.
    """

    def __init__(self, devices: Sequence[Device], progress: Progress | None = None) -> None:
        self._cpu = next((device for device in devices if device.name == "cpu"), None)
        self._workers = [_Worker(device) for device in devices for _ in range(device.n_workers)]
        self._progress = checked_progress(progress)
        self._most_reported = -1
        self._done = 0  # items
        self._rates: dict[str, float] = {}  # cells per second
        self._failures: dict[str, int] = {}  # in a row
        self._warned_of: set[str] = set()  # devices whose failure the user was warned of
        self._warnings: list[str] = []
        self._changed = threading.Condition()
        self._is_alone = len(self._workers) == 1
        self._begin(iter(()))

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
            Whether the caller needs the results in order. Here they always come so.

        Raises
        ------
        ResourceError
            A tile fits no device, or memory ran out, and the task cannot split the tile further.
        TropalignError
            A tile failed. The error names the tile.
        """
        self._begin(self._tiles_of(tasks, skip))
        threads = self._start_threads()
        try:
            while (job := self._next_job()) is not None:
                # What is handed over is not held while the next one is computed.
                yield Result(job.task, job.tile, _finished(self._await(job), finish))
        finally:
            self._end(threads)

    def _begin(self, source: Iterator[tuple[Task, Tile] | None]) -> None:
        self._source, self._is_exhausted = source, False
        self._jobs = Ledger()
        self._error: BaseException | None = None
        self._is_stopped = False

    def _start_threads(self) -> list[tuple[_Worker, threading.Thread]]:
        """A thread for each worker; a worker whose thread cannot be started does not take part."""
        if self._is_alone:
            return []
        threads = []
        for worker in self._workers:
            if worker.is_lost:
                continue
            thread = threading.Thread(target=self._work, args=(worker,), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system allows no more threads
                worker.is_lost = True
                continue
            threads.append((worker, thread))
        if not threads:
            self._work_alone()
        elif not any(worker.device is self._cpu for worker, _ in threads):
            self._cpu = None  # nobody would take what a GPU fails at
        return threads

    def _work_alone(self) -> None:
        """No thread can be started: the calling one works."""
        own = next((worker for worker in self._workers if worker.device is self._cpu), None)
        if own is None:
            raise DeviceError(f"{self._workers[0].device.name}: no thread can be started for it: end other programs")
        own.is_lost, self._workers, self._is_alone = False, [own], True

    def _end(self, threads: list[tuple[_Worker, threading.Thread]]) -> None:
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        for worker, thread in threads:
            if thread.is_alive() and not worker.is_lost:
                thread.join(None if worker.device is self._cpu else PATIENCE)
            worker.is_lost |= thread.is_alive()  # its result is of a run that has ended
            worker.job = None
        self._jobs.forget_results()
        self._source = iter(())  # what it reads is let go

    # What is known of the tiles to come. Tasks are asked in the caller's thread, without the condition: they may read.

    def _tiles_of(
        self, tasks: Iterable[Task], skip: Callable[[Tile], bool] | None
    ) -> Iterator[tuple[Task, Tile] | None]:
        for task in tasks:
            for tile in task.tiles():
                if tile is None:
                    yield None
                elif skip is not None and skip(tile):
                    with self._changed:
                        self._done += tile.n_items
                else:
                    yield task, tile

    def _look_ahead(self) -> None:
        """Learns of tiles to come, and splits them where a whole run has too few for its workers."""
        wanted = WINDOW * len(self._workers)
        while self._jobs.n_upcoming < wanted and not self._is_exhausted:
            entry = next(self._source, _END)
            if entry is _END:
                self._is_exhausted = True
                if not self._is_alone and self._jobs.n_known < wanted:
                    with self._changed:
                        self._jobs.split_upcoming(wanted, LEAST_CELLS)
            elif entry is None:
                break
            else:
                with self._changed:
                    self._jobs.add(*entry)

    def _next_job(self) -> Job | None:
        """The tile to be handed over next; None at the end of the run."""
        self._look_ahead()
        if not self._jobs.n_unclaimed:
            if not self._is_exhausted:
                raise RuntimeError(
                    "a task waits for a result, but all results have been handed over, those of skipped tiles aside"
                )
            return None
        with self._changed:
            # A lone worker computes nothing ahead of its reader.
            self._jobs.admit(1 if self._is_alone else AHEAD * len(self._workers))
            self._changed.notify_all()
            return self._jobs.claim_next()

    def _await(self, job: Job) -> Any:
        """The job's result, once it is there; meanwhile progress is reported and late devices are found."""
        while True:
            if self._is_alone:
                self._step(self._workers[0])
            with self._changed:
                if not self._jobs.is_ready(job.position) and self._error is None:
                    self._changed.wait(TICK)
                self._find_late()
                is_found = self._jobs.is_ready(job.position)
                if self._error is not None and not is_found:  # what is done before it is handed over, and kept
                    raise self._error
                result = self._jobs.hand_over(job.position) if is_found else None
                texts, self._warnings = self._warnings, []
            for text in texts:
                warnings.warn(text, TropalignWarning, stacklevel=3)
            self._report()
            if is_found:
                return result

    def _report(self) -> None:
        """Reports progress, never less than before: an attempt that failed takes nothing back."""
        with self._changed:  # else a tile that is just done counts twice
            items = self._done + sum(worker.items for worker in self._workers if worker.job is not None)
        if self._progress and items > self._most_reported:
            self._most_reported = items
            self._progress(items)

    def _report_while_computing(self) -> None:
        """The same in the midst of a tile: what the display raises is no failure of the tile."""
        try:
            self._report()
        except BaseException as error:
            self._error = self._error or error
            raise _Stopped from None

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
        with self._changed:
            if worker.is_lost or self._is_stopped:
                return False
            whole = None
            try:
                whole = self._settle(worker, job, *outcome)
            except BaseException as error:
                self._error = self._error or error
            worker.job = None
            self._changed.notify_all()
        while whole is not None:
            whole = self._join(whole)
        return True

    def _take(self, worker: _Worker) -> Job | None:
        """The next job for this worker, as soon as there is one; None at the end of the run."""
        with self._changed:
            while True:
                if self._is_stopped or self._error is not None or worker.is_lost or self._is_out(worker):
                    return None
                job = self._choose(worker)
                if job is not None:
                    self._jobs.take(job)
                    worker.job, worker.items = job, 0
                    worker.began = worker.heard = time.monotonic()
                    return job
                self._changed.wait()

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

    def _join(self, job: Job) -> Job | None:
        """Joins the pieces of a job, without the condition: it may copy much. Returns what is to be joined next."""
        assert isinstance(job.task, SplittableTask)
        results, job.results = job.results, []
        try:
            result = job.task.join(job.tile, results)
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()
            return None
        with self._changed:
            whole = self._jobs.finish(job, result)
            self._changed.notify_all()
        return whole

    # What follows runs with the condition held.

    def _is_out(self, worker: _Worker) -> bool:
        return self._failures.get(worker.device.name, 0) >= MOST_FAILURES

    def _choose(self, worker: _Worker) -> Job | None:
        """The job that the worker takes next; None when it had better wait."""
        is_cpu = worker.device is self._cpu
        if is_cpu and (failed := self._jobs.first_for_cpu()):
            return failed
        job = self._jobs.cheapest() if is_cpu and not self._is_alone else self._jobs.costliest()
        return job if job is not None and self._is_worth(worker, job) else None

    def _is_worth(self, worker: _Worker, job: Job) -> bool:
        """Whether this worker would have the job done before the others had all that is left done."""
        own = self._rates.get(worker.device.name)
        others = [w for w in self._workers if w.device is not worker.device and not w.is_lost and not self._is_out(w)]
        names = {worker.device.name for worker in others}
        rates = [self._rates[name] for name in names if name in self._rates]
        if own is None or len(rates) < max(len(names), 1) or not self._is_exhausted:
            return True
        running = sum(w.job.tile.cost_cells for w in others if w.job is not None) / 2
        # Never sooner than the fastest of them does this job alone: so the fastest device takes any.
        sooner = max((self._jobs.left_cells + running) / sum(rates), job.tile.cost_cells / max(rates))
        return job.tile.cost_cells / own <= sooner

    def _settle(self, worker: _Worker, job: Job, result: Any, error: BaseException | None) -> Job | None:
        """Files a job's result, or finds what becomes of one that failed. Returns a job whose pieces are all there."""
        name = worker.device.name
        if job.is_done:  # it was late, and has been done elsewhere
            return None
        if error is None:
            seconds = max(time.monotonic() - worker.began, 1e-6)
            rate = max(job.tile.cost_cells, 1) / seconds * self._n_busy(name)
            self._rates[name] = rate if name not in self._rates else NEWEST * rate + (1 - NEWEST) * self._rates[name]
            self._failures[name] = 0
            self._done += job.tile.n_items
            return self._jobs.finish(job, result)
        if isinstance(error, _Stopped):
            return None
        if isinstance(error, MemoryError | ResourceError) and (pieces := pieces_of(job)):
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
            self._warnings.append(
                f"{worker.device.name} failed at tile {job.tile.index} ({why}): the processor computes what it cannot"
            )

    def _find_late(self) -> None:
        """Gives up workers whose GPU has given no sign of life for far too long: the processor takes their jobs."""
        now = time.monotonic()
        for worker in self._workers:
            if worker.job is None or worker.is_lost or worker.device is self._cpu or self._is_alone:
                continue
            if now - worker.heard < LATE_SECONDS:
                continue
            worker.is_lost = True
            if self._cpu is None:
                self._error = DeviceError(f"{worker.device.name} does not answer: run again without it")
                return
            self._retry_on_cpu(worker, worker.job, "it does not answer")
            worker.job = None
            self._changed.notify_all()


def _finished(value: Any, finish: Callable[[Any], Any] | None) -> Any:
    return value if finish is None else finish(value)


def scheduler_of(devices: Sequence[Device], progress: Progress | None = None) -> Any:
    """What gives these devices their tiles: a `Scheduler`, or a `RemoteScheduler` where one is a cluster."""
    from tropalign.execution.cluster_pool import RemoteDevice, RemoteScheduler

    remote = next((device for device in devices if isinstance(device, RemoteDevice)), None)
    return Scheduler(devices, progress) if remote is None else RemoteScheduler(remote, progress)


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


__all__ = ["Result", "Scheduler", "folded", "scheduler_of"]
