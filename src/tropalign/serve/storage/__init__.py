"""The server's storage: content-addressed files, jobs and their queue, tokens, databases of targets, an audit log."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress

from sqlalchemy import URL, Engine, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from tropalign.errors import ResourceError
from tropalign.serve.private import make_private_folder
from tropalign.serve.settings import SECONDS_OF_DAY, Settings
from tropalign.serve.storage.database import (
    check_current,
    is_postgresql,
    open_database,
    reading,
    reason,
    update_tables,
    writing,
)
from tropalign.serve.storage.databases import Databases, InstalledDatabases
from tropalign.serve.storage.files import FileStore, TooLarge, TooMuchSent, Uploads
from tropalign.serve.storage.job_rows import Hooks
from tropalign.serve.storage.jobs import Jobs, TooMany, TooMuch
from tropalign.serve.storage.queue import Queue
from tropalign.serve.storage.schema import jobs as job_table
from tropalign.serve.storage.schema import secrets as secret_table
from tropalign.serve.storage.users import Audit, EndedSessions, Tokens, Users
from tropalign.serve.storage.waits import Waits

__all__ = ["Storage", "TooLarge", "TooMany", "TooMuch", "TooMuchSent"]


class Storage:
    """The server's storage: an up-to-date database, files, and the operator's databases.

    Several threads may use its parts (`jobs`, `queue`, ...) at a time; each process opens its own `Storage`.
    `clock` returns seconds since 1970.
    """

    def __init__(
        self,
        engine: Engine,
        files: FileStore,
        installed: InstalledDatabases,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.engine, self.files, self._clock = engine, files, clock
        self.jobs, self.queue = Jobs(engine, files, clock), Queue(engine, files, clock)
        self.waits, self.users = Waits(engine, clock), Users(engine)
        self.hooks = Hooks(engine, clock)
        self.tokens, self.audit = Tokens(engine, clock), Audit(engine, clock)
        self.databases = Databases(engine, files, installed)
        self.uploads, self.ended_sessions = Uploads(engine, files, clock), EndedSessions(engine, clock)

    @classmethod
    def open(cls, settings: Settings, migrate: bool = True, clock: Callable[[], float] = time.time) -> Storage:
        """Open a server's storage, made if missing; `migrate` upgrades older tables, which are rejected otherwise.

        Raises UsageError for a database of another version or an unsupported URL; ResourceError if the database is
        unreachable, the folder is not writable, or others can read it.
        """
        folder = settings.folder
        make_private_folder(folder)
        # Not a string: folder names may contain URL syntax.
        url = settings.database or URL.create("sqlite", database=str(folder / "tropalign.db"))
        engine = open_database(url)
        try:
            update_tables(engine) if migrate else check_current(engine)
            return cls(engine, FileStore(folder / "files", engine), InstalledDatabases(settings.installed), clock)
        except DBAPIError as error:
            engine.dispose()
            raise ResourceError(f"the database's tables cannot be made: {reason(error)}") from None
        except BaseException:
            engine.dispose()
            raise

    def __enter__(self) -> Storage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.engine.dispose()

    def secret(self) -> bytes:
        """Return 32 random bytes that stay the same for the life of the database, for signing cookies."""
        with reading(self.engine) as connection:
            value = connection.scalar(select(secret_table.c.value).where(secret_table.c.name == "cookies"))
        if value is None:
            with writing(self.engine) as connection:
                new = (postgresql if is_postgresql(connection) else sqlite).insert(secret_table)
                row = {"name": "cookies", "value": secrets.token_hex(32)}
                connection.execute(new.values(**row).on_conflict_do_nothing())
                value = connection.scalar(select(secret_table.c.value).where(secret_table.c.name == "cookies"))
        return bytes.fromhex(str(value))

    def tidy(self, grace_seconds: float) -> int:
        """Forget uploads older than a day, and remove unused files; return the number of files (`remove_unused`)."""
        self.uploads.forget_old()
        return self.files.remove_unused(grace_seconds)

    def delete_old_jobs(self, keep_days: float) -> int:
        """Delete jobs, with their files, that ended more than `keep_days` ago; return the number of jobs."""
        n, before = 0, self._clock() - keep_days * SECONDS_OF_DAY
        while old := self.jobs.ended_before(before):
            for job in old:
                with suppress(KeyError):  # the user has just deleted it
                    self.jobs.delete(job)
                    self.audit.note("", "", "expire", job)
                    n += 1
        return n

    def is_well(self) -> None:
        """Raise ResourceError if the database does not respond or files cannot be written."""
        with reading(self.engine) as connection:
            connection.execute(select(job_table.c.number).limit(1)).first()
        if not os.access(self.files.folder, os.W_OK | os.X_OK):
            raise ResourceError("the server's folder of files cannot be written: tell its operator")
