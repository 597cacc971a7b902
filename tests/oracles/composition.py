"""Scores scaled by composition in plain Python: lambda by bisection, the alignment by the recurrence over fractions."""

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


def scaled_score(query, target, scores, gap_open, gap_extend, residues, average):
    """The score by rho times the matrix and the same gap costs, rounded, and no higher than the raw one."""
    factor = rho(query, target, scores, residues, average)
    whole = np.asarray(scores) * factor.numerator
    costs = factor.denominator * gap_open, factor.denominator * gap_extend
    found = Fraction(pairwise.align(query, target, whole, *costs).score, factor.denominator)
    return min(round(found), pairwise.align(query, target, scores, gap_open, gap_extend).score)
