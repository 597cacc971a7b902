"""Authentication and origin checks, before any route is reached."""

from __future__ import annotations

import hmac
import re
import socket
import time
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse

from tropalign.errors import UsageError, shown
from tropalign.serve.private import LOCAL, LOCAL_ID
from tropalign.serve.records import User
from tropalign.serve.web.context import Refused, Session, answer, route_path, too_many, wants_json
from tropalign.serve.web.limits import Body, check_framing

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage
    from tropalign.serve.web.context import Web

COOKIE = "tropalign_session"
#: Seconds for which the list of valid tokens is cached.
REMEMBERED_SECONDS = 5.0
NOT_VALID = "the token is not valid: ask the operator for one"
SAFE = ("GET", "HEAD", "OPTIONS")
#: Paths that need no login; a trailing "/" includes everything below.
OPEN = ("/login", "/logout", "/static/", "/healthz", "/readyz", "/shared/", "/api/v1/shared/",
        "/api/v1/openapi.json", "/favicon.ico", "/robots.txt")  # fmt: skip
#: Paths without authentication and rate limit.
UNCOUNTED = ("/static/", "/healthz")
#: Content types that a form of any page can send.
_OF_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
#: Maximum bytes of a form that are read to find the csrf value.
MOST_BYTES = 10**6
_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")


