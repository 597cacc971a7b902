"""The store of posteriors, and consistency against dense matrices."""

import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import consistency as oracle
from posterior_stores import store_of

from tropalign import _native
from tropalign.msa.consistency import CONSISTENCY_RULES, clades_within, relax, representative_weights

ONE = 32767
#: Values are rounded to 1 / ONE, weighted posteriors to 1 / 2048 of the highest weight.
TOLERANCE = 3e-4


def random_family(rng, lengths, density=0.2, is_missing=lambda x, y: False):
    """{(x, y): uint16 (m, n)}: random posteriors near the diagonal and some far from it; rows sum to 1 at most."""
    made = {}
    for x, m in enumerate(lengths):
        for y in range(x + 1, len(lengths)):
            if is_missing(x, y):
                continue
            n = lengths[y]
            values = rng.random((m, n)) * (rng.random((m, n)) < density)
            near = abs(np.arange(m)[:, None] * n - np.arange(n) * m) < 3 * max(m, n)
            values *= np.where(near, 1.0, 0.1)
            most = max(values.sum(axis=0, initial=0).max(initial=0), values.sum(axis=1, initial=0).max(initial=0), 1)
            made[x, y] = (values / most * ONE).astype(np.uint16)
    return made


def dense(store, x, y, shape):
    starts, columns, values = store.matrix(x, y)
    made = np.zeros(shape, np.uint16)
    made[np.repeat(np.arange(shape[0]), np.diff(starts.astype(int))), columns] = values
    return made


def content(store, matrices):
    """Bytes of all matrices and their transposes."""
    both = [*matrices, *((y, x) for x, y in matrices)]
    return b"".join(array.tobytes() for pair in both for array in store.matrix(*pair))


def compare(store, exact, cutoff=0.0):
    """The exact matrices, from which elements below the cutoff go."""
    for (x, y), matrix in exact.items():
        found = dense(store, x, y, matrix.shape)
        np.testing.assert_array_equal(dense(store, y, x, matrix.T.shape), found.T)
        kept, gone = matrix > cutoff + TOLERANCE, matrix < cutoff - TOLERANCE
        np.testing.assert_allclose((found / ONE)[kept], matrix[kept], atol=TOLERANCE)
        assert not found[gone].any()
        assert np.all(found[found > 0] >= cutoff * ONE)


def shares(matrices):
    return {pair: matrix / ONE for pair, matrix in matrices.items()}


def together(lengths):
    return np.zeros(len(lengths), np.int32)


def test_rows_and_their_transposes():
    lengths = [5, 1, 0, 9]
    matrices = random_family(np.random.default_rng(1), lengths, 0.5)
    store = store_of(lengths, matrices)
    compare(store, shares(matrices))
    assert store.n_pairs == 6
    assert store.n_elements == sum(np.count_nonzero(matrix) for matrix in matrices.values())
    assert store.has(3, 0)
    assert not store.has(3, 3)


def test_rows_of_the_later_sequence_may_be_given():
    matrix = random_family(np.random.default_rng(1), [5, 9], 0.5)[0, 1]
    store = store_of([5, 9], {(1, 0): matrix.T})
    np.testing.assert_array_equal(dense(store, 0, 1, matrix.shape), matrix)


def test_bytes_are_about_8_per_element_and_4_per_row():
    lengths = [300] * 6
    matrices = random_family(np.random.default_rng(1), lengths, 0.02)
    store = store_of(lengths, matrices)
    least = 8 * store.n_elements + 4 * 600 * len(matrices)
    assert least < store.n_bytes < 1.02 * least


def assert_relaxed(rng, lengths, density, cutoff, n_threads):
    matrices = random_family(rng, lengths, density)
    weights = rng.random(len(lengths))
    store = store_of(lengths, matrices)
    store.relax(weights, together(lengths), 0.0, cutoff, n_threads)
    compare(store, oracle.quickprobs1(shares(matrices), weights), cutoff)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_all_sequences_between(isa, n_threads):
    rng = np.random.default_rng(2)
    lengths = [30, 1, 25, 40, 0, 31, 7, *rng.integers(1, 50, 30)]  # three times kMostBetween
    assert_relaxed(rng, lengths, 0.2, 0.01, n_threads)


def test_wide_rows(isa):
    """More chunks than are summed at once, and rows of a twin that share none."""
    assert_relaxed(np.random.default_rng(3), [60, 301, 150, 210], 0.3, 0.0, 1)


def test_long_sequences_are_taken_fewer_at_a_time():
    assert_relaxed(np.random.default_rng(4), [1500, 700, 1, 600, 450], 0.002, 0.001, 2)


