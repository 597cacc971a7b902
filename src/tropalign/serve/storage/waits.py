"""Reasons that queued jobs wait (other jobs, their turn, or workers), and processes with living workers."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Connection, Engine, Select, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.errors import ResourceError, shown
from tropalign.serve.records import Awaited, Job, State, Wait
from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.job_rows import renew_words
from tropalign.serve.storage.schema import awaited, crews, job_files, jobs, users

#: Seconds without a report after which a process counts as having no workers.
SILENT_SECONDS = 30.0
#: Maximum jobs per query.
MOST_ASKED = 500
#: Inputs per query.
AT_A_TIME = 200
_SOURCE = jobs.alias("source")
_REMEDY = "submit this job again when its input exists"


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
            numbers = [row.number for row in asked]
            others: dict[int, dict[str, str]] = {}  # by job: ids and titles of the jobs that it waits for
            question = select(awaited.c.job, awaited.c.source, awaited.c.title).where(awaited.c.job.in_(numbers))
            for job, source, title in connection.execute(question.order_by(awaited.c.job, awaited.c.position)):
                others.setdefault(job, {})[source] = title
            places = _places(connection, [number for number in numbers if number not in others])
            living = crews.c.seen >= self._clock() - SILENT_SECONDS
            n_workers = connection.scalar(select(func.coalesce(func.sum(crews.c.n_workers), 0)).where(living))
            is_running = jobs.c.state == State.RUNNING
            by_owner = select(jobs.c.owner, func.count()).where(is_running).group_by(jobs.c.owner)
            running = {owner: int(n) for owner, n in connection.execute(by_owner)}
            own = users.c.running_per_user
            limits = select(users.c.name, own).where(users.c.name.in_({row.owner for row in asked}), own.is_not(None))
            most = {name: int(n) for name, n in connection.execute(limits)}
        n_running = sum(running.values())
        return {
            row.id: Wait(
                places.get(row.number),
                tuple(others.get(row.number, {}).items()),
                int(n_workers or 0),
                n_running,
                running.get(row.owner, 0) < most.get(row.owner, running_per_user),
            )
            for row in asked
        }


def _places(connection: Connection, numbers: list[int]) -> dict[int, int]:
    """Return queue positions, from 1, among all jobs that need only a worker."""
    if not numbers:
        return {}
    waiting = (jobs.c.state == State.QUEUED) & (jobs.c.number <= max(numbers))
    free = select(jobs.c.number).where(waiting, jobs.c.number.not_in(waits_for_others()))
    queue = sorted(connection.scalars(free))
    return {number: bisect_right(queue, number) for number in numbers}


def waits_for_others() -> Select[Any]:
    """Return the query for rows of jobs that wait for other jobs."""
    return select(awaited.c.job)


def settleable() -> Select[Any]:
    """Return the query for awaited inputs whose jobs have ended or are gone, with their outcomes."""
    ends = [state for state in State if state.is_final]
    columns = (*awaited.c, _SOURCE.c.state, _SOURCE.c.message, _SOURCE.c.first_reason, _SOURCE.c.exit_code)
    question = select(*columns).select_from(awaited.outerjoin(_SOURCE, _SOURCE.c.id == awaited.c.source))
    return question.where(or_(_SOURCE.c.id.is_(None), _SOURCE.c.state.in_(ends)))


def await_others(connection: Connection, number: int, others: Iterable[Awaited]) -> None:
    """Record the inputs that a new job waits for."""
    rows = [{"job": number, **vars(other)} for other in others]
    if rows:
        connection.execute(insert(awaited), rows)


def settle(connection: Connection, files: FileStore, now: float) -> None:
    """Give waiting jobs the outputs of ended jobs; fail a job if an output is missing.

    Repeats until nothing changes, because other jobs may wait for a job that fails here.
    """
    while rows := connection.execute(settleable().order_by(awaited.c.job).limit(AT_A_TIME)).all():
        for row in rows:
            sentence = None if row.state == State.DONE else _failure_sentence(row)
            if sentence is None and not _fill_input(connection, files, row):
                sentence = f"the result {row.role!r} of {_quoted_title(row.title)} does not exist: {_REMEDY}"
            if sentence is not None:
                _fail(connection, row, sentence, now)
            this = (awaited.c.job == row.job) & (awaited.c.position == row.position)
            connection.execute(delete(awaited).where(this))


def _quoted_title(title: str) -> str:
    return f"the job “{shown(title)}”"


def _failure_sentence(row: Any) -> str:
    what = f"this job needed a result of {_quoted_title(row.title)}, which"
    if row.state is None:
        return f"{what} was deleted: {_REMEDY}"
    if row.state == State.CANCELLED:
        return f"{what} was cancelled: {_REMEDY}"
    end = "was refused" if row.state == State.REFUSED else "failed"
    return f"{what} {end} ({_first_reason(row)}): {_REMEDY}"


def _first_reason(row: Any) -> str:
    """Return why the other job failed; for a chain of failures, the reason of the first."""
    reason: str = row.first_reason or row.message.removesuffix(f": {_REMEDY}").rstrip(".")
    return reason


def _fill_input(connection: Connection, files: FileStore, row: Any) -> bool:
    """Set an input to the file that the other job has written; False if the file is gone."""
    output = connection.execute(
        select(job_files.c.digest, job_files.c.size, job_files.c.name)
        .join(jobs, jobs.c.number == job_files.c.job)
        .where(jobs.c.id == row.source, job_files.c.is_output, job_files.c.role == row.role)
        .with_for_update(read=True, of=jobs)  # prevents its deletion before this job has the file
    ).first()
    if output is None or output.digest is None or not files.holds(output.digest):
        return False
    request = connection.execute(select(jobs.c.request).where(jobs.c.number == row.job)).scalar_one()
    items = [item for given in request["inputs"].values() for item in given]
    items[row.position]["file"] = output.digest
    connection.execute(update(jobs).where(jobs.c.number == row.job).values(request=request))
    this = (job_files.c.job == row.job) & ~job_files.c.is_output & (job_files.c.position == row.position)
    connection.execute(update(job_files).where(this).values(digest=output.digest, size=output.size))
    return True


def _fail(connection: Connection, row: Any, sentence: str, now: float) -> None:
    """Fail the job, unless it was cancelled meanwhile."""
    this = update(jobs).where(jobs.c.number == row.job, jobs.c.state == State.QUEUED)
    values = {"state": State.FAILED, "message": sentence, "finished": now, "stage": ""}
    if row.state in (State.FAILED, State.REFUSED):
        values["first_reason"] = _first_reason(row)
    connection.execute(this.values(**values, exit_code=row.exit_code or ResourceError.exit_code))
    renew_words(connection, row.job)
