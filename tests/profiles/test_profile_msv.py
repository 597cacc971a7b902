"""SSV and MSV, to the last bit, against the plain recurrences and against HMMER's (through pyhmmer)."""

import gc

import numpy as np
import pyhmmer
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import hmmer, profile_bytes

from tropalign import _native
from tropalign.profiles.models import from_pyhmmer
from tropalign.profiles.proteins import BACKGROUND

F32, I32 = np.float32, np.int32
EVALUE = np.array([-8.5, 0.71, -9, 0.71, -4, 0.71], F32)
PER_EXAMPLE = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def block_of(targets):
    offsets = np.cumsum([0, *map(len, targets)])
    return _native.TargetBlock(np.concatenate([*targets, []]).astype(np.uint8), offsets)


def every(targets):
    return np.arange(len(targets), dtype=I32)


def random_model(M, rng, evalue=EVALUE, background=BACKGROUND):
    """A model in which each node prefers a residue, and the codes of these."""
    consensus = rng.integers(0, 20, M + 1)
    match = np.full((M + 1, 20), 0.3 / 19, F32)
    match[np.arange(M + 1), consensus] = 0.7
    match[rng.random((M + 1, 20)) < 0.02] = 0
    transitions = np.tile(np.array([0.98, 0.01, 0.01, 0.5, 0.5, 0.5, 0.5], F32), (M + 1, 1))
    model = _native.ProfileModel(match, transitions, background, background, evalue, b"x" * M)
    return model, consensus[1:].astype(np.uint8)


def random_target(L, consensus, rng):
    """Residues of all kinds, with pieces of the consensus: scores of every route, and overflows."""
    target = rng.integers(0, 29 if rng.random() < 0.2 else 20, L).astype(np.uint8)
    for _ in range(rng.integers(0, 4)):
        begin, at = rng.integers(0, len(consensus)), rng.integers(0, L + 1)
        piece = consensus[begin : begin + rng.integers(1, 80)][: L - at]
        target[at : at + len(piece)] = piece
    return target


def plain_scores(model, targets):
    return np.array([profile_bytes.score(model.byte_cost, model.byte_constants, t) for t in targets], F32)


def plainly_passed(scores, targets, order, F1, evalue=EVALUE):
    mu, lambda_ = map(float, evalue[:2])
    return [
        k
        for k in order.tolist()
        if len(targets[k]) and not profile_bytes.p_value(scores[k], len(targets[k]), mu, lambda_) > F1
    ]


@PER_EXAMPLE
@given(
    M=st.integers(1, 400), lengths=st.lists(st.integers(0, 400), min_size=1, max_size=12), seed=st.integers(0, 2**32)
)
def test_scores_are_the_plain_ones(M, lengths, seed, isa):
    rng = np.random.default_rng(seed)
    model, consensus = random_model(M, rng)
    targets = [random_target(L, consensus, rng) for L in lengths]
    expected = plain_scores(model, targets)
    block = block_of(targets)
    np.testing.assert_array_equal(_native.msv_scores(model, block, every(targets)), expected)
    np.testing.assert_array_equal(_native.msv_scores(model, block, block.by_length()), expected[block.by_length()])


