"""Heartbeat of a job: reports that its worker is alive and its progress, and receives orders."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any, Protocol

#: Minimum seconds between database updates that report news.
LEAST_PAUSE_SECONDS = 0.5
#: Maximum seconds until a cancelled job ends.
MOST_PAUSE_SECONDS = 2.0
TAIL_BYTES = 1 << 16
GO_ON, CANCEL, LOST = "go on", "cancel", "lost"


class Renewing(Protocol):
    """The part of the queue that is needed here."""

    def renew(
        self, id: str, attempt: int, lease_seconds: float, stage: str, progress: float | None
    ) -> str:  # pragma: no cover
        """Renew the lease of an attempt, and return whether it is still wanted."""
        ...


class StatusTail:
    """Reader of a status file that reads only new lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._rest = b""
        self.forecast: dict[str, Any] | None = None
        self.has_ended = False  # all files are made
        self.failed: str | None = None  # reason, if the command has a name for it

    def newest(self) -> dict[str, Any] | None:
        """Return the last complete new line; forecast, end and failure are stored as attributes."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, 2)
                if size < self._offset:  # a new command has restarted the file
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
    """Return text and share for a line of the status file."""
    if "stage" in fact:
        return str(fact["stage"])[:100], _share(fact.get("share"))
    unit, done, total = str(fact.get("unit", ""))[:60], fact.get("done"), fact.get("total")
    if not isinstance(done, int | float):
        return unit, None
    if not isinstance(total, int | float) or total <= 0:
        return f"{done:,.0f} {unit}", None
    return f"{done:,.0f} of {total:,.0f} {unit}", _share(done / total)


class Heartbeat:
    """Renewal of a lease in its own thread, so that an unresponsive database does not delay checks of limits.

    After `lease_seconds` without an answer, the job is lost.
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
        """Set the stage and progress of the next report."""
        self.stage, self.progress = stage, progress

    @property
    def is_wanted(self) -> bool:
        """True if the job should continue."""
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
            except Exception:  # the database is unavailable: continue until the lease ends
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
