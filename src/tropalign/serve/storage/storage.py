"""What the server remembers, opened as a whole."""

from __future__ import annotations

import os
import secrets as random
import time
from collections.abc import Callable
from contextlib import suppress

from sqlalchemy import URL, Engine, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from tropalign.errors import ResourceError
from tropalign.serve.private import make_private_folder
from tropalign.serve.settings import SECONDS_OF_DAY, Settings
from tropalign.serve.storage.audit import Audit
from tropalign.serve.storage.database import (
    check_current,
    is_postgresql,
    open_database,
    reading,
    reason,
    update_tables,
    writing,
)
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.hooks import Hooks
from tropalign.serve.storage.installed_databases import InstalledDatabases
from tropalign.serve.storage.jobs import Jobs
from tropalign.serve.storage.queue import Queue
from tropalign.serve.storage.schema import jobs, secrets
from tropalign.serve.storage.target_databases import Databases
from tropalign.serve.storage.tokens import EndedSessions, Tokens
from tropalign.serve.storage.uploads import Uploads
from tropalign.serve.storage.users import Users
from tropalign.serve.storage.waits import Waits


class Storage:
    """What the server remembers.

    Parameters
    ----------
    engine
        The database, whose tables are up to date.
    files
        The files.
    installed
        The operator's databases.
    clock
        Seconds since 1970.

    Attributes
    ----------
    files, jobs, queue, waits, hooks, tokens, users, databases, audit, uploads, ended_sessions
        Its parts. Several threads may use them at a time, and several processes, each with a `Storage` of its own.
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
        """Opens a server's storage, which is made where there is none.

        Parameters
        ----------
        settings
            Which folder and database.
        migrate
            Whether tables of an older version are brought up to date; else they are refused.
        clock
            Seconds since 1970.

        Raises
        ------
        UsageError
            The database is of another version, or its URL of no known kind.
        ResourceError
            The database cannot be reached, the folder not be written, or others can read it.
        """
        folder = settings.folder
        make_private_folder(folder)
        # Not by text: a folder's name may hold what means something in a URL.
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
        """Lets go of the database."""
        self.engine.dispose()

    def secret(self) -> bytes:
        """32 random bytes that are the same for as long as the database lives: what cookies are signed with."""
        with reading(self.engine) as connection:
            value = connection.scalar(select(secrets.c.value).where(secrets.c.name == "cookies"))
        if value is None:
            with writing(self.engine) as connection:
                new = (postgresql if is_postgresql(connection) else sqlite).insert(secrets)
                row = {"name": "cookies", "value": random.token_hex(32)}
                connection.execute(new.values(**row).on_conflict_do_nothing())
                value = connection.scalar(select(secrets.c.value).where(secrets.c.name == "cookies"))
        return bytes.fromhex(str(value))

    def tidy(self, grace_seconds: float) -> int:
        """Forgets uploads of yesterday, and removes files that nothing has; says how many (`remove_unused`)."""
        self.uploads.forget_old()
        return self.files.remove_unused(grace_seconds)

    def delete_old_jobs(self, keep_days: float) -> int:
        """Deletes jobs that ended more than so many days ago, with their files, and says how many."""
        n, before = 0, self._clock() - keep_days * SECONDS_OF_DAY
        while old := self.jobs.ended_before(before):
            for job in old:
                with suppress(KeyError):  # its user has just deleted it
                    self.jobs.delete(job)
                    self.audit.note("", "", "expire", job)
                    n += 1
        return n

    def is_well(self) -> None:
        """Nothing, where the database answers and files can be written.

        Raises
        ------
        ResourceError
            Else.
        """
        with reading(self.engine) as connection:
            connection.execute(select(jobs.c.number).limit(1)).first()
        if not os.access(self.files.folder, os.W_OK | os.X_OK):
            raise ResourceError("the server's folder of files cannot be written: ask who runs it")
