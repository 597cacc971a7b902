"""Settings of users by administrators: the administrator role, and individual limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Engine, delete, select, union
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.errors import UsageError, shown
from tropalign.serve.records import Account
from tropalign.serve.settings import Limits
from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.schema import clean, databases, jobs, tokens, uploads, users

#: Limits that can be set for individual users.
OWN_LIMITS = ("running_per_user", "queued_per_user", "stored_bytes_per_user")


class Users:
    """Users with individual settings; all others have the default limits."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, name: str) -> Account:
        """Return the settings of a user."""
        with reading(self._engine) as connection:
            row = connection.execute(select(users).where(users.c.name == name)).mappings().first()
        return Account(name) if row is None else Account(**row)

    def limits(self, name: str, usual: Limits) -> Limits:
        """Return the limits of a user: individual ones, and the defaults for the rest."""
        account = self.get(name)
        own = {limit: value for limit in OWN_LIMITS if (value := getattr(account, limit)) is not None}
        return replace(usual, **own)

    def set(self, name: str, **values: Any) -> Account:
        """Change settings of a user (None removes a limit) and return them.

        Raises UsageError for an unknown user: one without token, job, file or database.
        """
        if clean(name) not in self.names():
            raise UsageError(f"there is no user {shown(name[:200])!r}: tropalign admin users lists them")
        with writing(self._engine) as connection:
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(users)
            row = new.values(**{"name": name, "is_administrator": False, **values})
            connection.execute(row.on_conflict_do_update(index_elements=[users.c.name], set_=values))
        return self.get(name)

    def forget(self, name: str) -> None:
        """Delete the settings of a user, who then has the default limits and no role."""
        with writing(self._engine) as connection:
            connection.execute(delete(users).where(users.c.name == name))

    def names(self) -> tuple[str, ...]:
        """Return all known users, by name."""
        of = (users.c.name, tokens.c.user, jobs.c.owner, databases.c.owner, uploads.c.owner)
        with reading(self._engine) as connection:
            return tuple(sorted(connection.scalars(union(*(select(column) for column in of)))))
