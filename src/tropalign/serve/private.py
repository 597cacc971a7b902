"""Private folders and files, including the token of this machine's user.

Read access to the server's database means access as any user. The token of the user "local" grants access while no
tokens have been issued. The loopback interface does not identify the caller: other users of the machine can reach
it, and through a proxy anyone can. The token is therefore in a file that only this user can read, and in the
address that is printed at the start.
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
#: Name of the only user, and the value that a session stores instead of a token's id. No token has this id.
LOCAL, LOCAL_ID = "local", "local"


@contextmanager
def for_nobody_else() -> Iterator[None]:
    """Make all new files in this block private, including those of libraries and child processes."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def make_private_folder(folder: Path) -> None:
    """Make a private folder if it is missing; raise ResourceError if others have access or it is unusable."""
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        seen = folder.stat()
    except OSError as error:
        raise ResourceError(f"{shown(str(folder))}: {error.strerror}: choose another --folder") from None
    mode, name = stat.S_IMODE(seen.st_mode), shown(str(folder))
    me, is_usable = os.geteuid(), os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    if me not in (0, seen.st_uid) and (mode & _OTHERS or not is_usable):
        raise ResourceError(
            f"{name}: it belongs to user {seen.st_uid} (mode {mode:04o}), but must belong only to user {me}, who runs "
            f"tropalign: as root, chown {me} {name} && chmod 700 {name} (for a docker volume, in a container with "
            "--user root), or choose another --folder"
        )
    if mode & _OTHERS:
        raise ResourceError(
            f"{name}: others on this machine may read or write it (mode {mode:04o}), and could act as any user of "
            f"the server: chmod 700 {name}, or choose another --folder if its file system does not support modes"
        )


def make_private_file(path: Path) -> None:
    """Make an empty private file if it is missing, and remove others' access to an existing one.

    An existing file is not opened: closing it would release SQLite's locks on it in this process. Raises
    ResourceError if it belongs to another user.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    take_from_others(path)
    owner, me, name = path.stat().st_uid, os.geteuid(), shown(str(path))
    if owner != me and not os.access(path, os.R_OK | os.W_OK):  # if root has called `--add-token`
        whose = f"it belongs to user {owner}, but tropalign runs as user {me}"
        raise ResourceError(f"{name}: {whose}: as root, chown {me} {name}")


def take_from_others(path: Path) -> None:
    """Remove others' access to a file, if it exists; for files of other users the folder's mode must suffice."""
    with suppress(FileNotFoundError, PermissionError):
        if stat.S_IMODE(path.stat().st_mode) & _OTHERS:
            path.chmod(FILE_MODE)


def write_secret(path: Path, secret: str) -> None:
    """Write a line to a new private file; raise UsageError if it exists, ResourceError if it cannot be written."""
    name = shown(str(path))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{secret}\n")
    except FileExistsError:
        raise UsageError(f"{name}: the file exists: name another one, or remove it") from None
    except OSError as error:
        raise ResourceError(f"{name}: it cannot be written ({error.strerror}): name another file") from None


def local_token(folder: Path) -> str:
    """Return the token of the server with this folder, made if missing; raise ResourceError if that fails."""
    path, fresh = folder / LOCAL_TOKEN, folder / f"{LOCAL_TOKEN}.{secrets.token_hex(8)}"
    if not path.exists():
        write_secret(fresh, f"trop_local_{base64.b32encode(secrets.token_bytes(32)).decode().rstrip('=').lower()}")
        with suppress(FileExistsError):  # a concurrent call was faster: keep its token
            os.link(fresh, path)
        fresh.unlink()
    take_from_others(path)
    try:
        found = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        found = ""
    if len(found) < 32 or not found.isascii():
        raise ResourceError(f"{shown(str(path))}: the file contains no token: remove it, and start the server again")
    return found
