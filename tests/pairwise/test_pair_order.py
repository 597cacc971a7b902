"""Positions of pairs, and how runs of them are cut into shards and tiles."""

import itertools
import random

import numpy as np
import pytest

from tropalign.execution.task import cuts, share
from tropalign.pairwise.plan import PAIR_CELLS, Grid, Listed

FORMS = ("all", "triangle", "no diagonal", "list")


def expected_pairs(form, n_queries, n_targets, listed=()):
    if form == "list":
        return list(listed)
    every = itertools.product(range(n_queries), range(n_targets))
    keep = {"all": lambda i, j: True, "triangle": lambda i, j: i < j, "no diagonal": lambda i, j: i != j}[form]
    return [pair for pair in every if keep(*pair)]


def make(form, rng, most=12, longest=2000):
    n_queries = rng.randint(2, most)
    n_targets = rng.randint(1, most) if form in ("all", "list") else n_queries
    lengths = np.array([rng.randint(1, longest) for _ in range(n_queries)], np.int64)
    others = np.array([rng.randint(1, longest) for _ in range(n_targets)], np.int64)
    if form in ("triangle", "no diagonal"):
        others = lengths
    if form == "list":
        listed = [(rng.randrange(n_queries), rng.randrange(n_targets)) for _ in range(rng.randint(1, 60))]
        return Listed(np.array(listed), lengths, others), listed, lengths, others
    return Grid(lengths, others, form), expected_pairs(form, n_queries, n_targets), lengths, others


@pytest.mark.parametrize("form", FORMS)
def test_pairs_costs_and_positions(form):
    rng = random.Random(5)
    for _ in range(100):
        order, expected, lengths, others = make(form, rng)
        assert order.n == len(expected)
        begin, end = sorted(rng.randint(0, order.n) for _ in range(2))
        query, target = order.pairs(begin, end)
        assert list(zip(query.tolist(), target.tolist(), strict=True)) == expected[begin:end]
        cost = np.concatenate([[0], np.cumsum([lengths[i] * others[j] + PAIR_CELLS for i, j in expected])])
        assert [order.cost_before(k) for k in range(order.n + 1)] == cost.tolist()
        wanted = rng.uniform(0, cost[-1])
        assert abs(cost[order.position_at(wanted)] - wanted) == np.abs(cost - wanted).min()
        if form != "list" and begin < order.n:
            assert order.query_begin(begin) == [i for i, _ in expected].index(expected[begin][0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by_query", [False, True])
def test_shards_and_tiles_hold_every_pair_once(form, by_query):
    rng = random.Random(6)
    for _ in range(50):
        order, *_ = make(form, rng)
        snap = order.query_begin if by_query else int
        count = rng.randint(1, 9)
        bounds = [share(order, (k, count), snap) for k in range(1, count + 1)]
        assert bounds[0][0] == 0 and bounds[-1][1] == order.n
        assert all(one[1] == other[0] for one, other in itertools.pairwise(bounds))
        for begin, end in bounds:
            tiles = cuts(order, begin, end, rng.randint(1, 30), rng.choice([1.0, 1e6, 1e12]), snap)
            assert tiles[0] == begin and tiles[-1] == max(begin, end) and tiles == sorted(set(tiles))


@pytest.mark.parametrize(("n_sequences", "longest"), [(60, 40), (60, 600), (300, 600), (2000, 30)])
@pytest.mark.parametrize("form", ["triangle", "all"])
def test_shards_are_of_equal_cost(form, n_sequences, longest):
    """From a few hundred pairs per shard on they differ by less than 5 % of the mean."""
    rng = random.Random(7)
    lengths = np.array([rng.randint(longest // 10, longest) for _ in range(n_sequences)], np.int64)
    order = Grid(lengths, lengths, form)
    costs = []
    for k in range(1, 6):
        begin, end = share(order, (k, 5))
        costs.append(order.cost_before(end) - order.cost_before(begin))
    assert max(costs) - min(costs) < 0.05 * sum(costs) / 5


def test_a_million_times_a_million_sequences():
    lengths = np.full(1_000_000, 1000, np.int64)
    order = Grid(lengths, lengths, "triangle")
    begin, end = share(order, (500, 1000))
    assert abs((end - begin) / (order.n / 1000) - 1) < 1e-6
    query, target = order.pairs(end - 3, end)
    assert (query < target).all() and (np.diff(target) == 1).all()


def test_tiles_and_divided_lists():
    order = Grid(np.full(10, 100, np.int64), np.full(10, 100, np.int64), "all")
    assert cuts(order, 0, 100, 30, 1e12) == [0, 30, 60, 90, 100]
    assert cuts(order, 5, 100, 1000, 14_000 * 20) == [5, 25, 45, 65, 85, 100]
    assert cuts(order, 0, 100, 15, 1e12, order.query_begin) == list(range(0, 101, 10))
    assert cuts(order, 0, 100, 7, 1e12, order.query_begin) == list(range(0, 101, 10))  # no query is divided
    lengths = np.full(9, 10, np.int64)
    query = [0, 0, 1, 3, 2, 3, 4, 4, 7]
    order = Listed(np.array([(k, 0) for k in query]), lengths, lengths)
    assert [order.query_begin(k) for k in range(10)] == [0, 0, 2, 3, 3, 3, 6, 6, 8, 9]
