"""Limits on requests: size of address, headers and body, speed of the body, and rate per user."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.requests import Request

from tropalign.serve.web.context import route_path
from tropalign.serve.web.refusals import Refused, answer, too_many

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tropalign.serve.settings import Limits
    from tropalign.serve.web.context import Web

MOST_ADDRESS_BYTES = 8_000
MOST_HEADER_BYTES = 32_000
MOST_HEADERS = 100
MOST_JSON_BYTES = 32 * 10**6
MOST_SMALL_BYTES = 64_000
#: Forms of pages: a file for several inputs each.
FILES_OF_A_FORM = 4
#: Grace period in seconds, after which a body must arrive at this minimum rate in bytes per second.
PATIENCE_SECONDS = 10.0
LEAST_RATE = 1_000.0
#: Seconds for which the rest of a rejected body is read.
LINGER_SECONDS = 3.0
#: Maximum tags of a job.
MOST_TAGS = 20
#: Concurrent bodies above `MOST_SMALL_BYTES` per user.
MOST_UPLOADS = 8


def most_bytes(path: str, limits: Limits) -> int:
    """Return the maximum body size for this path."""
    if path == "/api/v1/files":
        return limits.upload_bytes
    if path.startswith("/api/v1/"):
        return MOST_JSON_BYTES if path == "/api/v1/jobs" else MOST_SMALL_BYTES
    if path.startswith("/new/") or path == "/databases":
        return min(limits.unpacked_bytes, FILES_OF_A_FORM * limits.upload_bytes) + MOST_JSON_BYTES
    return MOST_SMALL_BYTES


class Bounds:
    """Middleware that rejects requests that are too large before they are read, and cuts off slow or long bodies.

    The HTTP server rejects bodies that are longer than declared; the declared length is used here only for
    rejecting.
    """

    def __init__(self, app: ASGIApp, web: Web) -> None:
        self.app, self.web = app, web
        self.n_uploads: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            _check_head(scope)
            path = route_path(scope)
            most = most_bytes(path, self.web.settings.limits)
            if path != "/api/v1/files" and _kind(scope) == b"application/x-www-form-urlencoded":
                most = min(most, MOST_JSON_BYTES)  # such forms are read whole, and have no files
            said = _said_length(scope)
            if said is not None and said > most:
                raise _too_long(most)
            if said == 0:
                await self.app(scope, receive, send)
            elif said is not None and said <= MOST_SMALL_BYTES:
                await self.app(scope, Body(receive, most), send)
            else:
                await self._upload(scope, Body(receive, most), send)
        except Refused as refused:
            response = answer(Request(scope, receive), refused)
            if refused.status == 413:
                await _answer_while_it_comes(response, scope, receive, send)
            else:
                await response(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = scope["state"]["user"]
        name = user.name if user is not None else scope["state"]["address"]
        if self.n_uploads.get(name, 0) >= MOST_UPLOADS:
            raise too_many(f"no more than {MOST_UPLOADS} files at a time: wait until one is sent", 5)
        self.n_uploads[name] = self.n_uploads.get(name, 0) + 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.n_uploads[name] -= 1
            if not self.n_uploads[name]:
                del self.n_uploads[name]


async def _answer_while_it_comes(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond before the body has arrived, then read on briefly: most clients listen only after sending everything."""

    async def unended(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    await response(scope, receive, unended)
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while (message := await receive())["type"] == "http.request" and message.get("more_body", False):
                pass
    await send({"type": "http.response.body", "body": b""})


class Body:
    """Body on arrival, with counted bytes and monitored speed; the server's own processing time does not count."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most = receive, most
        self._size, self._waited, self._is_whole = 0, 0.0, False

    async def __call__(self) -> Message:
        """Return the next piece, or raise Refused if the body is too long or too slow."""
        if self._is_whole:  # further messages only report a disconnect
            return await self._receive()
        clock = asyncio.get_running_loop().time
        begin = clock()
        try:
            async with asyncio.timeout(max(0.0, PATIENCE_SECONDS + self._size / LEAST_RATE - self._waited)):
                message = await self._receive()
        except TimeoutError:
            raise _hanging_up(408, "the body comes too slowly: send it again over a better connection") from None
        self._waited += clock() - begin
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self._is_whole = not message.get("more_body", False)
            if self._size > self._most:
                raise _too_long(self._most)
        return message


def check_framing(headers: Headers) -> None:
    """Raise Refused for a request whose end a proxy might see differently: both a length and chunked encoding.

    The connection is closed, and nothing that follows on it is read.
    """
    if "content-length" in headers and "transfer-encoding" in headers:
        raise _hanging_up(400, "the request has Content-Length and Transfer-Encoding: send one of them")


def _check_head(scope: Scope) -> None:
    if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > MOST_ADDRESS_BYTES:
        raise Refused(414, f"the address is longer than {MOST_ADDRESS_BYTES:,} bytes")
    if len(scope["headers"]) > MOST_HEADERS:
        raise Refused(431, f"there are more than {MOST_HEADERS} headers")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADER_BYTES:
        raise Refused(431, f"the headers are longer than {MOST_HEADER_BYTES:,} bytes")


def _kind(scope: Scope) -> bytes:
    """Return the declared media type of the body."""
    said = [value for name, value in scope["headers"] if name == b"content-type"]
    return bytes(said[0]).partition(b";")[0].strip().lower() if said else b""


def _said_length(scope: Scope) -> int | None:
    """Return the value of Content-Length; 0 without a body, None for chunked encoding."""
    said = [value for name, value in scope["headers"] if name == b"content-length"]
    if any(name == b"transfer-encoding" for name, _ in scope["headers"]):
        return None
    if not said:
        return 0
    if len(said) > 1 or not said[0].isdigit() or len(said[0]) > 18:
        raise _hanging_up(400, "the header Content-Length is not a number")
    return int(said[0])


def _too_long(most: int) -> Refused:
    return _hanging_up(413, f"more than {most:,} bytes are not taken here: send less, or ask the operator for more")


def _hanging_up(status: int, sentence: str) -> Refused:
    """Return a refusal that closes the connection without waiting for the rest of the body."""
    return Refused(status, sentence, headers={"Connection": "close"})


class Rates:
    """Rate limit by name: buckets that fill steadily, up to `per_minute` requests.

    Full buckets are dropped when there are more than `most_names`.

    >>> rates = Rates(60, clock=lambda: 0.0)
    >>> sum(rates.wait("alice") == 0 for _ in range(100))
    60
    """

    def __init__(self, per_minute: int, most_names: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self.most_names, self.clock = per_minute, most_names, clock
        self.buckets: dict[str, tuple[float, float]] = {}  # requests left, and the time of that count

    def wait(self, name: str, cost: float = 1.0) -> float:
        """Take `cost` and return 0, or return the seconds until it is available."""
        now = self.clock()
        left = self._left(name, now)
        if left < cost:
            return (cost - left) * 60 / self.per_minute
        if len(self.buckets) >= self.most_names and name not in self.buckets:
            self._forget(now)
        self.buckets[name] = (left - cost, now)
        return 0.0

    def is_empty(self, name: str) -> bool:
        """True if the next request would have to wait; takes nothing."""
        return self._left(name, self.clock()) < 1

    def _left(self, name: str, now: float) -> float:
        left, since = self.buckets.get(name, (float(self.per_minute), now))
        return min(float(self.per_minute), left + (now - since) * self.per_minute / 60)

    def _forget(self, now: float) -> None:
        self.buckets = {name: kept for name, kept in self.buckets.items() if self._left(name, now) < self.per_minute}
        while len(self.buckets) >= self.most_names:  # an attack with many names: drop the oldest
            del self.buckets[next(iter(self.buckets))]
