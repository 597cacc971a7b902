"""Databases are private unless shared (before, all were shared); uploads have names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns. Existing databases become private, because their owners never agreed to sharing."""
    op.add_column("databases", sa.Column("shared", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("uploads", sa.Column("name", sa.Text, nullable=False, server_default=""))
