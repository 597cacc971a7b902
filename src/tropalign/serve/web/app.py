"""The web server as an ASGI application: routes, health, metrics, and the middleware that every request passes.

request --> Measured --> SafeHeaders --> LastResort --> Access --> Bounds --> routes
            figures      CSP and others  never a        who asks,  sizes     api, login, downloads,
                                         traceback      from where and pace  metrics, pages
"""

from __future__ import annotations

import asyncio
import resource
import threading
import time
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from anyio import to_thread
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from h11 import LocalProtocolError
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from tropalign import __version__
from tropalign.errors import TropalignError
from tropalign.serve.private import local_token
from tropalign.serve.storage import Storage
from tropalign.serve.web import api, downloads, events, pages
from tropalign.serve.web.access import Access
from tropalign.serve.web.context import (
    LastResort,
    Rates,
    Refused,
    RootPath,
    Sessions,
    Web,
    answer,
    refusal_of,
    route_path,
    web_of,
)
from tropalign.serve.web.downloads import SafeHeaders
from tropalign.serve.web.limits import Bounds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tropalign.serve.settings import Settings

#: Threads for requests. Writers wait for SQLite's single writer, and must leave threads to pages, which only read.
N_THREADS = 100
#: Allowed wrong tokens per address.
FAILURES_PER_MINUTE = 10
_SENTENCES = {
    404: "there is nothing at this address",
    405: "this address does not accept this method",
}
router = APIRouter(include_in_schema=False)
#: Minimum seconds between reads of figures from the database.
FIGURES_SECONDS = 5.0
_METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "PUT", "OPTIONS")
#: Seconds in which a connection must send a whole head, or the unread rest of a body.
HEAD_SECONDS = 10.0
#: Open files and database connections in addition to client connections.
OTHER_FILES = 200
MOST_CONNECTIONS = 4_000
#: Idle connections are kept longer than proxies keep theirs (nginx: 60 s), so that no proxy sends a request while
#: it is being closed here.
KEEP_ALIVE_SECONDS = 75


def create_app(settings: Settings, storage: Storage | None = None) -> FastAPI:
    """Return the application; without `storage`, it opens one from the settings and closes it at the end."""
    kept = storage if storage is not None else Storage.open(settings)
    token = local_token(settings.folder) if settings.has_local_user else None
    web = Web(
        settings,
        kept,
        Sessions(kept.secret() + (token or "").encode()),  # a new token ends the previous one's sessions
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
    app.state.web, app.state.watch = web, events.Watch()
    app.state.metrics = Metrics(web, app.state.watch)
    pages_router, web.error_page = pages.make_pages(settings, kept)
    for each in (api.job_router, api.router, events.router, pages.router, downloads.router, router, pages_router):
        app.router.routes.extend(each.routes)  # `include_router` would check each route several times per request
    _add_handlers(app)
    app.add_middleware(Bounds, web=web)  # requests pass the last one first
    app.add_middleware(Access, web=web)
    app.add_middleware(LastResort)
    app.add_middleware(SafeHeaders)
    app.add_middleware(Measured, metrics=app.state.metrics)
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
            # Collect the methods of all matching routes: each route lists only its own.
            path = route_path(request.scope)
            there = [route for route in app.routes if isinstance(route, Route) and route.path_regex.match(path)]
            headers["Allow"] = ", ".join(sorted({method for route in there for method in route.methods or ()}))
        return answer(request, Refused(error.status_code, words, headers=headers))

    async def handle_fields(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        return answer(request, Refused(422, f"{field}: {first['msg']}"[:500], field=field))

    app.add_exception_handler(Refused, handle)
    app.add_exception_handler(TropalignError, handle)
    app.add_exception_handler(HTTPException, handle_http)
    app.add_exception_handler(RequestValidationError, handle_fields)


class Metrics:
    """Figures of one server."""

    def __init__(self, web: Web, watch: events.Watch) -> None:
        self.web = web
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "tropalign_requests", "Requests by route and status", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "tropalign_request_seconds", "Time until the response starts", ("route",), registry=self.registry,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5),
        )  # fmt: skip
        self.jobs = Gauge("tropalign_jobs", "Jobs by state", ("state",), registry=self.registry)
        self.stored = Gauge("tropalign_stored_bytes", "Size of the files of all jobs in bytes", registry=self.registry)
        self.watchers = Gauge("tropalign_watchers", "Open event streams", registry=self.registry)
        self.watchers.set_function(lambda: float(watch.users.total()))
        self._read = float("-inf")

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        if time.monotonic() - self._read > FIGURES_SECONDS:
            self._read = time.monotonic()
            for state, n in self.web.storage.jobs.counts().items():
                self.jobs.labels(str(state)).set(n)
            self.stored.set(self.web.storage.jobs.stored_bytes())
        return generate_latest(self.registry)


