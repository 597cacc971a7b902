"""Databases that the operator installs for all users: the stores (.tdb) of a folder, which is only read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from stat import S_ISREG

from tropalign.errors import InputError, UsageError, shown
from tropalign.sequences.databases import SUFFIX
from tropalign.serve.records import Database

#: How the ids begin, which no job's does.
MARK = "installed-"
#: What stands for a file's content until it changes: modification in ns, size, inode.
_Seen = tuple[int, int, int]


class InstalledDatabases:
    """The stores of a folder, each a database of all users, called as its file is.

    An id is of a name and a content: a job that named what has been replaced since is told so, rather than computed
    with something else.

    Parameters
    ----------
    folder
        Where the operator puts stores, whenever it may be; None where nothing is installed.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[Path, tuple[_Seen, Database | None]] = {}  # None: the file is no store

    def list(self) -> tuple[Database, ...]:
        """The databases by name; files that are no stores are left out (`faults` has them)."""
        return tuple(database for _, database in self._found() if database is not None)

    def get(self, id: str) -> Database:
        """A database; KeyError where there is none."""
        return self._entry(id)[1]

    def path(self, id: str) -> Path:
        """Where its store is; KeyError where there is none."""
        return self._entry(id)[0]

    def faults(self) -> tuple[str, ...]:
        """Why files of the folder are not listed, a sentence for each.

        Raises
        ------
        UsageError
            There is no such folder, or it cannot be read.
        """
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
        """Files and what they hold, in the order of names; each is opened once, until it changes."""
        paths = () if self._folder is None else sorted(self._folder.glob(f"[!.]*{SUFFIX}"))
        known: dict[Path, tuple[_Seen, Database | None]] = {}
        for path in paths:
            try:
                stat = path.stat()
            except OSError:  # it went meanwhile, or is a link to nothing
                continue
            if not S_ISREG(stat.st_mode):  # whoever opened a pipe would wait for its other end
                known[path] = (0, 0, 0), None
                continue
            seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            before = self._known.get(path)
            known[path] = before if before is not None and before[0] == seen else (seen, _described(path))
        self._known = known
        return tuple((path, database) for path, (_, database) in known.items())


def is_installed(id: str) -> bool:
    """Whether an id is of an installed database, rather than of one that a job has built."""
    return id.startswith(MARK)


def _described(path: Path) -> Database | None:
    """What a store holds; None where the file is none."""
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
    """Why a file is no store."""
    from tropalign.sequences.store import SequenceStore

    if not path.is_file():
        return f"{path}: it is no file"
    try:
        SequenceStore.open(path)
    except (InputError, OSError) as error:
        return str(error)
    return f"{path}: it has just been written"
