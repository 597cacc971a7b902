"""Sessions of browsers: a signed cookie says which token was shown, and forms carry a word that only it leads to."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

COOKIE = "tropalign_session"
SECONDS = 14 * 24 * 3600
MOST_LETTERS = 1_000


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
        fields = (secrets.token_urlsafe(16), token, user, str(int(self._clock()) + SECONDS))
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