def test_the_rules_of_quickprobs2():
    rng = np.random.default_rng(5)
    lengths = rng.integers(20, 30, 8)
    matrices = random_family(rng, lengths)
    weights = rng.random(8)
    children = np.array([[0, 1], [2, 8], [3, 4], [9, 10], [5, 6], [7, 12], [11, 13]], np.int32)
    clades = [{0, 1, 2, 3, 4}, {5, 6, 7}]

    def others_of(x, y):
        both = [clade for clade in clades if {x, y} <= clade]
        return sorted(both[0] - {x, y}) if both else []

    rule = CONSISTENCY_RULES["quickprobs2"]
    store = store_of(lengths, matrices)
    relax(store, rule._replace(most_leaves=5), children, weights, 0.01, True, 2)
    compare(store, oracle.quickprobs2(shares(matrices), weights, others_of, 3), 1e-5)


def leaves_below(children, node):
    n = len(children) + 1
    return {node} if node < n else set().union(*(leaves_below(children, child) for child in children[node - n]))


@given(st.integers(1, 40), st.integers(0, 40), st.randoms(use_true_random=False))
def test_third_sequences_of_quickprobs2(n, most, random):
    """A z is taken where the smallest clades with x and with y have no more leaves than allowed."""
    free, children = list(range(n)), []
    while len(free) > 1:
        left, right = random.sample(free, 2)
        free = [node for node in free if node not in (left, right)] + [n + len(children)]
        children.append([left, right])
    nodes = [leaves_below(children, node) for node in range(2 * n - 1)]
    group = clades_within(np.array(children, np.int32).reshape(-1, 2), most)

    def distance(x, y):
        return min(len(leaves) for leaves in nodes if {x, y} <= leaves)

    for x, y, z in (random.sample(range(n), 3) for _ in range(20 if n > 2 else 0)):
        taken = max(distance(x, z), distance(y, z)) <= most
        assert taken == (group[x] == group[y] == group[z])


def test_some_stand_for_all(isa):
    """The sum is over those that stand for others, with weights of their own; the gain counts all."""
    rng = np.random.default_rng(8)
    lengths = rng.integers(15, 30, 23)
    matrices = random_family(rng, lengths)
    weights, thirds = rng.random(23), np.where(rng.random(23) < 0.3, rng.random(23) * 3, 0.0)
    store = store_of(lengths, matrices)
    store.relax(weights, together(lengths), 0.01, 0.0, 2, None, None, thirds)
    both, exact = oracle.turned(shares(matrices)), {}
    for (x, y), own in shares(matrices).items():
        own_weight = (weights[x] + weights[y]) * (1 + 0.01 * 21)
        taken = [z for z in np.flatnonzero(thirds) if z not in (x, y)]
        total = own_weight * own + sum(thirds[z] * both[x, z] @ both[z, y] for z in taken)
        exact[x, y] = np.where(own > 0, total / (own_weight + thirds[taken].sum()), 0)
    compare(store, exact)


def test_weights_of_their_own_that_are_those_of_all_change_nothing():
    rng = np.random.default_rng(9)
    lengths = rng.integers(15, 30, 20)
    matrices = random_family(rng, lengths)
    weights = rng.random(20) + 0.1
    stores = [store_of(lengths, matrices) for _ in range(2)]
    for store, thirds in zip(stores, (None, weights.copy()), strict=True):
        store.relax(weights, together(lengths), 0.01, 0.01, 1, None, None, thirds)
    assert content(stores[0], matrices) == content(stores[1], matrices)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 2**32))
def test_representative_weights(n, most, seed):
    rng = np.random.default_rng(seed)
    free, children = list(range(n)), []
    while len(free) > 1:
        left, right = (free.pop(rng.integers(len(free))) for _ in range(2))
        free.append(n + len(children))
        children.append([left, right])
    made, weights = np.array(children, np.int32).reshape(-1, 2), rng.random(n)
    found = representative_weights(made, weights, most)
    assert np.count_nonzero(found) == min(n, most)
    assert found.sum() == pytest.approx(weights.sum())
    clusters = [set(range(n))] if n else []
    for node in range(2 * n - 2, 2 * n - 1 - min(most, n), -1):  # the last joins, undone by hand
        whole = leaves_below(made.tolist(), node)
        clusters.remove(whole)
        clusters += [leaves_below(made.tolist(), child) for child in children[node - n]]
    for cluster in clusters:
        speaks = max(cluster, key=lambda leaf: weights[leaf])
        assert found[speaks] == pytest.approx(sum(weights[leaf] for leaf in cluster))


