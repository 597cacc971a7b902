"""Sessions of browsers that were ended before their time; all others are remembered by their cookies alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.schema import ended_sessions


class EndedSessions:
    """Which sessions are over, though their cookies say otherwise.

    Parameters
    ----------
    engine
        The database.
    clock
        Seconds since 1970.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def add(self, session: str, expires: float) -> None:
        """From now on a session's cookie, which somebody may have copied, is worth nothing."""
        with writing(self._engine) as connection:
            connection.execute(delete(ended_sessions).where(ended_sessions.c.expires < self._clock()))
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(ended_sessions)
            connection.execute(new.values(id=session, expires=expires).on_conflict_do_nothing())

    def list(self) -> frozenset[str]:
        """Ids of all sessions that ended."""
        with reading(self._engine) as connection:
            return frozenset(connection.scalars(select(ended_sessions.c.id)))
