"""Databases are their owners' alone unless they are shared, as those of before were to all; uploads have names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds the columns. Databases that are there become private: their owners were never asked."""
    op.add_column("databases", sa.Column("shared", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("uploads", sa.Column("name", sa.Text, nullable=False, server_default=""))
