"""The folder of a job: its inputs by their names, what it writes, and what the next attempt needs to know.

work/ID/files/          where the command runs: inputs, outputs, parts
work/ID/home, tmp       of the command alone
work/ID/status.jsonl    progress, as the command tells it
work/ID/stdout, stderr
work/ID/process.json    the process that computes it
work/ID/facts.json      what attempts have found: counts, forecast, whether the command is done
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

#: The environment variable that tells a job's processes from all others.
MARK = "TROPALIGN_JOB_FOLDER"
#: What a library would read as its own, wherever a command runs.
HARMFUL = {"matplotlibrc"}
#: How long killed processes may take to be gone.
SECONDS_TO_DIE = 5.0


@dataclass(frozen=True)
class JobFolder:
    """Paths of one job."""

    path: Path

    @property
    def files(self) -> Path:
        """Where the command runs."""
        return self.path / "files"

    @property
    def status(self) -> Path:
        """Lines of JSON."""
        return self.path / "status.jsonl"

    @property
    def stderr(self) -> Path:
        """What the command complained of."""
        return self.path / "stderr"

    @property
    def stdout(self) -> Path:
        """What the command printed."""
        return self.path / "stdout"

    @property
    def mark(self) -> str:
        """The word in the environment of the job's processes, with or without one for a single run of them."""
        return f"{MARK}={self.path}"

    def make(self) -> None:
        """Makes it, or takes over what an earlier attempt left, whose processes are ended.

        Raises
        ------
        RuntimeError
            They do not end.
        """
        for path in (self.files, self.path / "home", self.path / "tmp"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.end_others()

    def end_others(self) -> None:
        """Ends processes of an earlier attempt on this machine. Raises RuntimeError where that fails."""
        if not Group(-1, self.mark).end(SECONDS_TO_DIE):
            raise RuntimeError(f"processes of an earlier attempt in {self.path} do not end")

    def is_held(self) -> bool:
        """Whether a command writes parts here: one of another machine, where `end_others` does not reach it."""
        return any(path.is_dir() and _is_locked(path) for path in self.files.glob("*.parts"))

    def remove_parts(self) -> None:
        """Forgets what commands have computed, and keeps what attempts have found."""
        for path in self.files.glob("*.parts"):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)

    def link(self, name: str, target: Path) -> str:
        """Gives a file a name here, and says which."""
        found = f"input-{name}" if name.casefold() in HARMFUL else name
        path = self.files / found
        path.unlink(missing_ok=True)
        path.symlink_to(target.absolute())
        return found

    def remember(self, name: str, facts: dict[str, Any]) -> None:
        """Keeps facts for the next attempt, whole or not at all."""
        temporary = self.path / f"{name}.new"
        with temporary.open("w") as file:
            json.dump(facts, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path / name)

    def remembered(self, name: str) -> dict[str, Any] | None:
        """Facts of an earlier attempt; None where there are none."""
        try:
            facts = json.loads((self.path / name).read_text())
        except (OSError, ValueError):
            return None
        return facts if isinstance(facts, dict) else None

    def size(self) -> int:
        """Bytes of all that the job has written; links count nothing."""
        return _bytes_in(self.path)

    def remove(self) -> None:
        """Forgets all of it."""
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
    except FileNotFoundError:  # it went meanwhile
        return total
    return total
