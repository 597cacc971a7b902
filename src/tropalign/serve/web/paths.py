"""Addresses: paths of this server, and who may be sent to which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


def route_path(scope: Scope) -> str:
    """The path without what a proxy puts before it."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and (path == root or path.startswith(root + "/")):
        return path[len(root) :] or "/"
    return path


def local_path(text: str | None, default: str = "/") -> str:
    r"""A path of this server that somebody else named; `default` in place of what leads elsewhere.

    Examples
    --------
    >>> local_path("/jobs?q=a"), local_path("//evil.example"), local_path("/\\evil.example")
    ('/jobs?q=a', '/', '/')
    """
    if not text or len(text) > 500 or text[0] != "/" or text[1:2] in ("/", "\\"):
        return default
    return text if text.isascii() and text.isprintable() and " " not in text and "\\" not in text else default


class RootPath:
    """Tells the routes what a proxy puts before every path, whether it takes that away or not."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self.app, self.root_path = app, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
        await self.app(scope, receive, send)
