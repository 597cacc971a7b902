"""A model's tables, to the last bit, against the plain ones and against HMMER's (through pyhmmer)."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pyhmmer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import profile_tables

from tropalign import _native
from tropalign.profiles.models import from_pyhmmer
from tropalign.profiles.proteins import BACKGROUND, EASEL_CODES, LETTERS, encode

AMINO = pyhmmer.easel.Alphabet.amino()
PLAIN_BACKGROUND = pyhmmer.plan7.Background(AMINO)


def native(match, transitions, composition):
    return _native.ProfileModel(
        match, transitions, composition, BACKGROUND, np.zeros(6, np.float32), b"x" * (len(match) - 1)
    )


def assert_same_tables(model, expected):
    for name, table in expected.items():
        found = getattr(model, name)
        if name == "byte_constants":
            assert found == table
        else:
            assert found.dtype == table.dtype and found.shape == table.shape
            np.testing.assert_array_equal(found, table, err_msg=name)


def probabilities(rng, n, size):
    rows = rng.gamma(0.3, size=(n, size)).astype(np.float32)
    return rows / rows.sum(axis=1, keepdims=True)


def random_model(M, seed):
    rng = np.random.default_rng(seed)
    transitions = np.concatenate([probabilities(rng, M + 1, n) for n in (3, 2, 2)], axis=1)
    return probabilities(rng, M + 1, 20), transitions, probabilities(rng, 1, 20)[0]


@pytest.mark.parametrize("M", [1, 2, 3, 17, 100])
def test_tables_are_the_plain_ones(M):
    model = random_model(M, seed=M)
    assert_same_tables(native(*model), profile_tables.tables(*model, BACKGROUND))


@settings(max_examples=60)
@given(
    hnp.arrays(np.float32, (4, 20), elements=st.sampled_from([0, 1e-41, 1e-38, 1e-30, 1e-9, 0.02, 0.4, 1])),
    hnp.arrays(np.float32, (4, 7), elements=st.sampled_from([0, 1e-41, 1e-9, 0.1, 0.5, 1])),
)
def test_tables_of_odd_probabilities(match, transitions):
    """Sums above 1 are refused when models are read; products stay above what is flushed to zero."""
    transitions[0, :2] = 0.5  # the model can be entered
    for group in (slice(0, 3), slice(3, 5), slice(5, 7)):
        transitions[:, group] /= np.maximum(transitions[:, group].sum(1, keepdims=True), 1)
    flushed = [np.where(p < np.finfo(np.float32).tiny, np.float32(0), p) for p in (match, transitions, match[1])]
    with np.errstate(all="ignore"):
        expected = profile_tables.tables(*flushed, BACKGROUND)
    assert_same_tables(native(match, transitions, match[1]), expected)


@pytest.mark.parametrize("M", [1, 4, 5, 16, 33, 150])
def test_tables_are_those_of_hmmer(M):
    hmm = pyhmmer.plan7.HMM.sample(AMINO, M, randomness=M)
    hmm.set_composition()
    model = from_pyhmmer(hmm).native
    profile = hmm.to_profile(PLAIN_BACKGROUND, L=100).to_optimized()
    assert model.byte_constants == (profile.bias_b, profile.tbm, profile.tec)
    np.testing.assert_array_equal(model.byte_cost[:, 1:], unstriped(profile.rbv, 16, M))
    np.testing.assert_array_equal(model.match_odds[:, 1:], unstriped(profile.rfv, 4, M))
    n_registers = max(2, -(-M // 4))
    odds = np.asarray(profile.tfv).reshape(-1, 4)[: 8 * n_registers]
    ahead = odds[: 7 * n_registers].reshape(n_registers, 7, 4).transpose(1, 2, 0).reshape(7, -1)
    np.testing.assert_array_equal(model.transitions[:7, 1:], ahead[:, :M])
    np.testing.assert_array_equal(model.transitions[7, 1:], odds[7 * n_registers :].T.reshape(-1)[:M])


def unstriped(table, n_lanes, M):
    """Rows in the order of nodes: lane z of register q holds node z * n_registers + q + 1."""
    n_registers = max(2, -(-M // n_lanes))
    rows = np.asarray(table)[:, : n_registers * n_lanes].reshape(29, n_registers, n_lanes)
    return rows.transpose(0, 2, 1).reshape(29, -1)[:, :M]


def test_the_background_is_that_of_hmmer():
    np.testing.assert_array_equal(BACKGROUND, np.asarray(PLAIN_BACKGROUND.residue_frequencies))


def test_codes_are_those_of_easel():
    assert AMINO.symbols == LETTERS
    for letter in LETTERS + LETTERS.lower():
        if letter != "-":
            expected = AMINO.encode(letter)[0]
            assert encode(np.frombuffer(letter.encode(), np.uint8))[0] == expected
    assert [EASEL_CODES[ord(c)] for c in "._-1@ "] == [20, 20, 20, 255, 255, 255]


def test_tables_stay_as_they_are():
    model = native(*random_model(3, seed=0))
    for name in ("match_odds", "transitions", "byte_cost", "word_match", "word_transitions", "composition_odds"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 0
