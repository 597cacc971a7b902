"""Authentication and origin checks, before any route is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse

from tropalign.serve.private import LOCAL, LOCAL_ID
from tropalign.serve.records import User
from tropalign.serve.web.credentials import COOKIE, KnownTokens, Session
from tropalign.serve.web.limits import check_framing
from tropalign.serve.web.origins import Hosts, check_origin, host_name, is_bearer, networks
from tropalign.serve.web.paths import route_path
from tropalign.serve.web.refusals import Refused, answer, too_many, wants_json

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tropalign.serve.web.context import Web

NOT_VALID = "the token is not valid: ask the operator for one"
SAFE = ("GET", "HEAD", "OPTIONS")
#: Paths that need no login; a trailing "/" includes everything below.
OPEN = ("/login", "/logout", "/static/", "/healthz", "/readyz", "/metrics", "/shared/", "/api/v1/shared/",
        "/api/v1/openapi.json", "/favicon.ico", "/robots.txt")  # fmt: skip
#: Paths without authentication and rate limit.
UNCOUNTED = ("/static/", "/healthz")


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
            self._check_host(headers)
            path = route_path(scope)
            if not path.startswith(UNCOUNTED):
                state["user"], state["session"] = await self._who(scope, headers)
                self._count(state)
            if scope["method"] not in SAFE:
                receive = await check_origin(self.web, scope, headers, receive)
            if state["user"] is None and not is_open(path):
                await self._ask_to_log_in(scope, receive, send, path)
                return
        except Refused as refused:
            await answer(Request(scope, receive), refused)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        given = headers.getlist("host")
        name = host_name(given[0]) if len(given) == 1 else None
        if name is None:
            raise Refused(400, "the request does not say for which host it is")
        if not self.hosts.allows(name):
            raise Refused(421, f"this server is not known as {name}: start it with --allowed-host {name}")

    def _address(self, scope: Scope, headers: Headers) -> str:
        """Return the client's address, as a trusted proxy reports it."""
        client = scope.get("client")
        address: str = client[0] if client else ""
        if self.is_proxy(address):
            last = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
            return last[:64] if last.isascii() and last.isprintable() and last else address
        return address

    async def _who(self, scope: Scope, headers: Headers) -> tuple[User | None, Session | None]:
        if not self.tokens.is_fresh:
            await run_in_threadpool(self.tokens.read)
        # A proxy with its own password check forwards that header.
        if "authorization" in headers and (is_bearer(headers) or self.settings.proxy_user_header is None):
            return await self._bearer(headers, scope["state"]["address"]), None
        session = self._session(headers)
        if session is not None:
            return User(session.user, session.token), session
        client = scope.get("client")
        if self.settings.proxy_user_header is not None:
            return self._named_by_proxy(headers, client[0] if client else ""), None
        return None, None

    async def _bearer(self, headers: Headers, address: str) -> User:
        given = headers.getlist("authorization")
        kind, _, text = given[0].partition(" ")
        if len(given) != 1 or kind.lower() != "bearer" or not 0 < len(text) <= 500:
            raise _not_logged_in("the server takes tokens as Authorization: Bearer TOKEN")
        name, id = await verified(self.web, self.tokens, text, address)
        if not self.tokens.is_valid(id, name):  # newer than the cache, or revoked by another process
            await run_in_threadpool(self.tokens.read)
        if not self.tokens.is_valid(id, name):
            raise _not_logged_in(NOT_VALID)
        return User(name, id)

    def _session(self, headers: Headers) -> Session | None:
        if "cookie" not in headers:
            return None
        values = [cookie_parser(header).get(COOKIE) for header in headers.getlist("cookie")]
        value = next((value for value in values if value), None)
        session = self.web.sessions.read(value) if value else None
        return session if session is not None and self.tokens.is_session(session) else None

    def _named_by_proxy(self, headers: Headers, address: str) -> User | None:
        names = headers.getlist(self.settings.proxy_user_header or "")
        if not names or not self.is_proxy(address):
            return None
        if len(names) > 1:
            raise Refused(400, "the proxy names more than one user")
        name = names[0].strip()
        if not 0 < len(name) <= 200 or not name.isprintable():
            raise Refused(400, "the proxy names a user by what is no name")
        return User(name)

    def _count(self, state: dict[str, Any]) -> None:
        """Apply the rate limit of the user or address."""
        user: User | None = state["user"]
        name = f"user {user.name}" if user is not None else f"address {state['address']}"
        wait = self.web.requests.wait(name)
        if wait:
            raise too_many("too many requests: wait a little", wait)

    async def _ask_to_log_in(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        if wants_json(path) or scope["method"] not in ("GET", "HEAD") or self.web.error_page is None:
            refused = _not_logged_in("the server needs a token: send it as Authorization: Bearer TOKEN")
            await answer(Request(scope, receive), refused)(scope, receive, send)
            return
        asked = path + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
        where = self.web.url(f"/login?next={quote(asked[:500], safe='/')}")
        await RedirectResponse(where, 303)(scope, receive, send)


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
