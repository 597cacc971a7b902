"""One short sequence per call goes a shorter way: it is read as one of a batch is, and refused with the same words."""

import numpy as np
import pytest

import tropalign
from tropalign.decoding.model_base import FEWEST_SUMS
from tropalign.decoding.observations import FEW
from tropalign.errors import InputError, UsageError

RNG = np.random.default_rng(3)


def model_of(n_symbols, **words):
    emission = RNG.dirichlet(np.ones(n_symbols), 3)
    return tropalign.HMM([0.2, 0.3, 0.5], RNG.dirichlet(np.ones(3), 3), emission, **words)


COINS, LETTERS, WIDE = model_of(2), model_of(4, symbols="ACGT", missing="N"), model_of(300)
CODES = RNG.integers(0, 2, 40)
LONG = RNG.integers(0, 2, FEW + 40)


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        *((LETTERS, text) for text in ("ACGTNacgtnUu", "", "A", b"ACGT", "ACGT" * FEW)),
        *((COINS, CODES.astype(dtype)) for dtype in (np.uint8, np.int8, np.int64, np.uint64)),
        *((COINS, LONG.astype(dtype)) for dtype in (np.uint8, np.int64)),
        (COINS, CODES[::-2].astype(np.uint8)),
        (COINS, np.zeros(0, np.uint8)),
        (COINS, np.where(CODES, -1, 0)),
        (COINS, np.where(LONG, -1, 0)),
        (COINS, RNG.normal(-3, 1, (40, 3))),
        (COINS, np.full((2, 3), -np.inf)),
        (COINS, np.zeros((0, 3))),
        (WIDE, RNG.integers(-1, 300, 40)),
    ],
)
def test_alone_as_in_a_batch(model, seen):
    path, score = model.viterbi(seen)
    (paths,), (best,) = model.viterbi([seen])
    assert path.tolist() == paths.tolist() and score == best and len(path) == len(seen)
    assert model.forward(seen) == model.forward([seen])[0]
    assert model.posterior(seen).tolist() == model.posterior([seen])[0].tolist()


@pytest.mark.parametrize(
    ("model", "seen", "what"),
    [
        (LETTERS, "ACX", "'X' at position 3 is not a symbol"),
        (LETTERS, "AC\xff", "'\xff' at position 3 is not a symbol"),
        (LETTERS, "AC\u0394", "'\u0394' at position 3 is not a symbol"),
        (COINS, "01", "the symbols of the model are not letters"),
        (COINS, np.array([0, 2], np.uint8), "code 2 at position 1 is outside 0 to 1"),
        (COINS, np.array([0, 258]), "code 258 at position 1"),
        (COINS, np.array([0, -2]), "code -2 at position 1"),
        (COINS, np.array([0.0, 1.0]), "an array of float64 of shape"),
        (COINS, np.array([True, False]), "an array of bool of shape"),
        (COINS, np.zeros((2, 2)), "frames have 2 columns, but the model has 3 states"),
        (COINS, np.full((2, 3), np.nan), "the score nan of position 0 in state 0"),
        (COINS, np.ma.masked_less([0, 1], 1), "observations are a masked array"),
        (WIDE, np.array([300]), "code 300 at position 0 is outside 0 to 299"),
    ],
)
def test_what_is_wrong_with_it(model, seen, what):
    for given in (seen, [seen]):
        with pytest.raises(InputError, match=what):
            model.viterbi(given)


def test_what_is_read_is_not_what_was_given():
    """Codes are copied or left alone: nothing writes to the caller's."""
    codes, frames = CODES.astype(np.uint8), RNG.normal(-3, 1, (40, 3))
    kept = codes.copy(), frames.copy()
    COINS.viterbi(codes), COINS.posterior(codes), COINS.forward(frames), COINS.posterior(frames)
    assert (codes == kept[0]).all() and (frames == kept[1]).all()


@pytest.mark.parametrize("n", [40, FEWEST_SUMS])
def test_numbers_of_threads(n):
    """Few sums ask for no threads; a number that is none is refused for them, too."""
    text = "ACGT" * (n // 4)
    path, score = LETTERS.viterbi(text)
    for n_threads in (1, 3):
        again, same = LETTERS.viterbi(text, n_threads=n_threads)
        assert again.tolist() == path.tolist() and same == score
    for wrong in (-1, 1.5, False, None):
        with pytest.raises(UsageError, match="n_threads"):
            LETTERS.viterbi(text, n_threads=wrong)
