"""Chains of jobs: a job that reads what another one is still to write waits for that, and goes on or ends with it."""

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

#: Inputs that are looked at in one transaction.
AT_A_TIME = 200
_SOURCE = jobs.alias("source")


def waits_for_others() -> Select[Any]:
    """Rows of the jobs that wait for other jobs."""
    return select(awaited.c.job)


def settleable() -> Select[Any]:
    """Awaited inputs whose jobs have ended or are gone, with what is known of their ends."""
    ends = [state for state in State if state.is_final]
    columns = (*awaited.c, _SOURCE.c.state, _SOURCE.c.message, _SOURCE.c.first_reason, _SOURCE.c.exit_code)
    question = select(*columns).select_from(awaited.outerjoin(_SOURCE, _SOURCE.c.id == awaited.c.source))
    return question.where(or_(_SOURCE.c.id.is_(None), _SOURCE.c.state.in_(ends)))


def await_others(connection: Connection, number: int, others: Iterable[Awaited]) -> None:
    """A new job waits for these."""
    rows = [{"job": number, **vars(other)} for other in others]
    if rows:
        connection.execute(insert(awaited), rows)


def settle(connection: Connection, files: FileStore, now: float) -> None:
    """Gives waiting jobs what others have written for them, and ends those that will never have it.

    The end of one may be what others wait for, so this is done again until nothing is left.
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
    """Why the other job failed, or where that is another job's failure, why the first of them did."""
    reason: str = row.first_reason or row.message.removesuffix(f": {_REMEDY}").rstrip(".")
    return reason


def _give(connection: Connection, files: FileStore, row: Any) -> bool:
    """The input is the file that the other job has written; False where that is gone."""
    output = connection.execute(
        select(job_files.c.digest, job_files.c.size, job_files.c.name)
        .join(jobs, jobs.c.number == job_files.c.job)
        .where(jobs.c.id == row.source, job_files.c.is_output, job_files.c.role == row.role)
        .with_for_update(read=True, of=jobs)  # it is not deleted before this job has its file
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
    """The job ends, unless it was cancelled meanwhile."""
    this = update(jobs).where(jobs.c.number == row.job, jobs.c.state == State.QUEUED)
    values = {"state": State.FAILED, "message": sentence, "finished": now, "stage": ""}
    if row.state in (State.FAILED, State.REFUSED):
        values["first_reason"] = _first_reason(row)
    connection.execute(this.values(**values, exit_code=row.exit_code or ResourceError.exit_code))
    renew_words(connection, row.job)
