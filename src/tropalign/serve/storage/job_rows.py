"""Conversion of jobs from and to rows, with their tags, hooks and search words; reuse of an equal job's results."""

from __future__ import annotations

import base64
import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    Row,
    Select,
    String,
    Table,
    Text,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from tropalign.errors import InputError, shown
from tropalign.serve.records import Hook, Job, JobFile, State
from tropalign.serve.storage.database import hold, is_postgresql, reading, writing
from tropalign.serve.storage.databases import is_installed
from tropalign.serve.storage.files import FileStore
from tropalign.serve.storage.schema import clean, databases, hooks, job_files, job_tags, job_words, jobs
from tropalign.submissions.submission import BUILD

#: Maximum characters of a tag.
MOST_TAG_LETTERS = 200
#: Fields of a job that are columns of its row.
_JOB = [one.name for one in fields(Job) if one.name in jobs.c]
#: Queries of every page, built once.
_FILES_OF = (
    select(job_files.c.job, job_files.c.is_output, *(job_files.c[one.name] for one in fields(JobFile)))
    .where(job_files.c.job.in_(bindparam("numbers", expanding=True)))
    .order_by(job_files.c.job, job_files.c.is_output, job_files.c.position)
)
_TAGS_OF = (
    select(job_tags.c.job, job_tags.c.tag)
    .where(job_tags.c.job.in_(bindparam("numbers", expanding=True)))
    .order_by(job_tags.c.job, job_tags.c.position)
)
#: Seconds before each retry of a failed call; after the last retry the hook is dropped.
PAUSES = (60.0, 300.0, 1800.0, 7200.0)
#: Seconds for which a claimed hook is reserved; longer than a call with its host lookup.
CLAIM_SECONDS = 120.0
#: Maximum distinct words per job, and significant characters of a word.
MOST_WORDS, MOST_WORD_LETTERS = 20_000, 60
#: Maximum total bytes of a job's words; a tsvector holds a megabyte.
MOST_BYTES = 600_000
#: Maximum words of a query.
MOST_ASKED = 20
_WORD = re.compile(r"[^\W_]+")
#: The FTS5 table, for queries.
_fts = Table("job_words", MetaData(), Column("rowid", Integer), Column("words", Text))


def new_id() -> str:
    """Return 26 unguessable letters and digits: 128 bits."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


def select_jobs() -> Select[Any]:
    """Return a query for the columns that `read_jobs` needs."""
    return select(jobs.c.number, *(jobs.c[name] for name in _JOB))


def read_jobs(connection: Connection, question: Select[Any]) -> tuple[Job, ...]:
    """Return the jobs of a query with files and tags, in three queries for any number of jobs."""
    return jobs_of(connection, connection.execute(question).all())


def jobs_of(connection: Connection, rows: Sequence[Row[Any]]) -> tuple[Job, ...]:
    """Return the jobs of rows from `select_jobs`."""
    if not rows:
        return ()
    numbers = {"numbers": [row[0] for row in rows]}
    files: dict[tuple[int, bool], list[JobFile]] = {}
    for job, is_output, *values in connection.execute(_FILES_OF, numbers):
        files.setdefault((job, is_output), []).append(JobFile(*values))
    tags = tags_of(connection, numbers["numbers"])
    return tuple(
        Job(
            **dict(zip(_JOB, values, strict=True)),
            tags=tuple(tags.get(number, ())),
            inputs=tuple(files.get((number, False), ())),
            outputs=tuple(files.get((number, True), ())),
        )
        for number, *values in rows
    )


def tags_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    """Return the tags of jobs that have some, by row number."""
    tags: dict[int, list[str]] = {}
    for job, tag in connection.execute(_TAGS_OF, {"numbers": numbers}) if numbers else ():
        tags.setdefault(job, []).append(tag)
    return tags


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
        if file.database is not None and not is_installed(file.database):  # workers check installed databases
            # The lock keeps the database until this transaction ends.
            question = select(databases.c.id).where(databases.c.id == file.database).with_for_update(read=True)
            if connection.execute(question).first() is None:
                raise InputError(f"the database {shown(file.name)!r} is no longer on the server: choose another one")
        rows.append({"job": job, "is_output": is_output, "position": position, **vars(file)})
    if rows:
        connection.execute(insert(job_files), rows)


def set_tags(connection: Connection, job: int, tags: Iterable[str]) -> None:
    """Set the distinct tags of a job that has none, truncated to the index's limit."""
    different = dict.fromkeys(clean(tag)[:MOST_TAG_LETTERS] for tag in tags)
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
    # An equal build also gets its own database, named and shared as its job requests.
    job, owner, title, request = connection.execute(
        select(jobs.c.id, jobs.c.owner, jobs.c.title, jobs.c.request).where(jobs.c.number == number)
    ).one()
    own = {"owner": owner, "created": now, "job": job, "shared": request.get("shared") is True}
    for row in connection.execute(select(databases).where(databases.c.job == source_id)).mappings().all():
        changed = {"id": new_id(), "name": title or row["name"], **own}
        connection.execute(insert(databases).values({**row, **changed}))


