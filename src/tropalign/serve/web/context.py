"""State that every route uses: the server with its sessions and rates, the user, the requested path; and refusals."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy.exc import OperationalError, TimeoutError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tropalign.errors import ResourceError, TropalignError, shown
from tropalign.serve.storage import TooLarge, TooMany, TooMuch, TooMuchSent

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tropalign.serve.records import User
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage

#: Lifetime of a session in seconds, and maximum characters of a cookie.
SESSION_SECONDS, MOST_COOKIE = 14 * 24 * 3600, 1_000
_SECRETS = re.compile(r"(/shared/|[?&]token=)[^/?&#]+")


# A signed cookie identifies the token that was presented, and forms contain a value derived from the session. Every
# request checks that token and session are valid, with a cache of some seconds.
@dataclass(frozen=True)
class Session:
    """Content of a cookie; a random `id` allows ending a single session, `expires` is in seconds since 1970."""

    id: str
    token: str
    user: str
    expires: int


class Sessions:
    """Maker and reader of cookies; the storage records sessions that ended early.

    `secret` belongs to this server: anyone who knows it can make cookies.
    """

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._cookie_key = hmac.digest(secret, b"tropalign session", "sha256")
        self._form_key = hmac.digest(secret, b"tropalign form", "sha256")
        self._clock = clock

    def cookie(self, token: str, user: str) -> str:
        """Return the value of a session cookie for this token."""
        fields = (secrets.token_urlsafe(16), token, user, str(int(self._clock()) + SESSION_SECONDS))
        body = ".".join(_pack(field.encode()) for field in fields)
        return f"{body}.{_pack(self._sign(body))}"

    def read(self, value: str) -> Session | None:
        """Return the session of a cookie, None if it is forged or expired."""
        body, dot, signature = value.rpartition(".")
        if not dot or len(value) > MOST_COOKIE or not value.isascii():
            return None
        if not hmac.compare_digest(_pack(self._sign(body)), signature):
            return None
        padded = (field + "=" * (-len(field) % 4) for field in body.split("."))
        id, token, user, expires = (base64.urlsafe_b64decode(field).decode() for field in padded)
        session = Session(id, token, user, int(expires))
        return session if session.expires > self._clock() else None

    def csrf(self, session: Session | None) -> str:
        """Return the form value of a session; None is a user without a session."""
        name = session.id if session is not None else ""
        return hmac.digest(self._form_key, name.encode(), hashlib.sha256).hex()[:40]

    def is_csrf(self, session: Session | None, word: str) -> bool:
        """True if a form came from a page of this session."""
        return hmac.compare_digest(self.csrf(session).encode(), word.encode("utf-8", "replace"))

    def _sign(self, body: str) -> bytes:
        return hmac.digest(self._cookie_key, body.encode(), "sha256")


def _pack(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


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


@dataclass
class Web:
    """The running server, stored in `app.state.web`.

    `local_token` is the token of this machine's user, None without one. `error_page` makes the page for a status
    and a sentence, None without pages.
    """

    settings: Settings
    storage: Storage
    sessions: Sessions
    requests: Rates
    failures: Rates
    local_token: str | None = None
    error_page: Callable[[Request, int, str], Response] | None = None

    def audit(self, user: User | None, address: str, action: str, object: str = "", detail: str = "") -> None:
        """Add an entry to the audit log."""
        self.storage.audit.note(user.name if user is not None else "", address, action, object, detail)

    def url(self, path: str) -> str:
        """Return a path of this server as browsers request it."""
        return self.settings.root_path + path


def web_of(request: HTTPConnection) -> Web:
    """Return the server of a request."""
    return cast("Web", request.app.state.web)


def user_of(request: HTTPConnection) -> User:
    """Return the user of a request; only open routes are reached without one."""
    return cast("User", request.scope["state"]["user"])


def address_of(request: HTTPConnection) -> str:
    """Return the client's address of a request."""
    return cast("str", request.scope["state"]["address"])


def csrf_of(request: HTTPConnection) -> str:
    """Return the `csrf` value for this session's forms, which other sites cannot guess."""
    state: dict[str, Any] = request.scope["state"]
    return web_of(request).sessions.csrf(state.get("session"))


