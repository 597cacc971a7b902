"""Worker: claim a job, attempt it, record the outcome, and repeat.

    python -m tropalign.serve.work.worker < settings.json

It ends on SIGTERM, and with the process that started it; its job is then requeued with its parts.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tropalign import __version__
from tropalign.errors import ResourceError, shown
from tropalign.serve.records import Database, Job, Outcome, State
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.work.heartbeat import CANCEL, GO_ON, LOST, Heartbeat
from tropalign.serve.work.job_folder import JobFolder, worker_name
from tropalign.serve.work.launch import die_with

if TYPE_CHECKING:
    from tropalign.serve.storage import Storage

#: Seconds between attempts to claim a job: initial, maximum (takes a third of a second of processor time per
#: minute), and while the database is unavailable.
FIRST_PAUSE, MOST_PAUSE, AWAY_PAUSE = 0.02, 0.2, 2.0
PAUSE_GROWTH = 1.3
#: Seconds for which a stopping worker tries to report its job.
LAST_PATIENCE = 1.0


def settings_text(settings: Settings, parent: int, is_quiet: bool) -> str:
    """Return the text that a worker reads from its standard input."""
    facts = asdict(settings) | {
        "folder": str(settings.folder),
        "installed": None if settings.installed is None else str(settings.installed),
        "mail": None,  # workers send no mail, and need no password
    }
    return json.dumps({"settings": facts, "parent": parent, "is_quiet": is_quiet})


def settings_from(facts: dict[str, Any]) -> Settings:
    """Return the settings from their JSON form."""
    lists = {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
    paths = {name: Path(facts[name]) for name in ("folder", "installed") if facts.get(name) is not None}
    return Settings(**{**facts, **lists, **paths, "limits": Limits(**facts["limits"])})


class Worker:
    """Worker that claims jobs until `is_stopping`."""

    def __init__(self, storage: Storage, settings: Settings, is_stopping: Callable[[], bool], is_quiet: bool) -> None:
        self.storage, self.settings, self.is_stopping, self.is_quiet = storage, settings, is_stopping, is_quiet
        self.name = worker_name(os.getpid())

    def work(self) -> None:
        """Claim and attempt jobs until stopped."""
        pause = FIRST_PAUSE
        while not self.is_stopping():
            try:
                queue, most = self.storage.queue, self.settings.limits.running_per_user
                lease = self.settings.lease_seconds
                job = queue.claim(self.name, lease, most, __version__) if queue.has_work() else None
            except Exception as error:  # the database is unavailable
                self._log(f"the queue does not answer ({type(error).__name__})")
                time.sleep(AWAY_PAUSE)
                continue
            if job is None:
                time.sleep(pause)
                pause = min(pause * PAUSE_GROWTH, MOST_PAUSE)
            else:
                self.attempt(job)
                pause = FIRST_PAUSE

    def attempt(self, job: Job) -> None:
        """Attempt a job, and record the outcome."""
        begin = time.monotonic()
        folder = JobFolder(self.settings.folder / "work" / job.id)
        is_ours = False
        with Heartbeat(self.storage.queue, job.id, job.attempt, self.settings.lease_seconds) as heart:
            outcome, database = self._outcome(job, folder, heart)
            if outcome is not None:
                is_ours = self._report_with_retries(lambda: self._finish(job, folder, outcome, database))
            elif heart.order != LOST:
                self._report_with_retries(lambda: self.storage.queue.requeue(job.id, job.attempt, "its worker stopped"))
        if is_ours:
            folder.remove()
        elif outcome is not None or heart.order == LOST:
            try:
                self.storage.jobs.get(job.id)
            except KeyError:  # deleted: no other worker needs its folder
                folder.remove()
                self.storage.files.remove_these(file.digest or "" for file in (outcome.outputs if outcome else ()))
            except Exception:  # the database is unavailable: a later sweep checks again
                pass
        what = outcome.state.value if outcome else "stopped" if heart.order != LOST else "taken over by another worker"
        reason = f": {outcome.message}" if outcome is not None and outcome.message else ""
        self._log(f"job {job.id} ({job.verb}) of {job.owner}: {what} in {time.monotonic() - begin:.1f} s{reason}")

    def _outcome(self, job: Job, folder: JobFolder, heart: Heartbeat) -> tuple[Outcome | None, Database | None]:
        """Return the attempt's outcome (None if the job waits for another attempt) and the database that it built."""
        from tropalign.serve.work.attempt import EXIT_DEFECT, Attempt, Interrupted, defect, log_defect

        attempt = Attempt(self.storage, self.settings, job, folder, heart, self.is_stopping)
        try:
            return attempt.outcome(), attempt.database
        except Interrupted:
            return Outcome(State.CANCELLED, "it was cancelled") if heart.order == CANCEL else None, None
        except OSError as error:
            log_defect(job, f"{type(error).__name__}: {error}")
            sentence = f"the server could not store its files ({error.strerror}): tell its operator"
            return Outcome(State.FAILED, sentence, exit_code=ResourceError.exit_code), None
        except Exception:
            log_defect(job, traceback.format_exc())
            outcome = Outcome(State.FAILED, defect(job), exit_code=EXIT_DEFECT)
            return outcome if heart.order == GO_ON else None, None

    def _finish(self, job: Job, folder: JobFolder, outcome: Outcome, database: Database | None) -> bool:
        """Finish a job; store its outputs again if the deletion of another job has removed equal files."""
        for file in outcome.outputs:
            if not self.storage.files.holds(file.digest or ""):
                self.storage.files.add(folder.files / file.name)
        return self.storage.queue.finish(job.id, job.attempt, outcome, database)

    def _report_with_retries(self, tell: Callable[[], bool]) -> bool:
        """Report to the database; retry while it is unavailable and the job may still be this worker's."""
        begin = time.monotonic()
        while True:
            try:
                return tell()
            except Exception as error:
                patience = LAST_PATIENCE if self.is_stopping() else self.settings.lease_seconds
                if time.monotonic() > begin + patience:
                    self._log(f"the database does not answer ({type(error).__name__}): another attempt will record it")
                    return False
                time.sleep(FIRST_PAUSE * 10)

    def _log(self, sentence: str) -> None:
        if not self.is_quiet:
            print(f"tropalign: {shown(sentence)}", file=sys.stderr, flush=True)


def main() -> int:
    """Work with the settings from standard input."""
    given = json.loads(sys.stdin.read())
    told: list[int] = []
    parent: int = given["parent"]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: told.append(number))
    die_with(parent, signal.SIGTERM)
    from tropalign.serve.storage import Storage

    with Storage.open(settings := settings_from(given["settings"])) as storage:
        Worker(storage, settings, lambda: bool(told) or os.getppid() != parent, given["is_quiet"]).work()
    return 0


if __name__ == "__main__":
    sys.exit(main())
