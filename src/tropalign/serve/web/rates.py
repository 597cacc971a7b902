"""How often somebody may ask: a bucket per user that fills steadily."""

from __future__ import annotations

import time
from collections.abc import Callable


class Rates:
    """Buckets by name, each of which holds as many requests as may come at once.

    Parameters
    ----------
    per_minute
        How many requests a minute brings, and how many a bucket holds.
    most_names
        Buckets that are full again are forgotten when there are more than these.

    Examples
    --------
    >>> rates = Rates(60, clock=lambda: 0.0)
    >>> sum(rates.wait("alice") == 0 for _ in range(100))
    60
    """

    def __init__(self, per_minute: int, most_names: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self.most_names, self.clock = per_minute, most_names, clock
        self.buckets: dict[str, tuple[float, float]] = {}  # requests left, and when that was

    def wait(self, name: str, cost: float = 1.0) -> float:
        """Takes one and gives 0, or says in how many seconds there is one again."""
        now = self.clock()
        left = self._left(name, now)
        if left < cost:
            return (cost - left) * 60 / self.per_minute
        if len(self.buckets) >= self.most_names and name not in self.buckets:
            self._forget(now)
        self.buckets[name] = (left - cost, now)
        return 0.0

    def is_empty(self, name: str) -> bool:
        """Whether the next one would have to wait; takes nothing."""
        return self._left(name, self.clock()) < 1

    def _left(self, name: str, now: float) -> float:
        left, since = self.buckets.get(name, (float(self.per_minute), now))
        return min(float(self.per_minute), left + (now - since) * self.per_minute / 60)

    def _forget(self, now: float) -> None:
        self.buckets = {name: kept for name, kept in self.buckets.items() if self._left(name, now) < self.per_minute}
        while len(self.buckets) >= self.most_names:  # an attack of many names: the oldest go
            del self.buckets[next(iter(self.buckets))]
