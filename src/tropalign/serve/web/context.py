"""Context that every route can access."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tropalign.serve.records import User
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage
    from tropalign.serve.web.credentials import Sessions
    from tropalign.serve.web.events import Watch
    from tropalign.serve.web.limits import Rates


@dataclass
class Web:
    """The running server, stored in `app.state.web`.

    `local_token` is the token of this machine's user, None without one. `error_page` makes the page for a status
    and a sentence, None without pages.
    """

    settings: Settings
    storage: Storage
    sessions: Sessions
    watch: Watch
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
    """Return the `csrf` value for forms of this session, which other sites cannot know."""
    state: dict[str, Any] = request.scope["state"]
    return web_of(request).sessions.csrf(state.get("session"))


_SECRETS = re.compile(r"(/shared/|[?&]token=)[^/?&#]+")


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
