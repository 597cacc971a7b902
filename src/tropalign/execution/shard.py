"""Which share of a run a machine of several has."""

from __future__ import annotations

import re

#: (i, n): the i-th of n, counted from 1.
Shard = tuple[int, int]
#: More shards than that are a slip of the pen.
MOST_SHARDS = 1_000_000


def parse_shard(text: str) -> Shard:
    """``2/8`` is the second of eight. Raises ValueError on anything else."""
    match = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]) <= MOST_SHARDS:
        raise ValueError(f"{text!r} is no shard: write 2/8 for the second of eight")
    return int(match[1]), int(match[2])
