"""Conversion of jobs from and to rows, and reuse of an equal job's results."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, case, exists, insert, literal, select, update

from tropalign.errors import InputError, shown
from tropalign.serve.records import Job, JobFile, State
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.full_text import write_words
from tropalign.serve.storage.installed_databases import is_installed
from tropalign.serve.storage.schema import clean, databases, job_files, job_tags, jobs
from tropalign.submissions.submission import BUILD

#: Maximum characters of a tag.
MOST_LETTERS = 200
_JOB = (
    jobs.c.number, jobs.c.id, jobs.c.owner, jobs.c.verb, jobs.c.title, jobs.c.state, jobs.c.key, jobs.c.request,
    jobs.c.command, jobs.c.version, jobs.c.created, jobs.c.started, jobs.c.finished, jobs.c.attempt, jobs.c.worker,
    jobs.c.lease_until, jobs.c.cancel_asked, jobs.c.stage, jobs.c.progress, jobs.c.message, jobs.c.exit_code,
    jobs.c.forecast, jobs.c.share,
)  # fmt: skip
_FILE = (
    job_files.c.job, job_files.c.is_output, job_files.c.role, job_files.c.name, job_files.c.digest, job_files.c.size,
    job_files.c.media_type, job_files.c.database,
)  # fmt: skip
#: Queries of every page, built once.
_FILES_OF = (
    select(*_FILE)
    .where(job_files.c.job.in_(bindparam("numbers", expanding=True)))
    .order_by(job_files.c.job, job_files.c.is_output, job_files.c.position)
)
_TAGS_OF = (
    select(job_tags.c.job, job_tags.c.tag)
    .where(job_tags.c.job.in_(bindparam("numbers", expanding=True)))
    .order_by(job_tags.c.job, job_tags.c.position)
)


def new_id() -> str:
    """Return 26 unguessable letters and digits: 128 bits."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


def select_jobs() -> Select[Any]:
    """Return a query for the columns that `read_jobs` needs."""
    return select(*_JOB)


def read_jobs(connection: Connection, question: Select[Any]) -> tuple[Job, ...]:
    """Return the jobs of a query with files and tags, in three queries for any number of jobs."""
    return jobs_of(connection, connection.execute(question).all())


def jobs_of(connection: Connection, rows: Sequence[Row[Any]]) -> tuple[Job, ...]:
    """Return the jobs of rows from `select_jobs`."""
    if not rows:
        return ()
    numbers = {"numbers": [row[0] for row in rows]}
    files: dict[tuple[int, bool], list[JobFile]] = {}
    for job, is_output, *fields in connection.execute(_FILES_OF, numbers):
        files.setdefault((job, is_output), []).append(JobFile(*fields))
    tags = tags_of(connection, numbers["numbers"])
    return tuple(
        _job(
            row,
            tuple(tags.get(row[0], ())),
            tuple(files.get((row[0], False), ())),
            tuple(files.get((row[0], True), ())),
        )
        for row in rows
    )


def tags_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    """Return the tags of jobs that have some, by row number."""
    tags: dict[int, list[str]] = {}
    for job, tag in connection.execute(_TAGS_OF, {"numbers": numbers}) if numbers else ():
        tags.setdefault(job, []).append(tag)
    return tags


def _job(row: Any, tags: tuple[str, ...], inputs: tuple[JobFile, ...], outputs: tuple[JobFile, ...]) -> Job:
    (
        _number, id_, owner, verb, title, state, key, request, command, version, created, started, finished, attempt,
        worker, lease_until, cancel_asked, stage, progress, message, exit_code, forecast, share,
    ) = row  # fmt: skip
    return Job(
        id_, owner, verb, title, tags, State(state), key, json.loads(request), command, version, created, started,
        finished, attempt, worker, lease_until, cancel_asked, stage, progress, message, exit_code,
        None if forecast is None else json.loads(forecast), share, inputs, outputs,
    )  # fmt: skip


def number_of(connection: Connection, job: str, lock: bool = False) -> int:
    """Return the row number of a job, or raise KeyError; `lock` it until the transaction ends if it will be changed."""
    question = select(jobs.c.number).where(jobs.c.id == job)
    number = connection.execute(question.with_for_update() if lock else question).scalar()
    if number is None:
        raise KeyError(job)
    return int(number)


