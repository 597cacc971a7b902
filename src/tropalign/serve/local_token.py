"""The token of this machine's user, on a server where nobody was given one.

The loopback interface tells nothing of who asks: other users of the machine reach it, and so does the whole world
through a proxy. So the user "local", too, is who shows a token; it is in a file that this user alone can read, and in
the address that is printed at the start.
"""

from __future__ import annotations

import base64
import os
import secrets
from contextlib import suppress
from pathlib import Path

from tropalign.errors import ResourceError, shown
from tropalign.serve.private import take_from_others, write_secret
from tropalign.submissions.this_machine import LOCAL_TOKEN

#: The user's name, and what stands in a session in place of a token's id, which is never that.
LOCAL, LOCAL_ID = "local", "local"


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
