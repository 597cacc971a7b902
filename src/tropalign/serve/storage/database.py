"""Database access, SQLite in the folder or PostgreSQL by URL: connections, transactions, and migrations.

SQLite uses a write-ahead log, so that readers never wait for a writer. With ``synchronous=FULL`` each commit is on
disk before it returns, so that a result which a page reports as done survives a power failure. Less would suffice
against ``kill -9``, because written data is then already with the operating system.
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

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError, OperationalError

from tropalign.errors import ResourceError, UsageError, shown
from tropalign.serve.private import make_private_file, take_from_others

#: Seconds that a writer waits for another one.
PATIENCE = 20.0


def open_database(url: str | URL) -> Engine:
    """Return an engine for a database after a test connection.

    Raises UsageError for an unsupported URL, ResourceError if the database is unreachable or its file system
    unsuitable.
    """
    parsed = _parsed(url)
    try:
        engine = (
            _sqlite(parsed)
            if parsed.get_backend_name() == "sqlite"
            else create_engine(
                parsed,
                pool_size=10,
                max_overflow=10,
                pool_pre_ping=True,
                connect_args={"connect_timeout": 10, "options": "-c lock_timeout=20s -c timezone=UTC"},
            )
        )
    except ModuleNotFoundError:
        raise ResourceError("PostgreSQL needs a driver: pip install 'tropalign[serve]' 'psycopg[binary]'") from None
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except DBAPIError as error:
        engine.dispose()
        raise ResourceError(f"the database cannot be opened: {reason(error)}") from None
    return engine


def file_of_sqlite(url: str) -> Path | None:
    """Return the file of an SQLite URL, None for PostgreSQL; raise UsageError for an unsupported URL."""
    parsed = _parsed(url)
    return Path(str(parsed.database)) if parsed.get_backend_name() == "sqlite" else None


def _parsed(url: str | URL) -> URL:
    """Return the URL with the driver in use; errors do not show it, since it may contain a password."""
    try:
        parsed = make_url(url)
        kind = parsed.drivername.partition("+")[0]
    except (ArgumentError, NoSuchModuleError, ValueError):
        kind = ""
    if kind in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if kind == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed.set(drivername="sqlite")
    raise UsageError(
        "a database must be named like postgresql://USER:PASSWORD@HOST/NAME or sqlite:////srv/tropalign.db"
    )


def _sqlite(url: URL) -> Engine:
    path = Path(str(url.database))
    try:
        make_private_file(path)
    except OSError as error:
        raise ResourceError(f"the database cannot be opened: {shown(str(path))}: {error.strerror}") from None
    for ending in ("-wal", "-shm"):  # SQLite creates them with the mode of the database
        take_from_others(path.with_name(path.name + ending))
    engine = create_engine(
        url,
        pool_size=20,
        max_overflow=40,
        connect_args={"timeout": PATIENCE},
        execution_options={"turn": threading.Lock()},
    )

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we issue `BEGIN` ourselves, below
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
        # A writer takes the lock at once: after a read, SQLite would not wait (SQLITE_BUSY_SNAPSHOT).
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    try:
        _keep_log(engine, str(path))
    except BaseException:
        engine.dispose()
        raise
    return engine


def _keep_log(engine: Engine, path: str) -> None:
    """Turn the write-ahead log on permanently; retry if another process does so too."""
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
            f"{shown(path)}: its file system cannot hold a database of several processes: choose a folder on a local "
            "disk, or PostgreSQL (--database)"
        )


def reason(error: Exception) -> str:
    """Return the engine's message on one line."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return shown(" ".join(str(cause).split()))


@contextmanager
def _faults(engine: Engine) -> Iterator[None]:
    """Convert database failures to ResourceError; errors in queries stay as they are."""
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
    """True if SQLite cannot read its own file."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Yield a connection in a read transaction."""
    with _faults(engine), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Yield a connection in a write transaction; SQLite allows one at a time across all processes."""
    # One SQLite writer per process at a time: writers that wait inside SQLite poll with growing pauses.
    turn = engine.get_execution_options().get("turn")
    if turn is not None and not turn.acquire(timeout=PATIENCE):
        raise ResourceError("the database is busy: try again in a minute")
    try:
        with _faults(engine), engine.execution_options(writes=True).begin() as connection:
            yield connection
    finally:
        if turn is not None:
            turn.release()


def is_postgresql(engine: Engine | Connection) -> bool:
    """True for PostgreSQL."""
    return engine.dialect.name == "postgresql"


def hold(connection: Connection, name: str, shared: bool = False) -> None:
    """Hold a named lock, exclusive or `shared`, until the transaction ends.

    It has no effect in SQLite, whose writers exclude each other anyway.
    """
    if is_postgresql(connection):
        number = int.from_bytes(hashlib.sha256(f"tropalign {name}".encode()).digest()[:8], "big", signed=True)
        kind = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        connection.execute(text(f"SELECT {kind}(:number)"), {"number": number})


def update_tables(engine: Engine) -> None:
    """Upgrade the tables; of two servers that start together, one waits for the other.

    Raises UsageError if the database was made by a newer tropalign.
    """
    with reading(engine) as connection:  # if tables are current, wait for no writer
        if _is_current(connection):
            return
    with writing(engine) as connection:
        hold(connection, "migration")
        if not _is_current(connection):
            script = _migrations()
            steps = lambda revision, context: script._upgrade_revs("head", revision)  # noqa: E731
            context = MigrationContext.configure(connection, opts={"fn": steps})
            with Operations.context(context):
                context.run_migrations()


def check_current(engine: Engine) -> None:
    """Raise UsageError if the tables are of an older or newer version."""
    with reading(engine) as connection:
        if not _is_current(connection):
            raise UsageError("the database is of an older tropalign: start this version's server first")


def _migrations() -> ScriptDirectory:
    return ScriptDirectory(str(Path(__file__).parent / "migrations"))


def _is_current(connection: Connection) -> bool:
    """True if the tables are at the latest migration."""
    script = _migrations()
    known = {revision.revision for revision in script.walk_revisions()}
    there = set(MigrationContext.configure(connection).get_current_heads())
    if there - known:
        raise UsageError("the database was made by a newer tropalign: update this one, or choose another --database")
    return there == set(script.get_heads())
