"""The grid of a search: every comparison in one tile of one shard, in the order of the output, within the bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign.profiles import task
from tropalign.profiles.task import Grid

lengths = st.lists(st.integers(0, 300), min_size=1, max_size=30).map(lambda values: np.array(values, np.int64))


def made(queries, searched, most_queries=4, most_query_length=500, most_searched=400, shard=None, most=10**6):
    return Grid(
        queries, searched, most_queries=most_queries, most_query_length=most_query_length, most_searched=most_searched,
        most_comparisons=most, shard=shard,
    )  # fmt: skip


@given(lengths, lengths, st.integers(1, 6), st.integers(1, 600), st.integers(1, 600), st.integers(1, 7))
def test_shards_hold_every_comparison_once(queries, searched, most_queries, query_length, searched_length, n_shards):
    counts = np.zeros((len(queries), len(searched)), int)
    order = []
    for number in range(1, n_shards + 1):
        own = made(queries, searched, most_queries, query_length, searched_length, (number, n_shards))
        for tile in own.tiles():
            begin, end = own.searched(tile.block)
            assert begin < end and tile.end - tile.begin <= most_queries
            counts[tile.begin : tile.end, begin:end] += 1
            order.append((tile.begin, begin))
    assert (counts == 1).all()
    assert order == sorted(order)


@given(lengths, lengths, st.integers(1, 600), st.integers(1, 600), st.integers(1, 100))
def test_tiles_keep_to_their_bounds(queries, searched, query_length, searched_length, most):
    own = made(queries, searched, 1000, query_length, searched_length, most=most)
    for tile in own.tiles():
        begin, end = own.searched(tile.block)
        assert (tile.end - tile.begin) * (end - begin) <= most
        # an item costs its length and one, and a boundary is the nearest: an item more than wanted at the most
        assert (queries[tile.begin : tile.end] + 1)[:-1].sum() <= query_length
        assert (searched[begin:end] + 1)[:-1].sum() <= searched_length
        cost = (queries[tile.begin : tile.end] + 1).sum() * (searched[begin:end] + 1).sum()
        assert tile.cost_cells == cost


@pytest.mark.parametrize(("n_queries", "n_shards"), [(1, 4), (3, 8), (1000, 3)])
def test_shards_are_equal(n_queries, n_shards):
    rng = np.random.default_rng(0)
    queries, searched = rng.integers(50, 400, n_queries), rng.integers(50, 400, 2000)
    costs = []
    for number in range(1, n_shards + 1):
        own = made(queries, searched, 64, 10**6, 10**9, (number, n_shards))
        costs.append(sum(tile.cost_cells for tile in own.tiles()))
    assert max(costs) < 1.2 * min(costs)
    # A tile of some seconds is work enough to be lost by a kill.
    assert made(queries, searched, 64, 10**6, 10**9).tiles().__next__().cost_cells <= 2 * task.TILE_CELLS


def test_a_whole_search_is_one_tile_where_it_is_small():
    (tile,) = made(np.array([100, 200]), np.array([300, 0, 50]), 64, 10**6, 10**9).tiles()
    assert (tile.begin, tile.end, tile.block, tile.cost_cells) == (0, 2, 0, 302 * 353)
