"""Folders and files that nobody else may read, and the token of this machine's user, which is in one.

Whoever reads the server's database is any of its users. So is who reads the token of the user "local", by whom a server
is used where nobody was given a token: the loopback interface tells nothing of who asks, as other users of the machine
reach it, and so does the whole world through a proxy. It is in a file that this user alone can read, and in the address
that is printed at the start.
"""

from __future__ import annotations

import base64
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tropalign.errors import ResourceError, UsageError, shown
from tropalign.submissions.local_server import LOCAL_TOKEN

FOLDER_MODE, FILE_MODE = 0o700, 0o600
_OTHERS = 0o077
#: The user's name, and what stands in a session in place of a token's id, which is never that.
LOCAL, LOCAL_ID = "local", "local"


@contextmanager
def for_nobody_else() -> Iterator[None]:
    """Whatever is made meanwhile, by libraries and by processes that are started, is for nobody else to read."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def make_private_folder(folder: Path) -> None:
    """Makes the folder where there is none, and refuses one that others may read or write.

    Raises
    ------
    ResourceError
        It cannot be made or used, or others may; the sentence has the remedy.
    """
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        seen = folder.stat()
    except OSError as error:
        raise ResourceError(f"{shown(str(folder))}: {error.strerror}: choose another --folder") from None
    mode, name = stat.S_IMODE(seen.st_mode), shown(str(folder))
    me, is_usable = os.geteuid(), os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    if me not in (0, seen.st_uid) and (mode & _OTHERS or not is_usable):
        raise ResourceError(
            f"{name}: it belongs to user {seen.st_uid} (mode {mode:04o}), and tropalign runs as user {me}, to whom "
            f"alone it has to belong: as root, chown {me} {name} && chmod 700 {name} (a volume of docker: in a "
            "container with --user root), or choose another --folder"
        )
    if mode & _OTHERS:
        raise ResourceError(
            f"{name}: others on this machine may read or write it (mode {mode:04o}), and who reads it is any user of "
            f"the server: chmod 700 {name}; where its file system knows no modes, choose another --folder"
        )


def make_private_file(path: Path) -> None:
    """Makes an empty file where there is none, which nobody else can open; so it is with one that is there.

    A file that is there is not opened: to close it would end the locks that SQLite has on it in this process.

    Raises
    ------
    ResourceError
        It is another user's.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    take_from_others(path)
    owner, me, name = path.stat().st_uid, os.geteuid(), shown(str(path))
    if owner != me and not os.access(path, os.R_OK | os.W_OK):  # as --add-token leaves it that is called by root
        whose = f"it belongs to user {owner}, and tropalign runs as {me}"
        raise ResourceError(f"{name}: {whose}: as root, chown {me} {name}")


def take_from_others(path: Path) -> None:
    """Nobody else can open the file from now on, if it is there; what is another user's is left to the folder."""
    with suppress(FileNotFoundError, PermissionError):
        if stat.S_IMODE(path.stat().st_mode) & _OTHERS:
            path.chmod(FILE_MODE)


def write_secret(path: Path, secret: str) -> None:
    """Writes a line to a new file that nobody else can read.

    Raises
    ------
    UsageError
        There is a file already.
    ResourceError
        It cannot be written.
    """
    name = shown(str(path))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{secret}\n")
    except FileExistsError:
        raise UsageError(f"{name}: there is a file already: name another one, or remove it") from None
    except OSError as error:
        raise ResourceError(f"{name}: it cannot be written ({error.strerror}): name another file") from None


def local_token(folder: Path) -> str:
    """The token of the server with this folder, made where there is none.

    Raises
    ------
    ResourceError
        It cannot be read or written.
    """
    path, fresh = folder / LOCAL_TOKEN, folder / f"{LOCAL_TOKEN}.{secrets.token_hex(8)}"
    if not path.exists():
        write_secret(fresh, f"trop_local_{base64.b32encode(secrets.token_bytes(32)).decode().rstrip('=').lower()}")
        with suppress(FileExistsError):  # of two at once, the first one's holds
            os.link(fresh, path)
        fresh.unlink()
    take_from_others(path)
    try:
        found = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        found = ""
    if len(found) < 32 or not found.isascii():
        raise ResourceError(f"{shown(str(path))}: there is no token in it: remove it, and start the server again")
    return found
