"""Gap and base as two states along a branch: Q = [[-g, g], [1 - g, g - 1]], P(t) = exp(Q t)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Matrix = list[list[float]]


def exact(share: float, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """P of each length in closed form, float64, shape (n, 4): from base to base and gap, from gap to base and gap.

    Parameters
    ----------
    share
        g, the share of gaps.
    """
    moved = -np.expm1(-lengths)
    to_gap, to_base = share * moved, (1 - share) * moved
    return np.stack([1 - to_gap, to_gap, to_base, 1 - to_base], axis=1)


def compatible(share: float, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same through eigenvectors, in the order of JAMA's operations (NIST, public domain), as PaPaRa 2 computes it.

    On branches of length 0 the result is the identity but for its last bits, and these decide flags there.
    """
    values, vectors = _eigen([[-share, share], [1 - share, -(1 - share)]])
    inverse = _inverse(vectors)
    out = np.empty((len(lengths), 4))
    for k, length in enumerate(lengths.tolist()):
        grown = [math.exp(value * length) for value in values]
        scaled = [[vectors[i][j] * grown[j] for j in range(2)] for i in range(2)]
        out[k] = [scaled[i][0] * inverse[0][j] + scaled[i][1] * inverse[1][j] for i in range(2) for j in range(2)]
    return out


def _eigen(h: Matrix) -> tuple[list[float], Matrix]:
    """Eigenvalues and eigenvectors of a 2 x 2 matrix with real ones (JAMA's hqr2; EISPACK)."""
    h = [row[:] for row in h]
    v = [[1.0, 0.0], [0.0, 1.0]]
    norm = sum(abs(h[i][j]) for i in range(2) for j in range(max(i - 1, 0), 2))
    epsilon = 2.0**-52
    w = h[1][0] * h[0][1]
    p = (h[0][0] - h[1][1]) / 2.0
    q = p * p + w
    z = math.sqrt(abs(q))
    x = h[1][1]
    z = p + z if p >= 0 else p - z
    values = [x + z, x + z]
    if z != 0.0:
        values[1] = x - w / z
    x = h[1][0]
    s = abs(x) + abs(z)
    p, q = x / s, z / s
    r = math.sqrt(p * p + q * q)
    p, q = p / r, q / r
    for j in range(2):
        z = h[0][j]
        h[0][j], h[1][j] = q * z + p * h[1][j], q * h[1][j] - p * z
    for matrix in (h, v):
        for i in range(2):
            z = matrix[i][0]
            matrix[i][0], matrix[i][1] = q * z + p * matrix[i][1], q * matrix[i][1] - p * z
    # Back substitution, from the last column.
    h[1][1] = 1.0
    w = h[0][0] - values[1]
    r = h[0][1] * h[1][1]
    h[0][1] = -r / w if w != 0.0 else -r / (epsilon * norm)
    h[0][0] = 1.0
    for j in (1, 0):
        for i in range(2):
            v[i][j] = sum(v[i][k] * h[k][j] for k in range(j + 1))
    return values, v


def _inverse(a: Matrix) -> Matrix:
    """By LU decomposition with partial pivoting (JAMA)."""
    swap = abs(a[1][0]) > abs(a[0][0])
    lu = [a[1][:], a[0][:]] if swap else [a[0][:], a[1][:]]
    lu[1][0] /= lu[0][0]
    lu[1][1] -= lu[1][0] * lu[0][1]
    x = [[0.0, 1.0], [1.0, 0.0]] if swap else [[1.0, 0.0], [0.0, 1.0]]
    for j in range(2):
        x[1][j] -= x[0][j] * lu[1][0]
        x[1][j] /= lu[1][1]
        x[0][j] -= x[1][j] * lu[0][1]
        x[0][j] /= lu[0][0]
    return x
