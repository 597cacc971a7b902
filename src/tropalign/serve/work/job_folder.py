"""Folder of a job: its inputs by name, its outputs, and data for the next attempt.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tropalign.serve.work.system_processes import Group

#: Environment variable that identifies a job's processes.
MARK = "TROPALIGN_JOB_FOLDER"
#: File names that libraries would read as configuration in the current folder.
HARMFUL = {"matplotlibrc"}
#: Seconds within which killed processes must be gone.
SECONDS_TO_DIE = 5.0


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
        """Make the folder, or take over an earlier attempt's; raise RuntimeError if processes of that do not end."""
        for path in (self.files, self.path / "home", self.path / "tmp"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.end_others()

    def end_others(self) -> None:
        """End processes of an earlier attempt on this machine; raise RuntimeError if that fails."""
        if not Group(-1, self.mark).end(SECONDS_TO_DIE):
            raise RuntimeError(f"processes of an earlier attempt in {self.path} do not end")

    def is_held(self) -> bool:
        """True if a command holds parts here: on another machine, beyond the reach of `end_others`."""
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
