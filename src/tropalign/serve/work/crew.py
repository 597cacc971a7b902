"""Crew of a server: start, watch, restart and stop its workers."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tropalign.errors import counted, shown
from tropalign.serve.settings import Settings
from tropalign.serve.work.job_folder import JobFolder
from tropalign.serve.work.system_processes import is_alive, worker_name
from tropalign.serve.work.worker import settings_text

if TYPE_CHECKING:
    from tropalign.serve.storage import Storage

LOOK_SECONDS = 0.2
#: Restart delays of a worker that dies soon after its start: doubling, up to a maximum.
SOON_SECONDS, FIRST_PAUSE, MOST_PAUSE = 10.0, 0.2, 30.0
#: Time limit for workers to end: a command's grace period and a margin.
END_SECONDS = 6.5
#: Interval of reporting the number of living workers, and of settling jobs whose awaited jobs have ended (workers
#: also do this, unless all are busy).
TELL_SECONDS, SETTLE_SECONDS = 10.0, 2.0
#: Interval of sweeping folders of deleted or ended jobs, and of removing unused files, which a server leaves if it
#: is killed during a deletion.
SWEEP_SECONDS, TIDY_SECONDS = 60.0, 6 * 3600.0
#: Minimum age of unused files that are removed: a job that needs one may not be submitted yet.
GRACE_SECONDS = 24 * 3600.0


class Crew:
    """Worker processes and the thread that manages them.

    The kernel signals a worker when the thread that started it ends, so a single thread does everything.
    With `keeps_files`, unused files are removed here; only one server does so.
    """

    def __init__(self, storage: Storage, settings: Settings, is_quiet: bool, keeps_files: bool = False) -> None:
        self._storage, self._settings, self._is_quiet = storage, settings, is_quiet
        self._keeps_files = keeps_files
        self._name = worker_name(os.getpid())
        self._places: list[_Place] = []
        self._ends = threading.Event()
        self._end_until = 0.0
        self._thread = threading.Thread(target=self._look_after, daemon=True)

    def start(self) -> None:
        """Requeue jobs of dead workers, then start the workers."""
        self._reclaim()
        self._sweep()
        self._thread.start()

    def n_living(self) -> int:
        """Return the number of living workers."""
        return sum(place.process is not None for place in self._places)

    def stop(self) -> None:
        """Stop the workers, whose jobs are requeued, and wait; further calls do not extend the time limit."""
        if not self._ends.is_set():
            self._end_until = time.monotonic() + END_SECONDS + 1
            self._ends.set()
        self._thread.join(max(0.0, self._end_until - time.monotonic()))

    def _look_after(self) -> None:
        places = self._places = [_Place(self) for _ in range(self._settings.n_workers)]
        pause = max(1.0, self._settings.lease_seconds / 3)
        reclaimed = swept = time.monotonic()
        told: tuple[float, int] = (-math.inf, -1)
        settled = tidied = -math.inf  # once at the start: some servers run only for a short time
        while not self._ends.wait(LOOK_SECONDS if places else 1.0):
            deaths = [place.look() for place in places]
            now = time.monotonic()
            if any(deaths) or now - reclaimed > pause:
                reclaimed = now
                self._reclaim()
            if now - told[0] > TELL_SECONDS or self.n_living() != told[1]:
                told = now, self._tell()
            if now - settled > SETTLE_SECONDS:
                settled = now
                self._quietly(self._storage.queue.settle)
            if now - swept > SWEEP_SECONDS:
                swept = now
                self._sweep()
            if self._keeps_files and now - tidied > TIDY_SECONDS:
                tidied = now
                self._tidy()
        self._quietly(lambda: self._storage.waits.leave(self._name))
        _end([place.process for place in places if place.process is not None])

    def started_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker in its own session, so that Ctrl-C reaches only the server."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tropalign.serve.work.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(settings_text(self._settings, os.getpid(), self._is_quiet).encode())
            process.stdin.close()
        except OSError:  # it has already died, which the next check finds
            pass
        return process

    def say(self, sentence: str) -> None:
        """Print a line for the operator."""
        if not self._is_quiet:
            print(f"tropalign: {shown(sentence)}", file=sys.stderr, flush=True)

    def _tell(self) -> int:
        """Report the number of living workers, for waiting users."""
        n = self.n_living()
        self._quietly(lambda: self._storage.waits.tell(self._name, n))
        return n

    def _quietly(self, do: Callable[[], None]) -> None:
        """Do something that will be repeated soon, ignoring errors; `_reclaim` reports an unavailable database."""
        with suppress(Exception):
            do()

    def _reclaim(self) -> None:
        try:
            n = self._storage.queue.reclaim(is_alive)
        except Exception as error:  # the database is unavailable
            self.say(f"the queue does not answer ({type(error).__name__}: {str(error)[:200]})")
            return
        if n:
            self.say(f"{n} interrupted {'job waits' if n == 1 else 'jobs wait'} again")

    def _tidy(self) -> None:
        keep_days, n_jobs = self._settings.keep_days, 0
        try:
            if keep_days is not None:
                n_jobs = self._storage.delete_old_jobs(keep_days)
            n = self._storage.tidy(GRACE_SECONDS)
        except Exception as error:  # the database or the disk is unavailable
            self.say(f"unused files were not removed ({type(error).__name__})")
            return
        if n_jobs:
            self.say(f"deleted {counted(n_jobs, 'old jobs')} (--keep-days {keep_days:g})")
        if n:
            self.say(f"removed {counted(n, 'files that nothing uses')}")

    def _sweep(self) -> None:
        """Remove folders of ended or deleted jobs, and end processes that still compute them."""
        work = self._settings.folder / "work"
        for path in sorted(work.iterdir()) if work.is_dir() else ():
            try:
                is_over = self._storage.jobs.get(path.name).state.is_final
            except KeyError:
                is_over = True
            except Exception:  # the database is unavailable: next time
                return
            if is_over:
                folder = JobFolder(path)
                try:
                    folder.end_others()
                except RuntimeError:
                    continue
                folder.remove()


class _Place:
    """Place of a worker, refilled when the worker dies."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._pause = FIRST_PAUSE
        self._begin(time.monotonic())

    def _begin(self, now: float) -> None:
        self._since = now
        self._next: float | None = None
        self.process: subprocess.Popen[bytes] | None = self._crew.started_worker()

    def look(self) -> bool:
        """Start a worker if it is time; True if the last one has just died."""
        now = time.monotonic()
        if self.process is None:
            if self._next is not None and now >= self._next:
                self._begin(now)
            return False
        code = self.process.poll()
        if code is None:
            return False
        self._pause = min(self._pause * 2, MOST_PAUSE) if now - self._since < SOON_SECONDS else FIRST_PAUSE
        self._crew.say(f"a worker ended (exit {code}); the next one starts in {self._pause:.1f} s")
        self.process, self._next = None, now + self._pause
        return True


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    until = time.monotonic() + END_SECONDS
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
