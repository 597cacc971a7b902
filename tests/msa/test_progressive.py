"""Stage II and IV against plain Python: trees, weights, alignments of groups, refinement, confidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msa.families import random_family, store_of
from oracles import progressive as oracle

from tropalign import _native

FLAT = np.concatenate


def random_tree(rng, n, few_values=False):
    """Distances, children and branches; with few values most steps are ties."""
    size = n * (n - 1) // 2
    distances = rng.integers(0, 4, size) / 4 if few_values else rng.random(size)
    children, branches = _native.guide_tree(distances.astype(np.float32))
    return distances.astype(np.float32), children, branches


@pytest.mark.parametrize("few_values", [False, True], ids=["random", "ties"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 20, 45])
def test_guide_tree(n, few_values):
    for seed in range(10):
        distances, children, branches = random_tree(np.random.default_rng(seed), n, few_values)
        expected, lengths = oracle.upgma(distances, n)
        assert children.tolist() == [list(pair) for pair in expected]
        assert branches.tolist() == lengths


def test_tied_guide_tree_by_hand():
    """All distances are equal: the first two are joined at place 1, then 2 joins them, and so on."""
    children, branches = _native.guide_tree(np.full(6, 0.5, np.float32))
    assert children.tolist() == [[1, 0], [2, 4], [3, 5]]
    assert branches.tolist() == [0.25] * 6 + [0.0]


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_sequence_weights(n):
    _, children, branches = random_tree(np.random.default_rng(n), n)
    weights = _native.sequence_weights(children, branches)
    np.testing.assert_allclose(weights, oracle.sequence_weights(children.tolist(), branches.tolist(), n), rtol=1e-12)
    assert weights.sum() == pytest.approx(1)


def test_weights_without_branches_are_equal():
    _, children, _ = random_tree(np.random.default_rng(1), 4)
    assert _native.sequence_weights(children, np.zeros(7)).tolist() == [0.25] * 4


@st.composite
def families(draw, most=12, longest=60):
    lengths = draw(st.lists(st.integers(1, longest), min_size=2, max_size=most))
    seed = draw(st.integers(0, 2**32 - 1))
    density, missing = draw(st.sampled_from([0.02, 0.3, 1.0])), draw(st.sampled_from([0.0, 0.0, 0.4]))
    rng = np.random.default_rng(seed)
    matrices = random_family(rng, lengths, density, missing)
    _, children, branches = random_tree(rng, len(lengths))
    return lengths, matrices, children, _native.sequence_weights(children, branches), seed


@settings(max_examples=60, deadline=None)
@given(families())
def test_progressive(family):
    lengths, matrices, children, weights, _ = family
    store = store_of(lengths, matrices)
    expected = FLAT(oracle.progressive(matrices, lengths, children.tolist(), weights))
    for n_threads in (1, 3):
        np.testing.assert_array_equal(_native.progressive(store, children, weights, n_threads), expected)


@pytest.mark.parametrize("lengths", [(200, 190, 180), (1, 200, 17), (16, 32, 33, 15, 31)], ids=str)
def test_progressive_on_each_instruction_set(isa, lengths):
    rng = np.random.default_rng(len(lengths))
    matrices = random_family(rng, lengths)
    _, children, branches = random_tree(rng, len(lengths))
    weights = _native.sequence_weights(children, branches)
    found = _native.progressive(store_of(lengths, matrices), children, weights, 1)
    assert found.tolist() == FLAT(oracle.progressive(matrices, lengths, children.tolist(), weights)).tolist()


@pytest.mark.parametrize("accept", ["always", "not_longer", "better"])
@pytest.mark.parametrize("split", ["random", "gap", "tree"])
@settings(max_examples=15, deadline=None)
@given(family=families(most=7, longest=25))
def test_refine(split, accept, family):
    lengths, matrices, children, weights, seed = family
    store = store_of(lengths, matrices)
    columns = _native.progressive(store, children, weights, 1)
    alignment = np.split(columns, np.cumsum(lengths)[:-1])
    alignment = [part.tolist() for part in alignment]
    expected = oracle.refine(matrices, alignment, weights, children.tolist(), split, accept, 12, seed)
    for n_threads in (1, 2):
        found = _native.refine(store, columns, weights, children, split, accept, 12, seed, n_threads)
        np.testing.assert_array_equal(found, FLAT(expected))


@settings(max_examples=40, deadline=None)
@given(families(most=6, longest=30))
def test_confidence(family):
    lengths, matrices, children, weights, _ = family
    store = store_of(lengths, matrices)
    columns = _native.progressive(store, children, weights, 1)
    alignment = [part.tolist() for part in np.split(columns, np.cumsum(lengths)[:-1])]
    for given_weights in (weights, np.ones(len(lengths))):
        residues, of_columns = oracle.confidence(matrices, alignment, given_weights)
        for n_threads in (1, 2):
            found = _native.confidence(store, columns, given_weights, n_threads)
            np.testing.assert_allclose(found[0], residues, atol=2e-4)
            np.testing.assert_allclose(found[1], of_columns, atol=2e-4)
