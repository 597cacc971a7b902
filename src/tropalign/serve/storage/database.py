"""SQLite in the folder or PostgreSQL by a URL: connections, transactions, and migrations to today's tables.

SQLite keeps a write-ahead log, so that readers never wait for a writer. ``synchronous=FULL`` has each commit on the
disk before it returns: what a page has called done outlives a loss of power, too. A ``kill -9`` alone would lose
nothing even with less, since what is written is then in the system's hands.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError, OperationalError

from tropalign.errors import ResourceError, UsageError, shown
from tropalign.serve.private import make_private_file, take_from_others

#: How long a writer waits for another one, in seconds.
PATIENCE = 20.0


def open_database(url: str | URL) -> Engine:
    """Connections to a database, of which the first is made and tried.

    Raises
    ------
    UsageError
        The URL is of no kind of database that is known.
    ResourceError
        The database cannot be reached, or its file system cannot keep it.
    """
    parsed = _parsed(url)
    engine = _sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _postgresql(parsed)
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except DBAPIError as error:
        engine.dispose()
        raise ResourceError(f"the database cannot be opened: {reason(error)}") from None
    return engine


def file_of_sqlite(url: str) -> Path | None:
    """Where SQLite's database of a URL lies; None for PostgreSQL.

    Raises
    ------
    UsageError
        The URL is of no kind of database that is known.
    """
    parsed = _parsed(url)
    return Path(str(parsed.database)) if parsed.get_backend_name() == "sqlite" else None


def _parsed(url: str | URL) -> URL:
    """The URL with the driver that is used; what is wrong is not shown, since it may hold a password."""
    try:
        parsed = make_url(url)
        kind = parsed.drivername.partition("+")[0]
    except (ArgumentError, NoSuchModuleError, ValueError):
        kind = ""
    if kind in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if kind == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed.set(drivername="sqlite")
    raise UsageError("a database is named like postgresql://USER:PASSWORD@HOST/NAME or sqlite:////srv/tropalign.db")


def _sqlite(url: URL) -> Engine:
    _make_private(Path(str(url.database)))
    engine = create_engine(
        url,
        pool_size=20,
        max_overflow=40,
        connect_args={"timeout": PATIENCE},
        execution_options={"turn": threading.Lock()},
    )

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # `BEGIN` is ours, below
        for pragma in (
            "foreign_keys=ON",
            "synchronous=FULL",
            "cache_size=-16000",
            "temp_store=MEMORY",
            "journal_size_limit=64000000",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        # A writer takes the lock at once: one that had read before could not wait for it (SQLITE_BUSY_SNAPSHOT).
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    try:
        _keep_log(engine, str(url.database))
    except BaseException:
        engine.dispose()
        raise
    return engine


def _make_private(path: Path) -> None:
    """The file is there, and nobody else can open it, nor those that SQLite makes beside it with the same mode."""
    try:
        make_private_file(path)
    except OSError as error:
        raise ResourceError(f"the database cannot be opened: {shown(str(path))}: {error.strerror}") from None
    for ending in ("-wal", "-shm"):
        take_from_others(path.with_name(path.name + ending))


def _keep_log(engine: Engine, path: str) -> None:
    """Turns the write-ahead log on, which stays on; SQLite does not wait where two processes do so at once."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection = engine.raw_connection()
            try:
                cursor = connection.cursor()
                cursor.execute("PRAGMA journal_mode=WAL")
                mode = str(cursor.fetchall()[0][0])
                cursor.close()
            finally:
                connection.close()
            break
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > until:
                remedy = ": restore the backup of its folder" if _is_damaged(error) else ""
                raise ResourceError(f"the database cannot be opened: {shown(path)}: {reason(error)}{remedy}") from None
            time.sleep(0.02)
    if mode != "wal":
        raise ResourceError(
            f"{shown(path)}: its file system cannot keep a database of several processes: choose a folder on a local "
            "disk, or PostgreSQL (--database)"
        )


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(
            url,
            pool_size=10,
            max_overflow=10,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10, "options": "-c lock_timeout=20s -c timezone=UTC"},
        )
    except ModuleNotFoundError:
        raise ResourceError("PostgreSQL needs a driver: pip install 'tropalign[serve]' 'psycopg[binary]'") from None


def reason(error: Exception) -> str:
    """What the engine says, on one line."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return shown(" ".join(str(cause).split()))


@contextmanager
def _faults(engine: Engine) -> Iterator[None]:
    """What the database cannot do is a sentence; mistakes of a question stay what they are."""
    try:
        yield
    except DatabaseError as error:
        if _is_damaged(error):
            what = f"the database {shown(Path(str(engine.url.database)).name)} is damaged ({reason(error)})"
            raise ResourceError(f"{what}: stop the server, and restore the backup of its folder") from error
        if isinstance(error, OperationalError):
            raise ResourceError(f"the database does not answer: {reason(error)}") from error
        raise


def _is_damaged(error: Exception) -> bool:
    """Whether SQLite cannot make sense of its own file."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that reads."""
    with _faults(engine), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes: of SQLite's there is one at a time, in all processes."""
    with _faults(engine), _turn(engine), engine.execution_options(writes=True).begin() as connection:
        yield connection


@contextmanager
def _turn(engine: Engine) -> Iterator[None]:
    """One of SQLite's writers in this process at a time: those that wait in SQLite look again ever more rarely."""
    turn = engine.get_execution_options().get("turn")
    if turn is None:
        yield
    elif turn.acquire(timeout=PATIENCE):
        try:
            yield
        finally:
            turn.release()
    else:
        raise ResourceError("the database is busy: try again in a minute")


def is_postgresql(engine: Engine | Connection) -> bool:
    """Whether it is PostgreSQL."""
    return engine.dialect.name == "postgresql"


def hold(connection: Connection, name: str, shared: bool = False) -> None:
    """Until the transaction ends, nobody else holds this name; several may who hold it `shared`.

    SQLite's writers exclude each other anyway.
    """
    if is_postgresql(connection):
        number = int.from_bytes(hashlib.sha256(f"tropalign {name}".encode()).digest()[:8], "big", signed=True)
        kind = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        connection.execute(text(f"SELECT {kind}(:number)"), {"number": number})


def update_tables(engine: Engine) -> None:
    """Brings the tables up to date; of two servers that start together, one waits for the other.

    Raises
    ------
    UsageError
        The database was made by a newer tropalign.
    """
    from alembic import command

    with reading(engine) as connection:  # a start waits for no writer where there is nothing to write
        if _is_current(connection):
            return
    with writing(engine) as connection:
        hold(connection, "migration")
        if not _is_current(connection):
            config = migrations()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def check_current(engine: Engine) -> None:
    """Refuses tables that are not of this version.

    Raises
    ------
    UsageError
        A server has to bring them up to date first, or they are of a newer tropalign.
    """
    with reading(engine) as connection:
        if not _is_current(connection):
            raise UsageError("the database is of an older tropalign: start the server of this one first")


def migrations() -> Any:
    """Alembic's configuration of the migrations in this package."""
    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _is_current(connection: Connection) -> bool:
    """Whether the last migration has been made."""
    script = ScriptDirectory.from_config(migrations())
    known = {revision.revision for revision in script.walk_revisions()}
    there = set(MigrationContext.configure(connection).get_current_heads())
    if there - known:
        raise UsageError("the database was made by a newer tropalign: update this one, or choose another --database")
    return there == set(script.get_heads())
