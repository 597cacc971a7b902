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
