"""Closures against the plain recurrence and SciPy, on every instruction set."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import paths as oracle
from scipy.sparse import csgraph, csr_array

from tropalign import _native
from tropalign.errors import InputError, UsageError
from tropalign.tropical import BOOL, LOG, MAX_PLUS, MIN_PLUS, REAL, closure
from tropalign.tropical.closures import NegativeCycle

DTYPES = (np.int16, np.int32, np.float16, np.float32, np.float64)
SIZES = (0, 1, 2, 3, 17, 63, 64, 65, 127, 128, 129, 130, 200)


def weights_of(n, seed=0, density=0.3, lowest=0, highest=40, has_negative=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(lowest, highest, (n, n)).astype(float)
    weights[rng.random((n, n)) >= density] = np.inf
    if has_negative:  # differences of potentials change no cycle
        potential = rng.integers(0, 25, n)
        weights += potential[:, None] - potential[None, :]
    return weights


def as_type(weights, dtype, sign=1):
    if np.dtype(dtype).kind == "f":
        return (sign * weights).astype(dtype)
    limits = np.iinfo(dtype)
    is_edge = np.isfinite(weights)
    return np.where(is_edge, sign * np.where(is_edge, weights, 0), limits.max if sign > 0 else limits.min).astype(dtype)


def as_floats(values, sign=1):
    found = values.astype(float)
    if values.dtype.kind == "i":
        limits = np.iinfo(values.dtype)
        found[values == (limits.max if sign > 0 else limits.min)] = sign * np.inf
    return 0.0 + sign * found


def assert_paths(weights, distances, before):
    """Every predecessor is the last but one vertex of a path of the distance that stands there; rows make trees."""
    n = len(weights)
    for i in range(n):
        for j in range(n):
            if i == j or np.isinf(distances[i, j]):
                assert before[i, j] == -1
                continue
            path = [j]
            while path[-1] != i:
                path.append(int(before[i, path[-1]]))
                assert len(path) <= n
            assert oracle.weight_of(weights, path[::-1]) == distances[i, j]


def assert_about(weights, distances, before):
    """As `assert_paths`, of weights that rounding has touched."""
    for i, j in np.ndindex(12, 12):
        path = [j]
        while path[-1] != i:
            path.append(int(before[i, path[-1]]))
            assert len(path) <= len(weights)
        assert abs(oracle.weight_of(weights, path[::-1]) - distances[i, j]) < 1e-4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_against_scipy(isa, n, dtype):
    weights = weights_of(n, n)
    i, j = np.nonzero(np.isfinite(weights))  # stored, so that SciPy sees the edges of weight 0
    expected = csgraph.dijkstra(csr_array((weights[i, j], (i, j)), shape=(n, n))) if n else weights
    found, before = closure(as_type(weights, dtype), predecessors=True)
    assert found.dtype == dtype
    np.testing.assert_array_equal(as_floats(found), expected)
    np.testing.assert_array_equal(closure(as_type(weights, dtype)), found)
    if n <= 65:
        assert_paths(weights, expected, before)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(0, 24),
    seed=st.integers(0, 10**6),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    dtype=st.sampled_from(DTYPES),
    has_negative=st.booleans(),
    highest=st.sampled_from([1, 3, 30]),
    sign=st.sampled_from([1, -1]),
)
def test_against_the_oracle(n, seed, density, dtype, has_negative, highest, sign):
    weights = weights_of(n, seed, density, 0, highest, has_negative)
    expected = np.array(oracle.distances(weights.tolist())).reshape(n, n)
    semiring = MIN_PLUS if sign > 0 else MAX_PLUS
    found, before = closure(as_type(weights, dtype, sign), semiring, predecessors=True)
    np.testing.assert_array_equal(as_floats(found, sign), expected)
    assert_paths(weights, expected, before)


@pytest.mark.parametrize("n", [100, 300, 700])
def test_threads_and_instruction_sets_give_the_same_bytes(n, monkeypatch):
    from tropalign import _native

    weights = np.random.default_rng(n).random((n, n)).astype(np.float32)
    weights[weights > 0.6] = np.inf
    found = set()
    for isa in _native.supported_isas():
        monkeypatch.setenv("TROPALIGN_ISA", isa)
        for threads in (1, 2, 5):
            distances, before = closure(weights, predecessors=True, n_threads=threads)
            found.add((distances.tobytes(), before.tobytes()))
    assert len(found) == 1


def test_cycles_of_weight_zero_leave_trees(isa):
    for seed in range(20):
        weights = weights_of(40, seed, 0.2, 0, 2)
        expected = np.array(oracle.distances(weights.tolist()))
        found, before = closure(weights, predecessors=True)
        np.testing.assert_array_equal(found, expected)
        assert_paths(weights, expected, before)


def test_negative_cycles_are_named(isa):
    weights = weights_of(150, 3, 0.05, 1, 30)
    weights[140, 7], weights[7, 90], weights[90, 140] = 2, -9, 3
    for dtype in (np.int16, np.int32, np.float32, np.float64):
        with pytest.raises(NegativeCycle) as error:
            closure(as_type(weights, dtype))
        vertices = error.value.vertices
        assert len(set(vertices)) == len(vertices) and oracle.weight_of(weights, [*vertices, vertices[0]]) < 0
        assert error.value.weight == oracle.weight_of(weights, [*vertices, vertices[0]])


def test_a_cycle_that_is_negative_by_the_order_of_its_sum_alone():
    """Exactly these cycles weigh 0, and so they do as far as they are closed by halves; on the diagonal they do not."""
    halves, parts = np.full((66, 66), np.inf), np.full((4, 4), np.inf)
    halves[[0, 64, 65], [64, 65, 0]] = -2.7, 5.1, -2.4
    parts[[0, 2, 1, 3], [2, 1, 3, 0]] = 0.9, 8.6, -9.2, -0.3
    for weights, n_left, vertex in ((halves, 0, 0), (parts, 2, 2)):
        assert _native.closure(weights.copy(), None, False, n_left, 0.0, 1, None)[0] == vertex
        assert _native.closure(weights.copy(), None, False, n_left, 1e-14, 1, None)[0] == -1


def test_the_sentence_of_a_negative_cycle():
    with pytest.raises(InputError) as error:
        closure([[0.0, 1.0], [-2.0, 0.0]])
    assert str(error.value) == (
        "the cycle 1 -> 0 -> 1 is negative (its weight is -1), so paths through it can become arbitrarily short: "
        "change one of its edges"
    )
    with pytest.raises(InputError, match=r"is positive .its weight is 3.*arbitrarily long"):
        closure([[0.0, 1.0], [2.0, 0.0]], MAX_PLUS)
    with pytest.raises(InputError, match="the cycle 0 -> 0 is negative"):
        closure([[-1.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cycles_that_rounding_makes_negative(dtype):
    rng = np.random.default_rng(5)
    potential = rng.random(120).astype(dtype)
    weights = potential[:, None] - potential[None, :]  # every cycle weighs 0, or what rounding makes of it
    exact = np.subtract.outer(potential.astype(float), potential.astype(float))
    for share in (0.02, 1):
        slack = rng.random((120, 120)) >= share
        chosen, expected = weights + slack.astype(dtype), closure(exact + slack)
        for sign, semiring in ((1, MIN_PLUS), (-1, MAX_PLUS)):
            found, before = closure(sign * chosen, semiring, predecessors=True)
            np.testing.assert_allclose(sign * found, expected, atol=1e-5)
            assert found.dtype == dtype and (np.diagonal(found) == 0).all()
            assert_about(chosen, expected, before)


def test_numbers_beyond_their_types_are_refused():
    worst = np.iinfo(np.int16).max
    chain = np.full((4, 4), worst, np.int16)
    chain[0, 1] = chain[1, 2] = 16000
    assert closure(chain)[0].tolist() == [0, 16000, 32000, worst]  # beyond what int16 is computed in
    chain[2, 3] = 16000
    with pytest.raises(InputError, match=r"path weights reach 48000, which int16 cannot hold.*to int32"):
        closure(chain)
    assert closure(np.where(chain == worst, 2**31 - 1, chain.astype(np.int32)))[0, 3] == 48000
    large = np.full((3, 3), 2**31 - 1, np.int32)
    large[0, 1] = large[1, 2] = 2**30
    with pytest.raises(InputError, match="which int32 cannot hold: convert the matrix to float64"):
        closure(large)
    falls = np.full((3, 3), worst, np.int16)
    falls[0, 1] = falls[1, 2] = -16000
    assert closure(falls)[0].tolist() == [0, -16000, -32000]
    big = np.array([[0, 3e38, np.inf], [np.inf, 0, 3e38], [np.inf, np.inf, 0]], np.float32)
    with pytest.raises(InputError, match="which float32 cannot hold: convert the matrix to float64"):
        closure(big)
    with pytest.raises(InputError, match="exceed every type: scale all weights down"):
        closure([[0, 1.5e308, np.inf], [np.inf, 0, 1.5e308], [np.inf, np.inf, 0]])
    with pytest.raises(InputError, match="which float16 cannot hold: convert the matrix to float32"):
        closure(np.array([[0, 6e4, np.inf], [np.inf, 0, 6e4], [np.inf, np.inf, 0]], np.float16))


@pytest.mark.parametrize(
    ("matrix", "semiring", "error", "text"),
    [
        ([[0, 1, 2]], MIN_PLUS, InputError, "must be square"),
        ([[0.0, math.nan], [1, 0]], MIN_PLUS, InputError, "A[0, 1] is NaN"),
        ([[0.0, -math.inf], [1, 0]], MIN_PLUS, InputError, "A[0, 1] is -inf"),
        ([[0.0, math.inf], [1, 0]], MAX_PLUS, InputError, "A[0, 1] is inf"),
        (np.zeros((2, 2), np.int64), MIN_PLUS, UsageError, "int64"),
        ([[0.0]], "min-plus", UsageError, "not a semiring"),
        ([[1.0, 0.0], [0.0, 0.5]], REAL, InputError, "its largest absolute eigenvalue is 1, but must"),
        (np.ones((2, 2), np.int32), REAL, UsageError, "fractions"),
        ([["a"]], MIN_PLUS, InputError, "not a matrix"),
    ],
)
def test_bad_matrices(matrix, semiring, error, text):
    with pytest.raises(error) as raised:
        closure(matrix, semiring)
    assert text in str(raised.value)


@pytest.mark.parametrize("n", [0, 1, 5, 64, 65, 130, 513])
def test_reachability(isa, n):
    edges = np.random.default_rng(n).random((n, n)) < 1.5 / max(n, 1)
    found = closure(edges, BOOL, n_threads=2)
    assert found.dtype == bool
    expected = np.isfinite(csgraph.dijkstra(edges.astype(float))) if n else edges
    np.testing.assert_array_equal(found, expected)
    if n < 65:
        assert found.tolist() == oracle.reached(edges.tolist())


def test_stars_of_numbers_are_the_sums_of_powers():
    matrix = np.random.default_rng(1).random((6, 6)) / 7
    powers = sum(np.linalg.matrix_power(matrix, k) for k in range(200))
    np.testing.assert_allclose(closure(matrix, REAL), powers)
    np.testing.assert_allclose(closure(np.log(matrix), LOG), np.log(powers))
    assert closure(matrix.astype(np.float32), REAL).dtype == np.float32
    upper = np.triu(np.full((3, 3), 5.0), 1)  # large, but without cycles
    np.testing.assert_allclose(closure(upper, REAL), np.eye(3) + upper + upper @ upper)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(closure(np.log(upper), LOG), np.log(np.eye(3) + upper + upper @ upper))


def test_predecessors_are_tropical_and_the_matrix_is_left_alone():
    with pytest.raises(UsageError, match="real has no predecessors"):
        closure([[0.5]], REAL, predecessors=True)
    weights = weights_of(70)
    before = weights.copy()
    closure(weights)
    np.testing.assert_array_equal(weights, before)


def test_progress_can_end_it():
    class Enough(Exception):
        pass

    def stop(done):
        raise Enough

    weights = np.random.default_rng(0).random((2500, 2500))
    with pytest.raises(Enough):
        closure(weights, n_threads=1, progress=stop)
