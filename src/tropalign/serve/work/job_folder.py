"""Folder of a job (inputs by name, outputs, data for the next attempt), and the processes that work in it.

work/ID/files/          where the command runs: inputs, outputs, parts
work/ID/home, tmp       private to the command
work/ID/status.jsonl    progress reported by the command
work/ID/stdout, stderr
work/ID/process.json    the process that computes it
work/ID/facts.json      findings of attempts: counts, forecast, whether the command is done
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tropalign.properties import cached

#: Environment variable that identifies a job's processes.
MARK = "TROPALIGN_JOB_FOLDER"
#: File names that libraries would read as configuration in the current folder.
HARMFUL = {"matplotlibrc"}
#: Seconds within which killed processes must be gone.
SECONDS_TO_DIE = 5.0
PROC = Path("/proc")
#: Indices in /proc/PID/stat after the name: state, session, start.
STATE, SESSION, START = 0, 3, 19


@dataclass(frozen=True)
class JobFolder:
    """Paths of one job."""

    path: Path

    @property
    def files(self) -> Path:
        """Folder where the command runs."""
        return self.path / "files"

    @property
    def status(self) -> Path:
        """Progress as JSON lines."""
        return self.path / "status.jsonl"

    @property
    def stderr(self) -> Path:
        """Standard error of the command."""
        return self.path / "stderr"

    @property
    def stdout(self) -> Path:
        """Standard output of the command."""
        return self.path / "stdout"

    @property
    def mark(self) -> str:
        """Environment entry of the job's processes; a run may append its own suffix."""
        return f"{MARK}={self.path}"

    def make(self) -> None:
        """Make the folder, or take over an earlier attempt's; raise RuntimeError if its processes do not end."""
        for path in (self.files, self.path / "home", self.path / "tmp"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.end_others()

    def end_others(self) -> None:
        """End processes of an earlier attempt on this machine; raise RuntimeError if that fails."""
        if not Group(-1, self.mark).end(SECONDS_TO_DIE):
            raise RuntimeError(f"processes of an earlier attempt in {self.path} cannot be stopped")

    def is_held(self) -> bool:
        """True if a command on another machine, which `end_others` cannot reach, holds parts here."""
        return any(path.is_dir() and _is_locked(path) for path in self.files.glob("*.parts"))

    def remove_parts(self) -> None:
        """Remove computed parts, but keep the findings of attempts."""
        for path in self.files.glob("*.parts"):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)

    def link(self, name: str, target: Path) -> str:
        """Link a file here, and return the name of the link."""
        found = f"input-{name}" if name.casefold() in HARMFUL else name
        path = self.files / found
        path.unlink(missing_ok=True)
        path.symlink_to(target.absolute())
        return found

    def remember(self, name: str, facts: dict[str, Any]) -> None:
        """Store facts for the next attempt, completely or not at all."""
        temporary = self.path / f"{name}.new"
        with temporary.open("w") as file:
            json.dump(facts, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path / name)

    def remembered(self, name: str) -> dict[str, Any] | None:
        """Return facts of an earlier attempt, or None."""
        try:
            facts = json.loads((self.path / name).read_text())
        except (OSError, ValueError):
            return None
        return facts if isinstance(facts, dict) else None

    def size(self) -> int:
        """Return the bytes that the job has written, excluding links."""
        return _bytes_in(self.path)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def _bytes_in(folder: Path | str) -> int:
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    total += _bytes_in(entry.path)
                elif not entry.is_symlink():
                    total += entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:  # removed meanwhile
        return total
    return total


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
        found = []
        for pid in _pids():
            stat = _fields(pid)
            is_member = len(stat) > SESSION and stat[SESSION] == str(self.session) and stat[STATE] != "Z"
            if is_member and _has_mark(pid, self.mark):
                found.append(pid)
        return found

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
    return ":".join([*_process_scope(), str(pid), str(started(pid) or 0)])


def is_alive(name: str) -> bool | None:
    """True if the worker of this name is alive; None if that is unknown here."""
    host, boot, room, pid, start = [*name.split(":"), "", "", "", "", ""][:5]
    here = _process_scope()
    if host != here[0] or not pid.isdecimal():
        return None
    if boot != here[1]:
        return False
    if room != here[2]:
        return None
    if PROC.is_dir() and _fields(int(pid))[:1] == ["Z"]:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # alive, owned by another user
    return (started(int(pid)) or 0) == int(start)


def started(pid: int) -> int | None:
    """Return the start of a process in ticks since boot; None if it does not exist or the start is unknown."""
    fields = _fields(pid)
    return int(fields[START]) if len(fields) > START else None


@cached
def _process_scope() -> tuple[str, str, str]:
    """Return the host name, the boot id, and the process id namespace (container)."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()[:13]
        room = str(os.stat(PROC / "self/ns/pid").st_ino)
    except OSError:
        boot, room = "", ""
    return socket.gethostname().replace(":", "_")[:100], boot, room


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
