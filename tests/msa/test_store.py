"""Which pairs a store of posteriors has."""

import numpy as np
import pytest
from posterior_stores import random_family, store_of

from tropalign import _native


@pytest.mark.parametrize("n", [2, 9, 2048, 2049])
def test_pairs_of_small_and_large_families(n):
    """Up to 2,048 sequences every pair has a place in a table; beyond, the pairs that are there are looked up."""
    rng = np.random.default_rng(n)
    store = _native.PosteriorStore(np.full(n, 2, np.int32))
    chosen = sorted({tuple(sorted(pair)) for pair in rng.integers(0, n, (50, 2)).tolist() if pair[0] != pair[1]})
    for k, (x, y) in enumerate(chosen):
        store.add(
            np.array([[x, y]], np.int32),
            np.ones(2, np.uint16),
            np.array([0, 1], np.uint16),
            np.full(2, k + 1, np.uint16),
        )
    assert store.n_pairs == len(chosen)
    for k, (x, y) in enumerate(chosen):
        assert store.has(x, y) and store.has(y, x)
        assert store.matrix(x, y)[2].tolist() == store.matrix(y, x)[2].tolist() == [k + 1] * 2
    for x, y in rng.integers(0, n, (200, 2)).tolist():
        assert store.has(x, y) == (tuple(sorted((x, y))) in chosen)
    assert not store.has(1, 1)


def test_a_pair_is_there_once():
    matrices = random_family(np.random.default_rng(1), [4, 5, 6])
    store = store_of([4, 5, 6], matrices)
    with pytest.raises(ValueError, match="already"):
        store.add(np.array([[1, 0]], np.int32), np.zeros(5, np.uint16), np.zeros(0, np.uint16), np.zeros(0, np.uint16))
    assert store.n_pairs == 3
