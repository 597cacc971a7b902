"""The signs that a worker gives of a job: that it lives, and how far it is; and what it is told in answer."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any, Protocol

#: The record is not asked more often than this, and not written where nothing is new.
LEAST_PAUSE_SECONDS = 0.5
#: A cancelled job ends within this.
MOST_PAUSE_SECONDS = 2.0
TAIL_BYTES = 1 << 16
GO_ON, CANCEL, LOST = "go on", "cancel", "lost"


class Renewing(Protocol):
    """What of the queue is needed here."""

    def renew(
        self, id: str, attempt: int, lease_seconds: float, stage: str, progress: float | None
    ) -> str:  # pragma: no cover
        """Prolongs the lease of an attempt, and says whether it is still wanted."""
        ...


class StatusTail:
    """The newest line of a status file, of which only what is new is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._rest = b""
        self.forecast: dict[str, Any] | None = None
        self.has_ended = False  # all files are made
        self.failed: str | None = None  # why, where the command has a word for it

    def newest(self) -> dict[str, Any] | None:
        """What the last whole line says that came since the last time; forecasts and the end are kept beside."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, 2)
                if size < self._offset:  # a new command begins the file anew
                    self._offset, self._rest = 0, b""
                if size - self._offset > TAIL_BYTES:
                    self._offset, self._rest = size - TAIL_BYTES, b""
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return None
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        found = None
        for line in lines:
            fact = _object(line)
            if fact is not None and isinstance(fact.get("forecast"), dict):
                self.forecast = fact["forecast"]
            elif fact is not None and "ended" in fact:
                self.has_ended = True
            elif fact is not None and "failed" in fact:
                self.failed = str(fact["failed"])
            elif fact is not None:
                found = fact
        return found


def described(fact: dict[str, Any]) -> tuple[str, float | None]:
    """Words and share of a line of the status file."""
    if "stage" in fact:
        return str(fact["stage"])[:100], _share(fact.get("share"))
    unit, done, total = str(fact.get("unit", ""))[:60], fact.get("done"), fact.get("total")
    if not isinstance(done, int | float):
        return unit, None
    if not isinstance(total, int | float) or total <= 0:
        return f"{done:,.0f} {unit}", None
    return f"{done:,.0f} of {total:,.0f} {unit}", _share(done / total)


class Heartbeat:
    """Renews a lease in a thread of its own, so that a database that does not answer holds up no limit.

    Parameters
    ----------
    queue
        Whom to tell.
    id, attempt
        Of the job.
    lease_seconds
        After as long without an answer the job is lost.
    """

    def __init__(self, queue: Renewing, id: str, attempt: int, lease_seconds: float) -> None:
        self._queue, self._id, self._attempt, self._lease = queue, id, attempt, lease_seconds
        self.stage, self.progress = "", None  # type: tuple[str, float | None]
        self.order = GO_ON
        self._told: tuple[str, float | None] | None = None
        self._sure_until = time.monotonic() + lease_seconds
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join(self._lease)

    def tell(self, stage: str, progress: float | None) -> None:
        """Sets what the next sign says."""
        self.stage, self.progress = stage, progress

    @property
    def is_wanted(self) -> bool:
        """Whether the job is to go on."""
        if self.order == GO_ON and time.monotonic() > self._sure_until:
            self.order = LOST
        return self.order == GO_ON

    def _beat(self) -> None:
        last = -MOST_PAUSE_SECONDS
        pause = min(MOST_PAUSE_SECONDS, self._lease / 3)
        while not self._ends.wait(min(LEAST_PAUSE_SECONDS, pause)):
            news = (self.stage, self.progress)
            if news == self._told and time.monotonic() - last < pause:
                continue
            asked = time.monotonic()
            try:
                order = self._queue.renew(self._id, self._attempt, self._lease, *news)
            except Exception:  # the database is away: until the lease is over that is no reason to stop
                continue
            self._sure_until, self._told, last = asked + self._lease, news, asked
            if order != GO_ON:
                self.order = order
                return


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        fact = json.loads(line)
    except ValueError:
        return None
    return fact if isinstance(fact, dict) else None


def _share(value: Any) -> float | None:
    return min(max(float(value), 0.0), 1.0) if isinstance(value, int | float) else None
