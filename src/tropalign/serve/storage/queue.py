"""The queue: workers claim jobs, renew what they hold, and finish it; what a dead worker held is waiting again.

What a worker says counts only while its attempt is the current one, so that one which was thought dead and comes back
changes nothing. Times are those of the machines on which workers run: a lease has to be longer than their clocks
differ.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any, Literal

from sqlalchemy import Connection, Engine, Update, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.serve.records import Database, Job, Outcome, State
from tropalign.serve.storage.awaited import settle, settleable, waits_for_others
from tropalign.serve.storage.database import hold, is_postgresql, reading, writing
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.job_rows import add_files, find_done, finish_as, read_jobs, renew_words, select_jobs
from tropalign.serve.storage.jobs import MOST_LETTERS
from tropalign.serve.storage.schema import jobs, turns, users
from tropalign.serve.storage.target_databases import insert_database

#: A job with which as many workers have died is not tried again.
MOST_DEATHS = 20
_FREE: dict[str, Any] = {"worker": None, "lease_until": None, "progress": None}


class Queue:
    """The queue of jobs.

    Parameters
    ----------
    engine
        The database.
    files
        The store, which has their files.
    clock
        Seconds since 1970.
    """

    def __init__(self, engine: Engine, files: FileStore, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._files, self._clock = engine, files, clock

    def claim(self, worker: str, lease_seconds: float, running_per_user: int, version: str | None = None) -> Job | None:
        """The next job, which is this worker's from now on; None where none may run.

        Among users with waiting jobs and fewer than `running_per_user` running ones, or than a limit of their own, the
        one with the fewest running ones is served, then who has waited longest for it; of a user's jobs the first. A
        job that is equal to a running one waits for that, and one that is equal to a finished one is done without being
        computed. What waits for results of other jobs is left alone until these are there.

        Parameters
        ----------
        worker
            The name of the worker.
        lease_seconds
            As long nobody else may take the job.
        running_per_user
            Jobs of one user at a time.
        version
            Of the worker's tropalign, which the record then says; None for the one that took the job.
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
                _note_turn(connection, owner, now)
                return read_jobs(connection, select_jobs().where(jobs.c.number == number))[0]
        return None

    def _next(self, connection: Connection, running_per_user: int) -> Any:
        """Row, owner, key and version of the job that is next."""
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
            .with_for_update(of=jobs, skip_locked=True)  # nothing in SQLite, where this is the only writer
        )
        return connection.execute(question).first()

    def has_work(self) -> bool:
        """Whether a job may be begun, which a worker may ask often: it locks nothing."""
        is_free = (jobs.c.state == State.QUEUED) & jobs.c.number.not_in(waits_for_others())
        with reading(self._engine) as connection:
            if connection.execute(select(jobs.c.id).where(is_free).limit(1)).first() is not None:
                return True
            return connection.execute(settleable().limit(1)).first() is not None

    def settle(self) -> None:
        """Lets jobs go on whose awaited jobs have ended, or end with these, where no worker is free to do so."""
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
        """A worker is alive and says how far it is; the answer is what it is to do.

        "cancel": the user wants no more of it. "lost": the job is another worker's now, or deleted; stop, and write
        nothing.
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
        """What a worker has found out before it computes: the forecast, and words (names of sequences) for a search."""
        values: dict[str, Any] = {}
        if forecast is not None:
            values["forecast"] = json.dumps(forecast)
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
        """An attempt has ended; False where it is not the current one, and nothing is written.

        Jobs that waited for this one, since they are equal, are done, too.

        Parameters
        ----------
        job, attempt
            As they were claimed.
        outcome
            A final state, and the outputs, which the store has to have.
        database
            What ``db build`` has made: it is there as soon as its job is done.
        """
        if not outcome.state.is_final:
            raise ValueError(f"{outcome.state} is not how a job ends")
        now = self._clock()
        values: dict[str, Any] = {"state": outcome.state, "message": outcome.message, "stage": "", "finished": now}
        values["exit_code"] = outcome.exit_code
        if outcome.forecast is not None:
            values["forecast"] = json.dumps(outcome.forecast)
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
        """A worker stops before the job is done, which waits again with its parts.

        False where it is no longer its job. Where the user has cancelled it meanwhile, that is what it is.
        """
        with writing(self._engine) as connection:
            return self._release(connection, _attempt(job, attempt), reason) > 0

    def reclaim(self, is_alive: Callable[[str], bool | None] = lambda worker: None) -> int:
        """What lapsed or was held by a dead worker waits again; how many jobs that were.

        A job with which `MOST_DEATHS` workers have died has failed.

        Parameters
        ----------
        is_alive
            Whether a worker of this name lives; None where that is not known (it is on another machine). The lease of
            one that is known to live may lapse (the machine slept), which is then not counted as a death.
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
        """Takes a job from its worker, unless that has just given a sign of life."""
        this = _attempt(job, attempt).where(jobs.c.lease_until == lease_until)
        with writing(self._engine) as connection:
            if not is_dead:
                return self._release(connection, this, "its worker did not answer")
            row = connection.execute(this.values(deaths=jobs.c.deaths + 1).returning(jobs.c.deaths)).first()
            if row is None or row[0] < MOST_DEATHS:
                return 0 if row is None else self._release(connection, this, "its worker died")
            message = (
                f"{MOST_DEATHS} workers died while they computed it, perhaps for want of memory: "
                "ask for less at a time, or ask who runs this server"
            )
            return connection.execute(
                this.values(state=State.FAILED, message=message, exit_code=4, finished=self._clock(), stage="", **_FREE)
            ).rowcount

    def _release(self, connection: Connection, this: Update, reason: str) -> int:
        """A running job waits again, or is cancelled as its user asked."""
        released = connection.execute(
            this.where(jobs.c.cancel_asked).values(state=State.CANCELLED, finished=self._clock(), stage="", **_FREE)
        ).rowcount
        return released + connection.execute(this.values(state=State.QUEUED, stage=reason, **_FREE)).rowcount


def _attempt(job: str, attempt: int) -> Update:
    """A change of a job while this attempt is the current one."""
    return update(jobs).where(jobs.c.id == job, jobs.c.attempt == attempt, jobs.c.state == State.RUNNING)


def _note_turn(connection: Connection, owner: str, now: float) -> None:
    upsert: Any = (postgresql if is_postgresql(connection) else sqlite).insert(turns).values(owner=owner, served=now)
    connection.execute(upsert.on_conflict_do_update(index_elements=[turns.c.owner], set_={"served": now}))


def _finish_equal(connection: Connection, number: int, key: str, version: str, now: float) -> None:
    """Finishes the jobs that waited for this one because they are equal to it."""
    waiting = select(jobs.c.number).where(
        jobs.c.state == State.QUEUED, jobs.c.key == key, jobs.c.version == version
    ).order_by(jobs.c.number)  # fmt: skip
    for other in connection.scalars(waiting.with_for_update()).all():
        finish_as(connection, other, number, now)
        renew_words(connection, other)
