"""Audit log: user, address, action and time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Select, insert, select

from tropalign.serve.storage.database import reading, writing
from tropalign.serve.storage.schema import audit

#: Maximum characters of a detail.
MOST_LETTERS = 2_000
#: Lines per query.
AT_A_TIME = 1_000


@dataclass(frozen=True)
class Entry:
    """Entry of the log, with increasing `number`; `at` is in seconds since 1970."""

    number: int
    at: float
    user: str
    address: str
    action: str
    object: str
    detail: str


class Audit:
    """The audit log; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def note(self, user: str, address: str, action: str, object: str = "", detail: str = "") -> None:
        """Add an entry."""
        row = {"user": user[:200], "address": address[:200], "action": action[:200], "object": object[:200]}
        with writing(self._engine) as connection:
            connection.execute(insert(audit).values(at=self._clock(), detail=detail[:MOST_LETTERS], **row))

    def entries(
        self, user: str | None = None, action: str | None = None, since: float = -math.inf, until: float = math.inf
    ) -> Iterator[Entry]:
        """Yield entries, oldest first, page by page; from `since` until before `until`, in seconds since 1970."""
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
