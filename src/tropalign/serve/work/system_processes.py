"""Processes of the operating system: identity, liveness, and memory of a group."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tropalign.properties import cached

PROC = Path("/proc")
#: Indices in /proc/PID/stat after the name: state, session, start.
STATE, SESSION, START = 0, 3, 19


@dataclass(frozen=True)
class Group:
    """Processes of a job: a session, and a unique entry in their environment.

    `session` is the id of the first process. `mark` is ``NAME=value``: process ids are reused, but a job's folder
    is unique. A run's mark adds ``#`` and a unique suffix; the mark without it matches all runs.
    """

    session: int
    mark: str

    def members(self) -> list[int]:
        """Return living processes that are still in the session."""
        return [pid for pid in _pids() if _is_member(pid, self.session) and _has_mark(pid, self.mark)]

    def everyone(self) -> list[int]:
        """Return living processes in any session."""
        return [pid for pid in _pids() if _has_mark(pid, self.mark)]

    def ask_to_end(self) -> None:
        """Send SIGTERM, so that the processes can save their work."""
        if not PROC.is_dir():
            _send_group(self.session, signal.SIGTERM)
        for pid in self.members():
            _send(pid, signal.SIGTERM)

    def end(self, seconds: float) -> bool:
        """Kill all processes, including those started meanwhile; False if some remain after `seconds`."""
        until = time.monotonic() + seconds
        if not PROC.is_dir():
            _send_group(self.session, signal.SIGKILL)
        while left := self.everyone():
            if time.monotonic() > until:
                return False
            for pid in left:
                _send(pid, signal.SIGKILL)
            time.sleep(0.005)
        return True


def memory_of(pid: int) -> int:
    """Return the memory of a process in bytes, excluding mapped files; 0 if unknown."""
    total = 0
    try:
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(("RssAnon:", "RssShmem:", "VmSwap:")):
                total += int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return 0
    return total


def worker_name(pid: int) -> str:
    """Return a unique worker name: host, boot, process id namespace, process id, start."""
    return ":".join([*_here(), str(pid), str(started(pid) or 0)])


def is_alive(name: str) -> bool | None:
    """True if the worker of this name is alive; None if this machine cannot know."""
    host, boot, room, pid, start = [*name.split(":"), "", "", "", "", ""][:5]
    here = _here()
    if host != here[0] or not pid.isdecimal():
        return None
    if boot != here[1]:
        return False
    if room != here[2]:
        return None
    return _lives(int(pid)) and (started(int(pid)) or 0) == int(start)


def started(pid: int) -> int | None:
    """Return the start of a process in ticks since boot; None if it does not exist or the start is unknown."""
    fields = _fields(pid)
    return int(fields[START]) if len(fields) > START else None


@cached
def _here() -> tuple[str, str, str]:
    """Return the host name, the boot id, and the process id namespace (container)."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()[:13]
        room = str(os.stat(PROC / "self/ns/pid").st_ino)
    except OSError:
        boot, room = "", ""
    return socket.gethostname().replace(":", "_")[:100], boot, room


def _lives(pid: int) -> bool:
    if PROC.is_dir() and _fields(pid)[:1] == ["Z"]:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _pids() -> Iterator[int]:
    try:
        names = os.listdir(PROC)
    except OSError:  # not Linux
        return
    yield from (int(name) for name in names if name.isdecimal())


def _fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the process name, which may contain anything."""
    try:
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _is_member(pid: int, session: int) -> bool:
    fields = _fields(pid)
    return len(fields) > SESSION and fields[SESSION] == str(session) and fields[STATE] != "Z"


def _has_mark(pid: int, mark: str) -> bool:
    try:
        words = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(word == mark.encode() or word.startswith(mark.encode() + b"#") for word in words)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _send_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return
