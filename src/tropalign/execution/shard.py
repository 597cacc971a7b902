"""A share of a task's tiles, for one machine of several."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tropalign.execution.task import Tile


def parse_shard(text: str) -> tuple[int, int]:
    """``2/8`` is the second of eight. Raises ValueError on anything else."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{text!r} is no shard: write 2/8 for the second of eight")
    return int(match[1]), int(match[2])


def tiles_of_shard(tiles: Sequence[Tile], shard: tuple[int, int]) -> list[Tile]:
    """Neighbouring tiles of about an equal share of the cost; every tile is in exactly one shard."""
    number, count = shard
    total = sum(tile.cost_cells for tile in tiles) or 1
    mine, before = [], 0
    for tile in sorted(tiles, key=lambda tile: tile.index):
        # The shard in whose share of the total cost the tile's middle lies, in whole numbers: equal on every machine.
        place = (2 * before + tile.cost_cells) * count // (2 * total)
        if min(place, count - 1) == number - 1:
            mine.append(tile)
        before += tile.cost_cells
    return mine