@pytest.mark.parametrize("M", [1, 2, 16, 17, 40, 63, 64, 65, 100, 145, 300])
def test_every_arrangement_of_lanes(M, isa):
    """Targets alone are striped, those side by side have a lane each, where the model is short."""
    rng = np.random.default_rng(M)
    model, consensus = random_model(M, rng)
    targets = [random_target(L, consensus, rng) for L in rng.integers(90, 120, 150)]
    targets += [np.tile(consensus, 1 + 110 // M) for _ in range(70)]  # these are MSV's
    expected = plain_scores(model, targets)
    block = block_of(targets)
    order = block.by_length()
    alone = [_native.msv_scores(model, block, np.array([k], I32))[0] for k in every(targets)]
    np.testing.assert_array_equal(alone, expected)
    shuffled = rng.permutation(len(targets)).astype(I32)
    np.testing.assert_array_equal(_native.msv_scores(model, block, shuffled), expected[shuffled])
    for begin, end in [(0, len(targets)), (0, 64), (64, 192), (7, 9), (60, 70), (100, len(targets)), (5, 5)]:
        found = _native.msv_scores(model, block, order[begin:end])
        np.testing.assert_array_equal(found, expected[order[begin:end]])


@pytest.fixture(scope="module")
def routes():
    """Models of HMMER and the scores that it gives 500 proteins each: score, and SSV's (NaN where it has none)."""
    families = [hmmer.Family(n, seed=n) for n in (12, 45, 160, 320)]
    sequences = hmmer.digital(hmmer.database(families, 500, seed=3))
    sampled = [pyhmmer.plan7.HMM.sample(hmmer.AMINO, M, randomness=M) for M in (1, 3, 7, 20, 33, 70, 99, 128, 200, 260)]
    sampled += [pyhmmer.plan7.HMM.sample(hmmer.AMINO, M, randomness=M) for M in (400, 513, 777, 1200, 1537, 2405)]
    for hmm in sampled:
        hmm.set_composition()
    found = []
    for hmm in [family.hmm for family in families] + sampled:
        scores = [hmmer_scores(hmm, sequence) for sequence in sequences]
        found.append((from_pyhmmer(hmm), *zip(*scores, strict=True)))
    return found, [np.asarray(sequence.sequence) for sequence in sequences]


def hmmer_scores(hmm, sequence):
    background = pyhmmer.plan7.Background(hmmer.AMINO)
    profile = hmm.to_profile(background, L=100).to_optimized()
    profile.L = len(sequence)
    return F32(profile.msv_filter(sequence)), profile.ssv_filter(sequence)


def test_scores_are_those_of_hmmer(routes, isa):
    models, targets = routes
    assert len(models) * len(targets) >= 10_000
    block = block_of(targets)
    without_ssv = overflows = finite_overflows = 0
    for model, scores, ssv_scores in models:
        native = _native.ProfileModel(
            model.match, model.transitions, model.composition, BACKGROUND, model.evalue, b"x" * model.length
        )
        for order in (block.by_length(), np.random.default_rng(model.length).permutation(len(targets)).astype(I32)):
            np.testing.assert_array_equal(_native.msv_scores(native, block, order), np.array(scores, F32)[order])
        without_ssv += int(np.isnan(ssv_scores).sum())
        overflows += int(np.isinf(scores).sum())
        finite_overflows += int((np.isnan(ssv_scores) & np.isfinite(scores)).sum())
    assert min(without_ssv, overflows, finite_overflows) > 50


@pytest.mark.parametrize(("M", "L"), [(40, 100_000), (5000, 100_000), (5000, 99_999)])
def test_the_longest_targets(M, L, isa):
    """Where the length costs so much that SSV never has a score, too."""
    hmm = pyhmmer.plan7.HMM.sample(hmmer.AMINO, M, randomness=M)
    hmm.set_composition()
    codes = np.random.default_rng(L).choice(20, L, p=BACKGROUND / BACKGROUND.sum(dtype=float)).astype(np.uint8)
    text = "".join(hmmer.AMINO.symbols[code] for code in codes)
    (sequence,) = hmmer.digital([text])
    expected, ssv_score = hmmer_scores(hmm, sequence)
    assert np.isnan(ssv_score) == (M == 5000)
    assert _native.msv_scores(from_pyhmmer(hmm).native, block_of([codes]), np.zeros(1, I32))[0] == expected


@pytest.mark.parametrize("M", [3, 70])
@pytest.mark.parametrize("share", [1e-5, 2e-6])
def test_costs_beyond_what_ssv_can_tell(share, M, isa):
    """A residue of which the background has next to nothing makes a bias that no protein's model has."""
    background = BACKGROUND.copy()
    background[1] = share
    rng = np.random.default_rng(5)
    model, consensus = random_model(M, rng, background=background)
    assert model.byte_constants[0] > 30
    targets = [random_target(L, consensus, rng) for L in rng.integers(0, 50 if M == 3 else 200, 80)]
    expected = plain_scores(model, targets)
    block = block_of(targets)
    np.testing.assert_array_equal(_native.msv_scores(model, block, every(targets)), expected)
    passed, _ = _native.msv_filter(model, block, block.by_length(), 1e-30)
    assert passed.tolist() == plainly_passed(expected, targets, block.by_length(), 1e-30)


@pytest.mark.parametrize("F1", [0, 1e-300, 1e-9, 1e-3, 0.02, 0.5, 0.9, 0.9995, 1, 7])
def test_the_filter_is_the_test_of_p(F1, isa):
    for M in (9, 50, 130, 400):
        rng = np.random.default_rng(M)
        model, consensus = random_model(M, rng)
        targets = [random_target(L, consensus, rng) for L in rng.integers(0, 300, 400)]
        block = block_of(targets)
        scores = _native.msv_scores(model, block, every(targets))
        order = block.by_length()
        for chosen in (order, order[70:333], np.array(order[::3])):
            passed, nats = _native.msv_filter(model, block, chosen, F1)
            assert passed.tolist() == plainly_passed(scores, targets, chosen, F1)
            np.testing.assert_array_equal(nats, scores[passed])
            assert len(passed) or F1 < 1e-9 or len(chosen) < 200


@settings(max_examples=40)
@given(
    F1=st.sampled_from([0.0, 1e-5, 0.02, 0.7, 1.0]) | st.floats(0, 1),
    mu=st.floats(-60, 60, width=32),
    lambda_=st.floats(0.0625, 4, width=32) | st.sampled_from([-0.5, 0.0, 1e-6]),
)
def test_the_filter_with_any_calibration(F1, mu, lambda_):
    rng = np.random.default_rng(1)
    evalue = np.array([mu, lambda_, 0, 1, 0, 1], F32)
    model, consensus = random_model(25, rng, evalue)
    targets = [random_target(L, consensus, rng) for L in rng.integers(0, 200, 150)]
    block = block_of(targets)
    scores = _native.msv_scores(model, block, every(targets))
    finite = np.isfinite(scores)  # with a slope of 0 or less, P of infinity is not a number
    chosen = block.by_length() if lambda_ > 0 else np.array([k for k in block.by_length() if finite[k]], I32)
    passed, _ = _native.msv_filter(model, block, chosen, F1)
    assert passed.tolist() == plainly_passed(scores, targets, chosen, F1, evalue)


def test_a_block_is_in_order_of_length_and_keeps_its_arrays():
    block = block_of([[1, 2, 3], [], [4], [5], [6, 7]])
    gc.collect()
    order = block.by_length()
    assert order.tolist() == [1, 2, 3, 4, 0]
    assert block.n_targets == 5
    with pytest.raises(ValueError, match="read-only"):
        order[0] = 7
    del block
    gc.collect()
    assert order.tolist() == [1, 2, 3, 4, 0]


def test_an_empty_block():
    block = block_of([])
    model, _ = random_model(4, np.random.default_rng(0))
    assert len(_native.msv_scores(model, block, block.by_length())) == 0
    assert [len(part) for part in _native.msv_filter(model, block, block.by_length(), 0.5)] == [0, 0]
