"""What lets somebody in: sessions of browsers, and which tokens and sessions are valid.

A signed cookie says which token was shown, and forms carry a word that only it leads to. Every request asks whether a
token is valid and a session goes on, which is remembered for some seconds.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tropalign.serve.private import LOCAL, LOCAL_ID

if TYPE_CHECKING:
    from tropalign.serve.storage import Storage

COOKIE = "tropalign_session"
#: How long a session goes on, and letters of a cookie at most.
SESSION_SECONDS, MOST_LETTERS = 14 * 24 * 3600, 1_000
#: How long it is remembered which tokens are valid.
REMEMBERED_SECONDS = 5.0


@dataclass(frozen=True)
class Session:
    """What a cookie says.

    Parameters
    ----------
    id
        Random, so that one session can be ended.
    expires
        Seconds since 1970.
    """

    id: str
    token: str
    user: str
    expires: int


class Sessions:
    """Makes and reads cookies; which of them were ended before their time, the storage knows.

    Parameters
    ----------
    secret
        Of this server: whoever knows it can make cookies.
    """

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._cookie_key = hmac.digest(secret, b"tropalign session", "sha256")
        self._form_key = hmac.digest(secret, b"tropalign form", "sha256")
        self._clock = clock

    def cookie(self, token: str, user: str) -> str:
        """The value of a cookie for who has shown this token."""
        fields = (secrets.token_urlsafe(16), token, user, str(int(self._clock()) + SESSION_SECONDS))
        body = ".".join(_pack(field.encode()) for field in fields)
        return f"{body}.{_pack(self._sign(body))}"

    def read(self, value: str) -> Session | None:
        """What a cookie says; None where this server has not made it, or it is over."""
        body, dot, signature = value.rpartition(".")
        if not dot or len(value) > MOST_LETTERS or not value.isascii():
            return None
        if not hmac.compare_digest(_pack(self._sign(body)), signature):
            return None
        id, token, user, expires = (_unpack(field).decode() for field in body.split("."))
        session = Session(id, token, user, int(expires))
        return session if session.expires > self._clock() else None

    def csrf(self, session: Session | None) -> str:
        """The word in the forms of a session; None is the user of this machine, who has none."""
        name = session.id if session is not None else ""
        return hmac.digest(self._form_key, name.encode(), hashlib.sha256).hex()[:40]

    def is_csrf(self, session: Session | None, word: str) -> bool:
        """Whether a form came from a page of this session."""
        return hmac.compare_digest(self.csrf(session).encode(), word.encode("utf-8", "replace"))

    def _sign(self, body: str) -> bytes:
        return hmac.digest(self._cookie_key, body.encode(), "sha256")


def _pack(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unpack(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class KnownTokens:
    """The users of valid tokens by id, read anew after `REMEMBERED_SECONDS`: so long a token that was revoked lives on.

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
        return self._read is not None and self._clock() - self._read < REMEMBERED_SECONDS

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
