"""Several local alignments of two sequences in plain Python (Waterman and Eggert 1987), with the tie rule of tropalign.

A_1 is the best local alignment. A_k is the best one of those that pair no two residues which A_1 .. A_(k-1) pair: no
diagonal step leads to a cell of theirs. All of the matrix is computed anew for each, with the rule of ties of
`oracles.pairwise` and `oracles.gap_pieces`.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from oracles.pairwise import Expected, _local_end, _paths

MINUS_INFINITY = float("-inf")


def alignments(query, target, scores, pieces, most, least=1) -> list[Expected]:
    """The first alignments of two sequences of codes, up to `most`, those that score `least`.

    Parameters
    ----------
    pieces : sequence of (open, extend)
        A gap of k residues costs the less of ``open + k * extend``.
    """
    taken, found = set(), []
    while len(found) < most:
        row, pairs = _next(list(query), list(target), scores, pieces, taken)
        if row.score < max(least, 1):
            break
        found.append(row)
        taken |= pairs
    return found


def _next(query, target, scores, pieces, taken):
    """The best alignment that pairs nothing that is taken, and (query, target) positions that it pairs."""
    query_is_r = len(query) >= len(target)
    r, c = (query, target) if query_is_r else (target, query)
    s = (np.asarray(scores) if query_is_r else np.asarray(scores).T).tolist()
    m, n = len(r), len(c)

    def pair(i, j):
        return (i - 1, j - 1) if query_is_r else (j - 1, i - 1)

    h = [[0] * (n + 1) for _ in range(m + 1)]
    values = [[None] * (n + 1) for _ in range(m + 1)]  # diagonal, E of each piece, F of each piece
    for i in range(m + 1):
        for j in range(n + 1):
            if i == 0 or j == 0:
                values[i][j] = [MINUS_INFINITY] * (1 + 2 * len(pieces))
                continue
            diagonal = MINUS_INFINITY if pair(i, j) in taken else h[i - 1][j - 1] + s[r[i - 1]][c[j - 1]]
            e = [max(values[i][j - 1][1 + p] - x, h[i][j - 1] - o - x) for p, (o, x) in enumerate(pieces)]
            f = [max(values[i - 1][j][1 + len(pieces) + p] - x, h[i - 1][j] - o - x) for p, (o, x) in enumerate(pieces)]
            values[i][j] = [diagonal, *e, *f]
            h[i][j] = max(0, *values[i][j])
    i, j = end = _local_end(h)
    steps, pairs = [], set()
    while h[i][j] > 0:
        source = values[i][j].index(max(values[i][j]))
        if source == 0:
            pairs.add(pair(i, j))
            i, j = i - 1, j - 1
            steps.append("=" if r[i] == c[j] else "X")
            continue
        is_e, (o, x) = source <= len(pieces), pieces[(source - 1) % len(pieces)]
        goes_on = True
        while goes_on:
            steps.append("C" if is_e else "R")
            i, j = (i, j - 1) if is_e else (i - 1, j)
            goes_on = values[i][j][source] - x > h[i][j] - o - x
    return _expected(steps[::-1], (i, j), end, h[end[0]][end[1]], r, c, s, query_is_r), pairs


def _expected(steps, begin, end, score, r, c, s, query_is_r):
    operations = {"R": "I", "C": "D"} if query_is_r else {"R": "D", "C": "I"}
    text = "".join(operations.get(step, step) for step in steps)
    cigar = "".join(f"{len(list(run))}{operation}" for operation, run in groupby(text)) or "*"
    spans = (begin[0], end[0], begin[1], end[1]) if query_is_r else (begin[1], end[1], begin[0], end[0])
    n_similar, (i, j) = 0, begin
    for step in steps:
        n_similar += step in "=X" and s[r[i]][c[j]] > 0
        i, j = i + (step != "C"), j + (step != "R")
    return Expected(int(score), *spans, cigar, text.count("="), n_similar, text.count("I") + text.count("D"), len(text))


def pairs_of(row: Expected) -> set[tuple[int, int]]:
    """(query, target) positions that an alignment pairs, from its path."""
    pairs, (i, j), digits = set(), (row.query_start, row.target_start), ""
    for letter in row.cigar.replace("*", ""):
        if letter.isdigit():
            digits += letter
            continue
        if letter in "=X":
            pairs |= {(i + k, j + k) for k in range(int(digits))}
        i, j = i + int(digits) * (letter != "D"), j + int(digits) * (letter != "I")
        digits = ""
    return pairs


def best_score(query, target, scores, pieces, taken) -> int:
    """The best local score over every path that pairs nothing that is taken: for sequences of a handful of residues."""
    best = 0
    for a in range(len(query)):
        for c in range(len(target)):
            for b in range(a + 1, len(query) + 1):
                for d in range(c + 1, len(target) + 1):
                    for path in _paths(b - a, d - c):
                        best = max(best, _score(query, target, scores, pieces, taken, path, a, c))
    return best


def _score(query, target, scores, pieces, taken, path, i, j):
    score = 0
    for step, run in groupby(path):
        length = len(list(run))
        if step != "M":
            score -= min(o + length * x for o, x in pieces)
        for _ in range(length):
            if step == "M":
                if (i, j) in taken:
                    return MINUS_INFINITY
                score += int(scores[query[i]][target[j]])
            i, j = i + (step != "D"), j + (step != "I")
    return score
