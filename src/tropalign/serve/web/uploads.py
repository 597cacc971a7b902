"""Which files a user has sent of late: knowing a file's digest is not having the file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SECONDS = 24 * 3600


class Uploads:
    """Files by user, for a day; jobs remember theirs themselves."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._files: dict[str, dict[str, tuple[int, float]]] = {}
        self._lock = threading.Lock()  # routes run in threads

    def add(self, user: str, digest: str, size: int) -> None:
        """Remembers a file."""
        with self._lock:
            self._files.setdefault(user, {})[digest] = (size, self._clock())

    def has(self, user: str, digest: str) -> bool:
        """Whether the user has sent it."""
        with self._lock:
            return digest in self._recent(user)

    def size(self, user: str) -> int:
        """How many bytes the user has sent."""
        with self._lock:
            return sum(size for size, _ in self._recent(user).values())

    def _recent(self, user: str) -> dict[str, tuple[int, float]]:
        since = self._clock() - SECONDS
        kept = {digest: file for digest, file in self._files.get(user, {}).items() if file[1] > since}
        if kept:
            self._files[user] = kept
        else:
            self._files.pop(user, None)
        return kept
