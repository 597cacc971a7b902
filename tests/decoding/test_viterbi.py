"""Best paths of hidden Markov models against the oracle and hmmlearn."""

from itertools import pairwise

import numpy as np
import pytest
from decoding.hmm_models import random_model, sequences, tied_model
from oracles import hmm as oracle

from tropalign import _native

INFINITY = np.inf


def decode_both(start, transition, emission, codes, offsets, n_threads=1):
    """Paths and scores, of codes and of the frames they stand for: the same."""
    paths, scores = _native.viterbi_codes(start, transition, emission, codes, offsets, n_threads)
    frames = np.ascontiguousarray(emission.T[codes])
    of_frames = _native.viterbi_frames(start, transition, frames, offsets, n_threads)
    np.testing.assert_array_equal(of_frames[0], paths)
    np.testing.assert_array_equal(of_frames[1], scores)
    assert paths.dtype == (np.uint8 if len(start) <= 256 else np.uint16)
    return paths, scores


def check(start, transition, emission, codes, offsets):
    paths, scores = decode_both(start, transition, emission, codes, offsets)
    for j, (begin, end) in enumerate(pairwise(offsets)):
        frames = oracle.frames_of(emission, codes[begin:end])
        path, score = oracle.viterbi(start, transition, frames)
        assert paths[begin:end].tolist() == path
        assert scores[j] == score
    return paths, scores


@pytest.mark.parametrize("n_states", [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 25, 33, 63, 64, 65, 130])
def test_paths_are_those_of_the_oracle(isa, n_states):
    rng = np.random.default_rng(n_states)
    lengths = [0, 1, 2, 40, 3, 0, 17, 33, 64, 1, 5] if n_states < 60 else [5, 0, 3]
    for made in (
        random_model(rng, n_states, 4),
        random_model(rng, n_states, 5, zeros=0.3),
        tied_model(rng, n_states, 3),
    ):
        check(*made, *sequences(rng, lengths, made[2].shape[1]))


def test_states_beyond_bytes_and_empty_batches(isa):
    rng = np.random.default_rng(1)
    start, transition, emission = random_model(rng, 300, 2, zeros=0.2)
    transition[:, :250] -= 20
    codes, offsets = sequences(rng, [6], 2)
    paths, _ = check(start, transition, emission, codes, offsets)
    assert paths.max() > 255
    start, transition, emission = random_model(np.random.default_rng(3), 3, 4)
    paths, scores = decode_both(start, transition, emission, np.zeros(0, np.uint8), np.zeros(1, np.int64))
    assert (paths.size, scores.size) == (0, 0)


@pytest.mark.parametrize("n_states", [1, 3, 20, 70])
def test_without_a_possible_path(isa, n_states):
    rng = np.random.default_rng(2)
    codes, offsets = sequences(rng, [9, 0, 1], 3)
    start, transition, emission = random_model(rng, n_states, 3)
    nothing = [np.full_like(array, -INFINITY) for array in (start, transition, emission)]
    for impossible in (
        (nothing[0], transition, emission),
        (start, transition, nothing[2]),
        tuple(nothing),
    ):
        paths, scores = check(*impossible, codes, offsets)
        assert paths.max() == 0
        assert scores.tolist() == [-INFINITY, 0, -INFINITY]
    _, scores = check(start, nothing[1], emission, codes, offsets)
    assert scores[0] == -INFINITY
    assert np.isfinite(scores[2])


@pytest.mark.parametrize("n_states", [2, 8, 20, 100])
def test_scores_are_those_of_hmmlearn(n_states):
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(n_states)
    start, transition, emission = random_model(rng, n_states, 6)
    lengths = [200, 1, 77]
    codes, offsets = sequences(rng, lengths, 6)
    peer = hmmlearn.CategoricalHMM(n_states)
    peer.startprob_, peer.transmat_, peer.emissionprob_ = np.exp(start), np.exp(transition), np.exp(emission)
    peer.n_features = 6
    _, scores = _native.viterbi_codes(start, transition, emission, codes, offsets, 1)
    for j, score in enumerate(scores):
        expected, _ = peer.decode(codes[offsets[j] : offsets[j + 1], None])
        assert score == pytest.approx(expected, rel=1e-9)


def test_threads_change_nothing(isa):
    rng = np.random.default_rng(5)
    for n_states in (4, 30):
        made = random_model(rng, n_states, 4)
        codes, offsets = sequences(rng, rng.integers(0, 300, 70), 4)
        first = decode_both(*made, codes, offsets, 1)
        for n_threads in (2, 5):
            again = decode_both(*made, codes, offsets, n_threads)
            assert again[0].tobytes() == first[0].tobytes()
            assert again[1].tobytes() == first[1].tobytes()


@pytest.mark.parametrize("n_states", [1, 3, 8, 9, 16, 20, 31, 40, 64, 80])
def test_a_batch_is_as_its_sequences_one_by_one(isa, n_states):
    """Of so many steps that words of two to four symbols pay; the last symbol is in the model only."""
    rng = np.random.default_rng(n_states)
    lengths = rng.integers(0, 130, 350)
    for n_symbols in (2, 3):
        for made in (random_model(rng, n_states, n_symbols + 1), tied_model(rng, n_states, n_symbols + 1)):
            codes, offsets = sequences(rng, lengths, n_symbols)
            paths, scores = _native.viterbi_codes(*made, codes, offsets, 1)
            for j, (begin, end) in enumerate(pairwise(offsets.tolist())):
                path, score = _native.viterbi_codes(*made, codes[begin:end], np.array([0, end - begin]), 1)
                assert path.tobytes() == paths[begin:end].tobytes()
                assert score[0] == scores[j]


def test_numbers_beyond_those_that_are_rounded(isa):
    """-1e30 as a stand-in for no probability does not blur the others."""
    rng = np.random.default_rng(6)
    for n_states in (3, 20):
        made = random_model(rng, n_states, 4, zeros=0.2)
        codes, offsets = sequences(rng, [20] * 20, 4)
        paths, scores = check(*made, codes, offsets)
        possible = np.repeat(np.isfinite(scores), 20)
        assert possible.any()
        low = [np.where(np.isneginf(array), -1e30, array) for array in made]
        np.testing.assert_array_equal(decode_both(*low, codes, offsets)[0][possible], paths[possible])
