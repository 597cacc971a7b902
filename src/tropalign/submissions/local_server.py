"""Server of this machine's user: its folder, its address and the user's token."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

#: File in a server's folder, locked while the server lives: process id and address.
SERVER_LOCK = "server.lock"
#: File in the folder of a server without issued tokens: anyone who can read it is the user "local".
LOCAL_TOKEN = "local.token"


def data_folder() -> Path:
    """Return the default folder of a server."""
    from platformdirs import user_data_path

    return user_data_path("tropalign") / "serve"


def is_loopback(host: str) -> bool:
    """True if a host name or address refers only to this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def living_address(folder: Path) -> str | None:
    """Return the address of the running server with this folder, None if it does not run or has no address yet.

    Raises OSError if no server has used this folder.
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
