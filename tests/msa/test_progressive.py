"""Stage II and IV against plain Python: trees, weights, alignments of groups, refinement, confidence."""

from bisect import bisect_left, bisect_right

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import progressive as oracle
from posterior_stores import random_family, store_of

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


@settings(max_examples=60)
@given(families())
def test_progressive(family):
    lengths, matrices, children, weights, _ = family
    store = store_of(lengths, matrices)
    expected = FLAT(oracle.progressive(matrices, lengths, children.tolist(), weights))
    for n_threads in (1, 3):
        np.testing.assert_array_equal(_native.progressive(store, children, weights, n_threads), expected)


def test_tied_columns_by_hand():
    """Without any posterior the diagonal is taken from the end; the first child's first residue stands alone."""
    store = store_of([2, 3], {(0, 1): np.zeros((2, 3), np.int64)})
    found = _native.progressive(store, np.array([[1, 0]], np.int32), np.ones(2), 1)
    assert found.tolist() == [1, 2, 0, 1, 2]
    # Either residue 0 of one with residue 1 of the other, or the reverse: the second group's last stands alone.
    matrix = np.array([[0, oracle.ONE], [oracle.ONE, 0]])
    found = _native.progressive(store_of([2, 2], {(0, 1): matrix}), np.array([[1, 0]], np.int32), np.ones(2), 1)
    assert found.tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize("lengths", [(200, 190, 180), (1, 200, 17), (16, 32, 33, 15, 31)], ids=str)
def test_progressive_on_each_instruction_set(isa, lengths):
    rng = np.random.default_rng(len(lengths))
    matrices = random_family(rng, lengths)
    _, children, branches = random_tree(rng, len(lengths))
    weights = _native.sequence_weights(children, branches)
    found = _native.progressive(store_of(lengths, matrices), children, weights, 1)
    assert found.tolist() == FLAT(oracle.progressive(matrices, lengths, children.tolist(), weights)).tolist()


@pytest.mark.parametrize("accept", ["always", "not_longer"])
@pytest.mark.parametrize("split", ["random", "gap"])
@settings(max_examples=15)
@given(family=families(most=7, longest=25))
def test_refine(split, accept, family):
    lengths, matrices, children, weights, seed = family
    store = store_of(lengths, matrices)
    columns = _native.progressive(store, children, weights, 1)
    alignment = np.split(columns, np.cumsum(lengths)[:-1])
    alignment = [part.tolist() for part in alignment]
    expected = oracle.refine(matrices, alignment, weights, split, accept, 12, seed)
    for n_threads in (1, 2):
        found = _native.refine(store, columns, weights, split, accept, 12, seed, n_threads)
        np.testing.assert_array_equal(found, FLAT(expected))


@settings(max_examples=40)
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


def best_chain(rows, columns, values):
    """The highest sum of elements that ascend in both, elements sorted by row and then column, highest first."""
    ends, best = [-1], [0]  # the lowest column with which a sum is reached; both ascend
    begin = 0
    while begin < len(rows):
        end = begin + int(np.searchsorted(rows[begin:], rows[begin], side="right"))
        reached = [
            (c, best[bisect_left(ends, c) - 1] + v) for c, v in zip(columns[begin:end], values[begin:end], strict=True)
        ]
        for column, value in reached:
            at = bisect_left(ends, column)
            if best[bisect_right(ends, column) - 1] < value:
                stop = at
                while stop < len(ends) and best[stop] <= value:
                    stop += 1
                ends[at:stop], best[at:stop] = [column], [value]
        begin = end
    return best[-1]


def test_a_long_pair():
    """So long that directions are made block by block, and again on the way back: 64 MiB hold 2^28 cells."""
    m, n = 19_000, 17_000
    rng = np.random.default_rng(5)
    rows = np.sort(rng.integers(0, m, 60_000))
    columns = np.clip((rows * n / m + rng.normal(0, 30, len(rows))).astype(int), 0, n - 1)
    cells = np.unique(np.stack([rows, columns], 1), axis=0)
    values = rng.integers(1, oracle.ONE, len(cells))
    store = _native.PosteriorStore(np.array([m, n], np.int32))
    sizes = np.bincount(cells[:, 0], minlength=m).astype(np.uint16)
    store.add(np.array([[0, 1]], np.int32), sizes, cells[:, 1].astype(np.uint16), values.astype(np.uint16))
    sums = ((oracle.WHOLE * values + 2**14) >> 15) >> n.bit_length()
    expected = best_chain(cells[:, 0], cells[:, 1].tolist(), sums.tolist())
    to, to_other = np.split(_native.progressive(store, np.array([[0, 1]], np.int32), np.ones(2), 1), [m])
    together, i, j = np.intersect1d(to, to_other, return_indices=True)
    on_path = set(zip(i.tolist(), j.tolist(), strict=True))
    values_of = dict(zip(map(tuple, cells.tolist()), sums.tolist(), strict=True))
    assert sum(values_of.get(cell, 0) for cell in on_path) == expected
    assert len(np.union1d(to, to_other)) == m + n - len(together) == max(to[-1], to_other[-1]) + 1


def test_many_threads_in_a_large_merge():
    rng = np.random.default_rng(3)
    lengths = rng.integers(700, 900, 24)
    matrices = {}
    for x, m in enumerate(lengths):
        for y in range(x + 1, len(lengths)):
            values = np.zeros((m, lengths[y]), np.int64)
            i = rng.integers(0, m, 4000)
            values[i, np.minimum(i + rng.integers(0, 9, 4000), lengths[y] - 1)] = rng.integers(1, oracle.ONE, 4000)
            matrices[x, y] = values
    store, weights = store_of(lengths, matrices), rng.random(24)
    _, children, _ = random_tree(rng, 24)
    one = _native.progressive(store, children, weights, 1)
    refined = _native.refine(store, one, weights, "random", "always", 6, 3, 1)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(_native.progressive(store, children, weights, n_threads), one)
        again = _native.refine(store, one, weights, "random", "always", 6, 3, n_threads)
        np.testing.assert_array_equal(again, refined)


class Stopped(Exception):
    pass


def test_progress_ends_the_work():
    """Rounds without end, which a call that raises ends."""
    rng = np.random.default_rng(0)
    matrices = random_family(rng, [40] * 9)
    _, children, _ = random_tree(rng, 9)
    store, weights, seen = store_of([40] * 9, matrices), np.ones(9), []

    def stop(done):
        seen.append(done)
        if len(seen) == 3:
            raise Stopped

    columns = _native.progressive(store, children, weights, 1)
    with pytest.raises(Stopped):
        _native.refine(store, columns, weights, "random", "always", 2**40, 0, 2, stop)
    assert seen == sorted(seen) and seen[-1] > seen[0]
