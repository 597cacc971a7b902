"""The workers of a server: started, watched, started again where they die, and ended."""

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
#: A worker that dies soon after its start is started again after a pause, which doubles.
SOON_SECONDS, FIRST_PAUSE, MOST_PAUSE = 10.0, 0.2, 30.0
#: How long workers may take to end: what they give a command, and a little.
END_SECONDS = 6.5
#: How often it is said how many workers live; and how often jobs are looked for whose awaited jobs have ended, which
#: workers do, too, unless all are busy.
TELL_SECONDS, SETTLE_SECONDS = 10.0, 2.0
#: Folders of jobs that were deleted or ended otherwise are looked for as often, and files that nothing has, which are
#: what a server left that was killed while it deleted, as seldom.
SWEEP_SECONDS, TIDY_SECONDS = 60.0, 6 * 3600.0
#: A file that nothing has is left alone for so long: what wants it may be on its way.
GRACE_SECONDS = 24 * 3600.0


class Crew:
    """Worker processes and the thread that looks after them.

    The kernel tells a worker when the thread that started it ends, so one thread does all of it.

    Parameters
    ----------
    storage
        Where the queue is.
    settings
        How many workers, and what they are told.
    is_quiet
        No lines about jobs.
    keeps_files
        Whether files that no job has are removed here: one server does that.
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
        """Starts the workers; what dead ones held is queued again before."""
        self._reclaim()
        self._sweep()
        self._thread.start()

    def n_living(self) -> int:
        """Workers that live."""
        return sum(place.process is not None for place in self._places)

    def stop(self) -> None:
        """Ends the workers, whose jobs are queued again, and waits for that; asked again, not for longer."""
        if not self._ends.is_set():
            self._end_until = time.monotonic() + END_SECONDS + 1
            self._ends.set()
        self._thread.join(max(0.0, self._end_until - time.monotonic()))

    def _look_after(self) -> None:
        places = self._places = [_Place(self) for _ in range(self._settings.n_workers)]
        pause = max(1.0, self._settings.lease_seconds / 3)
        reclaimed = swept = time.monotonic()
        told: tuple[float, int] = (-math.inf, -1)
        settled = tidied = -math.inf  # once at the start: not every server lives for hours
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
        """A new worker, in a session of its own: Ctrl-C is told to the server alone."""
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
        except OSError:  # it died already, which the next look finds
            pass
        return process

    def say(self, sentence: str) -> None:
        """A line for the operator."""
        if not self._is_quiet:
            print(f"tropalign: {shown(sentence)}", file=sys.stderr, flush=True)

    def _tell(self) -> int:
        """Says how many workers live, for those who wait."""
        n = self.n_living()
        self._quietly(lambda: self._storage.waits.tell(self._name, n))
        return n

    def _quietly(self, do: Callable[[], None]) -> None:
        """Does what is done again soon; where the database is away, `_reclaim` says so."""
        with suppress(Exception):
            do()

    def _reclaim(self) -> None:
        try:
            n = self._storage.queue.reclaim(is_alive)
        except Exception as error:  # the database is away
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
        except Exception as error:  # the database is away, or the disk
            self.say(f"unused files were not removed ({type(error).__name__})")
            return
        if n_jobs:
            self.say(f"deleted {counted(n_jobs, 'old jobs')} (--keep-days {keep_days:g})")
        if n:
            self.say(f"removed {counted(n, 'files that nothing uses')}")

    def _sweep(self) -> None:
        """Removes the folders of jobs that are over or deleted, and ends what still computes them."""
        work = self._settings.folder / "work"
        for path in sorted(work.iterdir()) if work.is_dir() else ():
            try:
                is_over = self._storage.jobs.get(path.name).state.is_final
            except KeyError:
                is_over = True
            except Exception:  # the database is away: next time
                return
            if is_over:
                folder = JobFolder(path)
                try:
                    folder.end_others()
                except RuntimeError:
                    continue
                folder.remove()


class _Place:
    """A worker's place, which is taken again when it dies."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._pause = FIRST_PAUSE
        self._begin(time.monotonic())

    def _begin(self, now: float) -> None:
        self._since = now
        self._next: float | None = None
        self.process: subprocess.Popen[bytes] | None = self._crew.started_worker()

    def look(self) -> bool:
        """Starts a worker where it is time; True where the last one has just died."""
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
