"""A server of this machine's user: where its files are, at which address it is, and the token that lets its user in."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

#: In the folder of a server, which holds a lock on it as long as it lives: its process, and the address where it is.
SERVER_LOCK = "server.lock"
#: In the folder of a server on which nobody was given a token: who can read this file is the user "local".
LOCAL_TOKEN = "local.token"


def data_folder() -> Path:
    """The folder of a server that names none."""
    from platformdirs import user_data_path

    return user_data_path("tropalign") / "serve"


def is_loopback(host: str) -> bool:
    """Whether a host, by name or address, is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def living_address(folder: Path) -> str | None:
    """The address of the server that has this folder; None where none has it, or it is not yet there.

    Raises
    ------
    OSError
        There was never a server with this folder.
    """
    try:
        import fcntl
    except ImportError:  # no server runs on this system
        return None
    with (folder / SERVER_LOCK).open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            lines = file.read().splitlines()
            return lines[1] if len(lines) > 1 else None
    return None
