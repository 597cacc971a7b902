"""The filter of biased composition, to the last bit, against the plain recurrence and against HMMER's scores."""

import math
from functools import cache

import numpy as np
import pytest
from filter_cases import block_of, every, random_model, random_target, scores_of_hmmer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import profile_filters

from tropalign import _native

F32, I32 = np.float32, np.int32
PER_EXAMPLE = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def plain_scores(model, targets):
    odds = model.composition_odds
    return np.array([profile_filters.bias(odds, model.n_nodes, t) if len(t) else np.nan for t in targets], F32)


def assert_scores(model, targets, expected):
    """By the arrangement of lanes that is chosen, and by every one."""
    block = block_of(targets)
    np.testing.assert_array_equal(_native.bias_scores(model, block, every(targets)), expected)
    for how in range(_native.n_bias_arrangements()):
        found = _native.arranged_bias_scores(model, block, every(targets), how)
        np.testing.assert_array_equal(found, expected, err_msg=f"arrangement {how}")


@PER_EXAMPLE
@given(M=st.integers(1, 400), lengths=st.lists(st.integers(0, 400), min_size=1, max_size=6), seed=st.integers(0, 2**32))
def test_scores_are_the_plain_ones(M, lengths, seed, isa):
    rng = np.random.default_rng(seed)
    model, likeliest = random_model(M, rng)
    targets = [random_target(L, likeliest, rng) for L in lengths]
    assert_scores(model, targets, plain_scores(model, targets))


@cache
def many_pairs():
    """10,000 pairs of a model and a target, with the plain scores."""
    pairs = []
    for k, M in enumerate([1, 2, 5, 20, 50, 101, 150, 400, 1200, 3000]):
        rng = np.random.default_rng(k)
        model, likeliest = random_model(M, rng)
        targets = [random_target(L, likeliest, rng) for L in rng.integers(0, 120, 1000)]
        pairs.append((model, targets, plain_scores(model, targets)))
    return pairs


def test_many_pairs(isa):
    for model, targets, expected in many_pairs():
        assert_scores(model, targets, expected)


def test_scores_are_those_of_hmmer(isa):
    models, targets, expected = scores_of_hmmer("bias")
    for model, scores in zip(models, expected, strict=True):
        assert_scores(model.native, targets, scores)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 11, 12, 16, 17, 100])
def test_any_number_of_targets(n, isa):
    """Of very different lengths, in any order, some of them twice."""
    rng = np.random.default_rng(n)
    model, likeliest = random_model(37, rng)
    targets = [random_target(int(L), likeliest, rng) for L in np.exp(rng.uniform(0, 6, n))]
    expected = plain_scores(model, targets)
    order = rng.integers(0, n, 2 * n).astype(I32)
    np.testing.assert_array_equal(_native.bias_scores(model, block_of(targets), order), expected[order])


def some_floats():
    """Floats of all sizes, and those of which logarithms are small; in no order."""
    rng = np.random.default_rng(1)
    sizes = np.ldexp(1 + rng.random(20_000), rng.integers(-126, 128, 20_000)).astype(F32)
    near_one = np.arange(0x3F800000 - 10_000, 0x3F800000 + 10_000, dtype=I32).view(F32)
    likely = rng.uniform(0.3, 3, 60_000).astype(F32)
    edges = np.array([np.finfo(F32).tiny, np.finfo(F32).max, 0.5, 2, math.sqrt(0.5), math.sqrt(2)], F32)
    return np.concatenate([sizes, near_one, likely, edges])


def test_logarithms_are_the_c_librarys(isa):
    values = some_floats()
    expected = np.array([math.log(x) for x in values.tolist()]).astype(F32)
    np.testing.assert_array_equal(_native.bias_logarithms(values), expected)


# Floats whose logarithms are within 2^-46 of the middle between two floats: the vectors cannot tell.
IN_DOUBT = [0x3EFE89CD, 0x3F2F24EF, 0x3F554D38, 0x3F7FFFFE, 0x3FA66C0B, 0x3FD364D7, 0x404DC250, 0x4056EE45]


@pytest.mark.parametrize("n", [1, 7, 64, 1500])
def test_logarithms_in_doubt(n, isa):
    rng = np.random.default_rng(n)
    for bits in IN_DOUBT:
        values = rng.uniform(0.3, 3, n).astype(F32)
        values[rng.integers(0, n)] = np.array([bits], I32).view(F32)[0]
        expected = np.array([math.log(x) for x in values.tolist()]).astype(F32)
        np.testing.assert_array_equal(_native.bias_logarithms(values), expected)


def test_logarithms_of_nothing(isa):
    assert _native.bias_logarithms(np.zeros(0, F32)).tolist() == []
