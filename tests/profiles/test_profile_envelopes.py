"""Envelopes beside the plain oracle and the domains that HMMER reports (through pyhmmer): scores to the last bit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.envelopes import Rescored
from oracles.hmmer import LETTERS, Family, digital
from pyhmmer.plan7 import Pipeline

from tropalign import _native
from tropalign.profiles.building import denormals_as_zero
from tropalign.profiles.models import from_pyhmmer
from tropalign.profiles.proteins import BACKGROUND

F = np.float32
BITS_PER_NAT = 1.44269504088896341  # pyhmmer turns HMMER's floats into bits in double


class RandomModel:
    """Emissions as sharp as asked for, any transitions, some of them impossible."""

    def __init__(self, M, rng, sharpness, impossible, deletes=None):
        self.match = rng.dirichlet(np.full(20, sharpness), M + 1).astype(F)
        t = np.hstack([rng.dirichlet(a, M + 1) for a in (rng.choice([1, 8]) * np.array([1, 0.3, 0.3]), [1, 1], [1, 1])])
        t[rng.random(t.shape) < impossible] = 0
        t[0, 0] = 0.5
        if deletes is not None:
            t[:, 2], t[:, 6] = 0.2, deletes
        self.consensus = "".join(rng.choice([*LETTERS, *"acdefghiklmnpqrstvwyX"], M))
        evalue = np.array([-8, 0.7, -9, 0.7, -4, 0.7], F)
        self.native = _native.ProfileModel(
            self.match, t.astype(F), np.full(20, 0.05, F), BACKGROUND, evalue, self.consensus.encode()
        )

    def target(self, n, rng):
        """Codes of n residues, most of them like parts of the model."""
        codes = []
        while len(codes) < n:
            codes += list(rng.integers(0, 29 if rng.random() < 0.3 else 20, rng.integers(0, 6)))
            begin = rng.integers(1, len(self.match))
            codes += list(self.match[begin : rng.integers(begin, len(self.match)) + 1].argmax(1))
        codes = np.array(codes[:n], np.uint8)
        worn = rng.random(n) < 0.15
        codes[worn] = rng.integers(0, 20, worn.sum())
        return codes

    def expected(self, codes, begin, end):
        with denormals_as_zero(), np.errstate(all="ignore"):
            odds, transitions = np.asarray(self.native.match_odds), np.asarray(self.native.transitions)
            return Rescored(odds, transitions, self.consensus, codes[begin:end], len(codes))


def block_of(targets):
    return _native.TargetBlock(np.concatenate(targets), np.append(0, np.cumsum([len(target) for target in targets])))


def whole(targets):
    return np.array([(k, 0, len(target)) for k, target in enumerate(targets)], np.int32)


def assert_same(found, expected, begin):
    for name, value in [
        ("envelope_nats", expected.nats),
        ("expected_accuracy", expected.accuracy),
        ("correction_nats", expected.correction),
        ("begin", expected.begin + begin),
        ("end", expected.end + begin),
        ("model_begin", expected.model_begin),
        ("model_end", expected.model_end),
    ]:
        assert found[name] == value, name
    assert np.array_equal(found["null2"], expected.null2)
    for name in ("model_line", "match_line", "target_line", "posterior_line"):
        assert found[name].decode() == getattr(expected, name)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    M=st.sampled_from([1, 2, 3, 4, 5, 7, 8, 9, 16, 23, 33, 101]),
    sharpness=st.sampled_from([0.02, 0.1, 0.5]),
    impossible=st.sampled_from([0, 0.05, 0.3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_envelopes(isa, M, sharpness, impossible, seed):
    rng = np.random.default_rng(seed)
    model = RandomModel(M, rng, sharpness, impossible)
    targets = [model.target(n, rng) for n in rng.integers(1, 60, 5)]
    envelopes = whole(targets)
    for k in (1, 3):
        envelopes[k, 1] = rng.integers(0, envelopes[k, 2])
        envelopes[k, 2] = rng.integers(envelopes[k, 1], envelopes[k, 2]) + 1
    for (k, begin, end), found in zip(
        envelopes, _native.testing.rescore_envelopes(model.native, block_of(targets), envelopes), strict=True
    ):
        if not found["is_dropped"]:
            assert_same(found, model.expected(targets[k], begin, end), begin)
        else:  # HMMER stops where no path has a probability, as between 100 impossible steps
            assert not np.isfinite(found["envelope_nats"])


def test_long_deletions(isa):
    """Over more than one border between quarters of the model."""
    rng = np.random.default_rng(6)
    model = RandomModel(40, rng, 0.004, 0, deletes=0.95)
    best = model.match[1:].argmax(1).astype(np.uint8)
    targets = [np.concatenate([best[:a], best[b:]]) for a, b in ((4, 36), (2, 15), (15, 28), (8, 24))]
    for target, found in zip(
        targets, _native.testing.rescore_envelopes(model.native, block_of(targets), whole(targets)), strict=True
    ):
        assert_same(found, model.expected(target, 0, len(target)), 0)
        assert found["target_line"].count(b"-") == 40 - len(target)


def test_of_equal_nodes_a_path_ends_with_the_last_one(isa):
    # In the order of quads: 1, 3, 5, then 2, 4. All nodes are as likely to begin and to end with.
    t = np.zeros((6, 7), F)
    t[:, 0] = 1
    evalue = np.array([-8, 0.7, -9, 0.7, -4, 0.7], F)
    model = _native.ProfileModel(np.full((6, 20), 0.05, F), t, np.full(20, 0.05, F), BACKGROUND, evalue, b"acdef")
    (found,) = _native.testing.rescore_envelopes(model, block_of([np.zeros(1, np.uint8)]), whole([[0]]))
    assert (found["model_begin"], found["model_end"]) == (3, 4)


def test_backward_may_have_scales_of_its_own(isa):
    # Several strong domains in one envelope, of which only one may be there.
    rng = np.random.default_rng(3)
    model = RandomModel(25, rng, 0.004, 0)
    best = model.match[1:].argmax(1).astype(np.uint8)
    targets = [np.concatenate([best, rng.integers(0, 20, n, np.uint8)] * 5) for n in (0, 1, 5, 30)]
    targets.append(rng.integers(0, 20, 120, np.uint8))  # its lane goes on with Forward's
    own_scales = []
    for target, found in zip(
        targets, _native.testing.rescore_envelopes(model.native, block_of(targets), whole(targets)), strict=True
    ):
        expected = model.expected(target, 0, len(target))
        assert_same(found, expected, 0)
        own_scales.append(expected.own_scales)
    assert own_scales[0] and not own_scales[-1]


def test_numbers_beyond_all_scales_drop_an_envelope(isa):
    rng = np.random.default_rng(4)
    model = RandomModel(80, rng, 0.004, 0)
    best = model.match[1:].argmax(1).astype(np.uint8)
    targets = [np.tile(best, 4), best]
    repeats, one = _native.testing.rescore_envelopes(model.native, block_of(targets), whole(targets))
    assert model.expected(targets[0], 0, len(targets[0])).is_dropped
    assert repeats["is_dropped"]
    assert not repeats["target_line"]
    assert_same(one, model.expected(best, 0, 80), 0)


@pytest.mark.parametrize(
    ("M", "lengths"), [(30, range(1, 90, 7)), (130, [5, 300, 301, 299, 40]), (700, [1900, 1800] * 2)]
)
def test_company_changes_nothing(M, lengths, isa):
    """700 nodes: four such envelopes would take more memory side by side than units may."""
    rng = np.random.default_rng(M)
    model = RandomModel(M, rng, 0.5, 0.001)
    targets = [model.target(n, rng) for n in lengths]
    block, envelopes = block_of(targets), whole(targets)
    together = _native.testing.rescore_envelopes(model.native, block, envelopes)
    turned = _native.testing.rescore_envelopes(model.native, block, envelopes[::-1].copy())[::-1]
    alone = [_native.testing.rescore_envelopes(model.native, block, envelopes[[k]])[0] for k in range(len(targets))]
    for results in zip(together, turned, alone, strict=True):
        without_null2 = [{name: x for name, x in result.items() if name != "null2"} for result in results]
        assert without_null2[0] == without_null2[1] == without_null2[2]
        assert np.array_equal(results[0]["null2"], results[1]["null2"])
        assert np.array_equal(results[0]["null2"], results[2]["null2"])


def test_null2_is_left_out_where_it_is_not_wanted(isa):
    rng = np.random.default_rng(5)
    model = RandomModel(12, rng, 0.1, 0)
    targets = [model.target(40, rng)]
    with_null2, without = (
        _native.testing.rescore_envelopes(model.native, block_of(targets), whole(targets), wanted)[0]
        for wanted in (True, False)
    )
    assert with_null2["null2"].any()
    assert not without["null2"].any()
    assert without["correction_nats"] == 0
    assert without["target_line"] == with_null2["target_line"]


@pytest.mark.parametrize(("M", "n"), [(6, 9), (21, 15), (99, 15), (100, 12), (263, 9)])
def test_domains_are_those_of_hmmer(M, n, isa):
    family = Family(M, seed=M)
    rng = np.random.default_rng(M)
    texts = [
        "".join("".join(rng.choice(LETTERS, rng.integers(1, 90))) + family.member(0.6) for _ in range(1 + k % 3))
        for k in range(n)
    ]
    targets = digital([text[:7] + "X" + text[7:] for text in texts])
    pipeline = Pipeline(targets.alphabet, F1=1, F2=1, F3=1, E=1e9, domE=1e9, bias_filter=False)
    with denormals_as_zero():
        hits = pipeline.search_hmm(family.hmm, targets)
    domains = [(int(hit.name), domain) for hit in hits for domain in hit.domains]
    assert len(domains) >= n
    envelopes = np.array([(k, domain.env_from - 1, domain.env_to) for k, domain in domains], np.int32)
    block = block_of([np.asarray(target.sequence) for target in targets])
    results = _native.testing.rescore_envelopes(from_pyhmmer(family.hmm).native, block, envelopes)
    corrected = 0
    for (_, domain), found in zip(domains, results, strict=True):
        alignment = domain.alignment
        assert not found["is_dropped"]
        assert found["envelope_nats"] * BITS_PER_NAT == domain.envelope_score
        assert (found["begin"] + 1, found["end"]) == (alignment.target_from, alignment.target_to)
        assert (found["model_begin"] + 1, found["model_end"]) == (alignment.hmm_from, alignment.hmm_to)
        assert found["model_line"].decode() == alignment.hmm_sequence
        assert found["match_line"].decode() == alignment.identity_sequence
        assert found["target_line"].decode() == alignment.target_sequence
        assert found["posterior_line"].decode() == alignment.posterior_probabilities
        corrected += found["correction_nats"] * BITS_PER_NAT == domain.correction
    assert corrected >= len(domains) // 6  # the others' null2 came from stochastic traces
