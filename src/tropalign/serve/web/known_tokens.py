"""Which tokens are valid, remembered for some seconds: a session says a token's id with every request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tropalign.serve.storage import Storage

SECONDS = 5.0


class KnownTokens:
    """The users of valid tokens by id, read anew after `SECONDS`: so long a revoked token's sessions live on."""

    def __init__(self, storage: Storage, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage, self._clock = storage, clock
        self._users: dict[str, str] = {}
        self._are_there_any = False
        self._read: float | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether nothing need be read."""
        return self._read is not None and self._clock() - self._read < SECONDS

    def read(self) -> None:
        """Asks the database."""
        found = self._storage.tokens.list()
        self._users = {token.id: token.user for token in found if not token.revoked}
        self._are_there_any = bool(found)
        self._read = self._clock()

    def forget(self) -> None:
        """The next one who asks reads anew."""
        self._read = None

    def is_valid(self, id: str, user: str) -> bool:
        """Whether the token of this id is valid, and this user's."""
        return self._users.get(id) == user

    @property
    def are_there_any(self) -> bool:
        """Whether anybody was ever given one: that the last one was revoked opens no door."""
        return self._are_there_any
