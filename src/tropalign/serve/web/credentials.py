"""Credentials: browser sessions, and the validity of tokens and sessions.

A signed cookie identifies the token that was presented, and forms contain a value derived from the session. Every
request checks that token and session are valid, with a cache of some seconds.
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
#: Lifetime of a session in seconds, and maximum characters of a cookie.
SESSION_SECONDS, MOST_LETTERS = 14 * 24 * 3600, 1_000
#: Seconds for which the list of valid tokens is cached.
REMEMBERED_SECONDS = 5.0


@dataclass(frozen=True)
class Session:
    """Content of a cookie; a random `id` allows ending a single session, `expires` is in seconds since 1970."""

    id: str
    token: str
    user: str
    expires: int


class Sessions:
    """Maker and reader of cookies; the storage records sessions that ended early.

    `secret` belongs to this server: anyone who knows it can make cookies.
    """

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._cookie_key = hmac.digest(secret, b"tropalign session", "sha256")
        self._form_key = hmac.digest(secret, b"tropalign form", "sha256")
        self._clock = clock

    def cookie(self, token: str, user: str) -> str:
        """Return the value of a session cookie for this token."""
        fields = (secrets.token_urlsafe(16), token, user, str(int(self._clock()) + SESSION_SECONDS))
        body = ".".join(_pack(field.encode()) for field in fields)
        return f"{body}.{_pack(self._sign(body))}"

    def read(self, value: str) -> Session | None:
        """Return the session of a cookie, None if it is forged or expired."""
        body, dot, signature = value.rpartition(".")
        if not dot or len(value) > MOST_LETTERS or not value.isascii():
            return None
        if not hmac.compare_digest(_pack(self._sign(body)), signature):
            return None
        id, token, user, expires = (_unpack(field).decode() for field in body.split("."))
        session = Session(id, token, user, int(expires))
        return session if session.expires > self._clock() else None

    def csrf(self, session: Session | None) -> str:
        """Return the form value of a session; None is a user without a session."""
        name = session.id if session is not None else ""
        return hmac.digest(self._form_key, name.encode(), hashlib.sha256).hex()[:40]

    def is_csrf(self, session: Session | None, word: str) -> bool:
        """True if a form came from a page of this session."""
        return hmac.compare_digest(self.csrf(session).encode(), word.encode("utf-8", "replace"))

    def _sign(self, body: str) -> bytes:
        return hmac.digest(self._cookie_key, body.encode(), "sha256")


def _pack(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unpack(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class KnownTokens:
    """Cached users of valid tokens by id; a revoked token stays valid for up to `REMEMBERED_SECONDS`.

    `local_token` grants access to this machine's user until another token is issued; None disables this.
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
        """True if the cache is valid."""
        return self._read is not None and self._clock() - self._read < REMEMBERED_SECONDS

    def read(self) -> None:
        """Read tokens and ended sessions from the database."""
        found = self._storage.tokens.list()
        self._users = {token.id: token.user for token in found if not token.revoked}
        self._are_there_any = bool(found)
        self._ended = self._storage.ended_sessions.list()
        self._read = self._clock()

    def forget(self) -> None:
        """Invalidate the cache."""
        self._read = None

    def is_valid(self, id: str, user: str) -> bool:
        """True if the token of this id is valid and belongs to this user."""
        if id == LOCAL_ID:
            return self.lets_local_in and user == LOCAL
        return self._users.get(id) == user

    def is_session(self, session: Session) -> bool:
        """True if a session's token is valid and the session has not been ended."""
        return self.is_valid(session.token, session.user) and session.id not in self._ended

    @property
    def lets_local_in(self) -> bool:
        """True if this machine's user has access: no token was ever issued, not even a revoked one."""
        return self._local_token is not None and not self._are_there_any

    def is_local(self, text: str) -> bool:
        """True if this is the valid token of this machine's user."""
        known = (self._local_token or "").encode()
        return self.lets_local_in and hmac.compare_digest(known, text.encode("utf-8", "replace"))