def add_files(connection: Connection, job: int, is_output: bool, files: Iterable[JobFile], store: FileStore) -> None:
    """Add a job's inputs or outputs, which must be in the store; the caller holds the name "files".

    Raises InputError if one is missing because it was sent too long ago.
    """
    rows = []
    for position, file in enumerate(files):
        if file.digest is not None and not store.holds(file.digest):
            raise InputError(f"{shown(file.name)!r} is no longer on the server: send it again")
        if file.database is not None and not _is_database(connection, file.database):
            raise InputError(f"the database {shown(file.name)!r} is no longer on the server: choose another one")
        rows.append(
            {
                "job": job,
                "is_output": is_output,
                "position": position,
                "role": file.role,
                "name": file.name,
                "digest": file.digest,
                "size": file.size,
                "media_type": file.media_type,
                "database": file.database,
            }
        )
    if rows:
        connection.execute(insert(job_files), rows)


def _is_database(connection: Connection, database: str) -> bool:
    """True if the database exists; this prevents its deletion until the transaction ends.

    Installed databases are checked by workers.
    """
    if is_installed(database):
        return True
    question = select(databases.c.id).where(databases.c.id == database).with_for_update(read=True)
    return connection.execute(question).first() is not None


def set_tags(connection: Connection, job: int, tags: Iterable[str]) -> None:
    """Set the tags of a job without tags: distinct, and truncated to the index's limit."""
    different = dict.fromkeys(clean(tag)[:MOST_LETTERS] for tag in tags)
    rows = [{"job": job, "tag": tag, "position": position} for position, tag in enumerate(different)]
    if rows:
        connection.execute(insert(job_tags), rows)


def renew_words(connection: Connection, number: int) -> None:
    """Update the search index to the current data of a job."""
    title, verb, command, words = connection.execute(
        select(jobs.c.title, jobs.c.verb, jobs.c.command, jobs.c.words).where(jobs.c.number == number)
    ).one()
    tags = connection.scalars(select(job_tags.c.tag).where(job_tags.c.job == number)).all()
    names = connection.scalars(select(job_files.c.name).where(job_files.c.job == number)).all()
    write_words(connection, number, [title, *tags, verb, command, *names, words])


def find_done(connection: Connection, key: str, version: str, owner: str) -> tuple[int, str] | None:
    """Return row and owner of a finished equal job, preferably of this user.

    A build whose database has been deleted does not count as equal.
    """
    is_there = (jobs.c.verb != BUILD) | exists().where(databases.c.job == jobs.c.id)
    question = (
        select(jobs.c.number, jobs.c.owner)
        .where(jobs.c.key == key, jobs.c.version == version, jobs.c.state == State.DONE, is_there)
        .order_by(case((jobs.c.owner == owner, 0), else_=1), jobs.c.number.desc())
        .limit(1)
        .with_for_update(read=True, of=jobs)  # prevents its deletion before its outputs are copied
    )
    row = connection.execute(question).first()
    return None if row is None else (int(row[0]), str(row[1]))


def finish_as(connection: Connection, number: int, source: int, now: float) -> None:
    """Finish a queued job with the outputs of an equal one, without computing."""
    forecast, source_id = connection.execute(select(jobs.c.forecast, jobs.c.id).where(jobs.c.number == source)).one()
    connection.execute(
        update(jobs)
        .where(jobs.c.number == number)
        .values(state=State.DONE, started=now, finished=now, progress=1.0, stage="", forecast=forecast)
    )
    copied = [column for column in job_files.c if column.name != "job"]
    connection.execute(
        insert(job_files).from_select(
            ["job", *(column.name for column in copied)],
            select(literal(number), *copied).where(job_files.c.job == source, job_files.c.is_output),
        )
    )
    _copy_databases(connection, number, source_id, now)


def _copy_databases(connection: Connection, number: int, source_id: str, now: float) -> None:
    """Give an equal build its own database, with its job's title as name and its requested sharing."""
    job, owner, title, request = connection.execute(
        select(jobs.c.id, jobs.c.owner, jobs.c.title, jobs.c.request).where(jobs.c.number == number)
    ).one()
    own = {"owner": owner, "created": now, "job": job, "shared": json.loads(request).get("shared") is True}
    for row in connection.execute(select(databases).where(databases.c.job == source_id)).mappings().all():
        changed = {"id": new_id(), "name": title or row["name"], **own}
        connection.execute(insert(databases).values({**row, **changed}))
