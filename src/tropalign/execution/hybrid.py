"""Several devices at one task: each takes the next tile that it may, and results come in the order of the tiles.

Tiles are taken in descending cost (longest processing time): GPUs take the costliest one, the processor the cheapest
(the scheme of PaPaRa 2, Alachiotis et al. 2012). A device whose rate is known leaves a tile that the others would have
done sooner. Out of memory: the tile is halved and queued again. A GPU that fails has its tile done by the processor.
"""

from __future__ import annotations

import threading
import time
import warnings
from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tropalign.devices.registry import Device
from tropalign.errors import DeviceError, ResourceError, TropalignError, TropalignWarning
from tropalign.execution.task import Progress, SplittableTask, Task, Tile
from tropalign.machine.memory import human

#: Work for each worker at the least, if tiles can be split, and what a piece costs at the least.
PIECES_A_WORKER = 6
LEAST_CELLS = 200_000_000
#: Tiles that may be done before the next one to be handed on, for each worker: what lies ready takes memory.
AHEAD = 3
#: Weight of the latest tile in a device's rate.
NEWEST = 0.5
#: A GPU that tells of no progress for as many seconds has failed.
LATE_SECONDS = 120.0
#: Failures in a row after which a device gets no more tiles.
MOST_FAILURES = 3
#: Seconds between looks at the clock and the progress.
TICK = 0.1
#: Seconds that the end of a run waits for a GPU that is still busy.
PATIENCE = 5.0


@contextmanager
def naming(tile: Tile) -> Iterator[None]:
    """Errors in this block name the tile and say what to do."""
    named = f"tile {tile.index} ({tile.n_items} item{'s' * (tile.n_items != 1)}, about {human(tile.n_bytes)})"
    try:
        yield
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        smaller = "allow less with --memory, so that tiles are smaller"
        remedy = smaller if tile.n_items > 1 else "run this one where more memory is free, or leave it out"
        raise ResourceError(f"{named} ran out of memory{why}: {remedy}", needed_bytes=tile.n_bytes) from None
    except TropalignError as error:
        error.args = (f"{named}: {error}",)
        raise
    except Exception as error:
        raise TropalignError(f"{named} failed with {type(error).__name__}: {error}") from error


@dataclass(eq=False)
class _Job:
    """A tile, or a piece of one."""

    tile: Tile
    parent: _Job | None = None
    place: int = 0  # among the parent's pieces
    results: list[Any] = field(default_factory=list)
    missing: int = 0  # pieces
    cpu_only: bool = False
    is_done: bool = False

    @property
    def root(self) -> _Job:
        return self if self.parent is None else self.parent.root


@dataclass(eq=False)
class _Worker:
    """A thread of a device."""

    device: Device
    job: _Job | None = None
    began: float = 0.0
    heard: float = 0.0  # when it last told of progress
    items: int = 0  # begun, of the job
    is_lost: bool = False


class _Stopped(Exception):
    """The run ends: no more results are wanted."""


