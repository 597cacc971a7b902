"""Databases of targets, which jobs name in place of a file: stores that users' jobs have built, and installed ones."""

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
    """Databases of targets, which their owners see, and those that are shared all users.

    Parameters
    ----------
    engine
        The database of the server.
    files
        The store, which has the files of those that jobs have built.
    installed
        The operator's, which all users see.
    """

    def __init__(self, engine: Engine, files: FileStore, installed: InstalledDatabases) -> None:
        self._engine, self._files, self.installed = engine, files, installed

    def add(self, database: Database) -> None:
        """Notes a database. What a job has built is rather noted by `Queue.finish`, together with the job's end.

        Raises
        ------
        InputError
            The store does not have its file.
        """
        with writing(self._engine) as connection:
            hold(connection, "files", shared=True)
            insert_database(connection, database, self._files)

    def list(self, user: str) -> tuple[Database, ...]:
        """What a user may name: one's own, then what is installed, then what others share; each by name."""
        is_own = databases.c.owner == user
        question = select(databases).where(is_own | databases.c.shared)
        question = question.order_by(~is_own, databases.c.name, databases.c.created, databases.c.id)
        with reading(self._engine) as connection:
            found = [Database(**row) for row in connection.execute(question).mappings()]
        own = [each for each in found if each.owner == clean(user)]
        return (*own, *self.installed.list(), *found[len(own) :])

    def built(self, owner: str | None = None) -> tuple[Database, ...]:
        """Databases that jobs of a user, or of all users, have built, by owner and name."""
        question = select(databases).order_by(databases.c.owner, databases.c.name, databases.c.created)
        if owner is not None:
            question = question.where(databases.c.owner == owner)
        with reading(self._engine) as connection:
            return tuple(Database(**row) for row in connection.execute(question).mappings())

    def set_shared(self, database: str, shared: bool) -> Database:
        """A database that all users may name from now on, or its owner alone; KeyError where there is none.

        Jobs that have named it before go on.
        """
        with writing(self._engine) as connection:
            connection.execute(update(databases).where(databases.c.id == database).values(shared=shared))
        return self.get(database)

    def named_by(self, user: str, database: str) -> Database:
        """The database with this id, with this name as ``OWNER/NAME``, or with this name.

        Of equal names the user's own comes first, then the installed one, then those that others share.

        Raises
        ------
        KeyError
            There is none that the user may name.
        UsageError
            Others share several databases of this name.
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
        """A database by its id, whoever asks; KeyError where there is none."""
        if is_installed(database):
            return self.installed.get(database)
        with reading(self._engine) as connection:
            row = connection.execute(select(databases).where(databases.c.id == database)).mappings().first()
        if row is None:
            raise KeyError(database)
        return Database(**row)

    def path(self, database: Database) -> Path:
        """Where its store is; KeyError where it is no longer there."""
        return self.installed.path(database.id) if database.is_installed else self._files.path(database.digest)

    def delete(self, database: str) -> None:
        """Forgets a database, and its file unless a job has it, as the one that has built it does.

        Raises
        ------
        KeyError
            There is none.
        UsageError
            A job that waits or runs needs it.
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
    """Adds a database in a transaction that holds "files"."""
    if not files.holds(database.digest):
        raise InputError(f"the file of the database {shown(database.name)!r} is not on the server: build it again")
    connection.execute(insert(databases).values(**vars(database)))
