"""Uvicorn as this server runs it: heads of requests have a time limit, and workers end before pages do."""

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

#: Until when a connection has to have sent a whole head, or the rest of a body that nobody reads any more.
SECONDS = 10.0
#: Files and connections to the database that are open beside those of clients.
OTHER_FILES = 200
MOST_CONNECTIONS = 4_000
#: A connection on which nothing comes is kept longer than proxies keep theirs (nginx: 60 s), so that none sends a
#: request just when it is closed here.
KEEP_ALIVE_SECONDS = 75


class HeadsInTime(H11Protocol):
    """Uvicorn's protocol; it closes a connection without a request in progress after `SECONDS` of sending.

    What dribbles a head would hold its connection for ever.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """A piece of a request, or all of it."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._begin()
        else:
            self._end()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; if an answer is under way or sent already, only close the connection.

        h11 allows one answer per request, and each error in a callback of asyncio writes a traceback to the log.
        """
        try:
            super().send_400_response(msg)
        except LocalProtocolError:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """A client has gone."""
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
    """Ends its workers first, while pages still say so; a second signal ends it at once."""

    def __init__(self, config: uvicorn.Config, end_workers: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_workers = end_workers
        self._ending: threading.Thread | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Is told to end."""
        if self._ending is not None:
            self.should_exit = self.force_exit = True
            return
        self._ending = threading.Thread(target=self._end, daemon=True)
        self._ending.start()

    def _end(self) -> None:
        self._end_workers()
        self.should_exit = True


def server_options() -> dict[str, Any]:
    """What Uvicorn is to be told, beside where it listens and what it logs."""
    most = max(50, min(MOST_CONNECTIONS, _most_files() - OTHER_FILES))
    http: Callable[..., Any] = HeadsInTime
    return {
        "http": http,
        "ws": "none",
        "proxy_headers": False,  # whose word is taken for where a client is, decides `access.py`
        "server_header": False,
        "limit_concurrency": most,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    }


def _most_files() -> int:
    """How many files and connections this process may have open, which is raised as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wish = MOST_CONNECTIONS + OTHER_FILES
    more = wish if hard == resource.RLIM_INFINITY else min(wish, hard)
    if soft != resource.RLIM_INFINITY and soft < more:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
    now, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wish if now == resource.RLIM_INFINITY else now
