"""The Viterbi filter, to the last bit, against the plain recurrence and against HMMER's scores."""

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
    scores = np.full(len(targets), -np.inf, F32)
    filled = [k for k, target in enumerate(targets) if len(target)]
    if filled:
        chosen = [targets[k] for k in filled]
        scores[filled] = profile_filters.viterbi(model.word_match, model.word_transitions, chosen)
    return scores


def assert_scores(model, targets, expected):
    """By the arrangement of lanes that is chosen, and by every one."""
    block = block_of(targets)
    np.testing.assert_array_equal(_native.viterbi_scores(model, block, every(targets)), expected)
    for how in range(_native.n_viterbi_arrangements()):
        found = _native.arranged_viterbi_scores(model, block, every(targets), how)
        np.testing.assert_array_equal(found, expected, err_msg=f"arrangement {how}")


@PER_EXAMPLE
@given(
    M=st.integers(1, 90),
    lengths=st.lists(st.integers(0, 60) | st.integers(0, 400), min_size=1, max_size=5),
    seed=st.integers(0, 2**32),
)
def test_scores_are_the_plain_ones(M, lengths, seed, isa):
    rng = np.random.default_rng(seed)
    model, likeliest = random_model(M, rng)
    targets = [random_target(L, likeliest, rng) for L in lengths]
    assert_scores(model, targets, plain_scores(model, targets))


@cache
def many_pairs():
    """10,000 pairs of a model and a target, with the plain scores: 20 models with 500 targets each."""
    pairs = []
    for k, M in enumerate([1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 47, 63, 64, 65, 80, 97, 128, 130]):
        rng = np.random.default_rng(k)
        model, likeliest = random_model(M, rng, deletes=[None, 0.6, 0.99, 1.0][k % 4])
        targets = [random_target(L, likeliest, rng) for L in rng.integers(0, 70, 470)]
        targets += [np.tile(likeliest, 1 + n // M) for n in range(0, 120, 4)]  # some beyond 16 bits
        pairs.append((model, targets, plain_scores(model, targets)))
    return pairs


def test_many_pairs(isa):
    pairs = many_pairs()
    scores = np.concatenate([expected for *_, expected in pairs])
    assert len(scores) == 10_000
    assert np.isposinf(scores).sum() > 100 and np.isneginf(scores).sum() > 100 and np.isfinite(scores).sum() > 9000
    for model, targets, expected in pairs:
        assert_scores(model, targets, expected)


def test_scores_are_those_of_hmmer(isa):
    models, targets, expected = scores_of_hmmer("viterbi")
    assert np.isinf(expected).any()
    for model, scores in zip(models, expected, strict=True):
        assert_scores(model.native, targets, scores)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 31, 32, 33, 64, 65, 150])
def test_any_number_of_targets(n, isa):
    """Of very different lengths, in any order, some of them twice."""
    rng = np.random.default_rng(n)
    model, likeliest = random_model(37, rng)
    targets = [random_target(int(L), likeliest, rng) for L in np.exp(rng.uniform(0, 6, n))]
    expected = plain_scores(model, targets)
    order = rng.integers(0, n, 2 * n).astype(I32)
    np.testing.assert_array_equal(_native.viterbi_scores(model, block_of(targets), order), expected[order])


def test_deletes_through_many_stripes(isa):
    """A path that enters at the first node, leaves out nearly all nodes, and ends at the last."""
    rng = np.random.default_rng(4)
    for M in (100, 600):
        match = np.full((M + 1, 20), 1e-4, F32)
        match[:, 0] = 1 - 19e-4
        match[1:6] = np.roll(match[0], 3)
        match[-5:] = np.roll(match[0], 5)
        transitions = np.tile(np.array([0.5, 0, 0.5, 0.5, 0.5, 1e-4, 0.9999], F32), (M + 1, 1))
        transitions[M - 5, 5:] = [0.99, 0.01]
        background = np.full(20, 0.05, F32)
        model = _native.ProfileModel(match, transitions, background, background, np.ones(6, F32), b"x" * M)
        ends = [np.full(5, code, np.uint8) for code in (3, 5)]
        targets = [np.concatenate(ends), ends[0], ends[1], rng.integers(0, 20, 30).astype(np.uint8)]
        expected = plain_scores(model, targets)
        assert expected[0] > expected[1:3].max() + 8  # it does pay
        assert_scores(model, targets, expected)


def test_a_target_of_gaps_does_not_end(isa):
    model, _ = random_model(50, np.random.default_rng(1))
    targets = [np.full(L, code, np.uint8) for L in (1, 30) for code in (20, 27, 28)]
    expected = plain_scores(model, targets)
    assert (expected < -40).all()
    assert_scores(model, targets, expected)


def test_no_target(isa):
    model, _ = random_model(5, np.random.default_rng(1))
    block = block_of([[], [1]])
    assert len(_native.viterbi_scores(model, block, np.zeros(0, I32))) == 0
    assert _native.viterbi_scores(model, block, np.zeros(1, I32)).tolist() == [-np.inf]
