"""Live updates of jobs: one database query at a time for all watchers.

storage --every half second, all watched jobs in one query--> Watch --changed jobs--> a queue per watcher --> SSE
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tropalign.properties import cached_property
from tropalign.serve.web.api_models import EVENTS, job_json
from tropalign.serve.web.context import too_many, user_of, web_of
from tropalign.serve.web.user_jobs import own_job, wait_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

    from tropalign.serve.records import Job, Wait
    from tropalign.serve.web.context import Web

router = APIRouter(prefix="/api/v1", tags=["jobs"])
LOG = logging.getLogger("tropalign.serve")
SECONDS = 0.5
PING_SECONDS = 15.0
#: Seconds after which a watcher must reconnect, presenting its token again.
MOST_SECONDS = 3600.0
MOST_PER_USER, MOST = 20, 1_000


@dataclass(frozen=True)
class Seen:
    """A job's last known state, and its waiting reason."""

    job: Job
    wait: Wait | None
    web: Web = field(compare=False, repr=False)

    @cached_property
    def event(self) -> bytes:
        """Event for watchers, encoded once for all of them."""
        return b"event: job\ndata: " + json.dumps(job_json(self.web, self.job, wait=self.wait)).encode() + b"\n\n"


class Watch:
    """Watchers of jobs, updated every `seconds`."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.watchers: dict[str, set[asyncio.Queue[Seen | None]]] = {}
        self.users: Counter[str] = Counter()
        self._seen: dict[str, Seen] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def seat(self, user: str) -> Iterator[None]:
        """Reserve a place for one watcher; raise Refused if all are taken."""
        if self.users[user] >= MOST_PER_USER or self.users.total() >= MOST:
            raise too_many(f"at most {MOST_PER_USER} jobs are watched at a time: request the job itself instead", 10)
        self.users[user] += 1
        try:
            yield
        finally:
            self.users[user] -= 1
            if not self.users[user]:
                del self.users[user]

    @contextmanager
    def queue(self, web: Web, seen: Seen) -> Iterator[asyncio.Queue[Seen | None]]:
        """Yield a queue of the job's changes; None means that the job is gone."""
        queue: asyncio.Queue[Seen | None] = asyncio.Queue()
        job = seen.job
        self.watchers.setdefault(job.id, set()).add(queue)
        self._seen.setdefault(job.id, seen)
        if self._seen[job.id] != seen:  # the job changed since the last poll
            queue.put_nowait(self._seen[job.id])
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look(web))
        try:
            yield queue
        finally:
            self.watchers[job.id].discard(queue)
            if not self.watchers[job.id]:
                del self.watchers[job.id]
                self._seen.pop(job.id, None)

    async def _look(self, web: Web) -> None:
        """Poll the watched jobs until there are no watchers."""

        def look() -> dict[str, Seen]:
            jobs = web.storage.jobs.several(ids)
            waits = web.storage.waits.of(jobs, web.settings.limits.running_per_user)
            return {job.id: Seen(job, waits.get(job.id), web) for job in jobs}

        while self.watchers:
            await asyncio.sleep(self.seconds)
            ids = tuple(self.watchers)
            try:
                found = await run_in_threadpool(look)
            except Exception as error:  # the database is unavailable: it may return
                LOG.warning("watched jobs cannot be read: %s", error)
                continue
            for id in ids:
                self._tell(id, found.get(id))

    def _tell(self, id: str, seen: Seen | None) -> None:
        if id not in self.watchers or (seen is not None and self._seen.get(id) == seen):
            return
        if seen is not None:
            self._seen[id] = seen
        for queue in self.watchers[id]:
            queue.put_nowait(seen)


@router.get("/jobs/{id}/events", responses=EVENTS)
async def watch_job(request: Request, id: str) -> Response:
    """Watch a job: server-sent events until it has ended."""
    web, user = web_of(request), user_of(request)

    def first_look() -> Seen:
        job = own_job(web, user, id)
        return Seen(job, wait_of(web, job), web)

    begin = await run_in_threadpool(first_look)
    watch: Watch = request.app.state.watch
    return _Stream(watch.seat(user.name), _events(watch, web, begin))


class _Stream(StreamingResponse):
    """Event stream that holds a seat while it is sent; its iterator cannot, since it may never start."""

    def __init__(self, seat: AbstractContextManager[None], events: AsyncIterator[bytes]) -> None:
        headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
        super().__init__(events, headers=headers, media_type="text/event-stream")
        self._seat = seat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; raise Refused before it starts if there is no free seat."""
        with self._seat:
            await super().__call__(scope, receive, send)


async def _events(watch: Watch, web: Web, begin: Seen) -> AsyncIterator[bytes]:
    now: Seen | None = begin
    clock = asyncio.get_running_loop().time
    end = clock() + MOST_SECONDS
    with watch.queue(web, begin) as queue:
        while now is not None:
            yield now.event
            if now.job.state.is_final:
                return
            while True:
                try:
                    now = await asyncio.wait_for(queue.get(), PING_SECONDS)
                    break
                except TimeoutError:
                    if clock() > end:
                        return
                    yield b": ping\n\n"
        yield b"event: gone\ndata: {}\n\n"
