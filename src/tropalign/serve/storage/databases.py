"""Databases of targets, usable in place of a file: stores built by users' jobs, and installed ones."""

from __future__ import annotations

import hashlib
from pathlib import Path
from stat import S_ISREG

from sqlalchemy import Connection, Engine, delete, insert, select, update

from tropalign.errors import InputError, UsageError, listed, shown
from tropalign.serve.records import Database, State
from tropalign.serve.storage.database import hold, reading, writing
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.schema import clean, databases, job_files, jobs
from tropalign.verbs.db import SUFFIX

#: Prefix of the ids of installed databases; no job's id has it.
MARK = "installed-"
#: Fingerprint of an unchanged file: modification time in ns, size, inode.
_Seen = tuple[int, int, int]


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
            raise UsageError(f"{len(rivals)} databases are named {shown(database)}: give one of {listed(words)}")
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
        """Delete a database, and its file unless a job has the file, often the one that built it.

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


class InstalledDatabases:
    """Stores in a folder, each a database that all users may search, named after its file.

    An id stands for a name and a content: a job that refers to a replaced store fails instead of using other data.
    The operator may add stores at any time; `folder` is None if nothing is installed.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[Path, tuple[_Seen, Database | None]] = {}  # database is None if the file is not a store

    def list(self) -> tuple[Database, ...]:
        """Return the databases by name; files that are not stores are left out (see `faults`)."""
        return tuple(database for _, database in self._found() if database is not None)

    def get(self, id: str) -> Database:
        """Return a database, or raise KeyError."""
        return self._entry(id)[1]

    def path(self, id: str) -> Path:
        """Return the path of a database's store, or raise KeyError."""
        return self._entry(id)[0]

    def faults(self) -> tuple[str, ...]:
        """Return a sentence for each file that is not listed; raise UsageError if the folder is unreadable."""
        if self._folder is None:
            return ()
        try:
            next(self._folder.iterdir(), None)
        except OSError as error:
            folder = shown(str(self._folder))
            raise UsageError(
                f"{folder}: {error.strerror}: give --stores a folder of stores that tropalign db build made"
            ) from None
        return tuple(_fault(path) for path, database in self._found() if database is None)

    def _entry(self, id: str) -> tuple[Path, Database]:
        for path, database in self._found() if id.startswith(MARK) else ():
            if database is not None and database.id == id:
                return path, database
        raise KeyError(id)

    def _found(self) -> tuple[tuple[Path, Database | None], ...]:
        """Return files with their databases, by name; each file is opened once until it changes."""
        paths = () if self._folder is None else sorted(self._folder.glob(f"[!.]*{SUFFIX}"))
        known: dict[Path, tuple[_Seen, Database | None]] = {}
        for path in paths:
            try:
                stat = path.stat()
            except OSError:  # removed meanwhile, or a dangling link
                continue
            if not S_ISREG(stat.st_mode):  # opening a pipe would block
                known[path] = (0, 0, 0), None
                continue
            seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            before = self._known.get(path)
            known[path] = before if before is not None and before[0] == seen else (seen, _described(path))
        self._known = known
        return tuple((path, database) for path, (_, database) in known.items())


def is_installed(id: str) -> bool:
    """True if the id is of an installed database rather than one that a job has built."""
    return id.startswith(MARK)


def _described(path: Path) -> Database | None:
    """Return a store's description, None if the file is not a store."""
    from tropalign.sequences.store import SequenceStore

    try:
        store = SequenceStore.open(path)
        stat = path.stat()
    except (InputError, OSError):
        return None
    name = path.name.removesuffix(SUFFIX)
    sums = [str(array["sha256"]) for _, array in sorted(store.manifest["arrays"].items())]
    content = hashlib.sha256(" ".join(sums).encode()).hexdigest()
    return Database(
        id=MARK + hashlib.sha256(f"{content} {name}".encode("utf-8", "surrogateescape")).hexdigest()[:32],
        owner="",
        name=shown(name),
        alphabet=store.alphabet.name,
        n_sequences=len(store),
        n_residues=len(store.letters),
        digest=content,
        size=stat.st_size,
        created=stat.st_mtime,
        shared=True,
    )


def _fault(path: Path) -> str:
    """Return the reason that a file is not a store."""
    from tropalign.sequences.store import SequenceStore

    if not path.is_file():
        return f"{path}: not a file"
    try:
        SequenceStore.open(path)
    except (InputError, OSError) as error:
        return str(error)
    return f"{path}: written just now"
