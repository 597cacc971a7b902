"""Jobs as they change, to everybody who watches: one question to the database per moment, however many watch.

storage --every half second, all watched jobs in one query--> Watch --what changed--> a queue per watcher --> SSE
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tropalign.properties import cached_property
from tropalign.serve.web.api_models import EVENTS, job_json
from tropalign.serve.web.context import user_of, web_of
from tropalign.serve.web.refusals import too_many
from tropalign.serve.web.user_jobs import own_job, wait_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tropalign.serve.records import Job, User, Wait
    from tropalign.serve.web.context import Web

router = APIRouter(prefix="/api/v1", tags=["jobs"])
LOG = logging.getLogger("tropalign.serve")
SECONDS = 0.5
PING_SECONDS = 15.0
#: A watcher has to ask anew after that long, and shows its token again by doing so.
MOST_SECONDS = 3600.0
MOST_PER_USER, MOST = 20, 1_000


@dataclass(frozen=True)
class Seen:
    """A job as it was seen, and what it waited for."""

    job: Job
    wait: Wait | None
    web: Web = field(compare=False, repr=False)

    @cached_property
    def event(self) -> bytes:
        """What watchers are sent, made once for all of them."""
        return b"event: job\ndata: " + json.dumps(job_json(self.web, self.job, wait=self.wait)).encode() + b"\n\n"


class Watch:
    """Who watches which job.

    Parameters
    ----------
    seconds
        Between two looks.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.watchers: dict[str, set[asyncio.Queue[Seen | None]]] = {}
        self.users: Counter[str] = Counter()
        self._seen: dict[str, Seen] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def seat(self, user: str) -> Iterator[None]:
        """A place for one more watcher.

        Raises
        ------
        Refused
            All are taken.
        """
        if self.users[user] >= MOST_PER_USER or self.users.total() >= MOST:
            raise too_many(f"no more than {MOST_PER_USER} jobs are watched at a time: ask for the job itself", 10)
        self.users[user] += 1
        try:
            yield
        finally:
            self.users[user] -= 1
            if not self.users[user]:
                del self.users[user]

    @contextmanager
    def queue(self, web: Web, seen: Seen) -> Iterator[asyncio.Queue[Seen | None]]:
        """What comes out of it is the job anew, or None when it is there no longer."""
        queue: asyncio.Queue[Seen | None] = asyncio.Queue()
        job = seen.job
        self.watchers.setdefault(job.id, set()).add(queue)
        self._seen.setdefault(job.id, seen)
        if self._seen[job.id] != seen:  # it has changed between two looks
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
        """Until nobody watches any more."""
        while self.watchers:
            await asyncio.sleep(self.seconds)
            ids = tuple(self.watchers)
            try:
                found = {seen.job.id: seen for seen in await run_in_threadpool(_looked_at, web, ids)}
            except Exception as error:  # the database is away: it may come again
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


def _looked_at(web: Web, ids: Iterable[str]) -> list[Seen]:
    """Jobs as they are, with what they wait for: a few questions for all of them."""
    found = web.storage.jobs.several(ids)
    waits = web.storage.waits.of(found, web.settings.limits.running_per_user)
    return [Seen(job, waits.get(job.id), web) for job in found]


def _first_look(web: Web, user: User, id: str) -> Seen:
    """A job of this user; Refused where there is none."""
    job = own_job(web, user, id)
    return Seen(job, wait_of(web, job), web)


@router.get("/jobs/{id}/events", responses=EVENTS)
async def watch_job(request: Request, id: str) -> Response:
    """Watches a job: server-sent events, until it has ended."""
    web, user = web_of(request), user_of(request)
    begin = await run_in_threadpool(_first_look, web, user, id)
    seat = web.watch.seat(user.name)
    seat.__enter__()  # refused before the answer begins

    async def events() -> AsyncIterator[bytes]:
        try:
            async for event in _events(web, begin):
                yield event
        finally:
            seat.__exit__(None, None, None)

    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    return StreamingResponse(events(), headers=headers, media_type="text/event-stream")


async def _events(web: Web, begin: Seen) -> AsyncIterator[bytes]:
    now: Seen | None = begin
    clock = asyncio.get_running_loop().time
    end = clock() + MOST_SECONDS
    with web.watch.queue(web, begin) as queue:
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