def test_only_pairs_that_are_there():
    rng = np.random.default_rng(6)
    lengths = [20, 25, 30, 22, 27]
    missing = {(0, 1), (2, 4)}
    matrices = random_family(rng, lengths, is_missing=lambda x, y: (x, y) in missing)
    weights = rng.random(5)

    def others_of(x, y):
        return [z for z in range(5) if z not in (x, y) and not {tuple(sorted((x, z))), tuple(sorted((y, z)))} & missing]

    assert others_of(0, 2) == [3]
    store = store_of(lengths, matrices)
    relax(store, CONSISTENCY_RULES["quickprobs1"], np.zeros((0, 2), np.int32), weights, 0.0, False, 1)
    compare(store, oracle.quickprobs2(shares(matrices), weights, others_of, 1))


def test_elements_below_the_cutoff_go():
    def one(value):
        return np.array([[value]], np.uint16)

    store = store_of([1, 1, 1], {(0, 1): one(ONE // 2), (0, 2): one(0), (1, 2): one(ONE)})
    store.relax(np.ones(3), together([1] * 3), 0.0, 0.34, 1)  # a third goes to what says nothing
    assert not store.matrix(0, 1)[1].size
    assert store.matrix(1, 2)[2].tolist() == [round(ONE * 2 / 3)]
    assert store.n_elements == 1


def test_no_weight_at_all_changes_nothing():
    matrices = random_family(np.random.default_rng(1), [5, 6, 7], 0.5)
    store = store_of([5, 6, 7], matrices)
    store.relax(np.zeros(3), together([1] * 3), 0.0, 0.0, 1)
    compare(store, shares(matrices))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 70), max_size=20), st.integers(0, 2**32), st.floats(0, 0.6), st.integers(1, 4))
def test_the_same_bytes_everywhere(monkeypatch, lengths, seed, density, n_threads):
    """For any number of threads and every instruction set; and near the oracle."""
    rng = np.random.default_rng(seed)
    matrices = random_family(rng, lengths, density)
    weights = rng.random(len(lengths))
    found = set()
    for name in _native.supported_isas():
        for threads in (1, n_threads):
            monkeypatch.setenv("TROPALIGN_ISA", name)
            store = store_of(lengths, matrices)
            store.relax(weights, together(lengths), 0.0, 0.01, threads)
            found.add(content(store, matrices))
    assert len(found) == 1
    if len(lengths) > 2:
        compare(store, oracle.quickprobs1(shares(matrices), weights), 0.01)


def test_matrices_that_are_no_posteriors_do_no_harm():
    """Rows that sum to more than the square root of 2 may overflow; the values stay posteriors."""
    lengths = [40] * 40
    matrices = {(x, y): np.full((40, 40), ONE, np.uint16) for x in range(40) for y in range(x + 1, 40)}
    store = store_of(lengths, matrices)
    store.relax(np.ones(40), together(lengths), 0.0, 0.0, 2)
    assert all(store.matrix(x, y)[2].max(initial=0) <= ONE for x, y in matrices)


def large_family():
    lengths = [150] * 50
    matrix = random_family(np.random.default_rng(7), [150, 150], 0.1)[0, 1]
    return lengths, {(x, y): matrix for x in range(50) for y in range(x + 1, 50)}


def test_an_interrupt_leaves_the_store_as_it_was():
    lengths, matrices = large_family()
    store = store_of(lengths, matrices)
    before = content(store, matrices)
    began = time.monotonic()

    def interrupt(_):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() - began < 120:  # a pass may be over before anybody looks
            store.relax(np.ones(50), together(lengths), 0.0, 0.0, 1, interrupt)
            store = store_of(lengths, matrices)
    assert content(store, matrices) == before


def test_what_progress_raises_ends_the_pass():
    lengths, matrices = large_family()
    store = store_of(lengths, matrices)
    seen = []

    def stop(pairs):
        seen.append(pairs)
        raise LookupError

    with pytest.raises(LookupError):
        store.relax(np.ones(50), together(lengths), 0.0, 0.0, 1, stop)
    assert 0 <= seen[0] <= store.n_pairs


def test_a_store_that_a_pass_changes_is_refused_to_others():
    lengths, matrices = large_family()
    store = store_of(lengths, matrices)
    refused = []

    def meanwhile(_):
        for call in (lambda: store.matrix(0, 1), lambda: store.relax(np.ones(50), together(lengths), 0.0, 0.0, 1)):
            with pytest.raises(ValueError, match="store: another call is"):
                call()
        refused.append(threading.current_thread())

    store.relax(np.ones(50), together(lengths), 0.0, 0.0, 1, meanwhile)
    assert refused
