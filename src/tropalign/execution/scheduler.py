"""Distribution of tiles over devices during a run; results come in the order of the tiles.

    tasks --tiles--> upcoming --> slots of devices --> ready results --> the caller, in order

A device has slots, each of which computes one tile at a time: the processor has one, a GPU as many as keep it
busy, a cluster as many as its workers have. A pool of workers fills the slots: threads of this process
(`ThreadPool`), or batches of tiles that are sent to a cluster (`cluster_pool`).

On this machine, tiles are taken in descending cost (longest processing time): GPUs take the costliest one, the
processor the cheapest (the scheme of PaPaRa 2, Alachiotis et al. 2012). A device with a known rate leaves a tile that
the other devices would finish sooner. If memory runs out, the tile is split and queued again. If a GPU fails, the
processor computes its tile.

    upcoming tiles -> queue (by cost) -> workers -> ready results
    WINDOW per worker  AHEAD per worker     |
                            ^               v
                            +---- pieces of a tile that ran out of memory

One object serves a whole run, including all its tasks (blocks of reads, stages, rounds): it keeps rates, failures,
lost devices and the warnings already shown.
"""

from __future__ import annotations

import threading
import time
import warnings
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import copy_context
from itertools import groupby
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tropalign.errors import DeviceError, ResourceError, TropalignError, TropalignWarning
from tropalign.execution.task import Device, FoldingTask, Progress, SplittableTask, Task, Tile, checked_progress, naming

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
        self.results: list[Any] = []  # one per piece
        self._number = number  # index among the parent's pieces
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
    """Queue of jobs, from upcoming tiles to ready results; it does not depend on threads, devices and clusters.

    source --look_ahead--> upcoming --admit--> queue (by cost) --take--> a device --finish--> ready --hand_over-->
                               |                     ^                     |
                               |                     +------- again -------+   pieces, and failures of another device
                               +--take_batch--> a cluster --finish--> ready

    It serves consecutive runs and is shared between threads. Callers hold `changed`, which wakes threads that wait for
    jobs or results; exceptions are `look_ahead` and `hand_over`, which belong to the thread that takes the results.

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
        """Fetch tiles until `wanted` are upcoming and `wanted_cells` are left; True if the source has just ended.

        The source may read files, so it is called without the lock.
        """
        while len(self._upcoming) < wanted or self.left_cells < wanted_cells:
            if self.is_exhausted or self._waits_at == self.n_given:
                return False  # the next tile depends on a result that is not handed over yet
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
        """Remove the job that a worker starts: the first one for the CPU, the costliest or the cheapest."""
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


#: Tiles that are known ahead per worker. If a run has fewer, they are split into pieces of at least LEAST_CELLS:
#: some milliseconds of work; handing over a tile takes less than one per cent of that (bench/queue_overhead.py).
WINDOW = 6
LEAST_CELLS = 200_000_000
#: Finished tiles per worker that may wait for an earlier one: ready results take memory.
AHEAD = 3
#: Weight of the latest tile in a device's rate.
NEWEST = 0.5
#: Seconds without a sign of life after which a GPU has failed.
LATE_SECONDS = 120.0
#: Consecutive failures after which a device, or a worker of a cluster, gets no more tiles.
MOST_FAILURES = 3
#: Seconds between checks of the clock and the progress.
TICK = 0.1
#: Seconds that the end of a run waits for a GPU that is still busy.
PATIENCE = 5.0


def averaged(rate: float | None, latest: float, weight: float) -> float:
    """Return the running average of a rate (cells per second), with this weight for the latest value."""
    return latest if rate is None else weight * latest + (1 - weight) * rate


class _Worker:
    """Thread of a device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.job: Job | None = None
        self.thread: threading.Thread | None = None  # thread of the current run
        self.began = self.heard = 0.0  # start of the job, and last sign of life
        self.items = 0  # items of the job that have begun
        self.is_lost = False


class _Stopped(Exception):
    """The run has ended: no more results are needed."""


