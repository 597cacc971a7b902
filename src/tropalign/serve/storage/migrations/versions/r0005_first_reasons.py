"""Why the first job of a chain failed, for those that failed with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Adds the column, empty for jobs that there are: what fails with one of these quotes its message."""
    op.add_column("jobs", sa.Column("first_reason", sa.Text, nullable=False, server_default=""))