class Measured:
    """Middleware that counts requests and measures the time until responses start."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "none")
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self.metrics.requests.labels(method, route, str(message["status"])).inc()
                self.metrics.seconds.labels(route).observe(time.perf_counter() - begin)
            await send(message)

        await self.app(scope, receive, watched)


@router.get("/healthz")
async def health() -> Response:
    """Report that the server responds."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
def readiness(request: Request) -> Response:
    """Report whether the database responds, the disk has room, and a local worker is alive if there should be one."""
    storage = web_of(request).storage
    try:
        storage.is_well()
    except Exception:
        raise Refused(503, "the database does not answer") from None
    storage.files.check_room()
    living = getattr(request.app.state, "living_workers", None)  # set by the process that starts workers
    if living is not None and web_of(request).settings.n_workers and not living():
        raise Refused(503, "no worker is running")
    return JSONResponse({"status": "ok"})


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Return metrics for Prometheus. `Access` requires a token: a local proxy may forward anyone's request."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)


class HeadsInTime(H11Protocol):
    """Uvicorn's protocol; a head, or the unread rest of a body, must arrive within `HEAD_SECONDS`.

    Otherwise a client that sends its headers very slowly would hold its connection forever.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of a new connection."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Handle a piece of a request, or all of it."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._begin()
        else:
            self._end()

    def send_400_response(self, msg: str) -> None:
        """Reject invalid HTTP; if a response is under way or already sent, only close the connection.

        h11 allows one response per request, and an error in an asyncio callback writes a traceback to the log.
        """
        try:
            super().send_400_response(msg)
        except LocalProtocolError:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of a closed connection."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._close)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._timer = None
        self.transport.abort()


class Server(uvicorn.Server):
    """Server that stops its workers first and serves pages meanwhile; a second signal ends it at once."""

    def __init__(self, config: uvicorn.Config, end_workers: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_workers = end_workers
        self._ending: threading.Thread | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Handle a signal to end."""
        if self._ending is not None:
            self.should_exit = self.force_exit = True
            return
        self._ending = threading.Thread(target=self._end, daemon=True)
        self._ending.start()

    def _end(self) -> None:
        self._end_workers()
        self.should_exit = True


def server_options() -> dict[str, Any]:
    """Return Uvicorn's options, excluding address and log settings."""
    # Raise the limit of open files and connections as far as the system allows.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wish = MOST_CONNECTIONS + OTHER_FILES
    more = wish if hard == resource.RLIM_INFINITY else min(wish, hard)
    if soft != resource.RLIM_INFINITY and soft < more:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
    now, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most_files = wish if now == resource.RLIM_INFINITY else now
    return {
        "http": HeadsInTime,
        "ws": "none",
        "proxy_headers": False,  # `access.py` decides which proxies to trust for the client's address
        "server_header": False,
        "limit_concurrency": max(50, min(MOST_CONNECTIONS, most_files - OTHER_FILES)),
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    }
