"""Large families in plain Python: longest common subsequences, distances from them, and posteriors of groups.

L(i, j) = L(i-1, j-1) + 1 where the letters match, else max(L(i-1, j), L(i, j-1))
distance = 1 - (L - E) / (shorter - E), at least 0 and at most 2, E = share(longer / shorter) * shorter
S(i, j) = sum over pairs (a, b) of w(a, b) S_ab(residue of a in column i, residue of b in column j) / sum of w(a, b)
"""

import math

import numpy as np


def common_subsequence(x, y, n_codes):
    """Length of the longest common subsequence; codes from n_codes on match nothing."""
    row = [0] * (len(y) + 1)
    for a in x:
        diagonal = 0
        for j, b in enumerate(y, 1):
            above = row[j]
            row[j] = diagonal + 1 if a == b and a < n_codes else max(above, row[j - 1])
            diagonal = above
    return row[-1]


def distance(common, m, n, share):
    """How far apart two sequences are."""
    shorter, longer = min(m, n), max(m, n)
    expected = float(share[min(31, math.floor(4 * math.log2(longer / shorter)))]) * shorter
    return 1 - min(1.0, max(-1.0, (common - expected) / (shorter - expected)))


def pooled(matrices, columns, n_rows, n_columns):
    """Posteriors of two groups from dense matrices of their pairs of members.

    columns: for each pair, the columns of the first sequence's residues and of the second's.
    """
    found = np.zeros((n_rows, n_columns))
    for matrix, (x, y) in zip(matrices, columns, strict=True):
        found[np.ix_(x, y)] += matrix
    return found / len(matrices)
