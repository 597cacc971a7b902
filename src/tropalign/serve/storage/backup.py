"""Backup of a running server's folder as one archive, and its restoration.

    tropalign.db      a snapshot of the SQLite database
    database.id       identifies the database that the folder belongs to
    files/ab/cdef...  the stored files, each named by the SHA-256 of its bytes
    manifest.json     the last member: the SHA-256 of the first two, and of the list of the files

An archive that ends before its manifest, or differs from it, is not restored: the copy is incomplete or altered.

The database is copied first. Files that are stored later are in the archive without references, which is harmless.
A job that is deleted meanwhile may have lost its files; other jobs are complete.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from tropalign.errors import InputError, ResourceError, UsageError, shown
from tropalign.serve.private import FILE_MODE, make_private_folder

DATABASE, IDENTITY, MANIFEST = "tropalign.db", "database.id", "manifest.json"
_FILE = re.compile(r"files/([0-9a-f]{2})/([0-9a-f]{62})")
_BLOCK = 1 << 20
#: Maximum bytes of a manifest.
_MOST_MANIFEST = 1 << 16


def back_up(folder: Path, archive: Path) -> int:
    """Write a new private archive, and return its number of stored files.

    Raises UsageError if the folder has no database or the archive exists; ResourceError on disk errors or a
    damaged database.
    """
    if not (folder / DATABASE).is_file():
        raise UsageError(f"{shown(str(folder))}: the folder has no {DATABASE}: name the folder of a server (--folder)")
    try:
        descriptor = os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    except FileExistsError:
        raise UsageError(f"{shown(str(archive))}: the file exists: name another one, or remove it") from None
    except OSError as error:
        raise ResourceError(f"{shown(str(archive))}: {error.strerror}: name another place") from None
    try:
        with open(descriptor, "wb") as out:
            n = _write(folder, out)
            out.flush()
            os.fsync(out.fileno())
        return n
    except (OSError, sqlite3.Error) as error:
        archive.unlink(missing_ok=True)
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ResourceError(f"{shown(str(archive))}: the backup was not made ({why}): check the free space") from None
    except BaseException:
        archive.unlink(missing_ok=True)
        raise


def _write(folder: Path, out: IO[bytes]) -> int:
    files: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix=".backup-", dir=folder) as aside,
        tarfile.open(fileobj=out, mode="w") as tar,
    ):
        copy = Path(aside) / DATABASE
        with closing(sqlite3.connect(folder / DATABASE)) as own, closing(sqlite3.connect(copy)) as other:
            own.backup(other)
        with copy.open("rb") as database:
            digests = {DATABASE: hashlib.file_digest(database, "sha256").hexdigest()}
        tar.add(copy, DATABASE)
        if (folder / IDENTITY).is_file():
            identity = (folder / IDENTITY).read_bytes()
            digests[IDENTITY] = hashlib.sha256(identity).hexdigest()
            _add(tar, IDENTITY, identity)
        for path in sorted((folder / "files").glob("??/*")):
            name = f"files/{path.parent.name}/{path.name}"
            with suppress(FileNotFoundError):  # the job was just deleted
                tar.add(path, name, recursive=False)
                files.append(name)
        _add(tar, MANIFEST, _manifest(digests, files))
    return len(files)


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    """Write a member of a few bytes."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), FILE_MODE
    tar.addfile(member, io.BytesIO(data))


def _manifest(digests: dict[str, str], files: list[str]) -> bytes:
    """Return an archive's manifest: digests by member, and number and digest of the list of stored files.

    Each file's own digest is its name.
    """
    listed = hashlib.sha256("\n".join(files).encode()).hexdigest()
    return json.dumps({"layout": 1, "digests": digests, "n_files": len(files), "files": listed}).encode()


def restore(archive: Path, folder: Path) -> int:
    """Restore the folder from an archive of `back_up`, and return its number of stored files.

    Raises UsageError if the folder is not empty, InputError, without making anything, if the archive is invalid or
    damaged, and ResourceError on disk errors.
    """
    if not archive.is_file():
        raise InputError("there is no such file", file=str(archive))
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{shown(str(folder))}: the folder is not empty: name a new --folder, or move this one away")
    was_there = folder.exists()
    make_private_folder(folder)
    aside = Path(tempfile.mkdtemp(prefix=".restored-", dir=folder.parent))
    try:
        n = _read(archive, aside)
        _check_database(aside / DATABASE, archive)
        aside.replace(folder)  # replaces an empty folder
        return n
    except tarfile.TarError as error:
        raise InputError(
            f"this is not a complete archive of tropalign admin backup ({error})", file=str(archive)
        ) from None
    except OSError as error:
        raise ResourceError(f"{shown(str(archive))}: the archive cannot be restored ({error.strerror})") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if not was_there:
            with suppress(OSError):  # not empty if the restoration succeeded
                folder.rmdir()


def _check_database(path: Path, archive: Path) -> None:
    """Raise InputError if SQLite cannot read the whole database, or if it is not a server's."""
    try:
        # With `immutable`, SQLite makes no log file.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            is_whole = found == "ok" and bool(connection.execute("SELECT * FROM alembic_version").fetchall())
    except (sqlite3.Error, UnicodeDecodeError):  # the check may quote undecodable text
        is_whole = False
    if not is_whole:
        raise InputError(
            f"its {DATABASE} is damaged or not that of a server: restore another backup", file=str(archive)
        )


def _read(archive: Path, folder: Path) -> int:
    """Extract an archive and compare it with its manifest; return the number of stored files.

    Raises InputError for a member with a name, type or content that `back_up` does not write, or a missing
    manifest.
    """
    files: list[str] = []
    digests: dict[str, str] = {}
    manifest: bytes | None = None
    with tarfile.open(archive, "r:") as tar:
        for member in tar:
            stored = _FILE.fullmatch(member.name)
            is_known = stored or member.name in (DATABASE, IDENTITY, MANIFEST)
            if not member.isreg() or not is_known or manifest is not None or (folder / member.name).exists():
                raise InputError(f"{shown(member.name[:200])} is not a file of a backup", file=str(archive))
            source = tar.extractfile(member)
            assert source is not None  # it is a regular file
            if member.name == MANIFEST:
                manifest = source.read(_MOST_MANIFEST)
                continue
            path = folder / member.name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            digest = _copied(source, path)
            if not stored:
                digests[member.name] = digest
                continue
            files.append(member.name)
            if digest != stored[1] + stored[2]:
                raise InputError(
                    f"{member.name} has a content that does not match its name: the archive is damaged",
                    file=str(archive),
                )
    if DATABASE not in digests:
        raise InputError(f"it has no {DATABASE}: it is not an archive of tropalign admin backup", file=str(archive))
    if manifest is None:
        raise InputError(
            f"it ends before its {MANIFEST}: it was cut off, or an earlier build of tropalign wrote it. Fetch it "
            "whole, or restore another backup",
            file=str(archive),
        )
    if manifest != _manifest(digests, files):
        raise InputError(
            f"its {DATABASE} or its files differ from its {MANIFEST}: the archive was altered, restore another backup",
            file=str(archive),
        )
    return len(files)


def _copied(source: IO[bytes], path: Path) -> str:
    """Copy to a new file, and return its SHA-256."""
    sha = hashlib.sha256()
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE), "wb") as out:
        while block := source.read(_BLOCK):
            sha.update(block)
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
    return sha.hexdigest()
