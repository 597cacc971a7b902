"""Databases of targets: stores that ``tropalign db build`` has made, which jobs name in place of a file."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, delete, insert, select, update

from tropalign.errors import InputError, UsageError, shown
from tropalign.serve.records import Database, State
from tropalign.serve.storage.database import hold, reading, writing
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.schema import clean, databases, job_files, jobs


class Databases:
    """Databases of targets, which their owners see, and those that are shared all users.

    Parameters
    ----------
    engine
        The database of the server.
    files
        The store, which has their files.
    """

    def __init__(self, engine: Engine, files: FileStore) -> None:
        self._engine, self._files = engine, files

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
        """What a user may name: one's own, then what others share; each by name."""
        is_own = databases.c.owner == user
        question = select(databases).where(is_own | databases.c.shared)
        question = question.order_by(~is_own, databases.c.name, databases.c.created, databases.c.id)
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
        """A database that this user may name; KeyError where there is none."""
        found = self.get(database)
        if found.owner != clean(user) and not found.shared:
            raise KeyError(database)
        return found

    def get(self, database: str) -> Database:
        """A database, whoever asks; KeyError where there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(select(databases).where(databases.c.id == database)).mappings().first()
        if row is None:
            raise KeyError(database)
        return Database(**row)

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
