"""Consistency with dense matrices, straight from the formulas.

QuickProbs 1, formula 2 of Gudys and Deorowicz (2014): S'xy = ((wx + wy) Sxy + sum over z of wz Sxz Szy) / sum of all w.
QuickProbs 2 (2017): S'xy = (Sxy + sum over z of (wz / W) Sxz Szy) / (1 + sum over z of wz / W), where
W = (wx + wy) (1 + (h - 1) a / 200) for a self-weight h and a sequences z.
No element is new. Elements below a cutoff go afterwards.
"""

import numpy as np


def turned(matrices):
    """The matrices and their transposes."""
    return {**matrices, **{(y, x): matrix.T for (x, y), matrix in matrices.items()}}


def quickprobs1(matrices, weights):
    """One pass over {(x, y): matrix}, x < y, of all pairs of len(weights) sequences."""
    both = turned(matrices)
    relaxed = {}
    for (x, y), own in matrices.items():
        others = [z for z in range(len(weights)) if z not in (x, y)]
        total = (weights[x] + weights[y]) * own
        for z in others:
            total = total + weights[z] * both[x, z] @ both[z, y]
        relaxed[x, y] = np.where(own > 0, total / np.sum(weights), 0)
    return relaxed


def quickprobs2(matrices, weights, others_of, self_weight):
    """The same with the sequences z that others_of gives for a pair; a pair without any stays as it is."""
    both = turned(matrices)
    relaxed = {}
    for (x, y), own in matrices.items():
        others = others_of(x, y)
        own_weight = (weights[x] + weights[y]) * (1 + (self_weight - 1) * len(others) / 200)
        total, divisor = own, 1.0
        for z in others:
            total = total + weights[z] / own_weight * (both[x, z] @ both[z, y])
            divisor += weights[z] / own_weight
        relaxed[x, y] = np.where(own > 0, total / divisor, 0)
    return relaxed
