"""Health checks, and metrics for Prometheus."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tropalign.serve.web.access import is_address, is_loopback_name
from tropalign.serve.web.context import address_of, web_of
from tropalign.serve.web.refusals import Refused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tropalign.serve.web.context import Web

router = APIRouter(include_in_schema=False)
#: Minimum seconds between reads of figures from the database.
SECONDS = 5.0


class Metrics:
    """Figures of one server."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "tropalign_requests", "Requests by route and status", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "tropalign_request_seconds", "Time until the answer begins", ("route",), registry=self.registry,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5),
        )  # fmt: skip
        self.jobs = Gauge("tropalign_jobs", "Jobs by state", ("state",), registry=self.registry)
        self.stored = Gauge("tropalign_stored_bytes", "Bytes of the files of all jobs", registry=self.registry)
        self.watchers = Gauge("tropalign_watchers", "Open streams of events", registry=self.registry)
        self.watchers.set_function(lambda: float(web.watch.users.total()))
        self._read = float("-inf")

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        if time.monotonic() - self._read > SECONDS:
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


_METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "PUT", "OPTIONS")


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
        raise Refused(503, "no worker lives")
    return JSONResponse({"status": "ok"})


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Send figures for Prometheus to this machine, and to users with a token."""
    address = address_of(request)
    is_near = is_address(address) and is_loopback_name(address)
    if request.state.user is None and not is_near:
        sentence = "figures are for this machine and for who has a token"
        raise Refused(401, sentence, headers={"WWW-Authenticate": "Bearer"})
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)
