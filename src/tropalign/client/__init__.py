"""Jobs on a server of ``tropalign serve``, from Python and from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.client.remote_job import RemoteDatabase as RemoteDatabase
    from tropalign.client.remote_job import RemoteJob as RemoteJob
    from tropalign.client.server import Server as Server
    from tropalign.client.server import connect as connect

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "remote_job": "RemoteDatabase RemoteJob",
        "server": "Server connect",
    },
)
