"""Uvicorn setup: a time limit for request heads, and an end of workers before pages."""

from __future__ import annotations

import asyncio
import resource
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from h11 import LocalProtocolError
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds in which a connection must send a whole head, or the unread rest of a body.
SECONDS = 10.0
#: Open files and database connections in addition to client connections.
OTHER_FILES = 200
MOST_CONNECTIONS = 4_000
#: Idle connections are kept longer than proxies keep theirs (nginx: 60 s), so that no proxy sends a request while
#: it is being closed here.
KEEP_ALIVE_SECONDS = 75


class HeadsInTime(H11Protocol):
    """Uvicorn's protocol, which closes a connection without a request in progress after `SECONDS` of sending.

    A client that sends its head very slowly would otherwise hold the connection forever.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of a new connection."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Handle a piece of a request, or all of it."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._begin()
        else:
            self._end()

    def send_400_response(self, msg: str) -> None:
        """Reject invalid HTTP; if a response is under way or already sent, only close the connection.

        h11 allows one response per request, and an error in an asyncio callback writes a traceback to the log.
        """
        try:
            super().send_400_response(msg)
        except LocalProtocolError:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of a closed connection."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SECONDS, self._close)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._timer = None
        self.transport.abort()


class Server(uvicorn.Server):
    """Server that ends its workers first, while pages still show this; a second signal ends it at once."""

    def __init__(self, config: uvicorn.Config, end_workers: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_workers = end_workers
        self._ending: threading.Thread | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Handle a signal to end."""
        if self._ending is not None:
            self.should_exit = self.force_exit = True
            return
        self._ending = threading.Thread(target=self._end, daemon=True)
        self._ending.start()

    def _end(self) -> None:
        self._end_workers()
        self.should_exit = True


def server_options() -> dict[str, Any]:
    """Return Uvicorn's options, excluding address and log settings."""
    most = max(50, min(MOST_CONNECTIONS, _most_files() - OTHER_FILES))
    http: Callable[..., Any] = HeadsInTime
    return {
        "http": http,
        "ws": "none",
        "proxy_headers": False,  # `access.py` decides which proxies to trust for the client's address
        "server_header": False,
        "limit_concurrency": most,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    }


def _most_files() -> int:
    """Return the limit of open files and connections, raised as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wish = MOST_CONNECTIONS + OTHER_FILES
    more = wish if hard == resource.RLIM_INFINITY else min(wish, hard)
    if soft != resource.RLIM_INFINITY and soft < more:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
    now, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wish if now == resource.RLIM_INFINITY else now
