"""Web hooks that are still to be called: addresses that are told of the end of a job."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import Connection, Engine, delete, insert, select, update

from tropalign.serve.records import Hook, State
from tropalign.serve.storage.database import reading, writing
from tropalign.serve.storage.job_rows import read_jobs, select_jobs
from tropalign.serve.storage.schema import hooks, jobs

#: Seconds after which a call that failed is made again; after the last one it is given up.
PAUSES = (60.0, 300.0, 1800.0, 7200.0)
#: Hooks that are called at a time.
AT_A_TIME = 50


class Hooks:
    """The hooks of jobs; one whose job is deleted goes with it.

    Parameters
    ----------
    engine
        The database.
    clock
        Seconds since 1970.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def due(self) -> tuple[Hook, ...]:
        """Some of the hooks to be called now: their jobs have ended, and no pause after a failure lasts."""
        ends = [state for state in State if state.is_final]
        question = select(jobs.c.id, hooks.c.url, hooks.c.tries).join(hooks, hooks.c.job == jobs.c.number)
        question = question.where(jobs.c.state.in_(ends), hooks.c.due <= self._clock()).order_by(hooks.c.due)
        with reading(self._engine) as connection:
            rows = {row.id: row for row in connection.execute(question.limit(AT_A_TIME))}
            found = read_jobs(connection, select_jobs().where(jobs.c.id.in_(list(rows)))) if rows else ()
        return tuple(Hook(job, rows[job.id].url, rows[job.id].tries) for job in found)

    def called(self, hook: Hook, is_taken: bool) -> bool:
        """Notes how a call went; whether there will be another one."""
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
    """A new job has a hook, where there is an address."""
    if url:
        connection.execute(insert(hooks).values(job=number, url=url, tries=0, due=0.0))
