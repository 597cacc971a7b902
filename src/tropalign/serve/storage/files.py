"""A folder of files by their content: equal bytes are kept once, and no name of a user is a name in it.

files/ab/cdef...     bytes whose SHA-256 is abcdef...; written elsewhere, flushed, and renamed to here: whole or absent
files/incoming/...   what is being written
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from sqlalchemy import Connection, Engine, select, union

from tropalign.errors import ResourceError, UsageError
from tropalign.serve.records import StoredFile
from tropalign.serve.storage.database import hold, writing
from tropalign.serve.storage.schema import databases, job_files, uploads

_DIGEST = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
#: Files that are looked at in one transaction.
_BATCH = 200


#: Room on the disk that files leave to the database, without which nothing could be deleted: bytes, and at most this
#: share of a small disk.
RESERVED_BYTES, RESERVED_SHARE = 16 << 20, 0.01
_FULL = "the server's disk is full: delete jobs that nobody needs"


class TooLarge(ResourceError):
    """A file is larger than it may be."""


class FileStore:
    """A folder of files by their content.

    Parameters
    ----------
    folder
        Made where it is missing; nobody else may read it.
    engine
        The database, which says what files are for.
    """

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.folder, self._engine = folder, engine
        self._incoming = folder / "incoming"
        try:
            self._incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)
        except OSError as error:
            raise ResourceError(f"{folder}: {error.strerror}: choose another --folder") from None

    def receive(self, limit: int | None = None) -> Receiving:
        """A file to be written piece by piece, in a ``with``; what is not finished there leaves nothing."""
        return Receiving(self, limit)

    def add_bytes(self, data: bytes) -> StoredFile:
        """Keeps bytes."""
        with self.receive() as receiving:
            receiving.write(data)
            return receiving.finish()

    def add(self, path: Path) -> StoredFile:
        """Keeps a file: a second name of the same bytes where the disk is the same, else a copy.

        Whoever writes it must have ended. Links are refused.
        """
        try:
            source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(f"{path.name!r} cannot be kept: {error.strerror}") from None
        seen = os.fstat(source)
        if not stat.S_ISREG(seen.st_mode):
            os.close(source)
            raise UsageError(f"{path.name!r} cannot be kept: it is no file")
        with os.fdopen(source, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if self._touch(digest):
                return StoredFile(digest, seen.st_size)
            if self._link(path, file, digest):
                return StoredFile(digest, seen.st_size)
            file.seek(0)
            with self.receive() as receiving:
                while piece := file.read(_CHUNK):
                    receiving.write(piece)
                return receiving.finish()

    def open(self, digest: str) -> BinaryIO:
        """The bytes, to be read.

        Raises
        ------
        KeyError
            There is no such file.
        """
        try:
            return self._path(digest).open("rb")
        except FileNotFoundError:
            raise KeyError(digest) from None

    def path(self, digest: str) -> Path:
        """Where the bytes are.

        Raises
        ------
        KeyError
            There is no such file, or this is no digest.
        """
        path = self._path(digest)
        if not path.is_file():
            raise KeyError(digest)
        return path

    def holds(self, digest: str) -> bool:
        """Whether it has the file."""
        return _DIGEST.fullmatch(digest) is not None and self._path(digest).is_file()

    def size_of(self, digest: str) -> int:
        """Bytes of a file; KeyError where there is none."""
        return self.path(digest).stat().st_size

    def check_room(self) -> None:
        """Nothing, where the disk has room for a file.

        Raises
        ------
        ResourceError
            It is full.
        """
        disk = shutil.disk_usage(self.folder)
        if disk.free < min(RESERVED_BYTES, disk.total * RESERVED_SHARE):
            raise ResourceError(_FULL)

    def remove_unused(self, grace_seconds: float) -> int:
        """Removes files that no job, database or upload has, and what was never finished, and says how many.

        Parameters
        ----------
        grace_seconds
            A file that was kept less long ago stays: its job may be on its way.
        """
        before = time.time() - grace_seconds
        for path in self._incoming.iterdir():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
        removed, batch = 0, {}
        for path, kept_at in self._old(before):
            batch[path] = kept_at
            if len(batch) == _BATCH:
                removed += self._remove(batch)
                batch = {}
        return removed + self._remove(batch)

    def remove_these(self, digests: Iterable[str]) -> int:
        """Removes those of these files that no job, database or upload has, however new, and says how many.

        What cannot be removed now, since the database or the disk is away, is left to `remove_unused`.
        """
        seen: dict[Path, int] = {}
        for digest in digests:
            path = self._path(digest)
            with suppress(FileNotFoundError):
                seen[path] = path.stat().st_mtime_ns
        with suppress(ResourceError, OSError):
            return self._remove(seen)
        return 0

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise KeyError(digest)
        return self.folder / digest[:2] / digest[2:]

    def _old(self, before: float) -> Iterator[tuple[Path, int]]:
        """Files that were kept before this time, and when."""
        for folder in sorted(self.folder.iterdir()):
            for path in folder.iterdir() if len(folder.name) == 2 else ():
                with suppress(FileNotFoundError):
                    seen = path.stat()
                    if seen.st_mtime < before:
                        yield path, seen.st_mtime_ns

    def _remove(self, seen: dict[Path, int]) -> int:
        """Removes `seen` files that nothing has and that were kept no later; meanwhile no job is submitted."""
        if not seen:
            return 0
        names = {path.parent.name + path.name: path for path in seen}
        with writing(self._engine) as connection:
            hold(connection, "files")
            used = _used(connection, names)
            asides = [self._put_aside(path, seen[path]) for digest, path in names.items() if digest not in used]
        for aside in filter(None, asides):  # gigabytes take seconds, for which no other writer waits
            aside.unlink(missing_ok=True)
        return sum(aside is not None for aside in asides)

    def _put_aside(self, path: Path, kept_at: int) -> Path | None:
        """Where the file is from now on, to be removed; None where somebody has just sent the same bytes.

        It is looked at once nobody can find it.
        """
        aside = self._temporary()
        try:
            path.rename(aside)
            if aside.stat().st_mtime_ns == kept_at:
                return aside
            with suppress(FileExistsError):
                os.link(aside, path)
        except FileNotFoundError:
            return None
        aside.unlink(missing_ok=True)
        return None

    def _touch(self, digest: str) -> bool:
        """Whether the bytes are here already; they then count as new."""
        try:
            os.utime(self._path(digest))
        except FileNotFoundError:
            return False
        return True

    def _temporary(self) -> Path:
        return self._incoming / secrets.token_hex(16)

    def _link(self, path: Path, file: BinaryIO, digest: str) -> bool:
        """Gives the open file a name here; False where the disk is another one."""
        temporary = self._temporary()
        try:
            os.link(path, temporary, follow_symlinks=False)
        except OSError:
            return False
        try:
            if not os.path.samestat(os.stat(temporary, follow_symlinks=False), os.fstat(file.fileno())):
                return False
            os.utime(temporary)
            self._keep(temporary, file.fileno(), digest)
        finally:
            temporary.unlink(missing_ok=True)
        return True

    def _keep(self, temporary: Path, descriptor: int, digest: str) -> None:
        """The last steps of every file: read-only, on the disk, under its name, and the name on the disk, too."""
        os.fchmod(descriptor, 0o444)
        os.fsync(descriptor)
        path = self._path(digest)
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _flush_folder(self.folder)
        temporary.rename(path)
        _flush_folder(path.parent)


class Receiving:
    """A file on its way into the store.

    Parameters
    ----------
    store
        Where it goes.
    limit
        As many bytes it may have.
    """

    def __init__(self, store: FileStore, limit: int | None) -> None:
        self._store, self._limit = store, limit
        self._hash = hashlib.sha256()
        self.size = 0

    def __enter__(self) -> Receiving:
        self._store.check_room()
        self._temporary = self._store._temporary()
        with _disk():
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._descriptor = os.open(self._temporary, flags, 0o600)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        self._temporary.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Adds bytes.

        Raises
        ------
        ResourceError
            The file is too large (`TooLarge`), or the disk is full.
        """
        self.size += len(data)
        if self._limit is not None and self.size > self._limit:
            raise TooLarge(f"the file is larger than {self._limit:,} bytes, which is the most that this server takes")
        self._store.check_room()
        self._hash.update(data)
        rest = memoryview(data)
        with _disk():
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    @property
    def digest(self) -> str:
        """Digest of what was written so far."""
        return self._hash.hexdigest()

    def finish(self) -> StoredFile:
        """The file as the store has it from now on."""
        digest = self.digest
        with _disk():
            if not self._store._touch(digest):
                self._store._keep(self._temporary, self._descriptor, digest)
        return StoredFile(digest, self.size)


@contextmanager
def _disk() -> Iterator[None]:
    """A full disk is a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise ResourceError(_FULL) from None
        raise


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _used(connection: Connection, digests: Iterable[str]) -> set[str]:
    """Digests that a job, a database or an upload has."""
    some = list(digests)
    found = union(
        select(job_files.c.digest).where(job_files.c.digest.in_(some)),
        select(databases.c.digest).where(databases.c.digest.in_(some)),
        select(uploads.c.digest).where(uploads.c.digest.in_(some)),
    )
    return {row[0] for row in connection.execute(found)}
