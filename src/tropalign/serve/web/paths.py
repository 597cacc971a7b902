"""Paths of this server: without a proxy's prefix, safe for redirects, and without secrets for logs."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

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
