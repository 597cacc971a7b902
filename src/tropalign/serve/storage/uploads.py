"""Recent uploads by user: knowing a file's digest does not grant access to the file."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.errors import ResourceError
from tropalign.serve.records import StoredFile, Upload
from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.files import FileStore, Receiving
from tropalign.serve.storage.schema import job_files, jobs, uploads

SECONDS = 24 * 3600.0
#: Maximum uploads in a list.
MOST_LISTED = 1_000


class TooMuchSent(ResourceError):
    """A user has reached the daily limit of sent bytes."""


class Uploads:
    """Files sent by each user within a day, excluding those in jobs; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, files: FileStore, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._files, self._clock = engine, files, clock

    def keep(self, owner: str, receiving: Receiving, name: str = "") -> StoredFile:
        """Store received bytes as this user's, recorded first so that deletions of equal bytes spare them."""
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
            raise TooMuchSent(f"you have sent {most:,} bytes or more within a day: come again tomorrow")

    def _recent(self, question: Any, owner: str) -> Any:
        return question.where(uploads.c.owner == owner, uploads.c.at >= self._clock() - SECONDS)
