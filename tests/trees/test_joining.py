"""Neighbour joining and UPGMA against the oracle, additive distances, and other programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import trees as oracle

from tropalign.trees import neighbour_joining, upgma

#: Whole numbers whose halves and sums are exact, so that ties are those of fractions.
DISTANCES = st.integers(3, 18).flatmap(
    lambda n: st.lists(st.integers(0, 9), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)
)


def square_of(condensed):
    n = round((1 + (1 + 8 * len(condensed)) ** 0.5) / 2)
    square = np.zeros((n, n))
    square[np.triu_indices(n, 1)] = condensed
    return square + square.T


@given(DISTANCES, st.sampled_from([np.float32, np.float64]), st.sampled_from(["tropalign", "clustalw"]))
@settings(max_examples=80)
def test_joins_are_those_of_a_full_search(condensed, dtype, rules):
    square = square_of(condensed)
    children, lengths = oracle.neighbour_joining(square.astype(int).tolist())
    tree = neighbour_joining(np.array(condensed, dtype), rules=rules)
    assert list(tree.children) == children
    if rules == "tropalign":
        np.testing.assert_allclose(tree.lengths[:-1], [float(x) for x in lengths], atol=1e-5)


def full_search(square):
    """Children of all joins but the last, in doubles: each time all pairs are looked at."""
    d, left, node, children = square.copy(), np.arange(len(square)), list(range(len(square))), []
    while len(left) > 3:
        now = d[np.ix_(left, left)]
        sums = now.sum(0)
        q = (len(left) - 2) * now - sums[:, None] - sums
        q[np.triu_indices(len(left))] = np.inf
        j, i = left[list(np.unravel_index(q.argmin(), q.shape))]  # the first j, then the first i
        d[i, left] = d[left, i] = (d[i, left] + d[j, left] - d[i, j]) / 2
        d[i, i] = 0
        left = left[left != j]
        children.append((node[i], node[j]))
        node[i] = len(square) + len(children) - 1
    return children


@pytest.mark.parametrize("kind", ["tree", "uniform", "plane"])
def test_bounds_leave_out_no_pair(isa, kind):
    """Of more taxa than a block of bounds has, so that places are taken out and bounds made anew."""
    n, random = 600, np.random.default_rng(7)
    if kind == "tree":
        depth = np.cumsum(random.exponential(size=(n, 40)), 1)
        shared = (random.integers(0, 2, (n, 40)).cumprod(1)).astype(int)  # how long taxa go the same way
        same = (shared[:, None] & shared[None]).sum(2)
        square = depth[:, -1][:, None] + depth[:, -1] - same + random.random((n, n)) / 10
    elif kind == "uniform":
        square = random.random((n, n))
    else:
        points = random.random((n, 2))
        square = np.abs(points[:, None] - points).sum(2)
    square = np.triu(square, 1)
    square += square.T
    for rules in ("tropalign", "clustalw"):
        # Of four clusters either two may be joined: roundings decide.
        assert list(neighbour_joining(square, rules=rules).children[:-2]) == full_search(square)[:-1]


@given(DISTANCES)
@settings(max_examples=40)
def test_averages_are_those_of_the_definition(condensed):
    spread = [value + k / 4096 for k, value in enumerate(condensed)]  # no ties, which averages would break by rounding
    children, apart = oracle.upgma(square_of(spread).tolist())
    tree = upgma(spread)
    assert list(tree.children) == children
    n = tree.n_taxa
    heights = np.zeros(2 * n - 1)
    for k, joined in enumerate(tree.children):
        for child in joined:
            assert heights[child] + tree.lengths[child] == pytest.approx(float(apart[k]) / 2)
        heights[n + k] = float(apart[k]) / 2
