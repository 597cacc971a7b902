"""The tables as they are today; `migrations` leads there, and a test compares both."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text, false
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.types import TypeDecorator


def clean(words: str) -> str:
    r"""Text that both engines keep: without NUL, and with ``?`` for halves of surrogate pairs.

    Examples
    --------
    >>> clean("a\0b\ud800")
    'ab?'
    """
    return str(words).replace("\0", "").encode("utf-8", "replace").decode()


class Words(TypeDecorator[str]):
    """Text of which whatever a user sends is written, and compared, as `clean` has it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        return None if value is None else clean(value)


metadata = MetaData()
#: SQLite counts rows by INTEGER alone.
Number = BigInteger().with_variant(Integer(), "sqlite")

jobs = Table(
    "jobs",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=True),  # in the order in which they were submitted
    Column("id", Words, nullable=False, unique=True),
    Column("owner", Words, nullable=False),
    Column("verb", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("key", Words, nullable=False),
    Column("request", Words, nullable=False),
    Column("command", Words, nullable=False),
    Column("version", Words, nullable=False),
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
    Column("first_reason", Words, nullable=False, server_default=""),  # of a chain that failed, below its first job
    Column("exit_code", Integer),
    Column("forecast", Words),
    Column("share", Words, unique=True),
    Column("deaths", Integer, nullable=False),  # attempts that ended by the death of their worker
    Column("words", Words, nullable=False),  # of NewJob, for a search
    Index("jobs_of_owner", "owner", "number"),
    Index("jobs_in_state", "state", "owner", "number"),
    Index("jobs_of_key", "key"),
)

job_files = Table(
    "job_files",
    metadata,
    Column("job", Number, ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True),
    Column("is_output", Boolean, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("role", Words, nullable=False),
    Column("name", Words, nullable=False),
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
    Column("job", Number, ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True),
    Column("tag", Words, primary_key=True),
    Column("position", Integer, nullable=False),
    Index("job_tags_of_tag", "tag"),
)

#: When a user's job was last begun: the queue takes the one who has waited longest.
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
    Column("owner", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("alphabet", Words, nullable=False),
    Column("n_sequences", BigInteger, nullable=False),
    Column("n_residues", BigInteger, nullable=False),
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
    Column("user", Words, nullable=False),
    Column("hash", Words, nullable=False),
    Column("created", Float, nullable=False),
    Column("last_used", Float),
    Column("revoked", Boolean, nullable=False),
)

#: Sessions that were ended before their time.
ended_sessions = Table(
    "ended_sessions",
    metadata,
    Column("id", Words, primary_key=True),
    Column("expires", Float, nullable=False),
)

#: Which files a user has sent of late.
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
    Column("user", Words, nullable=False),
    Column("address", Words, nullable=False),
    Column("action", Words, nullable=False),
    Column("object", Words, nullable=False),
    Column("detail", Words, nullable=False),
)

#: What an administrator has said of users: their role, and limits in place of the usual ones.
users = Table(
    "users",
    metadata,
    Column("name", Words, primary_key=True),
    Column("is_administrator", Boolean, nullable=False),
    Column("running_per_user", Integer),
    Column("queued_per_user", Integer),
    Column("stored_bytes_per_user", BigInteger),
)

#: Inputs of waiting jobs that other jobs are still to write: `position` is that of the input in `job_files`.
awaited = Table(
    "awaited",
    metadata,
    Column("job", Number, ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("source", Words, nullable=False),
    Column("role", Words, nullable=False),
    Column("title", Words, nullable=False),  # of the source, which may be deleted
    Index("awaited_by_source", "source"),
)

#: Addresses that are told of the ends of jobs, how often that has failed, and when to try again.
hooks = Table(
    "hooks",
    metadata,
    Column("job", Number, ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True),
    Column("url", Words, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due", Float, nullable=False),
)

#: Processes that have workers, how many of these live, and when that was said.
crews = Table(
    "crews",
    metadata,
    Column("name", Words, primary_key=True),
    Column("n_workers", Integer, nullable=False),
    Column("seen", Float, nullable=False),
)

#: PostgreSQL's words of each job; SQLite has a virtual table of this name in its place, which metadata cannot say.
search_metadata = MetaData()
job_words = Table(
    "job_words",
    search_metadata,
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("words", TSVECTOR, nullable=False),
    Index("job_words_of_words", "words", postgresql_using="gin"),
)
