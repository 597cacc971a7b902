"""The web server as an ASGI application: routes, and the middleware that every request passes.

request --> Measured --> SafeHeaders --> LastResort --> Access --> Bounds --> routes
            figures      CSP and others  never a        who asks,  sizes     api, login, downloads,
                                         traceback      from where and pace  metrics, pages
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from anyio import to_thread
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tropalign import __version__
from tropalign.errors import TropalignError
from tropalign.serve.private import local_token
from tropalign.serve.storage import Storage
from tropalign.serve.web import api, downloads, events, metrics
from tropalign.serve.web.access import Access
from tropalign.serve.web.context import RootPath, Web, route_path
from tropalign.serve.web.credentials import Sessions
from tropalign.serve.web.downloads import SafeHeaders
from tropalign.serve.web.limits import Bounds, Rates
from tropalign.serve.web.pages import make_pages
from tropalign.serve.web.refusals import LastResort, Refused, answer, refusal_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tropalign.serve.settings import Settings

#: Threads for requests. Writers wait for SQLite's single writer, and must leave threads to pages, which only read.
N_THREADS = 100
#: Allowed wrong tokens per address.
FAILURES_PER_MINUTE = 10
_SENTENCES = {
    404: "there is nothing at this address",
    405: "this address does not take this method",
}


def create_app(settings: Settings, storage: Storage | None = None) -> FastAPI:
    """Return the application; without `storage`, it opens one from the settings and closes it at the end."""
    kept = storage if storage is not None else Storage.open(settings)
    token = local_token(settings.folder) if settings.has_local_user else None
    web = Web(
        settings,
        kept,
        Sessions(kept.secret() + (token or "").encode()),  # a new token ends the sessions of the last one
        events.Watch(),
        Rates(settings.limits.requests_per_minute),
        Rates(FAILURES_PER_MINUTE),
        token,
    )

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = N_THREADS
        yield
        if storage is None:
            kept.close()

    app = FastAPI(
        title="tropalign",
        version=__version__,
        summary="Exact alignment of biological sequences",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
    )
    app.state.web = web
    app.state.metrics = metrics.Metrics(web)
    pages, web.error_page = make_pages(settings, kept)
    for router in (api.job_router, api.router, events.router, pages.router, downloads.router, metrics.router, pages):
        app.router.routes.extend(router.routes)  # `include_router` would check each route several times per request
    _add_handlers(app)
    app.add_middleware(Bounds, web=web)  # requests meet the last one first
    app.add_middleware(Access, web=web)
    app.add_middleware(LastResort)
    app.add_middleware(SafeHeaders)
    app.add_middleware(metrics.Measured, metrics=app.state.metrics)
    app.add_middleware(RootPath, root_path=settings.root_path)
    return app


def _add_handlers(app: FastAPI) -> None:
    """Convert intentional errors to responses; all others reach `LastResort`."""

    async def handle(request: Request, error: Exception) -> Response:
        refused = refusal_of(error)
        if refused is None:
            raise error
        return answer(request, refused)

    async def handle_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        words, headers = _SENTENCES.get(error.status_code, str(error.detail)), dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_methods_of(request))
        return answer(request, Refused(error.status_code, words, headers=headers))

    def _methods_of(request: Request) -> list[str]:
        """Return the methods of all routes at this address."""
        path = route_path(request.scope)
        there = [route for route in app.routes if isinstance(route, Route) and route.path_regex.match(path)]
        return sorted({method for route in there for method in route.methods or ()})

    async def handle_fields(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        return answer(request, Refused(422, f"{field}: {first['msg']}"[:500], field=field))

    app.add_exception_handler(Refused, handle)
    app.add_exception_handler(TropalignError, handle)
    app.add_exception_handler(HTTPException, handle_http)
    app.add_exception_handler(RequestValidationError, handle_fields)
