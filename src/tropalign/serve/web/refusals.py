"""Errors as responses: one sentence each, JSON for programs and a page for people, never a traceback."""

from __future__ import annotations

import json
import logging
import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import OperationalError, TimeoutError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tropalign.errors import ResourceError, TropalignError, shown
from tropalign.serve.storage import TooLarge, TooMany, TooMuch, TooMuchSent
from tropalign.serve.web.context import route_path, web_of, without_secrets

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
