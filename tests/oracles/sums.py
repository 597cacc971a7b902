"""Sum statistics straight from Karlin and Altschul 1993, and sets of alignments by trial of all of them."""

from itertools import combinations, pairwise
from math import exp, factorial, inf, log, log1p

import numpy as np
from scipy.integrate import quad
from scipy.special import gammainc


def tail(r, x, step=0.02, reach=60.0):
    """P_r(x) for r of 2 or more: their double integral, by the trapezoidal rule in both directions."""
    y = np.arange(0, x + reach if x > 0 else reach, step)
    t = np.arange(x, max(x, 0) + reach, step)
    weights = np.full(len(y), step)
    weights[[0, -1]] /= 2
    inner = np.array([(weights * y ** (r - 2) * np.exp(-np.exp((y - one) / r))).sum() for one in t])
    values = np.exp(-t) * inner / (factorial(r) * factorial(r - 2))
    return float(step * (values.sum() - values[[0, -1]].sum() / 2))


def simulated(r, n, rng):
    """Sums of the r best normalised scores of n pairs of random sequences: points of a Poisson process."""
    return -np.log(rng.exponential(size=(n, r)).cumsum(axis=1)).sum(axis=1)


def expectation(r, x):
    """-ln(1 - P_r(x)), with the inner integral over t in place of that over y: far faster than `tail`."""
    if r == 1:
        return exp(-x)
    parts = sorted({0.0, max(x - 6 * r, 0.0), max(x, 0.0) + 6 * r, max(x, 0.0) + 200.0})

    def inner(y):
        return y ** (r - 2) * exp(-y) * gammainc(r, exp(min((y - x) / r, 700))) / factorial(r - 2)

    chance = sum(quad(inner, a, b, epsabs=0, limit=200)[0] for a, b in pairwise(parts))
    return -log1p(-min(chance, 1 - 1e-12))


def may_follow(before, after, gaps):
    """Whether one (query begin, query end, target begin, target end, ...) may come behind another."""
    for side, gap in zip((0, 2), gaps, strict=True):
        if after[side] <= before[side] or after[side + 1] <= before[side + 1]:
            return False
        if not -9 <= after[side] - before[side + 1] <= gap:
            return False
    return True


def set_evalue(scores, places, lengths, space, share=1.0):
    """E-value of a set by its normalised scores; `places` None for any gaps, else g g'."""
    r, pair = len(scores), lengths[0] * lengths[1]
    if places is None:
        total = sum(scores) - r * log(pair) + log(factorial(r))
    else:
        total = sum(scores) - log(pair) - (r - 1) * log(places) - log(factorial(r))
    return expectation(r, total) * space / pair / (0.9 * 0.1 ** (r - 1)) / share


def sets(rows, rules, lengths, space):
    """{row: (E-value, size)} of rows (four places, score, own E-value): the best set of all first, then of the others.

    Rules are ((gap of query, gap of target), places, share).
    """
    left, found = list(range(len(rows))), {}
    while left:
        best = (inf, ())
        for r in range(1, len(left) + 1):
            for chosen in combinations(sorted(left, key=lambda k: rows[k][:1]), r):
                if r == 1:
                    best = min(best, (rows[chosen[0]][5] / 0.9, chosen))
                    continue
                for gaps, places, share in rules:
                    if all(may_follow(rows[a], rows[b], gaps) for a, b in pairwise(chosen)):
                        scores = [rows[k][4] for k in chosen]
                        best = min(best, (set_evalue(scores, places, lengths, space, share), chosen))
        for k in best[1]:
            found[k] = best[0], len(best[1])
            left.remove(k)
    return found
