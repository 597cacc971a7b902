"""Reasons that queued jobs wait (other jobs, their turn, or workers), and processes with living workers."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Engine, Row, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.serve.records import Job, State, Wait
from tropalign.serve.storage.awaited import waits_for_others
from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.schema import awaited, crews, jobs, users

#: Seconds without a report after which a process counts as having no workers.
SILENT_SECONDS = 30.0
#: Maximum jobs per query.
MOST_ASKED = 500


class Waits:
    """Reasons that queued jobs wait; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def tell(self, crew: str, n_workers: int) -> None:
        """Store the number of a process's living workers, and delete processes that have long been silent."""
        now = self._clock()
        with writing(self._engine) as connection:
            connection.execute(delete(crews).where(crews.c.seen < now - SILENT_SECONDS))
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(crews)
            row = new.values(name=crew, n_workers=n_workers, seen=now)
            connection.execute(
                row.on_conflict_do_update(index_elements=[crews.c.name], set_={"n_workers": n_workers, "seen": now})
            )

    def leave(self, crew: str) -> None:
        """Remove a process that ends with its workers."""
        with writing(self._engine) as connection:
            connection.execute(delete(crews).where(crews.c.name == crew))

    def of(self, some: Iterable[Job], running_per_user: int) -> dict[str, Wait]:
        """Return the waiting reasons of queued jobs, by id; `running_per_user` is the default limit of running jobs."""
        ids = [job.id for job in some if job.state is State.QUEUED][:MOST_ASKED]
        if not ids:
            return {}
        with reading(self._engine) as connection:
            columns = (jobs.c.id, jobs.c.number, jobs.c.owner)
            asked = connection.execute(select(*columns).where(jobs.c.id.in_(ids), jobs.c.state == State.QUEUED)).all()
            others = _awaited_by(connection, [row.number for row in asked])
            places = _places(connection, [row.number for row in asked if row.number not in others])
            n_workers = self._n_workers(connection)
            running = _running(connection)
            most = _most_running(connection, {row.owner for row in asked})
        n_running = sum(running.values())
        return {
            row.id: Wait(
                places.get(row.number),
                tuple(others.get(row.number, ())),
                n_workers,
                n_running,
                running.get(row.owner, 0) < most.get(row.owner, running_per_user),
            )
            for row in asked
        }

    def _n_workers(self, connection: Connection) -> int:
        living = select(func.coalesce(func.sum(crews.c.n_workers), 0))
        return int(connection.execute(living.where(crews.c.seen >= self._clock() - SILENT_SECONDS)).scalar_one())


def _awaited_by(connection: Connection, numbers: list[int]) -> Mapping[int, list[tuple[str, str]]]:
    """Return ids and titles of the jobs that these wait for, each once."""
    found: dict[int, dict[str, str]] = {}
    question = select(awaited.c.job, awaited.c.source, awaited.c.title).where(awaited.c.job.in_(numbers))
    rows: Iterable[Row[Any]] = connection.execute(question.order_by(awaited.c.job, awaited.c.position))
    for job, source, title in rows:
        found.setdefault(job, {})[source] = title
    return {job: list(sources.items()) for job, sources in found.items()}


def _places(connection: Connection, numbers: list[int]) -> dict[int, int]:
    """Return queue positions, from 1, among all jobs that need only a worker."""
    if not numbers:
        return {}
    waiting = (jobs.c.state == State.QUEUED) & (jobs.c.number <= max(numbers))
    free = select(jobs.c.number).where(waiting, jobs.c.number.not_in(waits_for_others()))
    queue = sorted(connection.scalars(free))
    return {number: bisect_right(queue, number) for number in numbers}


def _running(connection: Connection) -> dict[str, int]:
    """Return the number of running jobs by user."""
    question = select(jobs.c.owner, func.count()).where(jobs.c.state == State.RUNNING).group_by(jobs.c.owner)
    return {owner: int(n) for owner, n in connection.execute(question)}


def _most_running(connection: Connection, owners: Iterable[str]) -> dict[str, int]:
    """Return the individual limits of running jobs of those users who have one."""
    own = users.c.running_per_user
    question = select(users.c.name, own).where(users.c.name.in_(list(owners)), own.is_not(None))
    return {name: int(most) for name, most in connection.execute(question)}
