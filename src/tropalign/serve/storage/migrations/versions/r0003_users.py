"""Administrators' settings for users, jobs that wait for other jobs, and processes with workers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "users",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("is_administrator", sa.Boolean, nullable=False),
        sa.Column("running_per_user", sa.Integer),
        sa.Column("queued_per_user", sa.Integer),
        sa.Column("stored_bytes_per_user", sa.BigInteger),
    )
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "awaited",
        sa.Column("job", number, sa.ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
    )
    op.create_index("awaited_by_source", "awaited", ["source"])
    op.create_table(
        "crews",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("n_workers", sa.Integer, nullable=False),
        sa.Column("seen", sa.Float, nullable=False),
    )
