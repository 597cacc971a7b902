"""Users: the administrator role and individual limits, tokens, ended sessions, and the audit log."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Engine, Select, delete, insert, or_, select, union, update
from sqlalchemy.dialects import postgresql, sqlite

from tropalign.errors import UsageError, shown
from tropalign.serve.records import Account, Token
from tropalign.serve.settings import Limits
from tropalign.serve.storage.database import is_postgresql, reading, writing
from tropalign.serve.storage.schema import audit, clean, databases, ended_sessions, jobs, tokens, uploads, users

#: Limits that can be set for individual users.
OWN_LIMITS = ("running_per_user", "queued_per_user", "stored_bytes_per_user")
#: Seconds for which a verification is cached, and the maximum number of cached results.
REMEMBERED_SECONDS, MOST_REMEMBERED = 60.0, 10_000
_TEXT = re.compile(r"trop_([a-z2-7]{8})_([a-z2-7]{52})")
_COLUMNS = (tokens.c.id, tokens.c.user, tokens.c.created, tokens.c.last_used, tokens.c.revoked)
#: Maximum characters of a detail.
MOST_LETTERS = 2_000
#: Lines per query.
AT_A_TIME = 1_000


class Users:
    """Users with individual settings; all others have the default limits."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, name: str) -> Account:
        """Return the settings of a user."""
        with reading(self._engine) as connection:
            row = connection.execute(select(users).where(users.c.name == name)).mappings().first()
        return Account(name) if row is None else Account(**row)

    def limits(self, name: str, usual: Limits) -> Limits:
        """Return the limits of a user: individual ones, and the defaults for the rest."""
        account = self.get(name)
        own = {limit: value for limit in OWN_LIMITS if (value := getattr(account, limit)) is not None}
        return replace(usual, **own)

    def set(self, name: str, **values: Any) -> Account:
        """Change settings of a user (None removes a limit) and return them.

        Raises UsageError for an unknown user: one without token, job, file or database.
        """
        if clean(name) not in self.names():
            raise UsageError(f"there is no user {shown(name[:200])!r}: tropalign admin users lists them")
        with writing(self._engine) as connection:
            new: Any = (postgresql if is_postgresql(connection) else sqlite).insert(users)
            row = new.values(**{"name": name, "is_administrator": False, **values})
            connection.execute(row.on_conflict_do_update(index_elements=[users.c.name], set_=values))
        return self.get(name)

    def forget(self, name: str) -> None:
        """Delete the settings of a user, who then has the default limits and no role."""
        with writing(self._engine) as connection:
            connection.execute(delete(users).where(users.c.name == name))

    def names(self) -> tuple[str, ...]:
        """Return all known users, by name."""
        of = (users.c.name, tokens.c.user, jobs.c.owner, databases.c.owner, uploads.c.owner)
        with reading(self._engine) as connection:
            return tuple(sorted(connection.scalars(union(*(select(column) for column in of)))))


# A token grants access. The database stores an argon2 hash of each token, never the token itself. Sessions exist
# only in their cookies, except for those that were ended.
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
            raise UsageError(f"{shown(user[:40])!r} is not a user name: give 1 to 200 printable characters")
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
            self._remember(mark, token)  # concurrent requests need no database query
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
                f"{shown(which)!r} is neither a valid token nor a user with one: see tropalign serve --list-tokens"
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
