"""Sums of long sequences by few states, which go by words of symbols from both ends, against single steps."""

import numpy as np
import pytest

from tropalign import _native

#: More than the fewest positions that words are made for, and no multiple of a word's length or a stretch's.
N = 70_003


def rows(numbers):
    return numbers / numbers.sum(axis=-1, keepdims=True)


def model_of(n_states, n_symbols, seed=1, slow=0.05):
    """States that mostly stay, and symbols that some states make rarely."""
    random = np.random.default_rng(seed)
    transition = rows(random.random((n_states, n_states)) * slow + np.eye(n_states))
    return rows(random.random(n_states)), transition, rows(random.random((n_states, n_symbols)) ** 4)


def codes_of(n_symbols, n=N, seed=2):
    return np.random.default_rng(seed).integers(0, n_symbols, n).astype(np.uint8)


def single_steps(start, transition, emission, codes):
    """Log-likelihood, posteriors and counts by frames, which are never taken as words."""
    with np.errstate(divide="ignore"):
        frames = np.log(np.ascontiguousarray(emission[:, codes].T))
    given = (start, transition, frames, np.array([0, len(codes)]), 1)
    return _native.hmm_posteriors_frames(*given)[::-1] + _native.hmm_counts_frames(*given)[1:3]


def compare(model, codes, n_threads):
    offsets = np.array([0, len(codes)])
    likelihood, posteriors, first, steps = single_steps(*model, codes)
    assert _native.hmm_forward_codes(*model, codes, offsets, n_threads) == pytest.approx(
        likelihood, rel=1e-12, abs=1e-10
    )
    found, again = _native.hmm_posteriors_codes(*model, codes, offsets, n_threads)
    assert again == pytest.approx(likelihood, rel=1e-12, abs=1e-10)
    np.testing.assert_allclose(found, posteriors, rtol=1e-8, atol=1e-12)
    _, first_found, steps_found, emitted = _native.hmm_counts_codes(*model, codes, offsets, n_threads)
    np.testing.assert_allclose(first_found, first, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(steps_found, steps, rtol=1e-8, atol=1e-9)
    by_symbol = [posteriors[codes == symbol].sum(axis=0) for symbol in range(model[2].shape[1])]
    np.testing.assert_allclose(emitted, by_symbol, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("n_states", "n_symbols"), [(1, 5), (2, 1), (3, 5), (7, 21), (8, 5), (8, 200), (9, 5), (16, 5), (16, 256), (17, 5)]
)
def test_words_against_single_steps(n_states, n_symbols):
    """Words of four, three, two symbols and one; 17 states go without."""
    compare(model_of(n_states, n_symbols), codes_of(n_symbols), 2)


@pytest.mark.parametrize("least", [2.0**-40, 2.0**-41, 2.0**-130])
def test_steps_that_are_nearly_impossible(least):
    """The first has the least step that words take; emissions of the third state are as small as floats are."""
    start, transition, emission = model_of(3, 5)
    transition[0] = [1 - 2 * least, least, least]
    transition[1] = [least, 1 - 2 * least, least]
    emission[2] = [1 - 2e-300, 1e-300, 0, 1e-300, 0]
    compare((start, transition, emission), codes_of(5), 2)


@pytest.mark.parametrize("n_states", [4, 12])
def test_the_same_bytes_for_all_threads(n_states, monkeypatch):
    model, codes = model_of(n_states, 5), codes_of(5, 140_001)
    offsets, state_labels = np.array([0, 100, 140_001]), np.arange(n_states, dtype=np.uint8) % 3
    segments = (np.array([5, 7_000, 90_000]), np.array([9, 7_001, 120_000]), np.array([0, 1, 2], np.uint8))
    found = set()
    for isa in _native.supported_isas():
        monkeypatch.setenv("TROPALIGN_ISA", isa)
        for n_threads in (1, 2, 5):
            parts = [
                _native.hmm_forward_codes(*model, codes, offsets, n_threads),
                *_native.hmm_posteriors_codes(*model, codes, offsets, n_threads),
                *_native.hmm_counts_codes(*model, codes, offsets, n_threads),
                *_native.hmm_labels(*model, codes, offsets, state_labels, n_threads),
                *_native.hmm_support(*model, codes, offsets, state_labels, *segments, n_threads),
            ]
            found.add(b"".join(part.tobytes() for part in parts))
    assert len(found) == 1


def test_counts_for_all_threads_and_sequences_in_a_batch():
    """Sums of several stretches without words, by one thread and by all."""
    model, codes = model_of(150, 5), codes_of(5, 15_000)
    found = [_native.hmm_counts_codes(*model, codes, np.array([0, 15_000]), n_threads) for n_threads in (1, 3)]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*found, strict=True))
    model, codes = model_of(4, 5), codes_of(5, 2 * N)
    alone = [
        _native.hmm_forward_codes(*model, part, np.array([0, len(part)]), 2)[0] for part in (codes[:90], codes[90:])
    ]
    assert _native.hmm_forward_codes(*model, codes, np.array([0, 90, 2 * N]), 2).tolist() == alone


@pytest.mark.parametrize("where", ["first", "last", "within"])
def test_what_cannot_be_observed(where):
    start, transition, emission = model_of(4, 5)
    emission[:, 3] = 0
    codes = np.zeros(N, np.uint8)
    codes[{"first": 0, "last": N - 1, "within": 30_000}[where]] = 3
    offsets = np.array([0, N])
    model = (start, transition, emission, codes, offsets)
    assert _native.hmm_forward_codes(*model, 2)[0] == -np.inf
    posteriors, likelihood = _native.hmm_posteriors_codes(*model, 2)
    assert likelihood[0] == -np.inf and not posteriors.any()
    segments = (np.array([10]), np.array([20]), np.array([0], np.uint8))
    sums, likelihood = _native.hmm_support(*model, np.zeros(4, np.uint8), *segments, 2)
    assert likelihood[0] == -np.inf and sums[0] == 0


def test_support_of_few_segments():
    """Stretches without a segment are left out."""
    model, codes = model_of(5, 5), codes_of(5)
    offsets, state_labels = np.array([0, N]), np.array([0, 1, 1, 2, 0], np.uint8)
    begins, ends = np.array([4, 30_000, 69_000]), np.array([5, 47_000, N])
    labels = np.array([1, 0, 2], np.uint8)
    posteriors, _ = _native.hmm_posteriors_codes(*model, codes, offsets, 1)
    want = [posteriors[a:b, state_labels == k].sum() for a, b, k in zip(begins, ends, labels, strict=True)]
    sums, _ = _native.hmm_support(*model, codes, offsets, state_labels, begins, ends, labels, 2)
    np.testing.assert_allclose(sums, want, rtol=1e-11)


def test_hmmlearn_finds_the_same():
    from hmmlearn.hmm import CategoricalHMM

    start, transition, emission = model_of(8, 4)
    theirs = CategoricalHMM(8, init_params="")
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = start, transition, emission
    codes = codes_of(4)
    found = _native.hmm_forward_codes(start, transition, emission, codes, np.array([0, N]), 2)
    assert found == pytest.approx([theirs.score(codes[:, None].astype(int))], rel=1e-9)
