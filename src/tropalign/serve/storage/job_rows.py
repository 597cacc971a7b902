"""Jobs as rows and back, and what a job takes over from an equal one."""

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

#: Letters of a tag.
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
#: Questions that every page asks, made once.
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
    """26 letters and digits that nobody guesses: 128 bits."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


def select_jobs() -> Select[Any]:
    """The columns that `read_jobs` reads."""
    return select(*_JOB)


def read_jobs(connection: Connection, question: Select[Any]) -> tuple[Job, ...]:
    """The jobs of a question, with their files and tags: three queries, however many jobs."""
    return jobs_of(connection, connection.execute(question).all())


def jobs_of(connection: Connection, rows: Sequence[Row[Any]]) -> tuple[Job, ...]:
    """The jobs of rows that `select_jobs` has found."""
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
    """The tags of jobs that have any, by their rows."""
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
    """The row of a job; where it is to be changed, `lock` keeps it from others until the transaction ends.

    Raises
    ------
    KeyError
        There is no such job.
    """
    question = select(jobs.c.number).where(jobs.c.id == job)
    number = connection.execute(question.with_for_update() if lock else question).scalar()
    if number is None:
        raise KeyError(job)
    return int(number)


def add_files(connection: Connection, job: int, is_output: bool, files: Iterable[JobFile], store: FileStore) -> None:
    """Notes a job's inputs or outputs, which the store has to have; the name "files" is held by the caller.

    Raises
    ------
    InputError
        One is not there: it was sent too long ago.
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
    """Whether there is one, which is then not deleted before this transaction ends; workers look for installed ones."""
    if is_installed(database):
        return True
    question = select(databases.c.id).where(databases.c.id == database).with_for_update(read=True)
    return connection.execute(question).first() is not None


def set_tags(connection: Connection, job: int, tags: Iterable[str]) -> None:
    """Gives a job, which has none, its tags: different ones, and none longer than an index takes."""
    different = dict.fromkeys(clean(tag)[:MOST_LETTERS] for tag in tags)
    rows = [{"job": job, "tag": tag, "position": position} for position, tag in enumerate(different)]
    if rows:
        connection.execute(insert(job_tags), rows)


def renew_words(connection: Connection, number: int) -> None:
    """What a search finds the job by is what it is now."""
    title, verb, command, words = connection.execute(
        select(jobs.c.title, jobs.c.verb, jobs.c.command, jobs.c.words).where(jobs.c.number == number)
    ).one()
    tags = connection.scalars(select(job_tags.c.tag).where(job_tags.c.job == number)).all()
    names = connection.scalars(select(job_files.c.name).where(job_files.c.job == number)).all()
    write_words(connection, number, [title, *tags, verb, command, *names, words])


def find_done(connection: Connection, key: str, version: str, owner: str) -> tuple[int, str] | None:
    """Row and owner of a finished job that is equal, this user's rather than another's.

    A build whose database has been deleted is no longer equal to anything.
    """
    is_there = (jobs.c.verb != BUILD) | exists().where(databases.c.job == jobs.c.id)
    question = (
        select(jobs.c.number, jobs.c.owner)
        .where(jobs.c.key == key, jobs.c.version == version, jobs.c.state == State.DONE, is_there)
        .order_by(case((jobs.c.owner == owner, 0), else_=1), jobs.c.number.desc())
        .limit(1)
        .with_for_update(read=True, of=jobs)  # it is not deleted before its outputs are copied
    )
    row = connection.execute(question).first()
    return None if row is None else (int(row[0]), str(row[1]))


def finish_as(connection: Connection, number: int, source: int, now: float) -> None:
    """A queued job is done, with the outputs of an equal one: nothing is computed."""
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
    """An equal build has a database of its own, too, called as its job is, and shared as that asks."""
    job, owner, title, request = connection.execute(
        select(jobs.c.id, jobs.c.owner, jobs.c.title, jobs.c.request).where(jobs.c.number == number)
    ).one()
    own = {"owner": owner, "created": now, "job": job, "shared": json.loads(request).get("shared") is True}
    for row in connection.execute(select(databases).where(databases.c.job == source_id)).mappings().all():
        changed = {"id": new_id(), "name": title or row["name"], **own}
        connection.execute(insert(databases).values({**row, **changed}))
