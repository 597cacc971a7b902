"""Work divided into shares of equal cost, and shares into tiles: runs of neighbouring items, equal on every machine.

items      . . . . . . . . . . . . . . . . . . . . . . . .
shares     |     1 of 3    |     2 of 3    |    3 of 3   |
tiles      |  0  |  1  | 2 |  0  |  1  | 2 |  0  |  1    |     numbered within a share
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.manifest import Shard


class Costed(Protocol):
    """Ordered items with cumulative costs."""

    n: int

    def cost_before(self, position: int) -> float:
        """Return the cost in cells of all items before that position."""

    def position_at(self, cost: float) -> int:
        """Return the position before which the items cost about `cost`."""


class CostList:
    """Items with listed costs in cells: float64, shape (n,)."""

    def __init__(self, costs: NDArray[np.float64]) -> None:
        self.n = len(costs)
        self._before = np.concatenate([[0.0], np.cumsum(costs)])

    def cost_before(self, position: int) -> float:
        """Return the cost in cells of all items before that position."""
        return float(self._before[position])

    def position_at(self, cost: float) -> int:
        """Return the position before which the items cost about `cost`."""
        after = min(int(np.searchsorted(self._before, cost)), self.n)
        if after and cost - self._before[after - 1] < self._before[after] - cost:
            return after - 1
        return after


def share(
    items: Costed, shard: Shard | None, snap: Callable[[int], int] = lambda position: position
) -> tuple[int, int]:
    """Return start and end of the shard's items: costs between (i - 1) / n and i / n of the total for shard i of n.

    `snap` moves a boundary to an allowed position and must not descend. Shards are contiguous and cover every item
    once.
    """
    if shard is None:
        return 0, items.n
    number, count = shard

    def boundary(k: int) -> int:
        return items.n if k == count else snap(items.position_at(items.cost_before(items.n) * k / count)) if k else 0

    return boundary(number - 1), boundary(number)


def cuts(
    items: Costed,
    begin: int,
    end: int,
    most_items: int,
    cost: float,
    snap: Callable[[int], int] = int,
) -> list[int]:
    """Return the tile boundaries of a share: at most `most_items` per tile, and a cost of about `cost`.

    If `snap` allows no boundary within `most_items`, the tile is as large as necessary.
    """
    found = [begin]
    while found[-1] < end:
        last = found[-1]
        by_cost = max(items.position_at(items.cost_before(last) + cost), last + 1)
        wanted = min(last + most_items, by_cost, end)
        cut = snap(wanted) if wanted < end else end
        while cut <= last:  # no boundary so early: take the next one
            wanted += max(wanted - last, 1)
            cut = snap(wanted) if wanted < end else end
        found.append(cut)
    return found
