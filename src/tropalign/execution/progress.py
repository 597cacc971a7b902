"""Progress of a run: on a terminal's standard error, and as JSON lines in the file that TROPALIGN_STATUS names.

    {"unit": "pairs", "done": 120, "total": 500}
    {"stage": "posteriors", "share": 0.4}
    {"forecast": {"cells": 8000000, "items": 500, "seconds": 0.1, "memory_bytes": 70000000, "output_bytes": [40000]}}
    {"ended": true}
    {"failed": "other-parts"}

`unit` is the kind of item, `total` is null if unknown in advance, `share` ranges from 0 to 1.
`ended` means that a command has made all of its files; it is missing if the command failed or was killed. `failed`
reports failures that a monitoring program may be able to fix: `OTHER_PARTS` and `DISK_FULL`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from tropalign.errors import UsageError, counted, shown
from tropalign.execution.task import Progress

#: Opens a display for items of a unit, with their total number (None: unknown).
Show = Callable[[str, int | None], AbstractContextManager[Progress | None]]


#: Callback with the name of a stage and the completed share of all work.
StageProgress = Callable[[str, float], object]


def check_stages(progress: Any) -> None:
    """Raise UsageError if a caller's progress of stages is not callable."""
    if progress is not None and not callable(progress):
        given = shown(repr(progress)[:80])
        raise UsageError(f"progress {given} is not a function: give one that takes the name of a stage and a share")


#: Variable with the file where programs read a command's progress, with or without a terminal.
STATUS = "TROPALIGN_STATUS"
#: Names of failures in that file: the directory of parts holds those of another run; the disk is full, or
#: a file has reached its maximum size.
OTHER_PARTS, DISK_FULL = "other-parts", "disk-full"
#: Minimum seconds between lines, growing to 2 so that the file of a long run stays small.
_PAUSE, _MOST_PAUSE, _LINES = 0.2, 2.0, 500


@contextmanager
def no_progress(unit: str, total: int | None) -> Iterator[Progress | None]:
    """Yield None: no display."""
    yield None


@contextmanager
def status_only(unit: str, total: int | None) -> Iterator[Progress | None]:
    """Yield the callback for the number of items begun; None if there is no status file."""
    with _status() as tell:
        if tell is None:
            yield None
            return
        whole = None if total is None else int(total)
        tell({"unit": unit, "done": 0, "total": whole})
        yield lambda done: tell({"unit": unit, "done": int(done), "total": whole})


def tell_forecast(found: Mapping[str, Any]) -> None:
    """Write a forecast to the status file, if there is one."""
    with _status() as tell:
        if tell is not None:
            tell({"forecast": dict(found)})


def tell_end() -> None:
    """Report in the status file, if there is one, that all files of a command are complete."""
    with _status() as tell:
        if tell is not None:
            tell({"ended": True})


def tell_failure(failure: str) -> None:
    """Write the reason of a failure to the status file, if there is one."""
    with _status() as tell:
        if tell is not None:
            tell({"failed": failure})


class _Status:
    """Rate-limited status file: the first report is written immediately, the last one always."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lock = threading.Lock()
        self._begin = time.monotonic()
        self._next = self._begin
        self._is_closed = False
        self._waiting: Mapping[str, Any] | None = None

    def tell(self, report: Mapping[str, Any]) -> None:
        with self._lock:
            now = time.monotonic()
            self._waiting = report
            if now >= self._next and not self._is_closed:
                self._write()
                self._next = now + min(_MOST_PAUSE, max(_PAUSE, (now - self._begin) / _LINES))

    def _write(self) -> None:
        if self._waiting is not None:
            line, self._waiting = f"{json.dumps(self._waiting)}\n", None
            with suppress(OSError):  # the run's own files report a full disk
                os.write(self._file, line.encode())

    def close(self) -> None:
        with self._lock:
            self._write()
            self._is_closed = True
            os.close(self._file)


#: True if another thread's report covers this thread's work.
_unwatched = threading.local()


@contextmanager
def unwatched() -> Iterator[None]:
    """Suppress this thread's status reports in the block."""
    _unwatched.is_so = True
    try:
        yield
    finally:
        _unwatched.is_so = False


@contextmanager
def _status() -> Iterator[Callable[[Mapping[str, Any]], None] | None]:
    """Yield the function that takes reports; None if there is no status file or it cannot be written."""
    path = None if getattr(_unwatched, "is_so", False) else os.environ.get(STATUS)
    status = None
    with suppress(OSError, ValueError):
        status = _Status(path) if path else None
    try:
        yield None if status is None else status.tell
    finally:
        if status is not None:
            status.close()


@contextmanager
def progress_bar(unit: str, total: int | None) -> Iterator[Progress | None]:
    """Yield the callback for the number of items begun; None if there is neither a status file nor a terminal."""
    kind = "counted" if total is None else "items"
    with status_only(unit, total) as count, _bar(kind, unit, total=total, done=counted(0, unit)) as update:
        if update is None:
            yield count
            return

        def report(done: int) -> None:
            if count is not None:
                count(done)
            update(completed=done, done=counted(int(done), unit))

        yield report


@contextmanager
def stage_bar(is_quiet: bool = False) -> Iterator[StageProgress | None]:
    """Yield the callback for stages and shares; None if there is neither a status file nor a terminal."""
    with _status() as tell, nullcontext() if is_quiet else _bar("stages", "", total=1.0) as update:
        if tell is None and update is None:
            yield None
            return

        def report(stage: str, share: float) -> None:
            if tell is not None:
                tell({"stage": stage, "share": round(float(share), 4)})
            if update is not None:
                update(description=stage, completed=share)

        yield report


@contextmanager
def _bar(kind: str, description: str, **fields: Any) -> Iterator[Callable[..., object] | None]:
    """Show a bar of items, of an unknown number of items ("counted") or of stages, if standard error is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    of_all = progress.TextColumn("{task.completed:,.0f}/{task.total:,.0f}")
    remaining, bar_column = progress.TimeRemainingColumn(), progress.BarColumn()
    done, elapsed = progress.TextColumn("{task.fields[done]}"), progress.TimeElapsedColumn()
    stage = progress.TextColumn("{task.description:<15}")
    columns: dict[str, tuple[progress.ProgressColumn, ...]] = {
        "counted": (progress.SpinnerColumn(), done, elapsed),
        "items": (progress.TextColumn("{task.description}"), bar_column, of_all, remaining),
        "stages": (stage, bar_column, progress.TaskProgressColumn(), remaining),
    }
    with progress.Progress(*columns[kind], console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task(description, **fields))
