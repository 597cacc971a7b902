"""Alignment with gaps that cost the less of two pieces, and other costs at the ends, in plain Python.

Rows R (the longer sequence, of equal ones the query) and columns C as in `oracles.pairwise`, a pair of gap states per
piece p:

    H(i,j)  = max(H(i-1,j-1) + s(R_i, C_j), E1(i,j), E2(i,j), F1(i,j), F2(i,j) [, 0 in local mode])
    Ep(i,j) = max(Ep(i,j-1) - extend_p, H(i,j-1) - open_p - extend_p)        the ends' costs in the last row
    Fp(i,j) = max(Fp(i-1,j) - extend_p, H(i-1,j) - open_p - extend_p)        the ends' costs in the last column

The last row and column have inner costs where residues hang over there at no cost. Borders: 0 where free, else what a
gap of that length costs at an end. Ties: as in `oracles.pairwise`, with E1, E2, F1, F2 in this order.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from oracles.pairwise import FREE_ENDS, Expected, _global_end, _local_end, _paths

MINUS_INFINITY = float("-inf")


def cost(pieces, k):
    """What a gap of k residues costs; `pieces`: open, extend, open, extend."""
    return min(pieces[0] + k * pieces[1], pieces[2] + k * pieces[3])


def align(query, target, scores, inner, ends, mode="local", free_ends=FREE_ENDS) -> Expected:
    """Aligns two sequences of codes; `inner` and `ends`: open, extend, open, extend."""
    query_is_r = len(query) >= len(target)
    r, c = (query, target) if query_is_r else (target, query)
    s = (np.asarray(scores) if query_is_r else np.asarray(scores).T).tolist()
    names = ("query", "target") if query_is_r else ("target", "query")
    free = set(free_ends) if mode == "semiglobal" else set()
    local = mode == "local"
    r_begin, c_begin = (local or f"{name}-start" in free for name in names)
    r_end, c_end = (f"{name}-end" in free for name in names)
    m, n = len(r), len(c)
    h = [[0] * (n + 1) for _ in range(m + 1)]
    e, f = ([[[MINUS_INFINITY] * (n + 1) for _ in range(m + 1)] for _ in range(2)] for _ in range(2))
    for i in range(1, m + 1):
        h[i][0] = 0 if r_begin else -cost(ends, i)
    for j in range(1, n + 1):
        h[0][j] = 0 if c_begin else -cost(ends, j)

    def along_row(i):
        return ends if i == m and not local and not c_end else inner

    def along_column(j):
        return ends if j == n and not local and not r_end else inner

    for i in range(1, m + 1):
        for j in range(1, n + 1):
            for p in range(2):
                o, x = along_row(i)[2 * p : 2 * p + 2]
                e[p][i][j] = max(e[p][i][j - 1] - x, h[i][j - 1] - o - x)
                o, x = along_column(j)[2 * p : 2 * p + 2]
                f[p][i][j] = max(f[p][i - 1][j] - x, h[i - 1][j] - o - x)
            best = max(h[i - 1][j - 1] + s[r[i - 1]][c[j - 1]], *(g[p][i][j] for g in (e, f) for p in range(2)))
            h[i][j] = max(best, 0) if local else best
    i, j = end = _local_end(h) if local else _global_end(h, r_end_free=r_end, c_end_free=c_end)
    score = h[i][j]
    if local and score == 0:
        return Expected(0, 0, 0, 0, 0, "*", 0, 0, 0, 0)
    steps = []
    while i > 0 and j > 0 and not (local and h[i][j] == 0):
        values = [h[i - 1][j - 1] + s[r[i - 1]][c[j - 1]], *(g[p][i][j] for g in (e, f) for p in range(2))]
        source = values.index(max(values))
        if source == 0:
            i, j = i - 1, j - 1
            steps.append("=" if r[i] == c[j] else "X")
            continue
        is_e, p = source < 3, (source - 1) % 2
        while True:
            o, x = (along_row(i) if is_e else along_column(j))[2 * p : 2 * p + 2]
            steps.append("C" if is_e else "R")
            before = (i, j - 1) if is_e else (i - 1, j)
            state = (e if is_e else f)[p]
            goes_on = state[before[0]][before[1]] - x > h[before[0]][before[1]] - o - x
            i, j = before
            if not goes_on:
                break
    if i > 0 and not r_begin:
        steps.extend("R" * i)
        i = 0
    if j > 0 and not c_begin:
        steps.extend("C" * j)
        j = 0
    return _expected(steps[::-1], (i, j), end, score, r, c, s, query_is_r)


def _expected(steps, begin, end, score, r, c, s, query_is_r) -> Expected:
    operations = {"R": "I", "C": "D"} if query_is_r else {"R": "D", "C": "I"}
    text = "".join(operations.get(step, step) for step in steps)
    cigar = "".join(f"{len(list(run))}{operation}" for operation, run in groupby(text)) or "*"
    spans = (begin[0], end[0], begin[1], end[1]) if query_is_r else (begin[1], end[1], begin[0], end[0])
    n_similar, (i, j) = 0, begin
    for step in steps:
        n_similar += step in "=X" and s[r[i]][c[j]] > 0
        i, j = i + (step != "C"), j + (step != "R")
    counts = (text.count("="), n_similar, text.count("I") + text.count("D"), len(text))
    return Expected(int(score), *spans, cigar, *counts)


def rescore(query, target, scores, inner, ends, row: Expected, operations, mode, free_ends=FREE_ENDS):
    """The score of a path; where a run of gaps may be cut into gaps, the cheapest way is not looked for."""
    score, i, j = 0, row.query_start, row.target_start
    for operation, length in operations:
        if operation in "ID":
            at_end = j in (0, len(target)) if operation == "I" else i in (0, len(query))
            side = "query" if operation == "I" else "target"
            edge = (j if operation == "I" else i) > 0
            is_free = mode == "semiglobal" and f"{side}-{'end' if edge else 'start'}" in free_ends
            score -= cost(ends if at_end and mode != "local" and not is_free else inner, length)
        else:
            score += sum(int(scores[query[i + k]][target[j + k]]) for k in range(length))
        i, j = i + length * (operation != "D"), j + length * (operation != "I")
    assert (i, j) == (row.query_end, row.target_end)
    return score


def best_score(query, target, scores, inner, ends) -> float:
    """The best global score over every path there is: for sequences of a handful of residues."""
    return max(_path_score(query, target, scores, inner, ends, path) for path in _paths(len(query), len(target)))


def _path_score(query, target, scores, inner, ends, path):
    score = i = j = 0
    for step, run in groupby(path):
        length = len(list(run))
        if step == "M":
            score += sum(int(scores[query[i + k]][target[j + k]]) for k in range(length))
        else:
            at_end = j in (0, len(target)) if step == "I" else i in (0, len(query))
            score -= cost(ends if at_end else inner, length)
        i, j = i + length * (step != "D"), j + length * (step != "I")
    return score
