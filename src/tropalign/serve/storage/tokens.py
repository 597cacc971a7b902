"""Tokens, and sessions of browsers that were ended before their time.

A token is what a user shows to be let in. The record has a hash of each, by argon2, and never the token. Sessions are
remembered by their cookies alone, but for those that were ended.
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

#: For as many seconds a token that was looked at counts as it did; as many answers are remembered.
REMEMBERED_SECONDS, MOST_REMEMBERED = 60.0, 10_000
_TEXT = re.compile(r"trop_([a-z2-7]{8})_([a-z2-7]{52})")
_COLUMNS = (tokens.c.id, tokens.c.user, tokens.c.created, tokens.c.last_used, tokens.c.revoked)


class Tokens:
    """The tokens of users.

    Parameters
    ----------
    engine
        The database.
    clock
        Seconds since 1970.
    """

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._clock = engine, clock
        self._hasher_made: Any = None
        self._lock = threading.Lock()
        self._known: dict[bytes, tuple[Token | None, float]] = {}
        # Each hash takes tens of megabytes and milliseconds: not all forged tokens at a time.
        self._hashing = threading.Semaphore(2)

    def add(self, user: str) -> tuple[Token, str]:
        """A new token and its text, which nobody can be told again.

        Raises
        ------
        UsageError
            The user's name is empty, too long, or not printable.
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
        """The token of this text, None where it is none or revoked.

        The answer is remembered for a minute; then the record is asked whether the token is still valid, without
        hashing it again. So the hash is paid once, and what another process revokes ends within a minute.
        """
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        mark, token, until = self._recalled(text)
        if until > self._clock():
            return token
        if token is not None:
            self._remember(mark, token)  # requests that come meanwhile need not ask, too
            try:
                token = self._used(token)
            except BaseException:
                with self._lock:
                    self._known.pop(mark, None)
                raise
        else:
            with self._hashing:
                _, token, until = self._recalled(text)
                if until > self._clock():  # another request has looked it up while this one waited
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
        """The token of this text, if it was verified within the last minute."""
        if _TEXT.fullmatch(text) is None:
            return None
        _, token, until = self._recalled(text)
        return token if until > self._clock() else None

    def _recalled(self, text: str) -> tuple[bytes, Token | None, float]:
        """What it is remembered by, the answer that it had, and until when that holds."""
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
        """The token as it was used just now; None where it has been revoked."""
        with writing(self._engine) as connection:
            now = self._clock()
            used = update(tokens).where(tokens.c.id == token.id, ~tokens.c.revoked).values(last_used=now)
            return replace(token, last_used=now) if connection.execute(used).rowcount else None

    def list(self) -> tuple[Token, ...]:
        """All tokens, the oldest first."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(*_COLUMNS).order_by(tokens.c.created, tokens.c.id)).all()
        return tuple(Token(*row) for row in rows)

    def revoke(self, which: str) -> int:
        """Ends a token by its id, or all of a user, and says how many.

        Raises
        ------
        UsageError
            There is none that is valid.
        """
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
        """Whether there is a valid one."""
        with reading(self._engine) as connection:
            return connection.execute(select(tokens.c.id).where(~tokens.c.revoked).limit(1)).first() is not None

    def _hasher(self) -> Any:
        if self._hasher_made is None:
            from argon2 import PasswordHasher

            # The least that OWASP asks of passwords; a secret here is 256 random bits, which nobody guesses anyway.
            self._hasher_made = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        return self._hasher_made


def _random(n_bytes: int) -> str:
    return base64.b32encode(secrets.token_bytes(n_bytes)).decode().rstrip("=").lower()


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
