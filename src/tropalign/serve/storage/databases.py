"""Databases of targets: stores that ``tropalign db build`` has made, which jobs name in place of a file."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, delete, insert, select

from tropalign.errors import InputError, UsageError, shown
from tropalign.serve.records import Database, State
from tropalign.serve.storage.database import hold, reading, writing
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.schema import databases, job_files, jobs


class Databases:
    """Databases of targets, which all users see.

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

    def list(self) -> tuple[Database, ...]:
        """All databases by name."""
        question = select(databases).order_by(databases.c.name, databases.c.created, databases.c.id)
        with reading(self._engine) as connection:
            return tuple(Database(**row) for row in connection.execute(question).mappings())

    def get(self, database: str) -> Database:
        """A database; KeyError where there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(select(databases).where(databases.c.id == database)).mappings().first()
        if row is None:
            raise KeyError(database)
        return Database(**row)

    def delete(self, database: str) -> None:
        """Forgets a database.

        Raises
        ------
        KeyError
            There is none.
        UsageError
            A job that waits or runs needs it.
        """
        with writing(self._engine) as connection:
            this = databases.c.id == database
            row = connection.execute(select(databases.c.name).where(this).with_for_update()).first()
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


def insert_database(connection: Connection, database: Database, files: FileStore) -> None:
    """As `Databases.add`, in a transaction that holds "files"."""
    if not files.holds(database.digest):
        raise InputError(f"the file of the database {shown(database.name)!r} is not on the server: build it again")
    connection.execute(insert(databases).values(**vars(database)))
