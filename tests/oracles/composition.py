"""Scores that know composition in plain Python: lambda by bisection, matrices by a solver of equations."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp

import numpy as np

from oracles import pairwise


def rho(query, target, scores, residues, average):
    """lambda of two sequences over that of average ones, in 64ths from 1/2 to 1.

    Parameters
    ----------
    query, target : sequence of int
        Codes, indices into `scores`.
    residues : sequence of int
        Codes that count.
    average
        lambda of average sequences.
    """
    p, q = (Counter(code for code in letters if code in residues) for letters in (query, target))
    total = p.total() * q.total()
    terms = [(p[a] * q[b] / total, float(scores[a][b])) for a in p for b in q]
    if sum(chance * score for chance, score in terms) >= 0:
        return Fraction(1, 2)
    low, high = 0.0, 2 * average
    for _ in range(100):
        middle = (low + high) / 2
        is_below = sum(chance * exp(middle * score) for chance, score in terms) < 1
        low, high = (middle, high) if is_below else (low, middle)
    return Fraction(min(max(round(64 * low / average), 32), 64), 64)


def corrected_score(query, target, scores, gap_open, gap_extend, residues, average):
    """The score by rho times the matrix and the same gap costs, rounded, and no higher than the raw one."""
    factor = rho(query, target, scores, residues, average)
    whole = np.asarray(scores) * factor.numerator
    costs = factor.denominator * gap_open, factor.denominator * gap_extend
    found = Fraction(pairwise.align(query, target, whole, *costs).score, factor.denominator)
    return min(round(found), pairwise.align(query, target, scores, gap_open, gap_extend).score)


def adjusted_matrix(query, target, scores, codes, shares, average, entropy, pseudocounts=20):
    """Scores of residues as floats, shape (n, n), for the composition of two sequences (Yu and Altschul 2005).

    Frequencies x_ij = exp(a_i + b_j + gamma lambda s_ij) with the compositions as sums of rows and of columns, and the
    entropy, by a solver of nonlinear equations.

    Parameters
    ----------
    codes, shares
        Residues and how frequent each is on average.
    average, entropy
        Nats per unit of score, and per pair of residues.
    """
    from scipy.optimize import root

    n = len(codes)
    p, q = (
        np.array([letters.count(code) + pseudocounts * share for code, share in zip(codes, shares, strict=True)])
        for letters in (list(query), list(target))
    )
    p, q = p / p.sum(), q / q.sum()
    nats = average * np.asarray(scores, float)[np.ix_(codes, codes)]

    def odds(unknown):
        rows, columns, gamma = unknown[:n], np.append(unknown[n:-1], 0.0), unknown[-1]
        return rows[:, None] + columns + gamma * nats

    def excess(unknown, wanted):
        x = np.exp(odds(unknown)) * np.outer(p, q)
        return [*(x.sum(1) / p - 1), *(x.sum(0) / q - 1)[:-1], (x * odds(unknown)).sum() - wanted]

    unknown = np.append(np.zeros(2 * n - 1), 0.3)
    for share in np.linspace(0.1, 1, 10):  # from nearby, where the solver finds its way
        found = root(excess, unknown, share * entropy, tol=1e-13)
        unknown = found.x
    assert np.abs(found.fun).max() < 1e-9
    return odds(unknown) / average


def adjusted_score(query, target, scores, gap_open, gap_extend, codes, shares, average, entropy):
    """The score by the adjusted matrix in 32nds, rounded; other letters keep their scores."""
    whole = 32 * np.asarray(scores, np.int64)
    whole[np.ix_(codes, codes)] = np.rint(
        32 * adjusted_matrix(query, target, scores, codes, shares, average, entropy)
    ).astype(np.int64)
    found = pairwise.align(query, target, whole.tolist(), 32 * gap_open, 32 * gap_extend).score
    return round(Fraction(found, 32))
