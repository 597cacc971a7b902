"""Current tables; a test checks that `migrations` makes the same ones."""

from __future__ import annotations

import json
from typing import Any, cast

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text, false
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.types import TypeDecorator

from tropalign.serve.records import State


def clean(words: str) -> str:
    r"""Make text storable in both engines: without NUL, and with ``?`` for lone surrogates.

    >>> clean("a\0b\ud800")
    'ab?'
    """
    return str(words).replace("\0", "").encode("utf-8", "replace").decode()


class Words(TypeDecorator[str]):
    """Text column that applies `clean` to all values, also in comparisons."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        return None if value is None else clean(value)


class Json(TypeDecorator[dict[str, Any]]):
    """A JSON object, stored as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Any) -> str | None:
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Any) -> dict[str, Any] | None:
        return None if value is None else cast("dict[str, Any]", json.loads(value))


class JobState(TypeDecorator[State]):
    """A job state, stored as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Any) -> State | None:
        return None if value is None else State(value)


metadata = MetaData()
#: SQLite numbers rows only in INTEGER columns.
Number = BigInteger().with_variant(Integer(), "sqlite")


def _needed(kind: Any, *names: str) -> list[Column[Any]]:
    """Return NOT NULL columns of one type."""
    return [Column(name, kind, nullable=False) for name in names]


def _of_job() -> Column[int]:
    """Return the key of the owning job; deleting the job deletes the row."""
    return Column("job", Number, ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True)


jobs = Table(
    "jobs",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=True),  # in order of submission
    Column("id", Words, nullable=False, unique=True),
    *_needed(Words, "owner", "verb", "title"),
    Column("state", JobState, nullable=False),
    Column("key", Words, nullable=False),
    Column("request", Json, nullable=False),
    *_needed(Words, "command", "version"),
    Column("created", Float, nullable=False),
    Column("started", Float),
    Column("finished", Float),
    Column("attempt", Integer, nullable=False),
    Column("worker", Words),
    Column("lease_until", Float),
    Column("cancel_asked", Boolean, nullable=False),
    Column("stage", Words, nullable=False),
    Column("progress", Float),
    Column("message", Words, nullable=False),
    Column("first_reason", Words, nullable=False, server_default=""),  # for later jobs of a failed chain
    Column("exit_code", Integer),
    Column("forecast", Json),
    Column("share", Words, unique=True),
    Column("deaths", Integer, nullable=False),  # attempts that ended with the death of their worker
    Column("words", Words, nullable=False),  # `NewJob.words`, to search
    Index("jobs_of_owner", "owner", "number"),
    Index("jobs_in_state", "state", "owner", "number"),
    Index("jobs_of_key", "key"),
)

job_files = Table(
    "job_files",
    metadata,
    _of_job(),
    Column("is_output", Boolean, primary_key=True),
    Column("position", Integer, primary_key=True),
    *_needed(Words, "role", "name"),
    Column("digest", Words),
    Column("size", BigInteger, nullable=False),
    Column("media_type", Words, nullable=False),
    Column("database", Words),
    Index("job_files_of_digest", "digest"),
    Index("job_files_of_database", "database"),
)

job_tags = Table(
    "job_tags",
    metadata,
    _of_job(),
    Column("tag", Words, primary_key=True),
    Column("position", Integer, nullable=False),
    Index("job_tags_of_tag", "tag"),
)

#: Last start of each user's jobs: the queue serves the user who has waited longest.
turns = Table(
    "turns",
    metadata,
    Column("owner", Words, primary_key=True),
    Column("served", Float, nullable=False),
)

databases = Table(
    "databases",
    metadata,
    Column("id", Words, primary_key=True),
    *_needed(Words, "owner", "name", "alphabet"),
    *_needed(BigInteger, "n_sequences", "n_residues"),
    Column("digest", Words, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", Float, nullable=False),
    Column("job", Words),
    Column("shared", Boolean, nullable=False, server_default=false()),
    Index("databases_of_digest", "digest"),
    Index("databases_of_job", "job"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Words, primary_key=True),
    *_needed(Words, "user", "hash"),
    Column("created", Float, nullable=False),
    Column("last_used", Float),
    Column("revoked", Boolean, nullable=False),
)

#: Sessions that were ended before they expired.
ended_sessions = Table(
    "ended_sessions",
    metadata,
    Column("id", Words, primary_key=True),
    Column("expires", Float, nullable=False),
)

#: Recently sent files by user.
uploads = Table(
    "uploads",
    metadata,
    Column("owner", Words, primary_key=True),
    Column("digest", Words, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("at", Float, nullable=False),
    Column("name", Words, nullable=False, server_default=""),
    Index("uploads_by_time", "at"),
)

secrets = Table(
    "secrets",
    metadata,
    Column("name", Words, primary_key=True),
    Column("value", Words, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    *_needed(Words, "user", "address", "action", "object", "detail"),
)

#: Roles and individual limits of users, set by administrators.
users = Table(
    "users",
    metadata,
    Column("name", Words, primary_key=True),
    Column("is_administrator", Boolean, nullable=False),
    Column("running_per_user", Integer),
    Column("queued_per_user", Integer),
    Column("stored_bytes_per_user", BigInteger),
)

#: Inputs of waiting jobs that other jobs have yet to write; `position` is that of the input in `job_files`.
awaited = Table(
    "awaited",
    metadata,
    _of_job(),
    Column("position", Integer, primary_key=True),
    *_needed(Words, "source", "role"),
    Column("title", Words, nullable=False),  # title of the source, which may be deleted
    Index("awaited_by_source", "source"),
)

#: Addresses to notify of the ends of jobs, number of failures, and time of the next attempt.
hooks = Table(
    "hooks",
    metadata,
    _of_job(),
    Column("url", Words, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due", Float, nullable=False),
)

#: Processes with workers, their number of living workers, and the time of that report.
crews = Table(
    "crews",
    metadata,
    Column("name", Words, primary_key=True),
    Column("n_workers", Integer, nullable=False),
    Column("seen", Float, nullable=False),
)

#: PostgreSQL's search words; SQLite has a virtual table with this name instead, which metadata cannot describe.
search_metadata = MetaData()
job_words = Table(
    "job_words",
    search_metadata,
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("words", TSVECTOR, nullable=False),
    Index("job_words_of_words", "words", postgresql_using="gin"),
)
