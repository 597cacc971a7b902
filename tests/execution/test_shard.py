import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign.execution.shard import parse_shard, tiles_of_shard
from tropalign.execution.task import Tile


def tiles_of(costs):
    return [Tile(k, cost, 1, 1, None) for k, cost in enumerate(costs)]


@pytest.mark.parametrize(("text", "shard"), [("1/1", (1, 1)), ("2/8", (2, 8)), ("8/8", (8, 8))])
def test_shards(text, shard):
    assert parse_shard(text) == shard


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "a/b", "1/2/3", "1.0/2"])
def test_no_shards(text):
    with pytest.raises(ValueError, match="is no shard: write 2/8"):
        parse_shard(text)


@given(st.lists(st.integers(0, 10**12), max_size=60), st.integers(1, 9))
def test_every_tile_is_in_one_shard_and_shards_are_runs(costs, count):
    tiles = tiles_of(costs)
    shards = [tiles_of_shard(tiles, (number, count)) for number in range(1, count + 1)]
    assert [tile for shard in shards for tile in shard] == tiles


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=200), st.integers(1, 9))
def test_shares_differ_by_at_most_a_tile(costs, count):
    tiles = tiles_of(costs)
    for number in range(1, count + 1):
        share = sum(tile.cost_cells for tile in tiles_of_shard(tiles, (number, count)))
        assert abs(share - sum(costs) / count) <= max(costs)
