"""What every route has at hand."""

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
    """A server at work: it stands in `app.state.web`.

    Parameters
    ----------
    local_token
        By which this machine's user is let in; None where nobody is.
    error_page
        Makes the page of a status and a sentence; None without pages.
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
        """Writes down who did what."""
        self.storage.audit.note(user.name if user is not None else "", address, action, object, detail)

    def url(self, path: str) -> str:
        """A path of this server as a browser asks for it."""
        return self.settings.root_path + path


def web_of(request: HTTPConnection) -> Web:
    """The server that a request came to."""
    return cast("Web", request.app.state.web)


def user_of(request: HTTPConnection) -> User:
    """Who asks; routes beyond the open ones are reached by nobody else."""
    return cast("User", request.scope["state"]["user"])


def address_of(request: HTTPConnection) -> str:
    """From where."""
    return cast("str", request.scope["state"]["address"])


def csrf_of(request: HTTPConnection) -> str:
    """What forms of this session hold as `csrf`, so that nobody else's forms are taken."""
    state: dict[str, Any] = request.scope["state"]
    return web_of(request).sessions.csrf(state.get("session"))
