"""Databases that the operator installs for all users: the stores (.tdb) of a read-only folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from stat import S_ISREG

from tropalign.errors import InputError, UsageError, shown
from tropalign.sequences.databases import SUFFIX
from tropalign.serve.records import Database

#: Prefix of their ids, which no job's id has.
MARK = "installed-"
#: Fingerprint of an unchanged file: modification time in ns, size, inode.
_Seen = tuple[int, int, int]


class InstalledDatabases:
    """Stores of a folder, each a database of all users, named like its file.

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
        return f"{path}: it is no file"
    try:
        SequenceStore.open(path)
    except (InputError, OSError) as error:
        return str(error)
    return f"{path}: it has just been written"
