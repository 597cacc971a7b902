"""Tokens of users, and browser sessions that were ended before they expired.

A token grants access. The database stores an argon2 hash of each token, never the token itself. Sessions exist
only in their cookies, except for those that were ended.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Engine, delete, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.errors import UsageError, shown
from tropalign.serve.records import Token
from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.schema import clean, ended_sessions, tokens

#: Seconds for which a verification is cached, and the maximum number of cached results.
REMEMBERED_SECONDS, MOST_REMEMBERED = 60.0, 10_000
_TEXT = re.compile(r"trop_([a-z2-7]{8})_([a-z2-7]{52})")
_COLUMNS = (tokens.c.id, tokens.c.user, tokens.c.created, tokens.c.last_used, tokens.c.revoked)


class Tokens:
    """Tokens of users; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self._hasher_made: Any = None
        self._lock = threading.Lock()
        self._known: dict[bytes, tuple[Token | None, float]] = {}
        # Each hash takes tens of megabytes and milliseconds: limit concurrent checks of forged tokens.
        self._hashing = threading.Semaphore(2)

    def add(self, user: str) -> tuple[Token, str]:
        """Make a token, and return it and its text, which cannot be recovered later.

        Raises UsageError if the user name is empty, longer than 200 characters, or not printable.
        """
        name = user.strip()
        if not name or len(name) > 200 or clean(name) != name or not name.isprintable():
            raise UsageError(f"{shown(user[:40])!r} is no name of a user: 1 to 200 printable letters")
        token = Token(_random(5), name, self._clock())
        secret = _random(32)
        row = {"id": token.id, "user": name, "hash": self._hasher().hash(secret), "created": token.created}
        with writing(self._engine) as connection:
            connection.execute(insert(tokens).values(revoked=False, **row))
        return token, f"trop_{token.id}_{secret}"

    def verify(self, text: str) -> Token | None:
        """Return the token of this text, None if it is invalid or revoked.

        The result is cached for a minute; afterwards the database is asked whether the token is still valid,
        without hashing it again. So the hash is computed once, and a revocation by another process takes effect
        within a minute.
        """
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        mark, token, until = self._recalled(text)
        if until > self._clock():
            return token
        if token is not None:
            self._remember(mark, token)  # concurrent requests need not ask the database
            try:
                token = self._used(token)
            except BaseException:
                with self._lock:
                    self._known.pop(mark, None)
                raise
        else:
            with self._hashing:
                _, token, until = self._recalled(text)
                if until > self._clock():  # another request has looked it up meanwhile
                    return token
                token = self._looked_up(match[1], match[2])
        self._remember(mark, token)
        return token

    def _remember(self, mark: bytes, token: Token | None) -> None:
        with self._lock:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            self._known[mark] = (token, self._clock() + REMEMBERED_SECONDS)

    def remembered(self, text: str) -> Token | None:
        """Return the token of this text if it was verified within the last minute."""
        if _TEXT.fullmatch(text) is None:
            return None
        _, token, until = self._recalled(text)
        return token if until > self._clock() else None

    def _recalled(self, text: str) -> tuple[bytes, Token | None, float]:
        """Return the cache key, the cached token, and the end of its validity."""
        mark = hashlib.sha256(text.encode()).digest()
        with self._lock:
            return mark, *self._known.get(mark, (None, 0.0))

    def _looked_up(self, token: str, secret: str) -> Token | None:
        from argon2.exceptions import InvalidHashError, VerificationError

        with reading(self._engine) as connection:
            question = select(*_COLUMNS, tokens.c.hash).where(tokens.c.id == token, ~tokens.c.revoked)
            row = connection.execute(question).first()
        if row is None:
            return None
        try:
            self._hasher().verify(row.hash, secret)
        except (VerificationError, InvalidHashError):
            return None
        return self._used(Token(*row[:-1]))

    def _used(self, token: Token) -> Token | None:
        """Record the use of a token; None if it has been revoked."""
        with writing(self._engine) as connection:
            now = self._clock()
            used = update(tokens).where(tokens.c.id == token.id, ~tokens.c.revoked).values(last_used=now)
            return replace(token, last_used=now) if connection.execute(used).rowcount else None

    def list(self) -> tuple[Token, ...]:
        """Return all tokens, oldest first."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(*_COLUMNS).order_by(tokens.c.created, tokens.c.id)).all()
        return tuple(Token(*row) for row in rows)

    def revoke(self, which: str) -> int:
        """Revoke a token by id, or all of a user, and return their number; raise UsageError if that is 0."""
        with writing(self._engine) as connection:
            those = or_(tokens.c.id == which, tokens.c.user == which)
            n = connection.execute(update(tokens).where(those, ~tokens.c.revoked).values(revoked=True)).rowcount
        with self._lock:
            self._known.clear()
        if not n:
            raise UsageError(
                f"{shown(which)!r} is no valid token and has none: tropalign serve --list-tokens names them"
            )
        return n

    def any(self) -> bool:
        """True if there is a valid token."""
        with reading(self._engine) as connection:
            return connection.execute(select(tokens.c.id).where(~tokens.c.revoked).limit(1)).first() is not None

    def _hasher(self) -> Any:
        if self._hasher_made is None:
            from argon2 import PasswordHasher

            # The minimum that OWASP recommends for passwords; a secret here has 256 random bits, which cannot be
            # guessed anyway.
            self._hasher_made = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        return self._hasher_made


def _random(n_bytes: int) -> str:
    return base64.b32encode(secrets.token_bytes(n_bytes)).decode().rstrip("=").lower()


class EndedSessions:
    """Sessions that have ended although their cookies have not expired; `clock` returns seconds since 1970."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock

    def add(self, session: str, expires: float) -> None:
        """End a session, so that copies of its cookie become invalid."""
        with writing(self._engine) as connection:
            connection.execute(delete(ended_sessions).where(ended_sessions.c.expires < self._clock()))
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(ended_sessions)
            connection.execute(new.values(id=session, expires=expires).on_conflict_do_nothing())

    def list(self) -> frozenset[str]:
        """Return the ids of all ended sessions."""
        with reading(self._engine) as connection:
            return frozenset(connection.scalars(select(ended_sessions.c.id)))
