"""Likelihoods, posteriors and expected counts against fractions, on every instruction set."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from oracles import hmm_sums as oracle

from tropalign import _native


def rows(numbers):
    return numbers / numbers.sum(axis=-1, keepdims=True)


def log_of(fraction):
    if fraction == 0:
        return -math.inf
    power = fraction.numerator.bit_length() - fraction.denominator.bit_length()
    return math.log(fraction / Fraction(2) ** power) + power * math.log(2)


def transitions_of(kind, n_states, random):
    """A matrix of a kind: all numbers, half of them zero, or upwards with numbers far apart."""
    found = random.random((n_states, n_states))
    if kind == "sparse":
        found[random.random(found.shape) < 0.5] = 0
    if kind == "far":
        found = np.triu(found**200)
    return rows(found + np.eye(n_states) * (1e-200 if kind == "far" else 0.1))


def model_of(kind, n_states, n_symbols=5, seed=1):
    random = np.random.default_rng(seed)
    emission = random.random((n_states, n_symbols)) ** (60 if kind == "far" else 1)
    return rows(random.random(n_states)), transitions_of(kind, n_states, random), rows(emission)


KINDS = ("dense", "sparse", "far")


@cache
def exact_sums(kind, n_states):
    """A model, observations, and their exact log-likelihood, posteriors and expected steps."""
    start, transition, emission = model_of(kind, n_states)
    codes = np.random.default_rng(2).integers(0, 5, 24 if n_states < 10 else 5).astype(np.uint8)
    seen = np.ascontiguousarray(emission[:, codes].T)
    want = log_of(oracle.likelihood(start, transition, seen))
    posteriors = np.array(oracle.posteriors(start, transition, seen), float)
    steps = np.array(oracle.transitions(start, transition, seen), float)
    return start, transition, emission, codes, seen, want, posteriors, steps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_states", [1, 2, 3, 7, 8, 9, 17, 33])
def test_against_fractions(isa, kind, n_states):
    start, transition, emission, codes, seen, want, posteriors, steps = exact_sums(kind, n_states)
    model, offsets = (start, transition), np.array([0, len(codes)])
    for name, given in ("codes", (emission, codes)), ("frames", (np.log(seen),)):
        found = getattr(_native, f"hmm_forward_{name}")(*model, *given, offsets, 1)
        assert found == pytest.approx([want], rel=1e-12)
        rows_found, again = getattr(_native, f"hmm_posteriors_{name}")(*model, *given, offsets, 1)
        np.testing.assert_allclose(rows_found, posteriors, rtol=1e-9, atol=1e-13)
        counted, first, steps_found, emitted = getattr(_native, f"hmm_counts_{name}")(*model, *given, offsets, 1)
        assert found.tolist() == again.tolist() == counted.tolist()
        np.testing.assert_allclose(first, posteriors[0], rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(steps_found, steps, rtol=1e-9, atol=1e-13)
        if name == "codes":
            by_symbol = [posteriors[codes == code].sum(axis=0) for code in range(5)]
            np.testing.assert_allclose(emitted, by_symbol, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_states", [1, 5, 16, 40, 130, 300])
def test_the_same_bytes_everywhere(kind, n_states, monkeypatch):
    start, transition, emission = model_of(kind, n_states)
    n = 60 if kind == "far" and n_states > 40 else 1500
    codes = np.random.default_rng(3).integers(0, 5, n).astype(np.uint8)
    offsets = np.array([0, n // 4, n // 4, n // 2, n])
    found = set()
    for isa in _native.supported_isas():
        monkeypatch.setenv("TROPALIGN_ISA", isa)
        for n_threads in (1, 3):
            results = _native.hmm_counts_codes(start, transition, emission, codes, offsets, n_threads)
            found.add(b"".join(part.tobytes() for part in results))
    assert len(found) == 1


@pytest.mark.parametrize("n_states", [3, 250])
def test_stretches_change_nothing(n_states):
    """More positions than forward sums are kept for at a time: cut elsewhere, likelihoods stay as they are."""
    start, transition, emission = model_of("dense", n_states)
    n = 3 * (1 << 20) // 8 // (n_states // 8 + 1) + 5
    codes = np.random.default_rng(4).integers(0, 5, n).astype(np.uint8)
    rows_found, likelihood = _native.hmm_posteriors_codes(start, transition, emission, codes, np.array([0, n]), 1)
    np.testing.assert_allclose(rows_found.sum(axis=1), 1, rtol=1e-12)
    forward = _native.hmm_forward_codes(start, transition, emission, codes, np.array([0, n]), 1)
    assert forward == pytest.approx(likelihood, rel=1e-13)
    _, first, steps, emitted = _native.hmm_counts_codes(start, transition, emission, codes, np.array([0, n]), 1)
    np.testing.assert_allclose(first, rows_found[0], rtol=1e-12)
    np.testing.assert_allclose(steps.sum(axis=1), rows_found[:-1].sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(emitted.sum(axis=0), rows_found.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("n_states", [89, 97, 105, 113, 128, 300])
def test_likelihoods_from_both_ends(n_states, monkeypatch):
    """Many states, every width of the last tile, few and many positions, codes and frames."""
    start, transition, emission = model_of("dense", n_states)
    codes = np.random.default_rng(8).integers(0, 5, 600).astype(np.uint8)
    offsets = np.array([0, 0, 1, 3, 6, 20, 600])
    want = _native.hmm_posteriors_codes(start, transition, emission, codes, offsets, 1)[1]
    found = set()
    for isa in _native.supported_isas():
        monkeypatch.setenv("TROPALIGN_ISA", isa)
        by_codes = _native.hmm_forward_codes(start, transition, emission, codes, offsets, 1)
        frames = np.log(np.ascontiguousarray(emission[:, codes].T)) - 1000
        by_frames = _native.hmm_forward_frames(start, transition, frames, offsets, 1)
        np.testing.assert_allclose(by_codes, want, rtol=1e-13)
        np.testing.assert_allclose(by_frames, want - 1000 * np.diff(offsets), rtol=1e-12)
        found.add(by_codes.tobytes() + by_frames.tobytes())
    assert len(found) == 1
    emission[:, 3] = 0
    codes[:] = 0
    codes[300] = 3
    assert _native.hmm_forward_codes(start, transition, emission, codes, offsets, 1)[-1] == -np.inf


@pytest.mark.parametrize("kind", KINDS)
def test_observations_that_cannot_be(isa, kind):
    start, transition, emission = model_of(kind, 4)
    emission[:, 2] = 0
    codes, offsets = np.array([0, 1, 2, 1, 0, 1], np.uint8), np.array([0, 4, 6])
    rows_found, likelihoods = _native.hmm_posteriors_codes(start, transition, emission, codes, offsets, 1)
    assert likelihoods[0] == -np.inf and np.isfinite(likelihoods[1])
    assert (rows_found[:4] == 0).all() and np.allclose(rows_found[4:].sum(axis=1), 1)
    only = _native.hmm_counts_codes(start, transition, emission, codes[4:], np.array([0, 2]), 1)
    both = _native.hmm_counts_codes(start, transition, emission, codes, offsets, 1)
    assert all((a == b).all() for a, b in zip(only[1:], both[1:], strict=True))
    frames = np.zeros((3, 4))
    frames[1] = -np.inf
    assert _native.hmm_forward_frames(start, transition, frames, np.array([0, 3]), 1) == [-np.inf]


def test_frames_far_below_one(isa):
    """Densities of outliers: logarithms that no float's exponential holds."""
    start, transition, _ = model_of("sparse", 3)
    frames = np.random.default_rng(5).normal(-1e5, 5e4, (40, 3))
    found = _native.hmm_forward_frames(start, transition, frames, np.array([0, 40]), 1)[0]
    with np.errstate(divide="ignore"):
        sums, steps = np.log(start) + frames[0], np.log(transition)
        for frame in frames[1:]:
            sums = np.logaddexp.reduce(sums[:, None] + steps, axis=0) + frame
    assert found == pytest.approx(np.logaddexp.reduce(sums), rel=1e-13)


