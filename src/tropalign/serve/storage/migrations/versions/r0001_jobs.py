"""The first tables: jobs, their files, tags and words; turns, databases, tokens, sessions, uploads, secrets, audit.

Migrations spell out their tables and never import `schema.py`, which keeps changing.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0001"
down_revision = None


def _number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _job() -> sa.Column[int]:
    return sa.Column("job", _number(), sa.ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def upgrade() -> None:
    """Create the tables."""
    _make_jobs()
    _make_what_jobs_have()
    _make_words()
    op.create_table(
        "turns", sa.Column("owner", sa.Text, primary_key=True), sa.Column("served", sa.Float, nullable=False)
    )
    op.create_table("secrets", sa.Column("name", sa.Text, primary_key=True), *_texts("value"))
    op.create_table(
        "databases",
        sa.Column("id", sa.Text, primary_key=True),
        *_texts("owner", "name", "alphabet"),
        sa.Column("n_sequences", sa.BigInteger, nullable=False),
        sa.Column("n_residues", sa.BigInteger, nullable=False),
        *_texts("digest"),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("job", sa.Text),
    )
    op.create_index("databases_of_digest", "databases", ["digest"])
    op.create_index("databases_of_job", "databases", ["job"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text, primary_key=True),
        *_texts("user", "hash"),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("last_used", sa.Float),
        sa.Column("revoked", sa.Boolean, nullable=False),
    )
    _make_of_users()
    op.create_table(
        "audit",
        sa.Column("number", _number(), primary_key=True, autoincrement=True),
        sa.Column("at", sa.Float, nullable=False),
        *_texts("user", "address", "action", "object", "detail"),
    )


def _make_of_users() -> None:
    op.create_table(
        "ended_sessions", sa.Column("id", sa.Text, primary_key=True), sa.Column("expires", sa.Float, nullable=False)
    )
    op.create_table(
        "uploads",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_index("uploads_by_time", "uploads", ["at"])


def _make_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("number", _number(), primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        *_texts("owner", "verb", "title", "state", "key", "request", "command", "version"),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("started", sa.Float),
        sa.Column("finished", sa.Float),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("worker", sa.Text),
        sa.Column("lease_until", sa.Float),
        sa.Column("cancel_asked", sa.Boolean, nullable=False),
        *_texts("stage"),
        sa.Column("progress", sa.Float),
        *_texts("message"),
        sa.Column("exit_code", sa.Integer),
        sa.Column("forecast", sa.Text),
        sa.Column("share", sa.Text, unique=True),
        sa.Column("deaths", sa.Integer, nullable=False),
        *_texts("words"),
    )
    op.create_index("jobs_of_owner", "jobs", ["owner", "number"])
    op.create_index("jobs_in_state", "jobs", ["state", "owner", "number"])
    op.create_index("jobs_of_key", "jobs", ["key"])


def _make_what_jobs_have() -> None:
    op.create_table(
        "job_files",
        _job(),
        sa.Column("is_output", sa.Boolean, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        *_texts("role", "name"),
        sa.Column("digest", sa.Text),
        sa.Column("size", sa.BigInteger, nullable=False),
        *_texts("media_type"),
        sa.Column("database", sa.Text),
    )
    op.create_index("job_files_of_digest", "job_files", ["digest"])
    op.create_index("job_files_of_database", "job_files", ["database"])
    op.create_table(
        "job_tags",
        _job(),
        sa.Column("tag", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("job_tags_of_tag", "job_tags", ["tag"])


def _make_words() -> None:
    if op.get_context().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE job_words USING fts5(words, tokenize = 'unicode61', prefix = '2 3')")
        return
    op.create_table(
        "job_words",
        sa.Column("job", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("words", TSVECTOR, nullable=False),
    )
    op.create_index("job_words_of_words", "job_words", ["words"], postgresql_using="gin")
