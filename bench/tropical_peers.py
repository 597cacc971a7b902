"""Peers of bench/tropical.py that are written here: plain loops, compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit
def floyd_warshall(weights):
    """All shortest distances, in place."""
    n = len(weights)
    for k in range(n):
        for i in range(n):
            through = weights[i, k]
            for j in range(n):
                weights[i, j] = min(weights[i, j], through + weights[k, j])


@njit
def viterbi(start, transition, emission, codes):
    """The best path with back-pointers; transition[s, t] from s to t."""
    n, n_states = len(codes), len(start)
    back = np.empty((n, n_states), np.int32)
    best = start + emission[:, codes[0]]
    for step in range(1, n):
        value, chosen = best[0] + transition[0], np.zeros(n_states, np.int32)
        for s in range(1, n_states):
            through = best[s]
            for t in range(n_states):
                candidate = through + transition[s, t]
                if candidate > value[t]:
                    value[t], chosen[t] = candidate, s
        back[step] = chosen
        best = value + emission[:, codes[step]]
    path = np.empty(n, np.int32)
    path[n - 1] = np.argmax(best)
    for step in range(n - 1, 0, -1):
        path[step - 1] = back[step, path[step]]
    return path


@njit(fastmath=True)
def forward(start, transition, emission, codes):
    """The log-likelihood, rows scaled at every step."""
    alpha = start * emission[:, codes[0]]
    total = 0.0
    for step in range(1, len(codes)):
        scale = alpha.sum()
        total += np.log(scale)
        following = np.zeros_like(alpha)
        for s in range(len(alpha)):
            share = alpha[s] / scale
            for t in range(len(alpha)):
                following[t] += share * transition[s, t]
        alpha = following * emission[:, codes[step]]
    return total + np.log(alpha.sum())


@njit
def matrix_chain(sizes):
    """The fewest multiplications of a chain, and where it is split."""
    n = len(sizes) - 1
    cost, split = np.zeros((n, n)), np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best, at = np.inf, i
            for k in range(i, j):
                candidate = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if candidate < best:
                    best, at = candidate, k
            cost[i, j], split[i, j] = best, at
    return cost, split


@njit
def nussinov(pairs, least_loop):
    """The most pairs of letters that nest; pairs[i, j] whether two letters pair."""
    n = len(pairs)
    most = np.zeros((n + 1, n + 1), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = most[i + 1, j]
            for k in range(i + least_loop + 1, j + 1):
                if pairs[i, k]:
                    inner = most[i + 1, k - 1] + 1 + (most[k + 1, j] if k < j else 0)
                    best = max(best, inner)
            most[i, j] = best
    return most
