"""The queue: workers claim, renew and finish jobs; jobs of dead workers are queued again.

A worker's report counts only while its attempt is the current one, so that a worker which was presumed dead
changes nothing if it returns. Times are those of the workers' machines: leases must be longer than their clocks
differ.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Literal

from sqlalchemy import Connection, Engine, Update, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.serve.records import Database, Job, Outcome, State
from tropalign.serve.storage.database import hold, is_postgresql, reading, writing
from tropalign.serve.storage.databases import insert_database
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.job_rows import add_files, find_done, finish_as, read_jobs, renew_words, select_jobs
from tropalign.serve.storage.jobs import MOST_LETTERS
from tropalign.serve.storage.schema import jobs, turns, users
from tropalign.serve.storage.waits import settle, settleable, waits_for_others

#: Number of workers that may die with a job before it fails.
MOST_DEATHS = 20
_FREE: dict[str, Any] = {"worker": None, "lease_until": None, "progress": None}


class Queue:
    """Queue of jobs, with their files in the store; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, files: FileStore, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._files, self._clock = engine, files, clock

    def claim(self, worker: str, lease_seconds: float, running_per_user: int, version: str | None = None) -> Job | None:
        """Claim the next job for `worker` for `lease_seconds`; None if no job may run.

        Eligible users have waiting jobs, and fewer running jobs than `running_per_user` or their own limit. The
        user with the fewest running jobs is served first, then the one who has waited longest; each user's jobs
        run in order. A job that equals a running one waits for it, and a job that equals a finished one is
        finished without computing. Jobs that wait for results of other jobs are skipped. `version` is the worker's
        version of tropalign, which is stored with the job; None keeps the version of the server that accepted it.
        """
        with writing(self._engine) as connection:
            hold(connection, "files", shared=True)
            hold(connection, "claims")
            settle(connection, self._files, self._clock())
            while (row := self._next(connection, running_per_user)) is not None:
                number, owner, key, its_version = row
                now = self._clock()
                source = find_done(connection, key, version or its_version, owner)
                if source is not None:
                    finish_as(connection, number, source[0], now)
                    renew_words(connection, number)
                    continue
                values = {"version": version} if version else {}
                connection.execute(
                    update(jobs)
                    .where(jobs.c.number == number)
                    .values(
                        state=State.RUNNING,
                        worker=worker,
                        lease_until=now + lease_seconds,
                        attempt=jobs.c.attempt + 1,
                        started=func.coalesce(jobs.c.started, now),
                        stage="",
                        **values,
                    )
                )
                turn: Any = (postgresql if is_postgresql(connection) else sqlite).insert(turns)
                turn = turn.values(owner=owner, served=now)
                connection.execute(turn.on_conflict_do_update(index_elements=[turns.c.owner], set_={"served": now}))
                return read_jobs(connection, select_jobs().where(jobs.c.number == number))[0]
        return None

    def _next(self, connection: Connection, running_per_user: int) -> Any:
        """Return row, owner, key and version of the next job."""
        running = (
            select(jobs.c.owner, func.count().label("n"))
            .where(jobs.c.state == State.RUNNING)
            .group_by(jobs.c.owner)
            .subquery()
        )
        in_work = select(jobs.c.key).where(jobs.c.state == State.RUNNING)
        first = (
            select(func.min(jobs.c.number).label("number"))
            .where(jobs.c.state == State.QUEUED, jobs.c.key.not_in(in_work), jobs.c.number.not_in(waits_for_others()))
            .group_by(jobs.c.owner)
            .subquery()
        )
        n_running = func.coalesce(running.c.n, 0)
        question = (
            select(jobs.c.number, jobs.c.owner, jobs.c.key, jobs.c.version)
            .join(first, first.c.number == jobs.c.number)
            .outerjoin(running, running.c.owner == jobs.c.owner)
            .outerjoin(turns, turns.c.owner == jobs.c.owner)
            .outerjoin(users, users.c.name == jobs.c.owner)
            .where(jobs.c.state == State.QUEUED, n_running < func.coalesce(users.c.running_per_user, running_per_user))
            .order_by(n_running, func.coalesce(turns.c.served, 0), jobs.c.number)
            .limit(1)
            .with_for_update(of=jobs, skip_locked=True)  # no effect in SQLite, where this is the only writer
        )
        return connection.execute(question).first()

    def has_work(self) -> bool:
        """True if a job may be started; workers may call this often, because it locks nothing."""
        is_free = (jobs.c.state == State.QUEUED) & jobs.c.number.not_in(waits_for_others())
        with reading(self._engine) as connection:
            if connection.execute(select(jobs.c.id).where(is_free).limit(1)).first() is not None:
                return True
            return connection.execute(settleable().limit(1)).first() is not None

    def settle(self) -> None:
        """Settle jobs whose awaited jobs have ended, even if no worker is free to do it."""
        with reading(self._engine) as connection:
            if connection.execute(settleable().limit(1)).first() is None:
                return
        with writing(self._engine) as connection:
            hold(connection, "files", shared=True)
            hold(connection, "claims")
            settle(connection, self._files, self._clock())

    def renew(
        self, job: str, attempt: int, lease_seconds: float, stage: str = "", progress: float | None = None
    ) -> Literal["go on", "cancel", "lost"]:
        """Renew a job's lease and store its progress; return "go on", "cancel" or "lost".

        "cancel": the user has cancelled the job. "lost": the job now belongs to another worker or is deleted; the
        worker must stop and write nothing.
        """
        if progress is not None:
            progress = min(max(progress, 0.0), 1.0) if math.isfinite(progress) else None
        with writing(self._engine) as connection:
            row = connection.execute(
                _attempt(job, attempt)
                .values(lease_until=self._clock() + lease_seconds, stage=stage, progress=progress)
                .returning(jobs.c.cancel_asked)
            ).first()
        if row is None:
            return "lost"
        return "cancel" if row[0] else "go on"

    def note(self, job: str, attempt: int, forecast: dict[str, Any] | None = None, words: str | None = None) -> bool:
        """Store a worker's findings before computing: the forecast, and words (sequence names) for the search."""
        values: dict[str, Any] = {}
        if forecast is not None:
            values["forecast"] = forecast
        if words is not None:
            values["words"] = words[:MOST_LETTERS]
        with writing(self._engine) as connection:
            row = connection.execute(
                _attempt(job, attempt).values(cancel_asked=jobs.c.cancel_asked, **values).returning(jobs.c.number)
            ).first()
            if row is not None and words is not None:
                renew_words(connection, row[0])
        return row is not None

    def finish(self, job: str, attempt: int, outcome: Outcome, database: Database | None = None) -> bool:
        """End an attempt; return False, without writing, if it is not the current one.

        Jobs that waited because they are equal are finished as well. `outcome` has a final state, and outputs that
        are in the store; `database` is the result of ``db build``, which becomes available with its job.
        """
        if not outcome.state.is_final:
            raise ValueError(f"{outcome.state} is not how a job ends")
        now = self._clock()
        values: dict[str, Any] = {"state": outcome.state, "message": outcome.message, "stage": "", "finished": now}
        values["exit_code"] = outcome.exit_code
        if outcome.forecast is not None:
            values["forecast"] = outcome.forecast
        if outcome.state == State.DONE:
            values["progress"] = 1.0
        with writing(self._engine) as connection:
            hold(connection, "files", shared=True)
            row = connection.execute(
                _attempt(job, attempt)
                .values(worker=None, lease_until=None, **values)
                .returning(jobs.c.number, jobs.c.key, jobs.c.version)
            ).first()
            if row is None:
                return False
            number, key, version = row
            add_files(connection, number, True, outcome.outputs, self._files)
            if database is not None:
                insert_database(connection, database, self._files)
            renew_words(connection, number)
            if outcome.state == State.DONE:
                _finish_equal(connection, number, key, version, now)
        return True

    def requeue(self, job: str, attempt: int, reason: str) -> bool:
        """Requeue a job whose worker stops early, keeping its parts; cancel it if its user has requested that.

        Returns False if the job no longer belongs to this attempt.
        """
        with writing(self._engine) as connection:
            return self._release(connection, _attempt(job, attempt), reason) > 0

    def reclaim(self, is_alive: Callable[[str], bool | None] = lambda worker: None) -> int:
        """Requeue jobs with lapsed leases or dead workers, and return their number.

        A job with which `MOST_DEATHS` workers have died fails. `is_alive` returns None for unknown workers (on
        other machines). If a living worker's lease lapses (the machine slept), this does not count as a death.
        """
        with reading(self._engine) as connection:
            running = connection.execute(
                select(jobs.c.id, jobs.c.attempt, jobs.c.worker, jobs.c.lease_until).where(
                    jobs.c.state == State.RUNNING
                )
            ).all()
        n = 0
        for job, attempt, worker, lease_until in running:
            alive = is_alive(worker or "")
            if alive is False or (lease_until or 0.0) < self._clock():
                n += self._take_from(job, attempt, lease_until, alive is not True)
        return n

    def _take_from(self, job: str, attempt: int, lease_until: float | None, is_dead: bool) -> int:
        """Take a job from its worker, unless the worker has just renewed its lease."""
        this = _attempt(job, attempt).where(jobs.c.lease_until == lease_until)
        with writing(self._engine) as connection:
            if not is_dead:
                return self._release(connection, this, "its worker did not answer")
            row = connection.execute(this.values(deaths=jobs.c.deaths + 1).returning(jobs.c.deaths)).first()
            if row is None or row[0] < MOST_DEATHS:
                return 0 if row is None else self._release(connection, this, "its worker died")
            message = (
                f"{MOST_DEATHS} workers died while they computed it, perhaps for lack of memory: "
                "submit a smaller job, or ask the operator of this server"
            )
            return connection.execute(
                this.values(state=State.FAILED, message=message, exit_code=4, finished=self._clock(), stage="", **_FREE)
            ).rowcount

    def _release(self, connection: Connection, this: Update, reason: str) -> int:
        """Requeue a running job, or cancel it if its user has asked for that."""
        released = connection.execute(
            this.where(jobs.c.cancel_asked).values(state=State.CANCELLED, finished=self._clock(), stage="", **_FREE)
        ).rowcount
        return released + connection.execute(this.values(state=State.QUEUED, stage=reason, **_FREE)).rowcount


def _attempt(job: str, attempt: int) -> Update:
    """Return an update of a job that applies only while this attempt is the current one."""
    return update(jobs).where(jobs.c.id == job, jobs.c.attempt == attempt, jobs.c.state == State.RUNNING)


def _finish_equal(connection: Connection, number: int, key: str, version: str, now: float) -> None:
    """Finish the queued jobs that are equal to this one."""
    is_equal = (jobs.c.state == State.QUEUED) & (jobs.c.key == key) & (jobs.c.version == version)
    waiting = select(jobs.c.number).where(is_equal).order_by(jobs.c.number).with_for_update()
    for other in connection.scalars(waiting).all():
        finish_as(connection, other, number, now)
        renew_words(connection, other)
