"""Content-addressed file store: equal bytes are stored once, and user-supplied names are not used in it.

files/ab/cdef...     bytes with SHA-256 abcdef...; written elsewhere, flushed, and renamed to here: complete or
absent
files/incoming/...   files being written
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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from sqlalchemy import Connection, Engine, delete, func, select, union
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.errors import ResourceError, UsageError
from tropalign.serve.records import StoredFile, Upload
from tropalign.serve.storage.database import hold, is_postgresql, reading, writing
from tropalign.serve.storage.schema import databases, job_files, jobs, uploads

_DIGEST = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
#: Files per transaction.
_BATCH = 200


#: Disk space reserved for the database, because deletions need it: bytes, and the maximum share of a small disk.
RESERVED_BYTES, RESERVED_SHARE = 16 << 20, 0.01
_FULL = "the server's disk is full: delete jobs that are not needed"
#: Seconds for which uploads are kept.
SECONDS = 24 * 3600.0
#: Maximum uploads in a list.
MOST_LISTED = 1_000


class TooLarge(ResourceError):
    """A file exceeds the size limit."""


class FileStore:
    """Private folder of content-addressed files, made if missing; the `engine`'s database records their use."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.folder, self._engine = folder, engine
        self._incoming = folder / "incoming"
        try:
            self._incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)
        except OSError as error:
            raise ResourceError(f"{folder}: {error.strerror}: choose another --folder") from None

    def receive(self, limit: int | None = None) -> Receiving:
        """Return a file to be written piecewise in a ``with`` block; an unfinished file is removed."""
        return Receiving(self, limit)

    def add_bytes(self, data: bytes) -> StoredFile:
        """Store bytes."""
        with self.receive() as receiving:
            receiving.write(data)
            return receiving.finish()

    def add(self, path: Path) -> StoredFile:
        """Store a file: a hard link if the disk is the same, else a copy.

        The file must no longer be written to. Symbolic links are rejected.
        """
        try:
            source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(f"{path.name!r} cannot be kept: {error.strerror}") from None
        seen = os.fstat(source)
        if not stat.S_ISREG(seen.st_mode):
            os.close(source)
            raise UsageError(f"{path.name!r} cannot be kept: it is not a file")
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
        """Open a stored file for reading, or raise KeyError."""
        try:
            return self._path(digest).open("rb")
        except FileNotFoundError:
            raise KeyError(digest) from None

    def path(self, digest: str) -> Path:
        """Return the path of a stored file; raise KeyError if it does not exist or the digest is invalid."""
        path = self._path(digest)
        if not path.is_file():
            raise KeyError(digest)
        return path

    def holds(self, digest: str) -> bool:
        """True if the file is stored."""
        return _DIGEST.fullmatch(digest) is not None and self._path(digest).is_file()

    def size_of(self, digest: str) -> int:
        """Return the size of a file in bytes, or raise KeyError."""
        return self.path(digest).stat().st_size

    def check_room(self) -> None:
        """Raise ResourceError if the disk is full."""
        disk = shutil.disk_usage(self.folder)
        if disk.free < min(RESERVED_BYTES, disk.total * RESERVED_SHARE):
            raise ResourceError(_FULL)

    def remove_unused(self, grace_seconds: float) -> int:
        """Remove unused and unfinished files that are older than `grace_seconds`, and return their number.

        Newer files stay, because their job may not be submitted yet.
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
        """Remove these files, of any age, unless a job, database or upload uses them; return the number removed.

        Files that cannot be removed now (database or disk unavailable) are left to `remove_unused`.
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
        """Yield files stored before this time, with their time."""
        for folder in sorted(self.folder.iterdir()):
            for path in folder.iterdir() if len(folder.name) == 2 else ():
                with suppress(FileNotFoundError):
                    seen = path.stat()
                    if seen.st_mtime < before:
                        yield path, seen.st_mtime_ns

    def _remove(self, seen: dict[Path, int]) -> int:
        """Remove unused files that were not stored again since `seen`; no job can be submitted meanwhile."""
        if not seen:
            return 0
        names = {path.parent.name + path.name: path for path in seen}
        with writing(self._engine) as connection:
            hold(connection, "files")
            used = _used(connection, names)
            asides = [self._put_aside(path, seen[path]) for digest, path in names.items() if digest not in used]
        for aside in filter(None, asides):  # outside the transaction: gigabytes take seconds
            aside.unlink(missing_ok=True)
        return sum(aside is not None for aside in asides)

    def _put_aside(self, path: Path, kept_at: int) -> Path | None:
        """Move a file aside for removal; None if the same bytes have just been sent again.

        The time is checked after the move, when no other process can find the file.
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
        """True if the bytes are already stored; their time is renewed."""
        try:
            os.utime(self._path(digest))
        except FileNotFoundError:
            return False
        return True

    def _temporary(self) -> Path:
        return self._incoming / secrets.token_hex(16)

    def _link(self, path: Path, file: BinaryIO, digest: str) -> bool:
        """Link the open file into the store; False if it is on another disk."""
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
        """Make the file read-only, flush it, rename it to its final name, and flush the folder."""
        os.fchmod(descriptor, 0o444)
        os.fsync(descriptor)
        path = self._path(digest)
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _flush_folder(self.folder)
        temporary.rename(path)
        _flush_folder(path.parent)


class Receiving:
    """File on its way into the store, with at most `limit` bytes."""

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
        """Append bytes; raise ResourceError if the file is too large (`TooLarge`) or the disk is full."""
        self.size += len(data)
        if self._limit is not None and self.size > self._limit:
            raise TooLarge(
                f"the file is larger than the limit of this server, {self._limit:,} bytes: send a smaller one"
            )
        self._store.check_room()
        self._hash.update(data)
        rest = memoryview(data)
        with _disk():
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    @property
    def digest(self) -> str:
        """Digest of the bytes so far."""
        return self._hash.hexdigest()

    def finish(self) -> StoredFile:
        """Move the file into the store, and return its record."""
        digest = self.digest
        with _disk():
            if not self._store._touch(digest):
                self._store._keep(self._temporary, self._descriptor, digest)
        return StoredFile(digest, self.size)


@contextmanager
def _disk() -> Iterator[None]:
    """Convert a full disk to ResourceError."""
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
    """Return the digests that a job, a database or an upload uses."""
    some = list(digests)
    found = union(
        select(job_files.c.digest).where(job_files.c.digest.in_(some)),
        select(databases.c.digest).where(databases.c.digest.in_(some)),
        select(uploads.c.digest).where(uploads.c.digest.in_(some)),
    )
    return {row[0] for row in connection.execute(found)}


class TooMuchSent(ResourceError):
    """A user has reached the daily limit of sent bytes."""


class Uploads:
    """Files sent by each user within a day, excluding those in jobs; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, files: FileStore, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._files, self._clock = engine, files, clock

    def keep(self, owner: str, receiving: Receiving, name: str = "") -> StoredFile:
        """Store received bytes as this user's; recorded first, they survive deletions of equal bytes."""
        self.add(owner, StoredFile(receiving.digest, receiving.size), name)
        return receiving.finish()

    def keep_bytes(self, owner: str, data: bytes, name: str = "") -> StoredFile:
        """Store bytes from memory as this user's; see `keep`."""
        with self._files.receive() as receiving:
            receiving.write(data)
            return self.keep(owner, receiving, name)

    def add(self, owner: str, file: StoredFile, name: str = "") -> None:
        """Record an upload, and delete uploads older than a day."""
        now = self._clock()
        with writing(self._engine) as connection:
            connection.execute(delete(uploads).where(uploads.c.at < now - SECONDS))
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(uploads)
            row = new.values(owner=owner, digest=file.digest, size=file.size, at=now, name=name)
            keys = [uploads.c.owner, uploads.c.digest]
            connection.execute(row.on_conflict_do_update(index_elements=keys, set_={"at": now, "name": name}))

    def forget_old(self) -> None:
        """Delete uploads older than a day."""
        with writing(self._engine) as connection:
            connection.execute(delete(uploads).where(uploads.c.at < self._clock() - SECONDS))

    def has(self, owner: str, digest: str) -> bool:
        """True if the user has sent the file."""
        with reading(self._engine) as connection:
            question = self._recent(select(uploads.c.digest), owner).where(uploads.c.digest == digest)
            return connection.execute(question).first() is not None

    def list(self, owner: str) -> tuple[Upload, ...]:
        """Return uploads that no job of the user has, newest first."""
        in_jobs = select(job_files.c.digest).join(jobs, jobs.c.number == job_files.c.job).where(jobs.c.owner == owner)
        alone = uploads.c.digest.not_in(in_jobs.where(job_files.c.digest.is_not(None)))
        columns = select(uploads.c.digest, uploads.c.name, uploads.c.size, uploads.c.at)
        question = self._recent(columns, owner).where(alone).order_by(uploads.c.at.desc(), uploads.c.digest)
        with reading(self._engine) as connection:
            found = [Upload(*row) for row in connection.execute(question.limit(MOST_LISTED))]
        return tuple(upload for upload in found if self._files.holds(upload.digest))

    def delete(self, owner: str, digest: str) -> None:
        """Delete an upload, and its file unless it is used elsewhere; raise KeyError if it is unknown."""
        with writing(self._engine) as connection:
            this = (uploads.c.owner == owner) & (uploads.c.digest == digest)
            if not connection.execute(delete(uploads).where(this)).rowcount:
                raise KeyError(digest)
        self._files.remove_these([digest])

    def size(self, owner: str) -> int:
        """Return the number of bytes that the user has sent."""
        with reading(self._engine) as connection:
            question = self._recent(select(func.coalesce(func.sum(uploads.c.size), 0)), owner)
            return int(connection.execute(question).scalar_one())

    def check_room(self, owner: str, most: int) -> None:
        """Raise ResourceError if the user has sent `most` bytes within a day (`TooMuchSent`)."""
        if self.size(owner) >= most:
            raise TooMuchSent(
                f"you have sent {most:,} bytes or more within a day, which is the limit: try again tomorrow"
            )

    def _recent(self, question: Any, owner: str) -> Any:
        return question.where(uploads.c.owner == owner, uploads.c.at >= self._clock() - SECONDS)
