"""Pairwise alignment in plain Python, straight from the recurrence (Gotoh 1982), with the tie rule of tropalign.

The longer sequence is R (rows i = 1..m), the shorter C (columns j = 1..n); of equal lengths the query is R.

    H(i,j) = max(H(i-1,j-1) + s(R_i, C_j), E(i,j), F(i,j) [, 0 in local mode])      s(C_j, R_i) where C is the query
    E(i,j) = max(E(i,j-1) - extend, H(i,j-1) - open - extend)      a residue of C against a gap
    F(i,j) = max(F(i-1,j) - extend, H(i-1,j) - open - extend)      a residue of R against a gap

Borders: H(i,0) = 0 where R may hang over at its begin at no cost (always in local mode), else -(open + i * extend);
H(0,j) likewise for C; E(i,0) = F(0,j) = minus infinity.

Ties, from the end of the path to its begin: in state H the diagonal, then E, then F; a gap is extended only if that
is strictly better than opening it; on a border the rest is one gap (none where it is free); a local alignment begins
at the first cell of H = 0. End cells: of a local alignment the best one with the smallest j, then the smallest i; of
a semiglobal one the best of (m, n), the last row (where C may hang over at its end) and the last column (where R
may), with the smallest overhang, then that of R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

FREE_ENDS = ("query-start", "query-end", "target-start", "target-end")
MINUS_INFINITY = float("-inf")


@dataclass(frozen=True)
class Expected:
    """What tropalign has to report for a pair; coordinates 0-based and half-open."""

    score: int | float
    query_start: int
    query_end: int
    target_start: int
    target_end: int
    cigar: str
    n_identical: int
    n_similar: int
    n_gaps: int
    n_columns: int


def align(query, target, scores, gap_open, gap_extend, mode="local", free_ends=FREE_ENDS) -> Expected:
    """Aligns two sequences of letter codes.

    Parameters
    ----------
    query, target : sequence of int
        Codes: indices into `scores`.
    scores : array_like, shape (letters, letters)
        Substitution scores, [query's code][target's code].
    gap_open, gap_extend : int
        A gap of k residues costs ``gap_open + k * gap_extend``.
    mode : {"local", "global", "semiglobal"}
    free_ends
        Of FREE_ENDS: where residues of that sequence may hang over at no cost (semiglobal only).
    """
    query, target = [int(code) for code in query], [int(code) for code in target]
    query_is_r = len(query) >= len(target)
    scores = (np.asarray(scores) if query_is_r else np.asarray(scores).T).tolist()
    r, c = (query, target) if query_is_r else (target, query)
    name_r, name_c = ("query", "target") if query_is_r else ("target", "query")
    free = set(free_ends) if mode == "semiglobal" else set()
    local = mode == "local"
    r_begin_free, c_begin_free = local or f"{name_r}-start" in free, local or f"{name_c}-start" in free

    h, e, f = _fill(r, c, scores, gap_open, gap_extend, local, r_begin_free, c_begin_free)
    if local:
        end = _local_end(h)
    else:
        end = _global_end(h, r_end_free=f"{name_r}-end" in free, c_end_free=f"{name_c}-end" in free)
    steps, begin = _trace(r, c, scores, h, e, f, end, gap_open, gap_extend, local, r_begin_free, c_begin_free)

    score = h[end[0]][end[1]]
    if local and score == 0:
        return Expected(0, 0, 0, 0, 0, "*", 0, 0, 0, 0)
    operations = {"R": "I", "C": "D"} if query_is_r else {"R": "D", "C": "I"}
    text = "".join(operations.get(step, step) for step in steps)
    cigar = "".join(f"{len(list(run))}{operation}" for operation, run in groupby(text)) or "*"
    (r_start, c_start), (r_end, c_end) = begin, end
    spans = (r_start, r_end, c_start, c_end) if query_is_r else (c_start, c_end, r_start, r_end)
    n_similar = 0
    i, j = begin
    for step in steps:
        n_similar += step in "=X" and scores[r[i]][c[j]] > 0
        i, j = i + (step != "C"), j + (step != "R")
    return Expected(score, *spans, cigar, text.count("="), n_similar, text.count("I") + text.count("D"), len(text))


def _fill(r, c, scores, gap_open, gap_extend, local, r_begin_free, c_begin_free):
    m, n = len(r), len(c)
    h = [[0] * (n + 1) for _ in range(m + 1)]
    e = [[MINUS_INFINITY] * (n + 1) for _ in range(m + 1)]
    f = [[MINUS_INFINITY] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        h[i][0] = 0 if r_begin_free else -(gap_open + i * gap_extend)
    for j in range(1, n + 1):
        h[0][j] = 0 if c_begin_free else -(gap_open + j * gap_extend)
    first = gap_open + gap_extend
    lowest = 0 if local else MINUS_INFINITY
    for i in range(1, m + 1):  # no call of a function per cell: thousands of tests wait here
        h_row, e_row, f_row, h_above, f_above, of_letter = h[i], e[i], f[i], h[i - 1], f[i - 1], scores[r[i - 1]]
        h_left, e_left = h_row[0], e_row[0]
        for j in range(1, n + 1):
            e_here, opened = e_left - gap_extend, h_left - first
            if opened > e_here:
                e_here = opened
            f_here, opened = f_above[j] - gap_extend, h_above[j] - first
            if opened > f_here:
                f_here = opened
            best = h_above[j - 1] + of_letter[c[j - 1]]
            if e_here > best:
                best = e_here
            if f_here > best:
                best = f_here
            if lowest > best:
                best = lowest
            e_left, h_left = e_here, best
            h_row[j], e_row[j], f_row[j] = best, e_here, f_here
    return h, e, f


def _local_end(h):
    cells = [(i, j) for j in range(len(h[0])) for i in range(len(h))]
    return max(cells, key=lambda cell: h[cell[0]][cell[1]])  # the first of equals


def _global_end(h, r_end_free, c_end_free):
    m, n = len(h) - 1, len(h[0]) - 1
    candidates = [(0, 0, (m, n))]  # overhang, 0 for R or 1 for C, cell
    if r_end_free:
        candidates += [(m - i, 0, (i, n)) for i in range(m)]
    if c_end_free:
        candidates += [(n - j, 1, (m, j)) for j in range(n)]
    best = max(h[i][j] for _, _, (i, j) in candidates)
    return min(candidate for candidate in candidates if h[candidate[2][0]][candidate[2][1]] == best)[2]


def _trace(r, c, scores, h, e, f, end, gap_open, gap_extend, local, r_begin_free, c_begin_free):
    """Steps from the first column to the last ("=", "X", "R" or "C": a residue of that alone), and the begin cell."""
    i, j = end
    steps = []
    state = "H"
    while i > 0 and j > 0:
        if state == "H":
            if local and h[i][j] == 0:
                break
            diagonal = h[i - 1][j - 1] + scores[r[i - 1]][c[j - 1]]
            if f[i][j] > max(diagonal, e[i][j]):
                state = "F"
            elif e[i][j] > diagonal:
                state = "E"
            else:
                i, j = i - 1, j - 1
                steps.append("=" if r[i] == c[j] else "X")
        elif state == "E":
            steps.append("C")
            j -= 1
            if h[i][j] - gap_open - gap_extend >= e[i][j] - gap_extend:
                state = "H"
        else:
            steps.append("R")
            i -= 1
            if h[i][j] - gap_open - gap_extend >= f[i][j] - gap_extend:
                state = "H"
    if i > 0 and not r_begin_free:
        steps.extend("R" * i)
        i = 0
    if j > 0 and not c_begin_free:
        steps.extend("C" * j)
        j = 0
    return steps[::-1], (i, j)


def rescore(
    query, target, scores, gap_open, gap_extend, operations: Sequence[tuple[str, int]], query_start=0, target_start=0
) -> tuple[int, int, int]:
    """Score of a path and where it ends in query and target; asserts that its = and X are true.

    Parameters
    ----------
    operations : sequence of (operation, length)
        Operations are =, X, I (residues of the query only) and D (of the target only).
    """
    score, i, j, before = 0, query_start, target_start, ""
    for operation, length in operations:
        assert length > 0 and operation in ("=", "X", "I", "D"), (operation, length)
        assert operation != before, f"two runs of {operation} side by side"
        before = operation
        if operation in "ID":
            score -= gap_open + length * gap_extend
            i, j = i + length * (operation == "I"), j + length * (operation == "D")
            continue
        for _ in range(length):
            assert (query[i] == target[j]) == (operation == "="), f"{operation} at query {i}, target {j}"
            score += int(scores[query[i]][target[j]])
            i, j = i + 1, j + 1
    assert i <= len(query) and j <= len(target)
    return score, i, j


def cigar_operations(cigar: str) -> list[tuple[str, int]]:
    """``3=1X`` as [("=", 3), ("X", 1)]; nothing for ``*``."""
    operations, digits = [], ""
    for letter in cigar.replace("*", ""):
        if letter.isdigit():
            digits += letter
        else:
            operations.append((letter, int(digits)))
            digits = ""
    return operations


def best_score(query, target, scores, gap_open, gap_extend, mode="local", free_ends=FREE_ENDS) -> float:
    """The best score over every path there is: for sequences of a handful of residues, to test `align` itself."""
    if mode == "local":
        parts = [
            best_score(query[a:b], target[c:d], scores, gap_open, gap_extend, "global")
            for a in range(len(query))
            for b in range(a + 1, len(query) + 1)
            for c in range(len(target))
            for d in range(c + 1, len(target) + 1)
        ]
        return max([*parts, 0])
    free = set(free_ends) if mode == "semiglobal" else set()
    return max(
        _path_score(query, target, scores, gap_open, gap_extend, free, path) for path in _paths(len(query), len(target))
    )


def _paths(m: int, n: int):
    if m == 0 and n == 0:
        yield ""
    if m > 0:
        yield from (path + "I" for path in _paths(m - 1, n))
    if n > 0:
        yield from (path + "D" for path in _paths(m, n - 1))
    if m > 0 and n > 0:
        yield from (path + "M" for path in _paths(m - 1, n - 1))


def _path_score(query, target, scores, gap_open, gap_extend, free, path) -> int:
    runs = [(step, len(list(run))) for step, run in groupby(path)]
    owner = {"I": "query", "D": "target"}
    score = i = j = 0
    for k, (step, length) in enumerate(runs):
        if step == "M":
            score += sum(int(scores[query[i + x]][target[j + x]]) for x in range(length))
        else:
            at_begin, at_end = k == 0 and f"{owner[step]}-start", k == len(runs) - 1 and f"{owner[step]}-end"
            score -= 0 if at_begin in free or at_end in free else gap_open + length * gap_extend
        i, j = i + length * (step != "D"), j + length * (step != "I")
    return score
