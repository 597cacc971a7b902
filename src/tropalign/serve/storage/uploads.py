"""Which files a user has sent of late: knowing a file's digest is not having the file."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.errors import ResourceError
from tropalign.serve.records import StoredFile
from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.schema import uploads

SECONDS = 24 * 3600.0


class TooMuchSent(ResourceError):
    """A user has sent as many bytes of late as one may."""


class Uploads:
    """Files by user, for a day; jobs remember theirs themselves.

    Parameters
    ----------
    engine
        The database.
    clock
        Seconds since 1970.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def add(self, owner: str, file: StoredFile) -> None:
        """Remembers a file, and forgets those of yesterday."""
        now = self._clock()
        with writing(self._engine) as connection:
            connection.execute(delete(uploads).where(uploads.c.at < now - SECONDS))
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(uploads)
            row = new.values(owner=owner, digest=file.digest, size=file.size, at=now)
            keys = [uploads.c.owner, uploads.c.digest]
            connection.execute(row.on_conflict_do_update(index_elements=keys, set_={"at": now}))

    def has(self, owner: str, digest: str) -> bool:
        """Whether the user has sent it."""
        with reading(self._engine) as connection:
            question = self._recent(select(uploads.c.digest), owner).where(uploads.c.digest == digest)
            return connection.execute(question).first() is not None

    def size(self, owner: str) -> int:
        """How many bytes the user has sent."""
        with reading(self._engine) as connection:
            question = self._recent(select(func.coalesce(func.sum(uploads.c.size), 0)), owner)
            return int(connection.execute(question).scalar_one())

    def check_room(self, owner: str, most: int) -> None:
        """Nothing, where the user may send more.

        Raises
        ------
        ResourceError
            The user has sent so many bytes within a day (`TooMuchSent`).
        """
        if self.size(owner) >= most:
            raise TooMuchSent(f"you have sent {most:,} bytes or more within a day: come again tomorrow")

    def _recent(self, question: Any, owner: str) -> Any:
        return question.where(uploads.c.owner == owner, uploads.c.at >= self._clock() - SECONDS)
