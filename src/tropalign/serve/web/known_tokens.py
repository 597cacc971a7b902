"""Which tokens are valid and which sessions were ended, remembered for some seconds: every request asks."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tropalign.serve.local_token import LOCAL, LOCAL_ID

if TYPE_CHECKING:
    from tropalign.serve.storage import Storage
    from tropalign.serve.web.sessions import Session

SECONDS = 5.0


class KnownTokens:
    """The users of valid tokens by id, read anew after `SECONDS`: so long a token that was revoked lives on.

    Parameters
    ----------
    local_token
        By which this machine's user is let in, until somebody is given another one; None where nobody is.
    """

    def __init__(
        self, storage: Storage, local_token: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._storage, self._local_token, self._clock = storage, local_token, clock
        self._users: dict[str, str] = {}
        self._ended: frozenset[str] = frozenset()
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
        self._ended = self._storage.ended_sessions.list()
        self._read = self._clock()

    def forget(self) -> None:
        """The next one who asks reads anew."""
        self._read = None

    def is_valid(self, id: str, user: str) -> bool:
        """Whether the token of this id is valid, and this user's."""
        if id == LOCAL_ID:
            return self.lets_local_in and user == LOCAL
        return self._users.get(id) == user

    def is_session(self, session: Session) -> bool:
        """Whether a session goes on: its token is valid, and nobody has logged out."""
        return self.is_valid(session.token, session.user) and session.id not in self._ended

    @property
    def lets_local_in(self) -> bool:
        """Whether this machine's user is let in: nobody was ever given a token, and be it revoked since."""
        return self._local_token is not None and not self._are_there_any

    def is_local(self, text: str) -> bool:
        """Whether this is the token of this machine's user."""
        known = (self._local_token or "").encode()
        return self.lets_local_in and hmac.compare_digest(known, text.encode("utf-8", "replace"))