def test_support_of_segments():
    start, transition, emission = model_of("dense", 4)
    codes = np.random.default_rng(6).integers(0, 5, 50).astype(np.uint8)
    offsets, state_labels = np.array([0, 20, 50]), np.array([0, 1, 1, 2], np.uint8)
    rows_found, _ = _native.hmm_posteriors_codes(start, transition, emission, codes, offsets, 1)
    by_label = np.stack([rows_found[:, state_labels == label].sum(axis=1) for label in range(3)], axis=1)
    begins, ends, labels = np.array([0, 12, 20, 40]), np.array([12, 20, 33, 50]), np.array([1, 0, 2, 1], np.uint8)
    model = (start, transition, emission, codes, offsets, state_labels)
    sums, _ = _native.hmm_support(*model, begins, ends, labels, 2)
    want = [by_label[a:b, label].sum() for a, b, label in zip(begins, ends, labels, strict=True)]
    np.testing.assert_allclose(sums, want, rtol=1e-12)
    best, _ = _native.hmm_labels(*model, 2)
    assert (best == by_label.argmax(axis=1)).all()


@pytest.mark.parametrize("is_left_right", [False, True])
def test_threads_share_a_long_sequence(is_left_right):
    """Three stretches; a model that goes from left to right needs a power of two per number, which one thread finds."""
    start, transition, emission = model_of("dense", 3)
    if is_left_right:
        transition = np.array([[0.999, 0.001, 0], [0, 0.999, 0.001], [0, 0, 1]])
    n = 300_000 if not is_left_right else 140_000
    codes = np.random.default_rng(7).integers(0, 5, n).astype(np.uint8)
    offsets, state_labels = np.array([0, 100, n]), np.array([0, 1, 0], np.uint8)
    model = (start, transition, emission, codes, offsets)
    bounds = np.array([0, 50, 100, 110, 70_000, n])
    segments = (bounds[:-1], bounds[1:], np.array([0, 1, 0, 1, 0], np.uint8))
    found = set()
    for n_threads in (1, 3):
        rows_found, _ = _native.hmm_posteriors_codes(*model, n_threads)
        best, _ = _native.hmm_labels(*model, state_labels, n_threads)
        sums, likelihoods = _native.hmm_support(*model, state_labels, *segments, n_threads)
        found.add(b"".join(part.tobytes() for part in (rows_found, best, sums, likelihoods)))
        by_label = np.stack([rows_found[:, [0, 2]].sum(axis=1), rows_found[:, 1]], axis=1)
        want = [by_label[a:b, label].sum() for a, b, label in zip(*segments, strict=True)]
        np.testing.assert_allclose(sums, want, rtol=1e-9, atol=1e-9)
        assert (best == by_label.argmax(axis=1)).all()
    assert len(found) == 1


def test_an_interrupt_ends_long_work():
    class Enough(Exception):
        pass

    def progress(done):
        raise Enough

    start, transition, emission = model_of("dense", 100)
    codes = np.zeros(2_000_000, np.uint8)
    for n_threads in (1, 3):
        with pytest.raises(Enough):
            _native.hmm_posteriors_codes(
                start, transition, emission, codes, np.array([0, len(codes)]), n_threads, progress
            )
