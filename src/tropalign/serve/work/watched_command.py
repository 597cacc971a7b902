"""Run of a command in its own session, with limits on time, memory and output; it is ended with all its processes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from secrets import token_hex

from tropalign.execution.progress import STATUS
from tropalign.serve.work import launch
from tropalign.serve.work.job_folder import MARK, Group, JobFolder, memory_of

#: Seconds between checks of limits, and between the slower scans of files and processes.
LOOK_SECONDS, FIND_SECONDS = 0.2, 1.0
#: Seconds between SIGTERM and SIGKILL, in which a command can save its parts.
GRACE_SECONDS = 4.0
#: Pages have priority over jobs.
NICENESS = 10
MOST_FILES = 4096
#: More than the bytecode of any module takes. Python does not notice if the file size limit truncates bytecode,
#: and later imports of the module fail.
BYTECODE_BYTES = 1 << 24
#: Maximum bytes of standard error and output that are kept.
MOST_SAID_BYTES = 1 << 22
#: Memory that a command may use beyond its ``--memory``, which it uses for planning.
MEMORY_SLACK, MEMORY_BESIDE = 1.25, 200 << 20
#: Variables of the server that jobs inherit; all others stay private.
KEPT = (
    "PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
    "CUDA_VISIBLE_DEVICES", "OCL_ICD_VENDORS",
    "TROPALIGN_ISA", "TROPALIGN_TILE_PAIRS", "TROPALIGN_TILE_READS", "TROPALIGN_LEAST_KEPT_CELLS",
)  # fmt: skip
TROPALIGN = (sys.executable, "-P", "-m", "tropalign.cli.main")


class Why(StrEnum):
    """Reason that a command ended."""

    BY_ITSELF = "by itself"
    SECONDS = "seconds"
    MEMORY = "memory"
    OUTPUT = "output"
    ASKED = "asked"


@dataclass(frozen=True)
class Bounds:
    """Limits of a command.

    `memory_bytes` is for all its processes together, excluding mapped files; `output_bytes` for all files in the
    folder.
    """

    seconds: float
    memory_bytes: int
    output_bytes: int

    @classmethod
    def of_job(cls, seconds: float, memory_bytes: int, output_bytes: int) -> Bounds:
        """Return the limits for a command with this ``--memory``."""
        return cls(seconds, int(memory_bytes * MEMORY_SLACK) + MEMORY_BESIDE, output_bytes)


@dataclass(frozen=True)
class Ended:
    """Outcome of a command: `code` is its exit status, or minus the signal that killed it."""

    code: int
    why: Why
    seconds: float
    peak_bytes: int


def run_watched(
    command: Sequence[str], folder: JobFolder, bounds: Bounds, look: Callable[[], bool], cache: Path | None = None
) -> Ended:
    """Run a command in a job's folder until it ends or must end.

    `look` is called several times per second; False ends the command. `cache` is a folder shared by all commands.
    """
    begin = time.monotonic()
    # Only this run's processes: a worker that was presumed dead must not end those of the next attempt.
    mark = f"{folder.mark}#{token_hex(8)}"
    process = _started(command, folder, bounds, environment(folder, cache, mark=mark))
    group = Group(process.pid, mark)
    try:
        watch = _Watch(group, folder, bounds, begin)
        folder.remember("process.json", {"pid": process.pid, "parent": os.getpid()})
        why = Why.BY_ITSELF
        with _Exit(process) as ended:
            while why is Why.BY_ITSELF and not ended.within(LOOK_SECONDS):
                why = watch.reason() or (Why.BY_ITSELF if look() else Why.ASKED)
            if why is not Why.BY_ITSELF:
                group.ask_to_end()
                ended.within(GRACE_SECONDS if why is not Why.MEMORY else 0)
    finally:
        process.poll()
        group.end(GRACE_SECONDS)
        if process.poll() is None:
            process.kill()
        process.wait()
    return Ended(process.returncode, why, time.monotonic() - begin, watch.peak_bytes)


def environment(
    folder: JobFolder, cache: Path | None = None, given: Mapping[str, str] | None = None, mark: str = ""
) -> dict[str, str]:
    """Return the environment of a job's processes, which excludes nearly all of the server's."""
    given = os.environ if given is None else given
    known = {name: given[name] for name in KEPT if name in given}
    for name in {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH"} & {*known}:
        # Absolute paths only: an empty part would mean the job's folder, where file names are user-supplied.
        paths = [os.path.abspath(path) for path in known[name].split(os.pathsep) if path]
        known[name] = os.pathsep.join(paths)
        if not paths:
            del known[name]
    tmp = str(folder.path / "tmp")
    known |= {"HOME": str(folder.path / "home"), "TMPDIR": tmp, STATUS: str(folder.status)}
    known |= {
        "PYTHONSAFEPATH": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    if cache is not None:
        known |= {"XDG_CACHE_HOME": str(cache), "MPLCONFIGDIR": str(cache / "matplotlib")}
    name, _, value = (mark or folder.mark).partition("=")
    assert name == MARK
    return known | {name: value}


def _started(
    command: Sequence[str], folder: JobFolder, bounds: Bounds, surroundings: dict[str, str]
) -> subprocess.Popen[bytes]:
    plan = {
        "parent": os.getpid(),
        "nice": NICENESS,
        "limits": {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": bounds.output_bytes, "RLIMIT_NOFILE": MOST_FILES},
    }
    if bounds.output_bytes < BYTECODE_BYTES:
        surroundings = surroundings | {"PYTHONDONTWRITEBYTECODE": "1"}
    launcher = [sys.executable, "-I", "-S", launch.__file__, json.dumps(plan)]
    folder.status.write_bytes(b"")
    with folder.stdout.open("wb") as fresh_out, folder.stderr.open("wb") as fresh_err:
        fresh_out.truncate()
        fresh_err.truncate()
    with folder.stdout.open("ab") as out, folder.stderr.open("ab") as err:
        return subprocess.Popen(
            [*launcher, *command],
            cwd=folder.files,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


class _Watch:
    """Monitor of a command's resources and limits."""

    def __init__(self, group: Group, folder: JobFolder, bounds: Bounds, begin: float) -> None:
        self.group, self.folder, self.bounds, self.begin = group, folder, bounds, begin
        self.peak_bytes = 0
        self._looked_at_files = begin
        self._found: list[int] = []
        self._find_again = begin

    def reason(self) -> Why | None:
        """Return the reason that the command must end now, or None."""
        now = time.monotonic()
        if now - self.begin > self.bounds.seconds:
            return Why.SECONDS
        held = sum(memory_of(pid) for pid in self._members(now))
        self.peak_bytes = max(self.peak_bytes, held)
        if held > self.bounds.memory_bytes:
            return Why.MEMORY
        if now - self._looked_at_files > FIND_SECONDS:
            self._looked_at_files = now
            for path in (self.folder.stdout, self.folder.stderr):
                with suppress(OSError):
                    if path.stat().st_size > MOST_SAID_BYTES:
                        os.truncate(path, 0)  # safe, since it is opened for appending
            if self.folder.size() > self.bounds.output_bytes:
                return Why.OUTPUT
        return None

    def _members(self, now: float) -> list[int]:
        """Return the processes, scanned once per second, or less often if the scan is slow."""
        if now >= self._find_again:
            self._found = self.group.members()
            self._find_again = now + max(FIND_SECONDS, 50 * (time.monotonic() - now))
        return self._found


class _Exit:
    """Wait for the end of a process without polling, if the system supports it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._descriptor: int | None = None

    def __enter__(self) -> _Exit:
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                self._descriptor = os.pidfd_open(self.process.pid)
        return self

    def __exit__(self, *error: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def within(self, seconds: float) -> bool:
        """True if the process ends within `seconds`."""
        if self._descriptor is None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        else:
            asked = select.poll()
            asked.register(self._descriptor, select.POLLIN)
            asked.poll(seconds * 1000)
        return self.process.poll() is not None
