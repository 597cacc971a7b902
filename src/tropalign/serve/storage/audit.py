"""The audit log: who did what, from where, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine, insert, select

from tropalign.serve.storage.database import reading, writing
from tropalign.serve.storage.schema import audit

#: Letters of a detail that are kept.
MOST_LETTERS = 2_000


@dataclass(frozen=True)
class Entry:
    """A line of the log.

    Parameters
    ----------
    number
        Of this entry; later ones have larger numbers.
    at
        Seconds since 1970.
    user, address
        Who did it, and from where.
    action, object, detail
        What was done to what.
    """

    number: int
    at: float
    user: str
    address: str
    action: str
    object: str
    detail: str


class Audit:
    """The audit log.

    Parameters
    ----------
    engine
        The database.
    clock
        Seconds since 1970.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def note(self, user: str, address: str, action: str, object: str = "", detail: str = "") -> None:
        """Adds a line."""
        row = {"user": user[:200], "address": address[:200], "action": action[:200], "object": object[:200]}
        with writing(self._engine) as connection:
            connection.execute(insert(audit).values(at=self._clock(), detail=detail[:MOST_LETTERS], **row))

    def entries(self, limit: int = 100, before: int | None = None) -> tuple[Entry, ...]:
        """The newest lines first; `before` is the number of the last one of the page before."""
        question = select(audit).order_by(audit.c.number.desc()).limit(min(max(limit, 1), 1000))
        if before is not None:
            question = question.where(audit.c.number < before)
        with reading(self._engine) as connection:
            return tuple(Entry(*row) for row in connection.execute(question))
