"""Where a server of this machine's user keeps its files, and the token by which programs of that user are let in."""

from __future__ import annotations

from pathlib import Path

#: In the folder of a server, which holds a lock on it as long as it lives: its process, and the address where it is.
SERVER_LOCK = "server.lock"
#: In the folder of a server on which nobody was given a token: who can read this file is the user "local".
LOCAL_TOKEN = "local.token"


def data_folder() -> Path:
    """The folder of a server that names none."""
    from platformdirs import user_data_path

    return user_data_path("tropalign") / "serve"
