"""Login with a token or the printed address, and logout; the login page itself is in pages.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tropalign.serve.private import LOCAL, LOCAL_ID
from tropalign.serve.records import User
from tropalign.serve.web.access import verified
from tropalign.serve.web.bodies import read_form
from tropalign.serve.web.context import address_of, user_of, web_of
from tropalign.serve.web.credentials import COOKIE, SESSION_SECONDS
from tropalign.serve.web.paths import local_path
from tropalign.serve.web.refusals import Refused

if TYPE_CHECKING:
    from tropalign.serve.web.context import Web

router = APIRouter(include_in_schema=False)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Exchange a token for a session."""
    web = web_of(request)
    form = await read_form(request)
    token, wish = form.get("token"), form.get("next")
    await form.close()
    text = token.strip() if isinstance(token, str) else ""
    user, id = await verified(web, request.state.tokens, text[:500], address_of(request))
    request.state.tokens.forget()  # it may be newer than the cache
    await run_in_threadpool(web.audit, User(user, id), address_of(request), "login")
    return _let_in(web, User(user, id), wish if isinstance(wish, str) else None)


def let_in_by_address(request: Request, token: str) -> Response:
    """Start a session for this machine's user, who has opened the printed address.

    Raises Refused for other tokens: users' tokens must not appear in addresses, which browsers and logs store.
    """
    web, user = web_of(request), User(LOCAL, LOCAL_ID)
    if not request.state.tokens.is_local(token):
        raise Refused(401, "this address lets nobody in: open the one that tropalign serve printed at its last start")
    web.audit(user, address_of(request), "login")
    return _let_in(web, user, None)


def _let_in(web: Web, user: User, wish: str | None) -> Response:
    response = RedirectResponse(web.url(local_path(wish)), 303)
    _set_cookie(web, response, web.sessions.cookie(user.token or "", user.name), SESSION_SECONDS)
    return response


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session."""
    web = web_of(request)
    session = request.state.session
    if session is not None:
        await run_in_threadpool(web.storage.ended_sessions.add, session.id, session.expires)
        request.state.tokens.forget()
        await run_in_threadpool(web.audit, user_of(request), address_of(request), "logout")
    response = RedirectResponse(web.url("/login"), 303)
    _set_cookie(web, response, "", 0)
    return response


def _set_cookie(web: Web, response: Response, value: str, seconds: int) -> None:
    response.set_cookie(
        COOKIE,
        value,
        max_age=seconds,
        path=web.settings.root_path or "/",
        secure=web.settings.is_https,
        httponly=True,
        samesite="lax",
    )
