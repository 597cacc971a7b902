"""Limits on requests: size of address, headers and body, speed of the body; and bounded parsing of JSON and forms."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from tropalign.errors import did_you_mean, shown
from tropalign.serve.web.context import Refused, answer, route_path, too_many

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tropalign.serve.settings import Limits
    from tropalign.serve.web.context import Web

MOST_ADDRESS_BYTES = 8_000
MOST_HEADER_BYTES = 32_000
MOST_HEADERS = 100
MOST_JSON_BYTES = 32 * 10**6
MOST_SMALL_BYTES = 64_000
#: Files of maximum size that one form may send.
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
MOST_FILES = 64
MOST_FIELDS = 500
#: Maximum bytes of all fields of a form except files, which are held in memory.
MOST_FIELD_BYTES = 32 * 10**6
#: Longer JSON is parsed in a thread, so that other requests are answered meanwhile.
SMALL_BYTES = 100_000
#: Maximum values and names in JSON: they take a hundred times the memory and time of one string of this size.
MOST_VALUES = 20_000
#: Start of a surrogate in JSON.
_SURROGATE = re.compile(r"\\u[dD]")


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
        self.n_uploads: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > MOST_ADDRESS_BYTES:
                raise Refused(414, f"the address is longer than {MOST_ADDRESS_BYTES:,} bytes")
            if len(scope["headers"]) > MOST_HEADERS:
                raise Refused(431, f"there are more than {MOST_HEADERS} headers")
            if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADER_BYTES:
                raise Refused(431, f"the headers are longer than {MOST_HEADER_BYTES:,} bytes")
            path = route_path(scope)
            most = most_bytes(path, self.web.settings.limits)
            headers = Headers(scope=scope)
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if path != "/api/v1/files" and kind == "application/x-www-form-urlencoded":
                most = min(most, MOST_JSON_BYTES)  # forms without files are read whole
            said = headers.getlist("content-length")
            if "transfer-encoding" in headers:
                await self._upload(scope, Body(receive, most), send)
            elif not said:
                await self.app(scope, receive, send)
            elif len(said) > 1 or not (said[0].isascii() and said[0].isdigit()) or len(said[0]) > 18:
                raise _hanging_up(400, "the header Content-Length is not a number")
            elif int(said[0]) > most:
                raise _too_long(most)
            elif int(said[0]) == 0:
                await self.app(scope, receive, send)
            elif int(said[0]) <= MOST_SMALL_BYTES:
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
        if self.n_uploads[name] >= MOST_UPLOADS:
            raise too_many(f"at most {MOST_UPLOADS} files are sent at a time: wait until one is finished", 5)
        self.n_uploads[name] += 1
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
    """Body whose bytes are counted and timed on arrival; the server's own processing time does not count."""

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
            raise _hanging_up(408, "the body arrives too slowly: send it again over a faster connection") from None
        self._waited += clock() - begin
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self._is_whole = not message.get("more_body", False)
            if self._size > self._most:
                raise _too_long(self._most)
        return message


def check_framing(headers: Headers) -> None:
    """Raise Refused for a request with both a length and chunked encoding, whose end a proxy may see elsewhere.

    The connection is closed, and nothing that follows on it is read.
    """
    if "content-length" in headers and "transfer-encoding" in headers:
        raise _hanging_up(400, "the request has both Content-Length and Transfer-Encoding: send one of them")


def _too_long(most: int) -> Refused:
    return _hanging_up(413, f"more than {most:,} bytes are not accepted: send less, or ask the operator for more")


def _hanging_up(status: int, sentence: str) -> Refused:
    """Return a refusal that closes the connection without waiting for the rest of the body."""
    return Refused(status, sentence, headers={"Connection": "close"})


