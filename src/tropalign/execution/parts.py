"""What survives a kill: a directory of finished parts beside a manifest of the run."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tropalign.errors import InputError, ResourceError, TropalignError

MANIFEST = "manifest.json"
PART = re.compile(r"part\d{6,}")


@dataclass(frozen=True)
class Manifest:
    """What a run is: two runs with equal manifests have the same parts.

    Attributes
    ----------
    fingerprint
        Of inputs, parameters and the cut into tiles.
    n_tiles
        Of the whole run.
    parameters
        By name, for the sentence that says how two runs differ.
    memory_bytes
        What tiles were cut to. Runs that differ only in this are equal; the fingerprint tells whether it mattered.
    shard
        (i, n): the i-th of n shards, counted from 1; None for a whole run.
    """

    fingerprint: str
    n_tiles: int
    parameters: dict[str, str]
    memory_bytes: int
    shard: tuple[int, int] | None = None

    def difference(self, other: Manifest) -> str | None:
        """How `other` differs, beginning with its first parameter that does; None when the runs are equal."""
        mine, theirs = ({**m.parameters, "shard": _shard_text(m.shard)} for m in (self, other))
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            if mine.get(name) != theirs.get(name):
                return f"{name} was {mine.get(name)!r} and is {theirs.get(name)!r}"
        if (self.fingerprint, self.n_tiles) == (other.fingerprint, other.n_tiles):
            return None
        if self.memory_bytes != other.memory_bytes:
            return f"tiles were cut to --memory {self.memory_bytes} and are cut to {other.memory_bytes}"
        return "the sequences or the way they are cut into tiles differ"

    def to_json(self) -> str:
        """As text."""
        return json.dumps(dataclasses.asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """From text, of which unknown entries are ignored. Raises ValueError when it is no manifest."""
        try:
            entries = json.loads(text)
            known: dict[str, Any] = {field.name: entries.get(field.name) for field in dataclasses.fields(cls)}
            known["shard"] = tuple(known["shard"]) if known["shard"] else None
            manifest = cls(**known)
        except (AttributeError, TypeError) as error:
            raise ValueError(f"no manifest: {error}") from None
        if not isinstance(manifest.parameters, dict) or not isinstance(manifest.n_tiles, int):
            raise ValueError("no manifest: entries are missing")
        return manifest


def _shard_text(shard: tuple[int, int] | None) -> str:
    return f"{shard[0]}/{shard[1]}" if shard else "none"


class Parts:
    """Finished parts of a run in a directory, which one process at a time may hold.

    Used in a ``with`` block, whose end lets the directory go; it is removed there when it holds no part, and by
    ``finish``.

    Parameters
    ----------
    directory
        Made when it is not there.
    manifest
        What the run is; a directory of another run is refused.

    Raises
    ------
    InputError
        The directory holds the parts of another run or no parts at all, another process holds it, or it cannot be
        written.
    ResourceError
        The disk is full.
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self._lock = -1
        try:
            directory.mkdir(exist_ok=True)
            self._hold()
            found = recorded_manifest(directory)
            difference = None if found is None else found.difference(manifest)
            if difference and not self.is_empty():
                raise InputError(
                    f"this holds finished parts of another run ({difference}): repeat that run to end it, or remove "
                    "the directory",
                    file=str(directory),
                )
            if found is None or difference:
                self._clear()
                write_atomically(directory / MANIFEST, manifest.to_json().encode())
        except OSError as error:
            self.close()
            raise disk_error(error, directory, 0) from None
        except TropalignError:
            self.close()
            raise

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._lock >= 0 and self.is_empty():
            self.finish()
        self.close()

    def _hold(self) -> None:
        """Locks the directory; the lock goes with the process, however it ends."""
        try:
            import fcntl
        except ImportError:  # not a POSIX system: nothing guards against two runs at once
            return
        self._lock = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                "another run is writing here: wait for it, or name another file with -o", file=str(self.directory)
            ) from None
        except OSError:  # a file system without locks
            return

    def close(self) -> None:
        """Lets another process have the directory."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def is_empty(self) -> bool:
        """Whether no part was finished."""
        return not any(PART.fullmatch(name) for name in os.listdir(self.directory))

    def path(self, index: int) -> Path:
        """Where a part lies."""
        return self.directory / part_name(index)

    @property
    def temporary(self) -> Path:
        """Where the final file is made before it gets its name."""
        return self.directory / "out.tmp"

    def has(self, index: int) -> bool:
        """Whether that part was finished."""
        return self.path(index).exists()

    def write(self, index: int, data: bytes) -> None:
        """Keeps a finished part. Raises ResourceError when the disk is full."""
        write_atomically(self.path(index), data)

    def read(self, index: int) -> bytes:
        """A finished part."""
        return self.path(index).read_bytes()

    def finish(self) -> None:
        """Takes the directory away: the final file is there."""
        self._clear()
        (self.directory / MANIFEST).unlink(missing_ok=True)
        self.close()
        self.directory.rmdir()

    def _clear(self) -> None:
        """Removes the parts, and what a killed run left half-written; refuses a directory that holds anything else."""
        names = [name for name in os.listdir(self.directory) if name != MANIFEST]
        unfinished = {MANIFEST + ".tmp", self.temporary.name}
        foreign = next(
            (
                name
                for name in sorted(names)
                if name not in unfinished and not PART.fullmatch(name.removesuffix(".tmp"))
            ),
            None,
        )
        if foreign is not None:
            raise InputError(
                f"finished parts should lie here, but it holds {foreign!r}: move that away or name another file",
                file=str(self.directory),
            )
        for name in names:
            (self.directory / name).unlink()


def part_name(index: int) -> str:
    """Name of a tile's part."""
    return f"part{index:06d}"


def recorded_manifest(directory: Path) -> Manifest | None:
    """The manifest of an earlier run in that directory, if there is one. Raises InputError when it is damaged."""
    try:
        return Manifest.from_json((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        raise InputError(
            f"the manifest is damaged: remove {directory} to start anew", file=str(directory / MANIFEST)
        ) from None


def write_atomically(path: Path, data: bytes) -> None:
    """Either the whole file under its name or none; ResourceError when the disk is full."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path, len(data)) from None


def disk_error(error: OSError, path: Path | str, n_bytes: int) -> TropalignError:
    """The error that says what a failed write means; `n_bytes` were to be written, 0 when that is not known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        amount = f" ({n_bytes} bytes were to be written)" if n_bytes else ""
        return ResourceError(
            f"{path}: the disk is full or the file too large{amount}: free space, or write elsewhere with -o",
            needed_bytes=n_bytes or None,
        )
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return InputError("no permission to write here", file=str(path))
    return InputError(f"this cannot be written ({error.strerror or error})", file=str(path))
