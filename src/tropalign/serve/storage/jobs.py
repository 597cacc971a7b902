"""Jobs in the database: submit, look up, list, search, change, share, cancel, delete."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, delete, func, insert, select, union, update

from tropalign.errors import ResourceError, UsageError
from tropalign.serve.records import Job, JobLine, NewJob, Page, Search, State
from tropalign.serve.settings import Limits
from tropalign.serve.storage.database import hold, reading, writing
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.job_rows import (
    add_files,
    add_hook,
    find_done,
    finish_as,
    found_by,
    jobs_of,
    new_id,
    number_of,
    read_jobs,
    remove_words,
    renew_words,
    select_jobs,
    set_tags,
    tags_of,
)
from tropalign.serve.storage.schema import clean, databases, job_files, job_tags, jobs, uploads
from tropalign.serve.storage.waits import await_others

#: Fields of a line that are columns of a job's row.
_LINE = [one.name for one in fields(JobLine) if one.name in jobs.c]
#: Seconds for which slow counts are cached, and the maximum number of users in the cache.
REMEMBERED_SECONDS, MOST_REMEMBERED = 10.0, 1_000
#: Maximum jobs per page.
MOST_LISTED = 500
#: Maximum characters of a job's searchable names.
MOST_LETTERS = 200_000
MOST_LETTERS_OF_NAMES = 200


class TooMany(ResourceError):
    """A user has reached the limit of waiting jobs."""


class TooMuch(ResourceError):
    """A user has reached the limit of stored bytes."""


class Jobs:
    """Jobs in the database, with their files in the store; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, files: FileStore, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._files, self._clock = engine, files, clock
        self._tags: dict[str, tuple[float, dict[str, int]]] = {}
        self._has_room: dict[tuple[str, int], float] = {}  # user and limit: end of validity

    def submit(self, new: NewJob, limits: Limits) -> tuple[Job, bool]:
        """Submit a job; return it, queued or finished, and whether it is new.

        A finished equal job of the same user is returned unchanged. If another user has one, the new job is
        finished with its outputs. Raises ResourceError for too many waiting jobs (`TooMany`) or bytes (`TooMuch`),
        InputError if a file or database is gone, and UsageError if the user name is too long.
        """
        if len(new.owner) > MOST_LETTERS_OF_NAMES:
            raise UsageError(f"a user name can have at most {MOST_LETTERS_OF_NAMES} characters")
        with writing(self._engine) as connection:
            hold(connection, "files", shared=True)
            hold(connection, f"queue of {clean(new.owner)}")
            source = find_done(connection, new.key, new.version, new.owner)
            if source is not None and source[1] == clean(new.owner):
                return read_jobs(connection, select_jobs().where(jobs.c.number == source[0]))[0], False
            if source is None:
                self._check_limits(connection, new.owner, limits)
            row = insert(jobs).values(
                id=new_id(), owner=new.owner, verb=new.verb, title=new.title, state=State.QUEUED, key=new.key,
                request=new.request, command=new.command, version=new.version, created=self._clock(), attempt=0,
                cancel_asked=False, stage="", message="", deaths=0, words=new.words[:MOST_LETTERS],
            )  # fmt: skip
            number = int(connection.execute(row.returning(jobs.c.number)).scalar_one())
            add_files(connection, number, False, new.inputs, self._files)
            set_tags(connection, number, new.tags)
            if source is not None:
                finish_as(connection, number, source[0], self._clock())
            else:
                await_others(connection, number, new.awaited)
            add_hook(connection, number, new.hook)
            renew_words(connection, number)
            job = read_jobs(connection, select_jobs().where(jobs.c.number == number))[0]
        if job.tags:
            self._tags.pop(job.owner, None)
        return job, True

    def _check_limits(self, connection: Connection, owner: str, limits: Limits) -> None:
        waiting = connection.execute(
            select(func.count()).select_from(jobs).where(jobs.c.owner == owner, jobs.c.state == State.QUEUED)
        ).scalar_one()
        if waiting >= limits.queued_per_user:
            raise TooMany(f"{waiting} of your jobs are waiting, which is the limit: wait for one, or cancel one")
        asked = (owner, limits.stored_bytes_per_user)
        if self._clock() < self._has_room.get(asked, 0.0):
            return
        n_bytes = _stored_bytes(connection, owner)
        if n_bytes < limits.stored_bytes_per_user / 2:  # counting is slow for users with many jobs
            if len(self._has_room) >= MOST_REMEMBERED:
                self._has_room.clear()
            self._has_room[asked] = self._clock() + REMEMBERED_SECONDS
        if n_bytes >= limits.stored_bytes_per_user:
            raise TooMuch(
                f"the files of your jobs take {limits.stored_bytes_per_user:,} bytes or more, which is the limit: "
                "delete jobs that you no longer need"
            )

    def get(self, job: str) -> Job:
        """Return a job, or raise KeyError."""
        return self._one(select_jobs().where(jobs.c.id == job), job)

    def by_share(self, secret: str) -> Job:
        """Return the job shared by a link, or raise KeyError."""
        return self._one(select_jobs().where(jobs.c.share == secret), "")

    def several(self, some: Iterable[str]) -> tuple[Job, ...]:
        """Return existing jobs with these ids; all watchers share one query per page of ids."""
        ids = list(some)
        found: list[Job] = []
        with reading(self._engine) as connection:
            for begin in range(0, len(ids), MOST_LISTED):
                some_ids = ids[begin : begin + MOST_LISTED]
                found.extend(read_jobs(connection, select_jobs().where(jobs.c.id.in_(some_ids))))
        return tuple(found)

    def has_file(self, owner: str, digest: str) -> bool:
        """True if a job of this user has the file as input or output."""
        question = (
            select(job_files.c.job)
            .join(jobs, jobs.c.number == job_files.c.job)
            .where(job_files.c.digest == digest, jobs.c.owner == owner)
            .limit(1)
        )
        with reading(self._engine) as connection:
            return connection.execute(question).first() is not None

    def _one(self, question: Select[Any], job: str) -> Job:
        with reading(self._engine) as connection:
            found = read_jobs(connection, question)
        if not found:
            raise KeyError(job)
        return found[0]

    def list(self, search: Search) -> Page[Job]:
        """Return a page of jobs, newest first."""
        with reading(self._engine) as connection:
            rows, after = _found(connection, select_jobs(), search)
            return Page(jobs_of(connection, rows), after)

    def lines(self, search: Search) -> Page[JobLine]:
        """Return a page of lines for a list of jobs, in a third of the time of `list`."""
        with reading(self._engine) as connection:
            rows, after = _found(connection, select(jobs.c.number, *(jobs.c[name] for name in _LINE)), search)
            numbers = [row[0] for row in rows]
            tags = tags_of(connection, numbers)
            of_outputs = job_files.c.job.in_(numbers) & job_files.c.is_output
            bytes_of = select(job_files.c.job, func.sum(job_files.c.size)).where(of_outputs).group_by(job_files.c.job)
            sizes = {job: int(size) for job, size in connection.execute(bytes_of)} if numbers else {}
        found = (
            JobLine(
                **dict(zip(_LINE, values, strict=True)), tags=tuple(tags.get(number, ())), size=sizes.get(number, 0)
            )
            for number, *values in rows
        )
        return Page(tuple(line if search.owner is None else replace(line, owner="") for line in found), after)

    def tags(self, owner: str) -> dict[str, int]:
        """Return a user's tags with job counts, most frequent first; changes by other servers appear with a delay."""
        until, known = self._tags.get(owner, (0.0, {}))
        if self._clock() < until:
            return known
        count = func.count()
        question = (
            select(job_tags.c.tag, count)
            .join(jobs, jobs.c.number == job_tags.c.job)
            .where(jobs.c.owner == owner)
            .group_by(job_tags.c.tag)
            .order_by(count.desc(), job_tags.c.tag)
        )
        with reading(self._engine) as connection:
            found = {tag: int(n) for tag, n in connection.execute(question)}
        if len(self._tags) >= MOST_REMEMBERED:
            self._tags.clear()
        self._tags[owner] = (self._clock() + REMEMBERED_SECONDS, found)
        return found

    def change(self, job: str, title: str | None = None, tags: Iterable[str] | None = None) -> Job:
        """Change title or tags (None leaves them) and return the job, or raise KeyError."""
        with writing(self._engine) as connection:
            number = number_of(connection, job, lock=True)
            if title is not None:
                connection.execute(update(jobs).where(jobs.c.number == number).values(title=title))
            if tags is not None:
                connection.execute(delete(job_tags).where(job_tags.c.job == number))
                set_tags(connection, number, tags)
            renew_words(connection, number)
            changed = read_jobs(connection, select_jobs().where(jobs.c.number == number))[0]
        self._tags.pop(changed.owner, None)
        return changed

    def set_shared(self, job: str, shared: bool) -> Job:
        """Add or remove the secret of a job's link, and return the job; an existing link is kept."""
        with writing(self._engine) as connection:
            number = number_of(connection, job, lock=True)
            secret = func.coalesce(jobs.c.share, new_id()) if shared else None
            connection.execute(update(jobs).where(jobs.c.number == number).values(share=secret))
            return read_jobs(connection, select_jobs().where(jobs.c.number == number))[0]

    def cancel(self, job: str) -> Job:
        """Cancel a queued job, or ask a running job's worker to stop; an ended job stays unchanged."""
        with writing(self._engine) as connection:
            number = number_of(connection, job, lock=True)
            this = update(jobs).where(jobs.c.number == number)
            connection.execute(
                this.where(jobs.c.state == State.QUEUED).values(
                    state=State.CANCELLED, finished=self._clock(), cancel_asked=True, stage=""
                )
            )
            connection.execute(this.where(jobs.c.state == State.RUNNING).values(cancel_asked=True))
            return read_jobs(connection, select_jobs().where(jobs.c.number == number))[0]

    def delete(self, job: str) -> None:
        """Delete a job, and its files unless another job, a database or a later upload uses them.

        A worker that computes the job learns that it is lost. Raises KeyError if there is no such job.
        """
        with writing(self._engine) as connection:
            number = number_of(connection, job, lock=True)
            mine = select(job_files.c.digest).where(job_files.c.job == number, job_files.c.digest.is_not(None))
            digests = connection.scalars(mine).all()
            owner, created = connection.execute(
                select(jobs.c.owner, jobs.c.created).where(jobs.c.number == number)
            ).one()
            sent_for_it = (uploads.c.owner == owner) & uploads.c.digest.in_(mine) & (uploads.c.at <= created)
            connection.execute(delete(uploads).where(sent_for_it))
            remove_words(connection, number)
            connection.execute(update(databases).where(databases.c.job == job).values(job=None))
            connection.execute(delete(jobs).where(jobs.c.number == number))
        self._tags.clear()
        self._files.remove_these(digests)

    def counts(self, owner: str | None = None) -> dict[State, int]:
        """Return the number of jobs in each state, of all users or of one."""
        question = select(jobs.c.state, func.count()).group_by(jobs.c.state)
        if owner is not None:
            question = question.where(jobs.c.owner == owner)
        with reading(self._engine) as connection:
            found = {state: int(n) for state, n in connection.execute(question)}
        return {state: found.get(state, 0) for state in State}

    def in_work(self, owner: str) -> tuple[int, int, int]:
        """Return the numbers of queued and running jobs of all users, and of queued jobs of this user."""
        question = (
            select(jobs.c.owner, jobs.c.state, func.count())
            .where(jobs.c.state.in_((State.QUEUED, State.RUNNING)))
            .group_by(jobs.c.owner, jobs.c.state)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(question).all()
        waiting = {name: int(n) for name, state, n in rows if state == State.QUEUED}
        n_running = sum(int(n) for _, state, n in rows if state == State.RUNNING)
        return sum(waiting.values()), n_running, waiting.get(clean(owner), 0)

    def ended_before(self, at: float) -> tuple[str, ...]:
        """Return some of the jobs that ended before this time."""
        ends = [state for state in State if state.is_final]
        question = select(jobs.c.id).where(jobs.c.state.in_(ends), jobs.c.finished < at).limit(MOST_LISTED)
        with reading(self._engine) as connection:
            return tuple(connection.scalars(question))

    def stored_bytes(self, owner: str | None = None) -> int:
        """Return the total size of one user's job files, or of all, counting equal files once."""
        with reading(self._engine) as connection:
            return _stored_bytes(connection, owner)


def _found(connection: Connection, question: Select[Any], search: Search) -> tuple[Sequence[Row[Any]], str | None]:
    """Return rows of jobs, newest first, and the cursor of the next page; the first column is the job's number."""
    if search.owner is not None:
        question = question.where(jobs.c.owner == search.owner)
    if search.state is not None:
        question = question.where(jobs.c.state == search.state)
    if search.verb is not None:
        question = question.where(jobs.c.verb == search.verb)
    if search.tag is not None:
        question = question.where(jobs.c.number.in_(select(job_tags.c.job).where(job_tags.c.tag == search.tag)))
    if search.after is not None:
        # A cursor that this server did not issue gives an empty page.
        after = int(search.after) if re.fullmatch(r"[0-9]{1,18}", search.after) else 0
        question = question.where(jobs.c.number < after)
    order: Any = jobs.c.number
    found = found_by(connection, search.text)
    if found is not None:  # joined in this order, SQLite reads only one page of the index
        those = found.subquery()
        question, order = question.join(those, those.c[0] == jobs.c.number), those.c[0]
    limit = min(max(search.limit, 1), MOST_LISTED)
    # One extra row shows whether there are more.
    rows = connection.execute(question.order_by(order.desc()).limit(limit + 1)).all()
    return rows[:limit], str(rows[limit - 1][0]) if len(rows) > limit else None


def _stored_bytes(connection: Connection, owner: str | None) -> int:
    files = (
        select(job_files.c.digest, job_files.c.size)
        .join(jobs, jobs.c.number == job_files.c.job)
        .where(job_files.c.digest.is_not(None))
    )
    stores = select(databases.c.digest, databases.c.size)
    if owner is not None:
        files, stores = files.where(jobs.c.owner == owner), stores.where(databases.c.owner == owner)
    different = union(files, stores).subquery()  # removes duplicate rows
    return int(connection.execute(select(func.coalesce(func.sum(different.c.size), 0))).scalar_one())
