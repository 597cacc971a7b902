"""Jobs on a server of ``tropalign serve``, from Python and from the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.client.databases import RemoteDatabase
    from tropalign.client.remote_job import RemoteJob
    from tropalign.client.server import Server, connect

_HOMES = {"RemoteDatabase": "databases", "RemoteJob": "remote_job", "Server": "server", "connect": "server"}

__all__ = ["RemoteDatabase", "RemoteJob", "Server", "connect"]


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use: the help of the command line needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.client' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.client.{_HOMES[name]}"), name)
