"""The Viterbi filter and that of biased composition, to the last bit, against plain recurrences and HMMER's scores."""

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
FILTERS = ("bias", "viterbi")
#: Models' lengths with 10,000 targets between them, and what is drawn at random of models and targets.
LENGTHS = {
    "bias": [1, 2, 5, 20, 50, 101, 150, 400, 1200, 3000],
    "viterbi": [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 47, 63, 64, 65, 80, 97, 128, 130],
}
DRAWN = {"bias": (400, 6, st.integers(0, 400)), "viterbi": (90, 5, st.integers(0, 60) | st.integers(0, 400))}


def plain_scores(kind, model, targets):
    if kind == "bias":
        odds = model.composition_odds
        return np.array([profile_filters.bias(odds, model.n_nodes, t) if len(t) else np.nan for t in targets], F32)
    scores = np.full(len(targets), -np.inf, F32)
    filled = [k for k, target in enumerate(targets) if len(target)]
    if filled:
        chosen = [targets[k] for k in filled]
        scores[filled] = profile_filters.viterbi(model.word_match, model.word_transitions, chosen)
    return scores


def scored(kind, *arguments, module=_native):
    return getattr(module, f"{kind}_scores")(*arguments)


def assert_scores(kind, model, targets, expected):
    """By the arrangement of lanes that is chosen, and by every one."""
    block = block_of(targets)
    np.testing.assert_array_equal(scored(kind, model, block, every(targets)), expected)
    for how in range(getattr(_native.testing, f"n_{kind}_arrangements")()):
        found = scored(f"arranged_{kind}", model, block, every(targets), how, module=_native.testing)
        np.testing.assert_array_equal(found, expected, err_msg=f"arrangement {how}")


@pytest.mark.parametrize("kind", FILTERS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_scores_are_the_plain_ones(kind, data, seed, isa):
    longest, most, lengths = DRAWN[kind]
    rng = np.random.default_rng(seed)
    model, likeliest = random_model(data.draw(st.integers(1, longest)), rng)
    targets = [random_target(L, likeliest, rng) for L in data.draw(st.lists(lengths, min_size=1, max_size=most))]
    assert_scores(kind, model, targets, plain_scores(kind, model, targets))


@cache
def many_pairs(kind):
    """10,000 pairs of a model and a target, with the plain scores."""
    pairs = []
    for k, M in enumerate(LENGTHS[kind]):
        rng = np.random.default_rng(k)
        if kind == "bias":
            model, likeliest = random_model(M, rng)
            targets = [random_target(L, likeliest, rng) for L in rng.integers(0, 120, 1000)]
        else:
            model, likeliest = random_model(M, rng, deletes=[None, 0.6, 0.99, 1.0][k % 4])
            targets = [random_target(L, likeliest, rng) for L in rng.integers(0, 70, 470)]
            targets += [np.tile(likeliest, 1 + n // M) for n in range(0, 120, 4)]  # some beyond 16 bits
        pairs.append((model, targets, plain_scores(kind, model, targets)))
    return pairs


@pytest.mark.parametrize("kind", FILTERS)
def test_many_pairs(kind, isa):
    pairs = many_pairs(kind)
    scores = np.concatenate([expected for *_, expected in pairs])
    assert len(scores) == 10_000
    if kind == "viterbi":
        assert np.isposinf(scores).sum() > 100 and np.isneginf(scores).sum() > 100 and np.isfinite(scores).sum() > 9000
    for model, targets, expected in pairs:
        assert_scores(kind, model, targets, expected)


@pytest.mark.parametrize("kind", FILTERS)
def test_scores_are_those_of_hmmer(kind, isa):
    models, targets, expected = scores_of_hmmer(kind)
    assert np.isinf(expected).any() == (kind == "viterbi")
    for model, scores in zip(models, expected, strict=True):
        assert_scores(kind, model.native, targets, scores)


@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11, 12, 13, 16, 17, 31, 32, 33, 64, 65, 100, 150])
def test_any_number_of_targets(kind, n, isa):
    """Of very different lengths, in any order, some of them twice."""
    rng = np.random.default_rng(n)
    model, likeliest = random_model(37, rng)
    targets = [random_target(int(L), likeliest, rng) for L in np.exp(rng.uniform(0, 6, n))]
    expected = plain_scores(kind, model, targets)
    order = rng.integers(0, n, 2 * n).astype(I32)
    np.testing.assert_array_equal(scored(kind, model, block_of(targets), order), expected[order])


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
        expected = plain_scores("viterbi", model, targets)
        assert expected[0] > expected[1:3].max() + 8  # it does pay
        assert_scores("viterbi", model, targets, expected)


def test_a_target_of_gaps_does_not_end(isa):
    model, _ = random_model(50, np.random.default_rng(1))
    targets = [np.full(L, code, np.uint8) for L in (1, 30) for code in (20, 27, 28)]
    expected = plain_scores("viterbi", model, targets)
    assert (expected < -40).all()
    assert_scores("viterbi", model, targets, expected)


def test_no_target(isa):
    model, _ = random_model(5, np.random.default_rng(1))
    block = block_of([[], [1]])
    assert len(_native.viterbi_scores(model, block, np.zeros(0, I32))) == 0
    assert _native.viterbi_scores(model, block, np.zeros(1, I32)).tolist() == [-np.inf]


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
    np.testing.assert_array_equal(_native.testing.bias_logarithms(values), expected)


# Floats whose logarithms are within 2^-46 of the middle between two floats: the vectors cannot tell.
IN_DOUBT = [0x3EFE89CD, 0x3F2F24EF, 0x3F554D38, 0x3F7FFFFE, 0x3FA66C0B, 0x3FD364D7, 0x404DC250, 0x4056EE45]


@pytest.mark.parametrize("n", [1, 7, 64, 1500])
def test_logarithms_in_doubt(n, isa):
    rng = np.random.default_rng(n)
    for bits in IN_DOUBT:
        values = rng.uniform(0.3, 3, n).astype(F32)
        values[rng.integers(0, n)] = np.array([bits], I32).view(F32)[0]
        expected = np.array([math.log(x) for x in values.tolist()]).astype(F32)
        np.testing.assert_array_equal(_native.testing.bias_logarithms(values), expected)


def test_logarithms_of_nothing(isa):
    assert _native.testing.bias_logarithms(np.zeros(0, F32)).tolist() == []
