"""Databases of targets, usable in place of a file: stores built by users' jobs, and installed ones."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, delete, insert, select, update

from tropalign.errors import InputError, UsageError, listed, shown
from tropalign.serve.records import Database, State
from tropalign.serve.storage.database import hold, reading, writing
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.installed_databases import InstalledDatabases, is_installed
from tropalign.serve.storage.schema import clean, databases, job_files, jobs


class Databases:
    """Databases of targets: visible to their owners, or to all users if shared or installed."""

    def __init__(self, engine: Engine, files: FileStore, installed: InstalledDatabases) -> None:
        self._engine, self._files, self.installed = engine, files, installed

    def add(self, database: Database) -> None:
        """Add a database, or raise InputError if its file is not in the store.

        For a database built by a job, use `Queue.finish`, which adds it together with the job's end.
        """
        with writing(self._engine) as connection:
            hold(connection, "files", shared=True)
            insert_database(connection, database, self._files)

    def list(self, user: str) -> tuple[Database, ...]:
        """Return the databases that a user may use: own, installed, then shared by others; each group by name."""
        is_own = databases.c.owner == user
        question = select(databases).where(is_own | databases.c.shared)
        question = question.order_by(~is_own, databases.c.name, databases.c.created, databases.c.id)
        with reading(self._engine) as connection:
            found = [Database(**row) for row in connection.execute(question).mappings()]
        own = [each for each in found if each.owner == clean(user)]
        return (*own, *self.installed.list(), *found[len(own) :])

    def built(self, owner: str | None = None) -> tuple[Database, ...]:
        """Return databases built by jobs of one user or of all, by owner and name."""
        question = select(databases).order_by(databases.c.owner, databases.c.name, databases.c.created)
        if owner is not None:
            question = question.where(databases.c.owner == owner)
        with reading(self._engine) as connection:
            return tuple(Database(**row) for row in connection.execute(question).mappings())

    def set_shared(self, database: str, shared: bool) -> Database:
        """Share a database with all users or make it private, and return it; raise KeyError if it does not exist.

        Jobs that already use it continue.
        """
        with writing(self._engine) as connection:
            connection.execute(update(databases).where(databases.c.id == database).values(shared=shared))
        return self.get(database)

    def named_by(self, user: str, database: str) -> Database:
        """Return the database with this id, ``OWNER/NAME`` or name.

        For equal names, the user's own database has precedence, then the installed one, then shared ones. Raises
        KeyError if the user may use no such database, UsageError if others share several of this name.
        """
        known = self.list(user)
        for each in known:
            if each.id == database:
                return each
        named = [each for each in known if database in (each.name, f"{each.owner}/{each.name}")]
        if not named:
            raise KeyError(database)
        first = named[0]
        rivals = [each for each in named if each.owner not in ("", clean(user))]
        if first in rivals and len(rivals) > 1:
            owners = {each.owner for each in rivals}
            words = [f"{each.owner}/{each.name}" if len(owners) == len(rivals) else each.id for each in rivals]
            raise UsageError(f"{len(rivals)} databases are called {shown(database)}: name one of {listed(words)}")
        return first

    def get(self, database: str) -> Database:
        """Return a database by id, regardless of the user, or raise KeyError."""
        if is_installed(database):
            return self.installed.get(database)
        with reading(self._engine) as connection:
            row = connection.execute(select(databases).where(databases.c.id == database)).mappings().first()
        if row is None:
            raise KeyError(database)
        return Database(**row)

    def path(self, database: Database) -> Path:
        """Return the path of its store, or raise KeyError if it is gone."""
        return self.installed.path(database.id) if database.is_installed else self._files.path(database.digest)

    def delete(self, database: str) -> None:
        """Delete a database, and its file unless a job has it, such as the job that built it.

        Raises KeyError if it does not exist, UsageError if a queued or running job needs it.
        """
        with writing(self._engine) as connection:
            this = databases.c.id == database
            row = connection.execute(select(databases.c.name, databases.c.digest).where(this).with_for_update()).first()
            if row is None:
                raise KeyError(database)
            needed = (
                select(jobs.c.id)
                .join(job_files, job_files.c.job == jobs.c.number)
                .where(job_files.c.database == database, jobs.c.state.in_((State.QUEUED, State.RUNNING)))
                .limit(1)
            )
            if connection.execute(needed).first() is not None:
                raise UsageError(f"jobs that wait or run need {shown(row[0])!r}: delete it when they have ended")
            connection.execute(delete(databases).where(this))
        self._files.remove_these([row[1]])


def insert_database(connection: Connection, database: Database, files: FileStore) -> None:
    """Add a database in a transaction that holds "files"."""
    if not files.holds(database.digest):
        raise InputError(f"the file of the database {shown(database.name)!r} is not on the server: build it again")
    connection.execute(insert(databases).values(**vars(database)))