async def read_json(request: Request, known: Sequence[str]) -> dict[str, Any]:
    """Return the JSON object of a request; raise Refused if it is invalid, has too many values or unknown fields."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "the body must be JSON: send Content-Type: application/json")
    body = await _counted(request)
    found = parse_object(body) if len(body) < SMALL_BYTES else await run_in_threadpool(parse_object, body)
    check_names(found, known)
    return found


async def _counted(request: Request) -> bytes:
    """Return the body, counting its values on arrival; a body with too many is not stored or decoded.

    It is read to its end regardless, since most clients listen only after they have sent everything.
    """
    count, pieces = ValueCount(), []
    async for piece in request.stream():
        if count.n <= MOST_VALUES:
            count.add(piece)
            pieces.append(piece)
        else:
            pieces.clear()
    if count.n > MOST_VALUES:
        raise Refused(413, f"the JSON has more than {MOST_VALUES:,} values: send sequences as texts or files")
    return b"".join(pieces)


class ValueCount:
    """Streaming count of values and names in JSON without decoding, exact enough to bound them.

    `n` counts `,`, `:`, `[` and `{` outside of strings, one for each value but the first and for each name.
    """

    def __init__(self) -> None:
        self.n = 0
        self._is_in_text = False
        self._held = b""  # a backslash whose second character is in the next piece

    def add(self, piece: bytes) -> None:
        """Count a piece."""
        data = self._held + piece
        n_last = len(data) - len(data.rstrip(b"\\"))
        self._held = b"\\" if n_last % 2 else b""
        data = data[: len(data) - n_last]  # pairs of backslashes at the end are complete
        if b"\\" in data:
            data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = data.split(b'"')
        outside = b"".join(parts[1 if self._is_in_text else 0 :: 2])
        self._is_in_text ^= len(parts) % 2 == 0
        self.n += sum(map(outside.count, (b",", b":", b"[", b"{")))


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object strictly (no NaN, no duplicate names), or raise Refused."""
    try:
        text = body.decode("utf-8")
        found = _DECODER.decode(text)
        if _SURROGATE.search(text):  # an unpaired surrogate does not encode
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise Refused(422, "the JSON is nested too deeply") from None
    except UnicodeError:
        raise Refused(422, "the JSON is not UTF-8") from None
    except ValueError as error:
        raise Refused(422, f"the body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused(422, "the body must be a JSON object")
    return found


def check_names(data: dict[str, Any], known: Sequence[str]) -> None:
    """Raise Refused if the data has an unknown field."""
    for name in data:
        if name not in known:
            word = shown(name[:100])
            raise Refused(422, f"there is no field {word!r}{did_you_mean(word, known)}", field=word)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def _whole(digits: str) -> int:
    if len(digits) > 19:
        raise ValueError("a number has too many digits")
    return int(digits)


def _finite_float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


_DECODER = json.JSONDecoder(
    parse_constant=_no_number, object_pairs_hook=_object, parse_int=_whole, parse_float=_finite_float
)


async def read_form(request: Request) -> FormData:
    """Return a request's form, with files in temporary files until it is closed; raise Refused if invalid."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        raise Refused(415, "the body must be a form")
    try:
        if kind == "multipart/form-data":
            parts = _Parts(
                request.headers, request.stream(), max_files=MOST_FILES, max_fields=MOST_FIELDS,
                max_part_size=MOST_FIELD_BYTES,
            )  # fmt: skip
            return await parts.parse()
        return await request.form(max_fields=MOST_FIELDS)
    except MultiPartException as error:
        raise Refused(422, f"the form cannot be read: {error.message}") from None
    except HTTPException as error:
        raise Refused(422, f"the form cannot be read: {error.detail}") from None


class _Parts(MultiPartParser):
    """Starlette's parser, with a limit for all fields together in addition to the limit per field."""

    n_bytes = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._current_part.file is None:
            self.n_bytes += end - start
            if self.n_bytes > MOST_FIELD_BYTES:
                raise MultiPartException(f"its fields have more than {MOST_FIELD_BYTES:,} bytes: send files")
        super().on_part_data(data, start, end)