class Hybrid:
    """One run of a task's tiles over devices.

    Parameters
    ----------
    tiles
        In the order of their results.
    done
        Items that count as done before.
    """

    def __init__(
        self, task: Task, tiles: Sequence[Tile], devices: Sequence[Device], progress: Progress | None, done: int = 0
    ) -> None:
        self._task, self._tiles, self._progress, self._done = task, list(tiles), progress, done
        self._cpu = next((device for device in devices if device.name == "cpu"), None)
        self._workers = [_Worker(device) for device in devices for _ in range(device.n_workers)]
        self._changed = threading.Condition()
        self._queue: list[_Job] = []  # by descending cost
        self._for_cpu: deque[_Job] = deque()  # what a GPU failed at
        self._waiting = deque(self._first_jobs())  # in the order of the results, until they may begin
        self._left_cells = sum(job.tile.cost_cells for job in self._waiting)  # of all three
        self._ready: dict[int, Any] = {}
        self._next = 0  # position of the next tile to be handed on
        self._position = {tile.index: k for k, tile in enumerate(self._tiles)}
        self._rates: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._told_of: set[str] = set()  # devices whose failure the user knows of
        self._warnings: list[str] = []
        self._error: BaseException | None = None
        self._stopped = False

    def run(self) -> Iterator[tuple[Tile, Any]]:
        """Tiles with their results, in order. Raises what `queue.run` says."""
        threads = [threading.Thread(target=self._work, args=(w,), daemon=True) for w in self._workers]
        try:
            for thread in threads:
                thread.start()
            for tile in self._tiles:
                yield tile, self._await(tile)
        finally:
            with self._changed:
                self._stopped = True
                self._changed.notify_all()
            for thread, worker in zip(threads, self._workers, strict=True):
                if thread.is_alive() and not worker.is_lost:
                    thread.join(None if worker.device is self._cpu else PATIENCE)

    def _await(self, tile: Tile) -> Any:
        """The tile's result, once it is there; meanwhile progress is told and late tiles are found."""
        while True:
            with self._changed:
                if tile.index not in self._ready and self._error is None:
                    self._changed.wait(TICK)
                if self._error is not None:
                    raise self._error
                self._find_late()
                items = self._done + sum(worker.items for worker in self._workers if worker.job is not None)
                found = tile.index in self._ready
                result = self._ready.pop(tile.index, None)
                if found:
                    self._next += 1
                    self._admit()
                    self._changed.notify_all()
                texts, self._warnings = self._warnings, []
            for text in texts:
                warnings.warn(text, TropalignWarning, stacklevel=2)
            if self._progress:
                self._progress(items)
            if found:
                return result

    # What follows runs with the condition held, but for _work, _join and _compute.

    def _first_jobs(self) -> list[_Job]:
        """A job a tile; smaller ones where the tiles are fewer than workers need."""
        jobs = [_Job(tile) for tile in self._tiles]
        wanted = PIECES_A_WORKER * len(self._workers)
        leaves = list(jobs)
        while isinstance(self._task, SplittableTask) and 0 < len(leaves) < wanted:
            largest = max(leaves, key=lambda job: job.tile.cost_cells)
            pieces = self._pieces(largest) if largest.tile.cost_cells >= 2 * LEAST_CELLS else []
            if not pieces:
                break
            at = leaves.index(largest)
            leaves[at : at + 1] = pieces
        return leaves

    def _pieces(self, job: _Job) -> list[_Job]:
        """The job's tile split in jobs of their own; none when it cannot be split."""
        if not isinstance(self._task, SplittableTask):
            return []
        tiles = self._task.split(job.tile)
        job.results, job.missing = [None] * len(tiles), len(tiles)
        return [_Job(tile, job, k, cpu_only=job.cpu_only) for k, tile in enumerate(tiles)]

    def _admit(self) -> None:
        """Queues the jobs whose tiles may begin now."""
        last = self._next + AHEAD * len(self._workers)
        while self._waiting and self._position[self._waiting[0].tile.index] < last:
            self._enqueue(self._waiting.popleft())

    def _enqueue(self, job: _Job) -> None:
        if job.cpu_only:
            self._for_cpu.append(job)
        else:
            insort(self._queue, job, key=lambda job: -job.tile.cost_cells)

    def _enqueue_again(self, job: _Job) -> None:
        self._left_cells += job.tile.cost_cells
        self._enqueue(job)

    def _work(self, worker: _Worker) -> None:
        """A worker's thread."""
        while (job := self._take(worker)) is not None:
            outcome = self._compute(worker, job)
            with self._changed:
                if worker.is_lost or self._stopped:
                    return
                whole = None
                try:
                    whole = self._settle(worker, job, *outcome)
                except BaseException as error:
                    self._error = self._error or error
                worker.job = None
                self._changed.notify_all()
            while whole is not None:
                whole = self._join(whole)

    def _join(self, job: _Job) -> _Job | None:
        """Joins the pieces of a job, without the condition: it may copy much. Returns what is to be joined next."""
        assert isinstance(self._task, SplittableTask)
        results, job.results = job.results, []
        try:
            result = self._task.join(job.tile, results)
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()
            return None
        with self._changed:
            whole = self._finish(job, result)
            self._changed.notify_all()
        return whole

    def _take(self, worker: _Worker) -> _Job | None:
        """The next job for this worker, as soon as there is one; None at the end of the run."""
        with self._changed:
            self._admit()
            while True:
                if self._stopped or self._error is not None or self._is_out(worker):
                    return None
                job = self._choose(worker)
                if job is not None:
                    self._left_cells -= job.tile.cost_cells
                    worker.job, worker.items = job, 0
                    worker.began = worker.heard = time.monotonic()
                    return job
                self._changed.wait()

    def _is_out(self, worker: _Worker) -> bool:
        return self._failures.get(worker.device.name, 0) >= MOST_FAILURES

    def _choose(self, worker: _Worker) -> _Job | None:
        """Takes the worker's next job out of its queue; None when it had better wait."""
        is_cpu = worker.device is self._cpu
        if is_cpu and self._for_cpu:
            return self._for_cpu.popleft()
        at = -1 if is_cpu else 0
        return self._queue.pop(at) if self._queue and self._is_worth(worker, self._queue[at]) else None

    def _is_worth(self, worker: _Worker, job: _Job) -> bool:
        """Whether this worker would have the job done before the others had all that is left done."""
        own = self._rates.get(worker.device.name)
        others = [w for w in self._workers if w.device is not worker.device and not w.is_lost and not self._is_out(w)]
        names = {worker.device.name for worker in others}
        rates = [self._rates[name] for name in names if name in self._rates]
        if own is None or len(rates) < max(len(names), 1):
            return True
        running = sum(w.job.tile.cost_cells for w in others if w.job is not None) / 2
        # Never sooner than the fastest of them does this job alone: so the fastest device takes any.
        sooner = max((self._left_cells + running) / sum(rates), job.tile.cost_cells / max(rates))
        return job.tile.cost_cells / own <= sooner

    def _compute(self, worker: _Worker, job: _Job) -> tuple[Any, BaseException | None]:
        """The job's result, or what went wrong."""

        def told(items: int) -> None:
            worker.items, worker.heard = items, time.monotonic()
            if self._stopped or worker.is_lost:
                raise _Stopped

        try:
            return worker.device.compute(self._task, job.tile, told), None
        except BaseException as error:
            error.__traceback__ = None  # which would keep the attempt's memory alive
            return None, error

    def _settle(self, worker: _Worker, job: _Job, result: Any, error: BaseException | None) -> _Job | None:
        """Files a job's result, or finds what becomes of one that failed. Returns a job whose pieces are all there."""
        name = worker.device.name
        if job.is_done:  # it was late, and has been done elsewhere
            return None
        if error is None:
            seconds = max(time.monotonic() - worker.began, 1e-6)
            rate = max(job.tile.cost_cells, 1) / seconds * self._sharing(name)
            self._rates[name] = rate if name not in self._rates else NEWEST * rate + (1 - NEWEST) * self._rates[name]
            self._failures[name] = 0
            self._done += job.tile.n_items
            return self._finish(job, result)
        if isinstance(error, _Stopped):
            return None
        if isinstance(error, MemoryError | ResourceError) and (pieces := self._pieces(job)):
            for piece in pieces:
                self._enqueue_again(piece)
            return None
        if worker.device is self._cpu or self._cpu is None or isinstance(error, KeyboardInterrupt):
            with naming(job.root.tile):
                raise error
        self._retry_on_cpu(worker, job, str(error) or type(error).__name__)
        if not isinstance(error, MemoryError | ResourceError):
            self._failures[name] = self._failures.get(name, 0) + 1
        return None

    def _sharing(self, name: str) -> int:
        """Workers of that device that are busy: each has a share of its rate."""
        return sum(worker.device.name == name and worker.job is not None for worker in self._workers) or 1

    def _retry_on_cpu(self, worker: _Worker, job: _Job, why: str) -> None:
        job.cpu_only = True
        self._enqueue_again(job)
        if worker.device.name not in self._told_of:
            self._told_of.add(worker.device.name)
            self._warnings.append(
                f"{worker.device.name} failed at tile {job.tile.index} ({why}): the processor computes what it cannot"
            )

    def _finish(self, job: _Job, result: Any) -> _Job | None:
        """Hands a result on, or to the tile that the job is a piece of; returns that if it was the last piece."""
        job.is_done = True
        parent = job.parent
        if parent is None:
            self._ready[job.tile.index] = result
            return None
        parent.results[job.place] = result
        parent.missing -= 1
        return parent if parent.missing == 0 else None

    def _find_late(self) -> None:
        """Gives up workers whose GPU has not answered for far too long: their jobs go to the processor."""
        now = time.monotonic()
        for worker in self._workers:
            if worker.job is None or worker.is_lost or worker.device is self._cpu:
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