class ThreadPool:
    """Threads of this process that compute the jobs of a queue on devices.

    The calling thread fills a single slot itself; `report` then reports progress within a tile.
    """

    def __init__(self, devices: Sequence[Device], jobs: JobQueue, report: Callable[[], None]) -> None:
        self._jobs, self._report = jobs, report
        self._cpu = next((device for device in devices if device.name == "cpu"), None)
        self._workers = [_Worker(device) for device in devices for _ in range(device.n_workers)]
        self._rates: dict[str, float] = {}  # cells per second
        self._failures: dict[str, int] = {}  # consecutive
        self._warned_of: set[str] = set()  # devices with a warning about their failure
        self._is_alone = len(self._workers) == 1
        self._error: BaseException | None = None
        self._is_stopped = False

    # Called in the scheduler's thread.

    def begin(self, finish: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        """Start a thread for each worker; the calling thread finishes results."""
        self._error, self._is_stopped = None, False
        for worker in self._workers if not self._is_alone else ():
            if worker.is_lost:
                continue
            worker.thread = threading.Thread(target=copy_context().run, args=(self._work, worker), daemon=True)
            try:
                worker.thread.start()
            except RuntimeError:  # the system allows no more threads: this worker is dropped
                worker.is_lost, worker.thread = True, None
        devices = [worker.device for worker in self._workers if worker.thread is not None]
        if not devices and not self._is_alone:  # no thread could be started: the calling thread works
            own = next((worker for worker in self._workers if worker.device is self._cpu), None)
            if own is None:
                raise DeviceError(
                    f"{self._workers[0].device.name}: the system starts no thread for this device: end other programs"
                )
            own.is_lost, self._workers, self._is_alone = False, [own], True
        elif self._cpu not in devices and not self._is_alone:
            self._cpu = None  # so that failures of a GPU are not queued for a missing CPU thread
        return finish

    def prepare(self) -> None:
        """Fetch upcoming tiles, split them if the run has too few for its workers, and queue some."""
        jobs, wanted = self._jobs, WINDOW * len(self._workers)
        is_end = jobs.look_ahead(wanted)
        with jobs.changed:
            if is_end and not self._is_alone and jobs.n_known < wanted:
                jobs.split_upcoming(wanted, LEAST_CELLS)
            # A lone worker computes nothing ahead of its reader.
            jobs.admit(1 if self._is_alone else AHEAD * len(self._workers))
            jobs.changed.notify_all()

    def advance(self) -> None:
        """Compute, or wait for the workers; meanwhile detect late devices."""
        if self._is_alone:
            self._step(self._workers[0])
        with self._jobs.changed:
            if not self._is_alone:
                if not self._jobs.is_ready() and self._error is None:
                    self._jobs.changed.wait(TICK)
                self._find_late()
            if self._error is not None and not self._jobs.is_ready():  # earlier results are handed over first
                raise self._error

    def items_begun(self) -> int:
        """Return the items begun in jobs that workers are computing."""
        return sum(worker.items for worker in self._workers if worker.job is not None)

    def end(self) -> None:
        """Stop the threads; a thread that hangs is abandoned with its device's slot."""
        with self._jobs.changed:
            self._is_stopped = True
            self._jobs.changed.notify_all()
        for worker in self._workers:
            if worker.thread is not None:
                if not worker.is_lost:
                    worker.thread.join(None if worker.device is self._cpu else PATIENCE)
                worker.is_lost |= worker.thread.is_alive()  # results of live threads belong to ended runs
                worker.job = worker.thread = None

    # Called in a worker's thread.

    def _work(self, worker: _Worker) -> None:
        while self._step(worker):
            pass

    def _step(self, worker: _Worker) -> bool:
        """Take a job, compute it and file the result; False if the worker should take no more."""
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
        """Wait for the next job of this worker; None at the end of the run."""
        with self._jobs.changed:
            while True:
                if self._is_stopped or self._error is not None or worker.is_lost or self._is_excluded(worker):
                    return None
                job = self._choose(worker)
                if job is not None:
                    self._jobs.take(job)
                    worker.job, worker.items = job, 0
                    worker.began = worker.heard = time.monotonic()
                    return job
                self._jobs.changed.wait()

    def _compute(self, worker: _Worker, job: Job) -> tuple[Any, BaseException | None]:
        """Return the job's result, or the exception."""

        def hear(items: int) -> None:
            worker.items, worker.heard = items, time.monotonic()
            if self._is_stopped or worker.is_lost:
                raise _Stopped
            if self._is_alone:
                try:
                    self._report()
                except BaseException as error:  # an error of the display, not of the tile
                    self._error = self._error or error
                    raise _Stopped from None

        try:
            return worker.device.compute(job.task, job.tile, hear), None
        except BaseException as error:
            if isinstance(error, MemoryError | ResourceError):
                error.__traceback__ = None  # a traceback keeps the attempt's memory alive
            return None, error

    def _join(self, job: Job) -> Job | None:
        """Join the pieces of a job without the lock, since it may copy much; return the next job to join."""
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

    # Called with the lock held.

    def _is_excluded(self, worker: _Worker) -> bool:
        return self._failures.get(worker.device.name, 0) >= MOST_FAILURES

    def _choose(self, worker: _Worker) -> Job | None:
        """Return the worker's next job; None if it should wait."""
        is_cpu = worker.device is self._cpu
        if is_cpu and (failed := self._jobs.first_for_cpu()):
            return failed
        job = self._jobs.choice(is_cheapest=is_cpu and not self._is_alone)
        return job if job is not None and self._is_worth(worker, job) else None

    def _is_worth(self, worker: _Worker, job: Job) -> bool:
        """True if this worker would finish the job before the other devices finish everything left."""
        own = self._rates.get(worker.device.name)
        others = [
            w for w in self._workers if w.device is not worker.device and not w.is_lost and not self._is_excluded(w)
        ]
        names = {worker.device.name for worker in others}
        rates = [self._rates[name] for name in names if name in self._rates]
        if own is None or len(rates) < max(len(names), 1) or not self._jobs.is_exhausted:
            return True
        running = sum(w.job.cost for w in others if w.job is not None) / 2
        # Never less than the fastest device's time for this job, so the fastest device takes any job.
        sooner = max((self._jobs.left_cells + running) / sum(rates), job.cost / max(rates))
        return job.cost / own <= sooner

    def _settle(self, worker: _Worker, job: Job, result: Any, error: BaseException | None) -> Job | None:
        """File a job's result or handle its failure; return a parent job if all its pieces are done."""
        name = worker.device.name
        if job.is_done:  # another worker was faster
            return None
        if error is None:
            seconds = max(time.monotonic() - worker.began, 1e-6)
            n_busy = sum(worker.device.name == name and worker.job is not None for worker in self._workers) or 1
            self._rates[name] = averaged(self._rates.get(name), job.cost / seconds * n_busy, NEWEST)
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

    def _retry_on_cpu(self, worker: _Worker, job: Job, why: str) -> None:
        job.is_for_cpu = True
        self._jobs.again(job)
        if worker.device.name not in self._warned_of:
            self._warned_of.add(worker.device.name)
            self._jobs.warnings.append(
                f"{worker.device.name} failed at tile {job.tile.index} ({why}): the CPU computes the tile"
            )

    def _find_late(self) -> None:
        """Abandon workers whose GPU has given no sign of life for too long: the processor takes their jobs."""
        now = time.monotonic()
        for worker in self._workers:
            if worker.job is None or worker.is_lost or worker.device is self._cpu or now - worker.heard < LATE_SECONDS:
                continue
            worker.is_lost = True
            if self._cpu is None:
                self._error = DeviceError(f"{worker.device.name} does not respond: run again without this device")
                return
            self._retry_on_cpu(worker, worker.job, "it does not respond")
            worker.job = None
            self._jobs.changed.notify_all()


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
