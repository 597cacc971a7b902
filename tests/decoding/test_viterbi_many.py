"""Best paths of models with dozens to hundreds of states against the oracle in whole numbers, as arrays."""

from itertools import pairwise

import numpy as np
import pytest
from decoding.hmm_models import logs, random_model, sequences, sticky_model, tied_model
from oracles import hmm as oracle

from tropalign import _native

#: Stands for -inf: no sum of these tests comes near.
NEVER = -(2**61)


def quanta(values):
    rounded = np.rint(np.maximum(values, -1e5) * oracle.QUANTA_PER_UNIT).astype(np.int64)
    return np.where(np.isneginf(values), NEVER, rounded)


def expected_path(model, codes):
    start, transition, emission = map(quanta, model)
    values = [np.maximum(start + emission[:, codes[0]], NEVER)]
    for code in codes[1:]:
        sums = (values[-1][:, None] + transition).max(axis=0)
        values.append(np.maximum(sums + emission[:, code], NEVER))
    if values[-1].max() < NEVER // 2:
        return None
    path = [int(np.argmax(values[-1]))]
    for before in values[-2::-1]:
        path.append(int(np.argmax(before + transition[:, path[-1]])))
    return path[::-1]


def check(model, lengths, rng):
    model = tuple(map(np.ascontiguousarray, model))
    codes, offsets = sequences(rng, lengths, model[2].shape[1])
    paths, scores = _native.viterbi_codes(*model, codes, offsets, 1)
    frames = np.ascontiguousarray(model[2].T[codes])
    of_frames = _native.viterbi_frames(*model[:2], frames, offsets, 1)
    swept = _native.viterbi_codes(*model, codes, offsets, 2, None, "sweep")
    for other in (of_frames, swept):
        np.testing.assert_array_equal(other[0], paths)
        assert other[1].tobytes() == scores.tobytes()
    for j, (begin, end) in enumerate(pairwise(offsets.tolist())):
        expected = expected_path(model, codes[begin:end]) if begin < end else []
        if expected is None:
            assert scores[j] == -np.inf
            assert not paths[begin:end].any()
        else:
            assert paths[begin:end].tolist() == expected
            if expected:
                assert scores[j] == oracle.path_score(*model[:2], frames[begin:end], expected)


def uneven_model(rng, n_states, n_symbols):
    """Symbols say much of states, so that the values of a step foretell little of those of the next."""
    start, transition, emission = random_model(rng, n_states, n_symbols)
    return start, transition * rng.choice([0.2, 1, 4, 30]), emission * rng.choice([1, 8], n_symbols)


def forward_model(rng, n_states, n_symbols):
    """States that are left for one of the next five only, or by the last for the first: few are reached at first."""
    steps = np.arange(n_states)[None] - np.arange(n_states)[:, None]
    moves = np.where((steps >= 0) & (steps < 5), rng.random((n_states, n_states)), 0)
    moves[-1, 0] = 1
    return logs(np.eye(n_states)[0]), logs(moves), random_model(rng, n_states, n_symbols)[2]


def blocked_model(rng, n_states, n_symbols):
    """Some states that are never reached, some of them side by side, and a symbol that few states have."""
    start, transition, emission = random_model(rng, n_states, n_symbols, zeros=0.1)
    never = np.concatenate([np.arange(8, min(24, n_states)), rng.integers(0, n_states, n_states // 4)])
    transition[:, never] = start[never] = -np.inf
    emission[rng.random(n_states) < 0.95, 0] = -np.inf
    return start, transition, emission


def far_model(rng, n_states, n_symbols):
    """Transitions of which some are out of the range of bounds."""
    start, transition, emission = random_model(rng, n_states, n_symbols)
    return start, np.where(rng.random(transition.shape) < 0.95, transition - 3000, transition), emission


MODELS = {
    "random": random_model,
    "zeros": lambda rng, n, m: random_model(rng, n, m, zeros=0.5),
    "few": lambda rng, n, m: random_model(rng, n, m, zeros=1 - 4 / n),
    "tied": tied_model,
    "alike": sticky_model,
    "uneven": uneven_model,
    "forward": forward_model,
    "blocked": blocked_model,
    "far": far_model,
}


@pytest.mark.parametrize("n_states", [33, 40, 57, 64, 72, 79, 80, 100, 128, 129, 192, 256, 300])
@pytest.mark.parametrize("kind", MODELS)
def test_paths_are_those_of_the_oracle(isa, kind, n_states):
    rng = np.random.default_rng([n_states, *kind.encode()])
    n_long = 30_000 // n_states if n_states < 150 else 70
    check(MODELS[kind](rng, n_states, int(rng.integers(1, 6))), [n_long, 0, 1, 2, 34], rng)


def test_a_ring(isa):
    """Into each state there is one way only."""
    rng = np.random.default_rng(1)
    for n_states in (64, 96, 130):
        start, _, emission = random_model(rng, n_states, 3)
        check((start, logs(np.roll(np.eye(n_states), 1, axis=1)), emission), [200, 3], rng)


def test_sums_that_round(isa):
    """Scores of frames beyond what doubles add exactly: codes and frames, which do the sums alike, still agree."""
    rng = np.random.default_rng(2)
    for n_states in (64, 96, 130):
        start, transition, emission = random_model(rng, n_states, 3)
        emission = emission - rng.choice([0, 1e8], emission.shape, p=[0.7, 0.3])
        codes, offsets = sequences(rng, [150, 40], 3)
        paths, scores = _native.viterbi_codes(start, transition, emission, codes, offsets, 1)
        frames = np.ascontiguousarray(emission.T[codes])
        again = _native.viterbi_frames(start, transition, frames, offsets, 1)
        np.testing.assert_array_equal(again[0], paths)
        assert again[1].tobytes() == scores.tobytes()
        assert np.isfinite(scores).all()
