"""What survives a kill: a directory of finished parts beside a manifest; and a shard's parts in one file."""

from __future__ import annotations

import errno
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tropalign.errors import InputError, ResourceError

MANIFEST = "manifest.json"


class Parts:
    """Finished parts of a run in a directory.

    Parameters
    ----------
    directory
        Made when it is not there.
    manifest
        What the run is, JSON-able; a directory whose manifest differs is refused. Has to hold ``fingerprint``.

    Raises
    ------
    InputError
        The directory holds the parts of another run.
    ResourceError
        The disk is full.
    """

    def __init__(self, directory: Path, manifest: dict[str, Any]) -> None:
        self.directory = directory
        path = directory / MANIFEST
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if path.exists():
                self._compare(json.loads(path.read_text()), manifest)
            else:
                write_atomically(path, json.dumps(manifest, indent=1).encode())
        except json.JSONDecodeError:
            raise InputError(f"the manifest is damaged: remove {directory} to start anew", file=str(path)) from None
        except PermissionError:
            raise InputError("no permission to write here", file=str(directory)) from None

    def _compare(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        if old == new:
            return
        before, now = old.get("parameters", {}), new.get("parameters", {})
        names = [name for name in sorted(set(before) | set(now)) if before.get(name) != now.get(name)]
        if names:
            what = f"{names[0]} was {before.get(names[0])!r} and is {now.get(names[0])!r}"
        else:
            what = "the sequences or the way they are cut into tiles differ"
        raise InputError(
            f"this holds finished parts of another run ({what}): repeat that run to end it, or remove the directory",
            file=str(self.directory),
        )

    def _path(self, index: int) -> Path:
        return self.directory / f"part{index:06d}"

    def has(self, index: int) -> bool:
        """Whether that part was finished."""
        return self._path(index).exists()

    def write(self, index: int, data: bytes) -> None:
        """Keeps a finished part."""
        write_atomically(self._path(index), data)

    def read(self, index: int) -> bytes:
        """A finished part."""
        return self._path(index).read_bytes()

    def remove(self) -> None:
        """Takes the directory away: the final file is there."""
        shutil.rmtree(self.directory, ignore_errors=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Either the whole file under its name or none; ResourceError when the disk is full."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path, len(data)) from None


def disk_error(error: OSError, path: Path, n_bytes: int) -> Exception:
    """The error that says what a failed write means."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return ResourceError(
            f"{path}: the disk is full or the file too large ({n_bytes} more bytes): free space or write elsewhere; "
            "the same command then goes on where this one stopped",
            needed_bytes=n_bytes,
        )
    if isinstance(error, PermissionError):
        return InputError("no permission to write this file", file=str(path))
    return InputError(f"the file cannot be written ({error.strerror})", file=str(path))


def write_archive(path: Path, manifest: dict[str, Any], parts: Parts, indices: Sequence[int]) -> None:
    """A shard's parts in one uncompressed zip file."""
    temporary = path.with_name(path.name + ".tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest))
        for index in indices:
            archive.writestr(f"part{index:06d}", parts.read(index))
    os.replace(temporary, path)


def open_archives(paths: Sequence[str]) -> tuple[dict[str, Any], Iterator[bytes]]:
    """The common manifest of all shards of a run, and their parts in order.

    Raises
    ------
    InputError
        A file that is no shard, shards of different runs, a shard missing or given twice.
    """
    archives: dict[int, zipfile.ZipFile] = {}
    manifest: dict[str, Any] = {}
    for path in paths:
        try:
            archive = zipfile.ZipFile(path)
            own = json.loads(archive.read(MANIFEST))
        except FileNotFoundError:
            raise InputError("there is no such file", file=path) from None
        except (OSError, zipfile.BadZipFile, KeyError, json.JSONDecodeError):
            raise InputError("this is no shard that --shard wrote", file=path) from None
        number, count = own["shard"]
        if manifest and (own["fingerprint"], own["shard"][1]) != (manifest["fingerprint"], manifest["shard"][1]):
            raise InputError("this is a shard of another run than the first file", file=path)
        if number in archives:
            raise InputError(f"shard {number}/{count} is given twice", file=path)
        manifest, archives[number] = own, archive
    count = manifest["shard"][1]
    missing = [str(k) for k in range(1, count + 1) if k not in archives]
    if missing:
        raise InputError(f"of {count} shards number {', '.join(missing)} is missing: give all of them")

    def parts() -> Iterator[bytes]:
        for number in sorted(archives):
            for name in sorted(n for n in archives[number].namelist() if n != MANIFEST):
                yield archives[number].read(name)

    return manifest, parts()
