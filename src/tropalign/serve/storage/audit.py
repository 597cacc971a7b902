"""The audit log: who did what, from where, and when."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Select, insert, select

from tropalign.serve.storage.database import reading, writing
from tropalign.serve.storage.schema import audit

#: Letters of a detail that are kept.
MOST_LETTERS = 2_000
#: Lines that are read at a time.
AT_A_TIME = 1_000


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

    def entries(
        self, user: str | None = None, action: str | None = None, since: float = -math.inf, until: float = math.inf
    ) -> Iterator[Entry]:
        """Lines, the oldest first; some at a time, since a log may be long.

        Parameters
        ----------
        user, action
            Of that user, and of that action; None for all.
        since, until
            From one time on until before the other, in seconds since 1970.
        """
        question = select(audit)
        for column, value in ((audit.c.user, user), (audit.c.action, action)):
            question = question if value is None else question.where(column == value)
        if since > -math.inf:
            question = question.where(audit.c.at >= since)
        if until < math.inf:
            question = question.where(audit.c.at < until)
        last = 0
        while found := self._after(question, last):
            yield from found
            last = found[-1].number

    def _after(self, question: Select[Any], number: int) -> list[Entry]:
        question = question.where(audit.c.number > number).order_by(audit.c.number).limit(AT_A_TIME)
        with reading(self._engine) as connection:
            return [Entry(*row) for row in connection.execute(question)]
