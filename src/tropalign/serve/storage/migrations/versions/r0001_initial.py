"""Initial schema: the tables of `schema.py`.

When a second migration is added, this one must list its tables explicitly, because `schema.py` will change.
"""

from __future__ import annotations

from alembic import op

from tropalign.serve.storage.database import is_postgresql
from tropalign.serve.storage.schema import metadata, search_metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    connection = op.get_bind()
    metadata.create_all(connection)
    if is_postgresql(connection):
        search_metadata.create_all(connection)
    else:
        op.execute("CREATE VIRTUAL TABLE job_words USING fts5(words, tokenize = 'unicode61', prefix = '2 3')")
