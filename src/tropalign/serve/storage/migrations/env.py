"""Alembic's entry point: runs the migrations on the connection and in the transaction of `database.update_tables`."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
