"""Web hooks: addresses to notify of the end of a job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "hooks",
        sa.Column("job", number, sa.ForeignKey("jobs.number", ondelete="CASCADE"), primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("due", sa.Float, nullable=False),
    )
