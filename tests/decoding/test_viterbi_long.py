"""Best paths of long sequences: in blocks, in words, on threads. All ways give the same path."""

import subprocess
import sys

import numpy as np
import pytest
from decoding.hmm_models import logs, random_model, sequences, sticky_model, tied_model
from oracles import hmm as oracle

from tropalign import _native

METHODS = ("auto", "sweep", "early", "products")


def in_single_steps(model, codes, offsets):
    """Paths and scores of the plain recurrence, all values kept: frames have no words, and one thread no blocks."""
    start, transition, emission = model
    return _native.viterbi_frames(start, transition, np.ascontiguousarray(emission.T[codes]), offsets, 1)


def check_all_ways(model, codes, offsets, n_threads=(1, 3), methods=METHODS):
    path, scores = in_single_steps(model, codes, offsets)
    frames = np.ascontiguousarray(model[2].T[codes])
    for method in methods:
        for n in n_threads:
            for found in (
                _native.viterbi_codes(*model, codes, offsets, n, None, method),
                _native.viterbi_frames(*model[:2], frames, offsets, n, None, method),
            ):
                assert found[0].tobytes() == path.tobytes(), (method, n)
                assert found[1].tobytes() == scores.tobytes(), (method, n)
    return path, scores


@pytest.mark.parametrize("n_states", [1, 3, 8, 17, 40, 70])
def test_all_ways_give_the_same_path(isa, n_states):
    rng = np.random.default_rng(n_states)
    codes, offsets = sequences(rng, [7000 if n_states < 20 else 1400], 4)
    for model in (
        random_model(rng, n_states, 4),
        random_model(rng, n_states, 4, zeros=0.3),
        tied_model(rng, n_states, 4, impossible=False),
        sticky_model(rng, n_states, 4),
    ):
        check_all_ways(model, codes, offsets)


def test_long_paths_are_those_of_the_oracle():
    rng = np.random.default_rng(1)
    model = tied_model(rng, 3, 2, impossible=False)
    codes, offsets = sequences(rng, [9000], 2)
    path, scores = check_all_ways(model, codes, offsets)
    expected, score = oracle.viterbi(*model[:2], oracle.frames_of(model[2], codes))
    assert path.tolist() == expected
    assert scores[0] == score


@pytest.mark.parametrize("n_symbols", [1, 2, 3, 4, 20])
@pytest.mark.parametrize("n_states", [2, 8, 16, 33])
def test_words_of_symbols(isa, n_states, n_symbols):
    rng = np.random.default_rng(n_states + n_symbols)
    lengths = rng.integers(0, 60, 800 if n_states < 20 else 300)  # enough that words pay, of all remainders
    for model in (random_model(rng, n_states, n_symbols, zeros=0.1), tied_model(rng, n_states, n_symbols)):
        codes, offsets = sequences(rng, lengths, n_symbols)
        check_all_ways(model, codes, offsets, (1, 2), ("auto",))


@pytest.mark.parametrize("n_states", [2, 5, 12])
def test_values_that_never_converge(n_states):
    """From each state there is one way only, so that a block that starts early finds nothing."""
    transition = logs(np.roll(np.eye(n_states), 1, axis=1))
    rng = np.random.default_rng(n_states)
    start, _, emission = random_model(rng, n_states, 4)
    codes, offsets = sequences(rng, [20_000], 4)
    path, _ = check_all_ways((start, transition, emission), codes, offsets, (1, 5))
    np.testing.assert_array_equal(path, (path[0] + np.arange(len(path))) % n_states)


@pytest.mark.parametrize("seed", range(3))
def test_values_that_are_not_exact(isa, seed):
    """Of two halves of a model one falls behind by more than sums can hold exactly, and is the only one in the end."""
    rng = np.random.default_rng(seed)
    start, transition, emission = (-0.1 * rng.integers(1, 4, shape) for shape in [6, (6, 6), (6, 4)])
    transition[:3, 3:] = transition[3:, :3] = -np.inf
    emission[3:, :3] -= 199.9
    emission[:3, 3] = -np.inf
    codes, offsets = sequences(rng, [6000], 3)
    codes[-1] = 3
    path, scores = check_all_ways((start, transition, emission), codes, offsets)
    assert path.min() >= 3
    assert scores[0] < -1e6


def test_long_sequences_in_batches_and_without_a_possible_path():
    rng = np.random.default_rng(4)
    codes, offsets = sequences(rng, [5, 300_000, 0, 17, 40_000, 1], 4)
    check_all_ways(random_model(rng, 5, 4), codes, offsets, (1, 2, 5), ("auto",))
    rng = np.random.default_rng(5)
    start, transition, emission = random_model(rng, 4, 4)
    emission[:, 3] = -np.inf
    codes, offsets = sequences(rng, [9000], 3)
    codes[6000] = 3
    path, scores = check_all_ways((start, transition, emission), codes, offsets)
    assert scores[0] == -np.inf
    assert not path.any()


def test_memory_is_bounded():
    code = """
import numpy as np
from tropalign import _native
from tropalign.resources.limits import peak_bytes

rng = np.random.default_rng(0)
model = [np.log(rng.dirichlet(np.ones(shape[-1]), shape[:-1])) for shape in [(8,), (8, 8), (8, 4)]]
codes = rng.integers(0, 4, 20_000_000, dtype=np.uint8)
before = peak_bytes()
_native.viterbi_codes(*model, codes, np.array([0, len(codes)]), 2)
print(peak_bytes() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert int(done.stdout) < 100_000_000


def test_progress_and_interrupts():
    rng = np.random.default_rng(6)
    codes, offsets = sequences(rng, [3_000_000], 4)
    seen = []
    _native.viterbi_codes(*random_model(rng, 30, 4), codes, offsets, 1, seen.append)
    assert seen == sorted(seen)
    assert all(0 <= done <= len(codes) for done in seen)

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.viterbi_codes(*random_model(rng, 30, 4), codes, offsets, 1, stop)