def route_path(scope: Scope) -> str:
    """Return the path without a proxy's prefix."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and (path == root or path.startswith(root + "/")):
        return path[len(root) :] or "/"
    return path


def local_path(text: str | None, default: str = "/") -> str:
    r"""Return a user-supplied path of this server, or `default` if it leads elsewhere.

    >>> local_path("/jobs?q=a"), local_path("//evil.example"), local_path("/\\evil.example")
    ('/jobs?q=a', '/', '/')
    """
    if not text or len(text) > 500 or text[0] != "/" or text[1:2] in ("/", "\\"):
        return default
    return text if text.isascii() and text.isprintable() and " " not in text and "\\" not in text else default


class RootPath:
    """Middleware that sets the proxy's path prefix, whether or not the proxy removes it."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self.app, self.root_path = app, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
        await self.app(scope, receive, send)


def without_secrets(path: str) -> str:
    """Return a path for logs, without its secrets.

    >>> without_secrets("/shared/hee7xk/report"), without_secrets("/login?token=trop_local_abc&next=/")
    ('/shared/.../report', '/login?token=...&next=/')
    """
    return _SECRETS.sub(r"\1...", path)


class WithoutSecrets(logging.Filter):
    """Log filter that removes secrets from Uvicorn's access log: client, method, address, version, status."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove secrets from the record, and keep it."""
        if isinstance(record.args, tuple) and len(record.args) == 5:
            client, method, path, *rest = record.args
            record.args = (client, method, without_secrets(str(path)), *rest)
        return True


LOG = logging.getLogger("tropalign.serve")
MOST_LETTERS = 2_000


class Refused(Exception):
    """Request that is rejected with an HTTP status and a sentence, which includes the remedy.

    `field` is the form or JSON field concerned, if any; `headers` are additional response headers.
    """

    def __init__(
        self, status: int, sentence: str, *, field: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.field, self.headers = status, sentence, field, headers or {}


def too_many(sentence: str, seconds: float = 5.0) -> Refused:
    """Return a refusal with the number of seconds to wait."""
    return Refused(429, sentence, headers={"Retry-After": str(max(1, round(seconds + 0.5)))})


def refusal_of(error: Exception) -> Refused | None:
    """Return the response for an error, None for a defect."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, ClientDisconnect):
        return Refused(400, "the body is incomplete")
    if isinstance(error, TooMany):
        return too_many(str(error), 10.0)
    if isinstance(error, ResourceError):
        is_too_large = error.allowed_bytes is not None or isinstance(error, TooLarge | TooMuch | TooMuchSent)
        return Refused(413 if is_too_large else 503, str(error))
    if isinstance(error, TropalignError):
        return Refused(422, str(error), field=getattr(error, "field", None))
    if isinstance(error, OperationalError | TimeoutError):  # the database is unavailable
        return Refused(503, "the database does not answer: try again in a few seconds", headers={"Retry-After": "5"})
    return None


def wants_json(path: str) -> bool:
    """True if this path is for programs."""
    return path.startswith("/api/") or path in ("/healthz", "/readyz", "/metrics")


def as_json(refused: Refused) -> bytes:
    """Return the JSON body of a refusal."""
    content: dict[str, Any] = {"error": shown(refused.sentence)[:MOST_LETTERS]}
    if refused.field is not None:
        content["field"] = shown(refused.field)[:MOST_LETTERS]
    return json.dumps(content).encode()


def answer(request: Request, refused: Refused) -> Response:
    """Return the response: JSON for programs, or a page if pages are available."""
    web = web_of(request)
    if not wants_json(route_path(request.scope)) and web.error_page is not None:
        page = web.error_page(request, refused.status, shown(refused.sentence)[:MOST_LETTERS])
        for name, value in refused.headers.items():
            page.headers[name] = value
        return page
    return Response(as_json(refused), refused.status, refused.headers, "application/json")


class LastResort:
    """Middleware that catches unexpected errors: the response has a number, logged with the traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            refused = refusal_of(error)
            if refused is None:
                number = secrets.token_hex(4)
                path = without_secrets(scope["path"])
                LOG.error("request %s: %s %r", number, scope["method"], path, exc_info=error)
                refused = Refused(
                    500, f"this is a defect of tropalign: tell the operator, whose log has details under {number}"
                )
            if has_begun:  # clients detect the truncation, since the promised length is not reached
                raise ConnectionAbortedError from None
            try:
                response = answer(Request(scope, receive), refused)
            except Exception as error:  # the error page itself failed
                LOG.error("page of an error", exc_info=error)
                response = Response(as_json(refused), refused.status, refused.headers, "application/json")
            await response(scope, receive, send)
