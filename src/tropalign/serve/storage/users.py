"""What an administrator says of users: who is an administrator, too, and limits in place of the usual ones."""

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

#: Limits that a user may have of one's own.
OWN_LIMITS = ("running_per_user", "queued_per_user", "stored_bytes_per_user")


class Users:
    """The users of whom something is said; all others have the usual limits.

    Parameters
    ----------
    engine
        The database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, name: str) -> Account:
        """What is said of a user."""
        with reading(self._engine) as connection:
            row = connection.execute(select(users).where(users.c.name == name)).mappings().first()
        return Account(name) if row is None else Account(**row)

    def limits(self, name: str, usual: Limits) -> Limits:
        """The limits of a user: one's own, and for the others the usual ones."""
        account = self.get(name)
        own = {limit: value for limit in OWN_LIMITS if (value := getattr(account, limit)) is not None}
        return replace(usual, **own)

    def set(self, name: str, **values: Any) -> Account:
        """Says something else of a user; None takes a limit back.

        Raises
        ------
        UsageError
            There is no such user: nobody of this name has a token, a job, a file or a database.
        """
        if clean(name) not in self.names():
            raise UsageError(f"there is no user {shown(name[:200])!r}: tropalign admin users lists them")
        with writing(self._engine) as connection:
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(users)
            row = new.values(**{"name": name, "is_administrator": False, **values})
            connection.execute(row.on_conflict_do_update(index_elements=[users.c.name], set_=values))
        return self.get(name)

    def forget(self, name: str) -> None:
        """Says nothing of a user any more, who has the usual limits and is no administrator."""
        with writing(self._engine) as connection:
            connection.execute(delete(users).where(users.c.name == name))

    def names(self) -> tuple[str, ...]:
        """All users that the record knows, by name."""
        of = (users.c.name, tokens.c.user, jobs.c.owner, databases.c.owner, uploads.c.owner)
        with reading(self._engine) as connection:
            return tuple(sorted(connection.scalars(union(*(select(column) for column in of)))))
