"""Context that every route can access."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response

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
