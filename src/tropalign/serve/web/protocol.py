"""HTTP with a time limit on heads of requests: what dribbles them would hold its connection for ever."""

from __future__ import annotations

import asyncio
import resource
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

#: Until when a connection has to have sent a whole head, or the rest of a body that nobody reads any more.
SECONDS = 10.0
#: Files and connections to the database that are open beside those of clients.
OTHER_FILES = 200
MOST_CONNECTIONS = 4_000


class HeadsInTime(H11Protocol):
    """As Uvicorn has it; a connection without a request in progress is closed after `SECONDS` of sending."""

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


def server_options() -> dict[str, Any]:
    """What Uvicorn is to be told, beside where it listens and what it logs."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(50, min(MOST_CONNECTIONS, soft - OTHER_FILES))
    http: Callable[..., Any] = HeadsInTime
    return {
        "http": http,
        "ws": "none",
        "proxy_headers": False,  # whose word is taken for where a client is, decides `access.py`
        "server_header": False,
        "limit_concurrency": most,
        "timeout_keep_alive": 30,
    }