class Access:
    """Middleware that identifies the user, and rejects strangers and requests from pages of other sites.

    A user is identified by a token (`Authorization: Bearer`), a session cookie, or a trusted proxy's header. The
    client's address grants nothing: a proxy on this machine may forward requests from anywhere.
    """

    def __init__(self, app: ASGIApp, web: Web) -> None:
        self.app, self.web = app, web
        self.settings = web.settings
        self.hosts = Hosts(web.settings)
        self.is_proxy = networks(web.settings.trusted_proxies)
        self.tokens = KnownTokens(web.storage, web.local_token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or forward it with `user`, `session` and `address` in its state."""
        if scope["type"] != "http":
            if scope["type"] != "websocket":  # websockets are not supported
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        state.update(user=None, session=None, address=self._address(scope, headers), tokens=self.tokens)
        try:
            check_framing(headers)
            given = headers.getlist("host")
            name = host_name(given[0]) if len(given) == 1 else None
            if name is None:
                raise Refused(400, "the request has no valid Host header")
            if not self.hosts.allows(name):
                raise Refused(421, f"this server is not known as {name}: start it with --allowed-host {name}")
            path = route_path(scope)
            if not path.startswith(UNCOUNTED):
                state["user"], state["session"] = await self._identified_user(scope, headers)
                user = state["user"]  # the request rate is limited by user, or by address
                wait = self.web.requests.wait(f"user {user.name}" if user else f"address {state['address']}")
                if wait:
                    raise too_many("too many requests: wait a little", wait)
            if scope["method"] not in SAFE:
                receive = await check_origin(self.web, scope, headers, receive)
            if state["user"] is None and not is_open(path):
                if wants_json(path) or scope["method"] not in ("GET", "HEAD") or self.web.error_page is None:
                    raise _not_logged_in("the server needs a token: send it as Authorization: Bearer TOKEN")
                asked = path + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
                where = self.web.url(f"/login?next={quote(asked[:500], safe='/')}")
                await RedirectResponse(where, 303)(scope, receive, send)
                return
        except Refused as refused:
            await answer(Request(scope, receive), refused)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _address(self, scope: Scope, headers: Headers) -> str:
        """Return the client's address, as a trusted proxy reports it."""
        client = scope.get("client")
        address: str = client[0] if client else ""
        if self.is_proxy(address):
            last = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
            return last[:64] if last.isascii() and last.isprintable() and last else address
        return address

    async def _identified_user(self, scope: Scope, headers: Headers) -> tuple[User | None, Session | None]:
        if not self.tokens.is_fresh:
            await run_in_threadpool(self.tokens.read)
        # A proxy with its own password check forwards that header.
        if "authorization" in headers and (is_bearer(headers) or self.settings.proxy_user_header is None):
            given = headers.getlist("authorization")
            kind, _, text = given[0].partition(" ")
            if len(given) != 1 or kind.lower() != "bearer" or not 0 < len(text) <= 500:
                raise _not_logged_in(
                    "the Authorization header is invalid: send the token as Authorization: Bearer TOKEN"
                )
            name, id = await verified(self.web, self.tokens, text, scope["state"]["address"])
            if not self.tokens.is_valid(id, name):  # newer than the cache, or revoked by another process
                await run_in_threadpool(self.tokens.read)
            if not self.tokens.is_valid(id, name):
                raise _not_logged_in(NOT_VALID)
            return User(name, id), None
        values = [cookie_parser(header).get(COOKIE) for header in headers.getlist("cookie")]
        value = next((value for value in values if value), None)
        session = self.web.sessions.read(value) if value else None
        if session is not None and self.tokens.is_session(session):
            return User(session.user, session.token), session
        header, client = self.settings.proxy_user_header, scope.get("client")
        names = [] if header is None else headers.getlist(header)
        if not names or not self.is_proxy(client[0] if client else ""):
            return None, None
        if len(names) > 1:
            raise Refused(400, "the proxy names more than one user")
        name = names[0].strip()
        if not 0 < len(name) <= 200 or not name.isprintable():
            raise Refused(400, "the user name from the proxy is invalid")
        return User(name), None


def is_open(path: str) -> bool:
    """True if a path needs no login."""
    return any(path == known or (known[-1] == "/" and path.startswith(known)) for known in OPEN)


async def verified(web: Web, tokens: KnownTokens, text: str, address: str) -> tuple[str, str]:
    """Return user and id of a presented token; raise Refused if it is invalid or its address has failed too often."""
    if tokens.is_local(text):
        return LOCAL, LOCAL_ID
    known = web.storage.tokens.remembered(text)
    if known is not None:  # regardless of failures by others at this address
        return known.user, known.id
    if web.failures.is_empty(address):
        raise too_many("too many wrong tokens from this address: wait a minute", 60)
    token = await run_in_threadpool(web.storage.tokens.verify, text) if text.isascii() and "\0" not in text else None
    if token is None or token.revoked:
        web.failures.wait(address)
        await run_in_threadpool(web.audit, None, address, "login refused")
        raise _not_logged_in(NOT_VALID)
    return token.user, token.id


def _not_logged_in(sentence: str) -> Refused:
    return Refused(401, sentence, headers={"WWW-Authenticate": 'Bearer realm="tropalign"'})


# Pages of other sites must not submit jobs. Browsers report a request's origin (`Sec-Fetch-Site`, `Origin`). A
# request without these comes from a program or an old browser; the latter can send only form content types, which
# must then contain the csrf value of this server's forms.
async def check_origin(web: Web, scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """Raise Refused if a request may come from another site; else return the `receive` for reading its body."""
    if is_bearer(headers):  # no browser adds a token by itself
        return receive
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        raise _other_site_error()
    if origin is not None:
        if not _is_same_origin(origin, headers.get("host", ""), web.settings.is_https):
            raise _other_site_error()
        return receive
    if site == "same-origin":
        return receive
    session = scope["state"]["session"]
    word = headers.get("x-csrf-token")
    if word is not None:
        if not web.sessions.is_csrf(session, word):
            raise _other_site_error()
        return receive
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if session is None and kind not in _OF_FORMS:
        return receive
    return await _form_with_word(web, scope, headers, receive, kind)


def is_bearer(headers: Headers) -> bool:
    """True if the request has a bearer token, as from programs; browsers themselves add only Basic credentials."""
    return headers.get("authorization", "").partition(" ")[0].lower() == "bearer"


def _is_same_origin(origin: str, host: str, is_https: bool) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    ports = {"http": ":80", "https": ":443"}
    if parts.scheme not in ports or (is_https and parts.scheme != "https"):
        return False
    port = ports[parts.scheme]
    return parts.netloc.lower().removesuffix(port) == host.lower().removesuffix(port)


async def _form_with_word(web: Web, scope: Scope, headers: Headers, receive: Receive, kind: str) -> Receive:
    """Check the csrf value of a small form, and return a `receive` that replays it."""
    if kind not in _OF_FORMS[:2]:
        raise _missing_csrf_error()
    messages: list[Message] = []
    body = Body(receive, MOST_BYTES)
    while not messages or messages[-1].get("more_body", False):
        message = await body()
        if message["type"] != "http.request":
            break
        messages.append(message)
    try:
        async with Request(dict(scope), _again(messages, receive)).form(max_files=100, max_fields=500) as form:
            word = form.get("csrf")
    except HTTPException:
        raise _missing_csrf_error() from None
    if not isinstance(word, str) or not web.sessions.is_csrf(scope["state"]["session"], word):
        raise _missing_csrf_error()
    return _again(messages, receive)


def _again(messages: list[Message], receive: Receive) -> Receive:
    rest = iter(messages)

    async def replay() -> Message:
        return next(rest, None) or await receive()

    return replay


def _other_site_error() -> Refused:
    return Refused(403, "the request comes from a page of another site: open this server's page and try again")


def _missing_csrf_error() -> Refused:
    return Refused(
        403,
        "the request might come from a page of another site: programs send JSON as Content-Type: application/json, "
        "files as application/octet-stream, and forms the field csrf",
    )


def host_name(header: str) -> str | None:
    """Return the name in a Host header, without port and brackets, in lower case; None if it is invalid.

    >>> host_name("LocalHost:8080"), host_name("[::1]:80"), host_name("a@b")
    ('localhost', '::1', None)
    """
    found = _HOST.fullmatch(header)
    return found[1].strip("[]").rstrip(".").lower() if found else None


def is_address(name: str) -> bool:
    """True if it is an IP address rather than a name."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback_name(name: str) -> bool:
    """True if a name means the loopback interface without a DNS lookup."""
    return name == "localhost" or name.endswith(".localhost") or (is_address(name) and ip_address(name).is_loopback)


class Hosts:
    """Allowed host names of requests, which prevents DNS rebinding by other sites.

    If other machines can reach the server, any IP address is also allowed, because addresses need no DNS.
    """

    def __init__(self, settings: Settings) -> None:
        self._is_loopback = settings.is_loopback
        own = () if self._is_loopback else (socket.gethostname(),)
        self._names = {name.lower().rstrip(".") for name in (settings.host, *own, *settings.allowed_hosts)}

    def allows(self, name: str) -> bool:
        """True if requests with this name are answered."""
        return name in self._names or is_loopback_name(name) or (not self._is_loopback and is_address(name))


def networks(addresses: Iterable[str]) -> Callable[[str], bool]:
    """Return a predicate for membership in these addresses or networks; raise UsageError if one is invalid."""
    known: list[IPv4Network | IPv6Network] = []
    for address in addresses:
        try:
            known.append(ip_network(address, strict=False))
        except ValueError:
            raise UsageError(
                f"--trusted-proxy {shown(address)} is not an address: give one like 10.0.0.7 or 10.0.0.0/8"
            ) from None

    def is_one(address: str) -> bool:
        if not is_address(address):
            return False
        place = ip_address(address)
        return any(place.version == network.version and place in network for network in known)

    return is_one


class KnownTokens:
    """Cached users of valid tokens by id; a revoked token stays valid for up to `REMEMBERED_SECONDS`.

    `local_token` grants access to this machine's user until another token is issued; None disables this.
    """

    def __init__(
        self, storage: Storage, local_token: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._storage, self._local_token, self._clock = storage, local_token, clock
        self._users: dict[str, str] = {}
        self._ended: frozenset[str] = frozenset()
        self._are_there_any = False
        self._read: float | None = None

    @property
    def is_fresh(self) -> bool:
        """True if the cache is valid."""
        return self._read is not None and self._clock() - self._read < REMEMBERED_SECONDS

    def read(self) -> None:
        """Read tokens and ended sessions from the database."""
        found = self._storage.tokens.list()
        self._users = {token.id: token.user for token in found if not token.revoked}
        self._are_there_any = bool(found)
        self._ended = self._storage.ended_sessions.list()
        self._read = self._clock()

    def forget(self) -> None:
        """Invalidate the cache."""
        self._read = None

    def is_valid(self, id: str, user: str) -> bool:
        """True if the token of this id is valid and belongs to this user."""
        if id == LOCAL_ID:
            return self.lets_local_in and user == LOCAL
        return self._users.get(id) == user

    def is_session(self, session: Session) -> bool:
        """True if a session's token is valid and the session has not been ended."""
        return self.is_valid(session.token, session.user) and session.id not in self._ended

    @property
    def lets_local_in(self) -> bool:
        """True if this machine's user has access: no token was ever issued, not even a revoked one."""
        return self._local_token is not None and not self._are_there_any

    def is_local(self, text: str) -> bool:
        """True if this is the valid token of this machine's user."""
        known = (self._local_token or "").encode()
        return self.lets_local_in and hmac.compare_digest(known, text.encode("utf-8", "replace"))
