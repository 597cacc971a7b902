"""Random families: posteriors of pairs as matrices, and a store of them."""

import numpy as np
from oracles.progressive import ONE

from tropalign import _native


def random_family(rng, lengths, density=0.3, missing=0.0):
    """{(x, y): int64 matrix}, x < y: high values near the diagonal, low ones beside it, most of them 0.

    `missing` is the share of pairs without a matrix.
    """
    made = {}
    for x, m in enumerate(lengths):
        for y in range(x + 1, len(lengths)):
            n = lengths[y]
            if rng.random() < missing:
                continue
            apart = np.abs(np.arange(m)[:, None] / m - np.arange(n)[None, :] / n) * max(m, n)
            values = rng.integers(0, ONE + 1, (m, n)) * np.exp(-apart)
            made[x, y] = np.where(rng.random((m, n)) < density, values, 0).astype(np.int64)
    return made


def sparse(matrix):
    """A matrix as a store takes it: sizes of rows, columns and values of what is not 0."""
    rows, columns = np.nonzero(matrix)
    sizes = np.bincount(rows, minlength=len(matrix)).astype(np.uint16)
    return sizes, columns.astype(np.uint16), matrix[rows, columns].astype(np.uint16)


def store_of(lengths, matrices):
    """The store that holds just these."""
    store = _native.PosteriorStore(np.array(lengths, np.int32))
    for pair, matrix in matrices.items():
        store.add(np.array([pair], np.int32), *sparse(matrix))
    return store
