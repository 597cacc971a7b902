"""Reason of the first failure in a chain, for jobs that failed with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column, empty for existing jobs: a job that fails because of one of these quotes its message."""
    op.add_column("jobs", sa.Column("first_reason", sa.Text, nullable=False, server_default=""))