class Hooks:
    """Hooks of jobs, which are deleted with their jobs; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def claim(self, most: int, busy: Collection[str] = ()) -> tuple[Hook, ...]:
        """Reserve up to `most` due hooks for `CLAIM_SECONDS`; those not reported to `called` by then are due again.

        Their jobs have ended, and no retry pause is pending. At most one hook per user is returned, so that slow
        hooks of one user do not delay others; hooks with the fewest failures come first. Users in `busy` are
        skipped.
        """
        ready = self._ready(busy).subquery()
        first = select(ready.c.id, ready.c.number, ready.c.url, ready.c.tries).where(ready.c.place == 1)
        first = first.order_by(ready.c.tries, ready.c.due, ready.c.number).limit(most)
        with reading(self._engine) as connection:
            if connection.execute(first.limit(1)).first() is None:
                return ()
        with writing(self._engine) as connection:
            hold(connection, "hooks")
            rows = connection.execute(first).all()
            numbers = [row.number for row in rows]
            due = self._clock() + CLAIM_SECONDS
            connection.execute(update(hooks).where(hooks.c.job.in_(numbers)).values(due=due))
            found = {job.id: job for job in read_jobs(connection, select_jobs().where(jobs.c.number.in_(numbers)))}
        return tuple(Hook(found[row.id], row.url, row.tries) for row in rows if row.id in found)

    def _ready(self, busy: Collection[str]) -> Select[Any]:
        """Return the query for due hooks, with the rank of each among its user's."""
        ends = [state for state in State if state.is_final]
        order = (hooks.c.tries, hooks.c.due, jobs.c.number)
        place = func.row_number().over(partition_by=jobs.c.owner, order_by=order).label("place")
        question = select(jobs.c.id, jobs.c.number, hooks.c.url, hooks.c.tries, hooks.c.due, place)
        question = question.join(hooks, hooks.c.job == jobs.c.number)
        return question.where(jobs.c.state.in_(ends), hooks.c.due <= self._clock(), jobs.c.owner.not_in(list(busy)))

    def called(self, hook: Hook, is_taken: bool) -> bool:
        """Record the result of a call; True if there will be a retry."""
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
    """Add a hook to a new job, if there is an address."""
    if url:
        connection.execute(insert(hooks).values(job=number, url=url, tries=0, due=0.0))


# Words are split here rather than by the engines: letters and digits, in lower case, without accents. Therefore user
# input is never query syntax, and ``proteins`` finds ``proteins.fa`` in both.
def words_of(*texts: str) -> list[str]:
    """Return the distinct words of texts, in order of first occurrence.

    >>> words_of("Protéines_A.fa, proteines", "x")
    ['proteines', 'a', 'fa', 'x']
    """
    found: dict[str, None] = {}
    n_bytes = 0
    for words in texts:
        plain = "".join(
            letter for letter in unicodedata.normalize("NFKD", clean(words)) if not unicodedata.combining(letter)
        )
        for match in _WORD.finditer(plain.casefold()):
            word = match.group()[:MOST_WORD_LETTERS]
            n_bytes += 0 if word in found else len(word.encode())
            if len(found) == MOST_WORDS or n_bytes > MOST_BYTES:
                return list(found)
            found[word] = None
    return list(found)


def write_words(connection: Connection, job: int, texts: Iterable[str]) -> None:
    """Replace the words of a job in the search index."""
    remove_words(connection, job)
    words = words_of(*texts)
    if is_postgresql(connection):
        array = func.array_to_tsvector(cast(words, ARRAY(Text)))
        connection.execute(job_words.insert().values(job=job, words=array))
    else:
        connection.execute(
            text("INSERT INTO job_words (rowid, words) VALUES (:job, :words)"), {"job": job, "words": " ".join(words)}
        )


def remove_words(connection: Connection, job: int) -> None:
    """Remove a job from the search index."""
    if is_postgresql(connection):
        connection.execute(delete(job_words).where(job_words.c.job == job))
    else:
        connection.execute(text("DELETE FROM job_words WHERE rowid = :job"), {"job": job})


def found_by(connection: Connection, question: str) -> Select[tuple[int]] | None:
    """Return the query for jobs with all words of a question, the last one as a prefix; None for an empty question."""
    words = words_of(question)[:MOST_ASKED]
    if not words:
        return None
    if is_postgresql(connection):
        query = " & ".join(f"'{word}'" for word in words) + ":*"
        # The text is cast to lexemes without parsing; '...' contains only letters and digits.
        asked = cast(cast(query, String), TSQUERY)
        return select(job_words.c.job).where(job_words.c.words.op("@@")(asked))
    query = " AND ".join(f'"{word}"' for word in words) + " *"
    return select(_fts.c.rowid).where(text("job_words MATCH :asked").bindparams(asked=query))
