"""Consistency against dense matrices."""

import numpy as np
import pytest
from oracles import consistency

from tropalign import _native

ONE = 32767


def random_family(rng, lengths, density=0.2, is_missing=lambda x, y: False):
    """Values of random matrices {(x, y): uint16 (m, n)} near the diagonal."""
    made = {}
    for x, m in enumerate(lengths):
        for y in range(x + 1, len(lengths)):
            if not is_missing(x, y):
                n = lengths[y]
                values = rng.integers(1, ONE // 3, (m, n)) * (rng.random((m, n)) < density)
                made[x, y] = values.astype(np.uint16)
    return made


def add_matrices(store, matrices):
    for (x, y), matrix in matrices.items():
        rows, columns = np.nonzero(matrix)
        sizes = np.bincount(rows, minlength=len(matrix)).astype(np.uint16)
        store.add(np.array([[x, y]], np.int32), sizes, columns.astype(np.uint16), matrix[rows, columns])


def dense(store, x, y, shape):
    starts, columns, values = store.matrix(x, y)
    made = np.zeros(shape, np.uint16)
    made[np.repeat(np.arange(shape[0]), np.diff(starts.astype(int))), columns] = values
    return made


def store_of(lengths, matrices):
    store = _native.PosteriorStore(np.array(lengths, np.int32))
    add_matrices(store, matrices)
    return store


def test_rows_and_their_transposes():
    lengths = [5, 1, 0, 9]
    matrices = random_family(np.random.default_rng(1), lengths, 0.5)
    store = store_of(lengths, matrices)
    for (x, y), matrix in matrices.items():
        np.testing.assert_array_equal(dense(store, x, y, matrix.shape), matrix)
        np.testing.assert_array_equal(dense(store, y, x, matrix.T.shape), matrix.T)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_all_sequences_between(n_threads):
    rng = np.random.default_rng(2)
    lengths = [30, 1, 25, 40, 31, 7]
    matrices = random_family(rng, lengths)
    weights = rng.random(len(lengths))
    store = store_of(lengths, matrices)
    store.relax(weights, np.zeros(len(lengths), np.int32), 0.0, 0.01, n_threads)
    exact = consistency.quickprobs1({pair: m / ONE for pair, m in matrices.items()}, weights, 0.01)
    for pair, matrix in exact.items():
        found = dense(store, *pair, matrix.shape) / ONE
        clear = abs(matrix - 0.01) > 1e-4
        np.testing.assert_allclose(found[clear], matrix[clear], atol=1e-4)
