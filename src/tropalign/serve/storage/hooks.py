"""Pending web hooks: addresses to notify of the end of a job."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from sqlalchemy import Connection, Engine, Select, delete, func, insert, select, update

from tropalign.serve.records import Hook, State
from tropalign.serve.storage.database import hold, reading, writing
from tropalign.serve.storage.job_rows import read_jobs, select_jobs
from tropalign.serve.storage.schema import hooks, jobs

#: Seconds before each retry of a failed call; after the last retry the hook is dropped.
PAUSES = (60.0, 300.0, 1800.0, 7200.0)
#: Seconds for which a claimed hook is reserved; longer than a call with its host lookup.
CLAIM_SECONDS = 120.0


class Hooks:
    """Hooks of jobs, which are deleted with their jobs; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def claim(self, most: int, busy: Collection[str] = ()) -> tuple[Hook, ...]:
        """Reserve up to `most` due hooks for `CLAIM_SECONDS`; those not reported to `called` by then are due again.

        Their jobs have ended, and no retry pause is pending. At most one hook per user is returned, so that slow
        hooks of one user do not delay others; hooks with the fewest failures come first. Users in `busy` are
        skipped.
        """
        ready = self._ready(busy).subquery()
        first = select(ready.c.id, ready.c.number, ready.c.url, ready.c.tries).where(ready.c.place == 1)
        first = first.order_by(ready.c.tries, ready.c.due, ready.c.number).limit(most)
        with reading(self._engine) as connection:
            if connection.execute(first.limit(1)).first() is None:
                return ()
        with writing(self._engine) as connection:
            hold(connection, "hooks")
            rows = connection.execute(first).all()
            numbers = [row.number for row in rows]
            due = self._clock() + CLAIM_SECONDS
            connection.execute(update(hooks).where(hooks.c.job.in_(numbers)).values(due=due))
            found = {job.id: job for job in read_jobs(connection, select_jobs().where(jobs.c.number.in_(numbers)))}
        return tuple(Hook(found[row.id], row.url, row.tries) for row in rows if row.id in found)

    def _ready(self, busy: Collection[str]) -> Select[Any]:
        """Return the query for due hooks, with the rank of each among its user's."""
        ends = [state for state in State if state.is_final]
        order = (hooks.c.tries, hooks.c.due, jobs.c.number)
        place = func.row_number().over(partition_by=jobs.c.owner, order_by=order).label("place")
        question = select(jobs.c.id, jobs.c.number, hooks.c.url, hooks.c.tries, hooks.c.due, place)
        question = question.join(hooks, hooks.c.job == jobs.c.number)
        return question.where(jobs.c.state.in_(ends), hooks.c.due <= self._clock(), jobs.c.owner.not_in(list(busy)))

    def called(self, hook: Hook, is_taken: bool) -> bool:
        """Record the result of a call; True if there will be a retry."""
        number = select(jobs.c.number).where(jobs.c.id == hook.job.id).scalar_subquery()
        is_last = is_taken or hook.tries >= len(PAUSES)
        with writing(self._engine) as connection:
            if is_last:
                connection.execute(delete(hooks).where(hooks.c.job == number))
            else:
                due = self._clock() + PAUSES[hook.tries]
                connection.execute(update(hooks).where(hooks.c.job == number).values(tries=hook.tries + 1, due=due))
        return not is_last


def add_hook(connection: Connection, number: int, url: str) -> None:
    """Add a hook to a new job, if there is an address."""
    if url:
        connection.execute(insert(hooks).values(job=number, url=url, tries=0, due=0.0))
