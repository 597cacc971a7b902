"""Processes as the system tells of them: who they are, whether they live, what a group of them holds."""

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
#: Places in /proc/PID/stat behind the name: state, session, start.
STATE, SESSION, START = 0, 3, 19


@dataclass(frozen=True)
class Group:
    """The processes of a job: a session, and the word in their environment that tells them from all others.

    Parameters
    ----------
    session
        The id of the first process.
    mark
        ``NAME=value``. A number is given to another process some day, a job's folder never is. The mark of a run goes
        on with ``#`` and a word of its own, and the mark without that is of all runs.
    """

    session: int
    mark: str

    def members(self) -> list[int]:
        """Processes that live and are still in the session."""
        return [pid for pid in _pids() if _is_member(pid, self.session) and _has_mark(pid, self.mark)]

    def everyone(self) -> list[int]:
        """Processes that live, wherever they went."""
        return [pid for pid in _pids() if _has_mark(pid, self.mark)]

    def ask_to_end(self) -> None:
        """Sends them the signal that lets them put away what they have."""
        if not PROC.is_dir():
            _send_group(self.session, signal.SIGTERM)
        for pid in self.members():
            _send(pid, signal.SIGTERM)

    def end(self, seconds: float) -> bool:
        """Kills all of them, those that they start meanwhile, too; False where some remain after so many seconds."""
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
    """Memory of a process, pages of mapped files aside; 0 where the system does not tell."""
    total = 0
    try:
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(("RssAnon:", "RssShmem:", "VmSwap:")):
                total += int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return 0
    return total


def worker_name(pid: int) -> str:
    """A name that no other worker has: host, boot, room of process ids, process id, start."""
    return ":".join([*_here(), str(pid), str(started(pid) or 0)])


def is_alive(name: str) -> bool | None:
    """Whether the worker of this name lives; None where this machine cannot know."""
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
    """When a process began, in ticks since the machine did; None where there is none, or the system does not tell."""
    fields = _fields(pid)
    return int(fields[START]) if len(fields) > START else None


@cached
def _here() -> tuple[str, str, str]:
    """The machine, since it was switched on, and this container."""
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
    except OSError:  # no Linux
        return
    yield from (int(name) for name in names if name.isdecimal())


def _fields(pid: int) -> list[str]:
    """What /proc/PID/stat says behind the name of the process, which may hold anything."""
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
