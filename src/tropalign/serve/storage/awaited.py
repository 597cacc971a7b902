"""Chains of jobs: a job that reads another job's future output waits for it, then continues or fails with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, or_, select, update

from tropalign.errors import ResourceError, shown
from tropalign.serve.records import Awaited, State
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.job_rows import renew_words
from tropalign.serve.storage.schema import awaited, job_files, jobs

#: Inputs per query.
AT_A_TIME = 200
_SOURCE = jobs.alias("source")


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
    """Give waiting jobs the outputs of ended jobs, or fail them if these will not exist.

    Repeats until nothing changes, because other jobs may wait for a job that fails here.
    """
    while rows := connection.execute(settleable().order_by(awaited.c.job).limit(AT_A_TIME)).all():
        for row in rows:
            sentence = None if row.state == State.DONE else _why_not(row)
            if sentence is None and not _give(connection, files, row):
                sentence = f"the result {row.role!r} of {_called(row.title)} is gone: {_REMEDY}"
            if sentence is not None:
                _fail(connection, row, sentence, now)
            this = (awaited.c.job == row.job) & (awaited.c.position == row.position)
            connection.execute(delete(awaited).where(this))


_REMEDY = "submit this one again when its input is there"


def _called(title: str) -> str:
    return f"the job “{shown(title)}”"


def _why_not(row: Any) -> str:
    what = f"it was to read a result of {_called(row.title)}, which"
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


def _give(connection: Connection, files: FileStore, row: Any) -> bool:
    """Set an input to the file that the other job has written; False if the file is gone."""
    output = connection.execute(
        select(job_files.c.digest, job_files.c.size, job_files.c.name)
        .join(jobs, jobs.c.number == job_files.c.job)
        .where(jobs.c.id == row.source, job_files.c.is_output, job_files.c.role == row.role)
        .with_for_update(read=True, of=jobs)  # prevents its deletion before this job has the file
    ).first()
    if output is None or output.digest is None or not files.holds(output.digest):
        return False
    request = json.loads(connection.execute(select(jobs.c.request).where(jobs.c.number == row.job)).scalar_one())
    items = [item for given in request["inputs"].values() for item in given]
    items[row.position]["file"] = output.digest
    connection.execute(update(jobs).where(jobs.c.number == row.job).values(request=json.dumps(request)))
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
