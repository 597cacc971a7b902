"""Posteriors near the best alignments alone: which cells these are, and what is found there; in plain loops.

Scores are the logarithms of the partition function, in whole units. Of every four rows the cells are kept between the
columns where alignments cross the boundary above and the one below whose scores come near the best; each alignment is
followed by its score through each boundary, without bytes, bases and lanes.
"""

import math

ROWS, MARGIN, UNITS, MOST_GROWTH = 4, 4, 8, 110


def rounded(x):
    return math.floor(x + 0.5) if x >= 0 else math.ceil(x - 0.5)


def corridor(model, x, y, slack):
    """The first and the last column, from 1, of each row."""
    m, n = len(x), len(y)
    logs = [[math.log(p) for p in row] for row in model.boltzmann.tolist()]
    units = min(UNITS, MOST_GROWTH / ROWS / max(max(row) for row in logs))
    score = [[rounded(units * logs[a][b]) for b in y] for a in x]
    opening, extending = (rounded(units * math.log(weight)) for weight in model.gap)
    extending = min(extending, -1)
    none = -(10**9)

    def swept(score):
        """Best scores that end with a match, are at hand after a cell, and go on down a gap."""
        match, after, gap = ([[none] * (n + 1) for _ in range(m + 1)] for _ in range(3))
        for i in range(m + 1):
            right = none
            for j in range(n + 1):
                if i == 0 or j == 0:
                    after[i][j] = 0
                    continue
                match[i][j] = score[i - 1][j - 1] + after[i - 1][j - 1]
                after[i][j] = max(match[i][j], opening + max(gap[i - 1][j], right))
                gap[i][j] = max(match[i][j], gap[i - 1][j] + extending)
                right = max(match[i][j], right + extending)
        return match, after, gap

    match, after, gap = swept(score)
    back_match, _, back_gap = swept([row[::-1] for row in score[::-1]])
    best = max([match[m][j] for j in range(1, n + 1)] + [match[i][n] for i in range(1, m + 1)])
    n_blocks = -(-m // ROWS)
    lowest, highest = [None] * (n_blocks + 1), [None] * (n_blocks + 1)
    for block in range(1, n_blocks):
        i = ROWS * block
        hits = []
        for j in range(n + 1):
            by_match = after[i][j] + back_match[m - i][n - j] if j < n else none
            by_gap = gap[i][j] + opening + back_gap[m - i - 1][n - j] if j else none
            if max(by_match, by_gap) >= best - rounded(units * slack):
                hits.append(j)
        if hits:
            lowest[block], highest[block] = hits[0], hits[-1]
    first, last = [0] * n_blocks, [n] * n_blocks
    for block in range(1, n_blocks):
        first[block] = first[block - 1] if lowest[block] is None else lowest[block]
    for block in range(n_blocks - 2, -1, -1):
        last[block] = last[block + 1] if highest[block + 1] is None else highest[block + 1]
    spans = [
        (max(min(first[block:]) - MARGIN, 1), min(max(last[: block + 1]) + MARGIN, n)) for block in range(n_blocks)
    ]
    spans[-1] = spans[-1][0], n
    return [spans[i // ROWS] for i in range(m)]


def posteriors(odds, left, top, gaps, end_match, end_free, spans):
    """Of each cell of a corridor the probability that it is a match.

    `gaps` has (weight, extension, weight at the end) per kind, `left` and `top` are the weights before the first match.
    """
    m, n = len(odds), len(odds[0])
    inside = [[i > 0 and spans[i - 1][0] <= j <= spans[i - 1][1] for j in range(n + 2)] for i in range(m + 1)]
    kinds = range(len(gaps))
    table = lambda: [[0.0] * (n + 2) for _ in range(m + 2)]  # noqa: E731
    match, after, down, right = table(), table(), [table() for _ in kinds], [table() for _ in kinds]
    for i in range(m + 1):
        for j in range(n + 1):
            if i == 0 or j == 0:
                after[i][j] = top[j] if i == 0 else left[i]
            elif inside[i][j]:
                match[i][j] = odds[i - 1][j - 1] * after[i - 1][j - 1]
                after[i][j] = match[i][j]
                for k, (weight, extension, _) in enumerate(gaps):
                    down[k][i][j] = match[i - 1][j] + extension * down[k][i - 1][j]
                    right[k][i][j] = match[i][j - 1] + extension * right[k][i][j - 1]
                    after[i][j] += weight * (down[k][i][j] + right[k][i][j])
    ends = sum(match[i][n] for i in range(1, m)) + sum(match[m][j] for j in range(1, n))
    total = end_match * match[m][n] + end_free * ends
    total += sum(gaps[k][2] * (down[k][m][n] + right[k][m][n]) for k in kinds)
    back, back_down, back_right = table(), [table() for _ in kinds], [table() for _ in kinds]
    found = [[0.0] * n for _ in range(m)]
    for i in range(m, 0, -1):
        for j in range(n, 0, -1):
            if not inside[i][j]:
                continue
            go_on = odds[i][j] * back[i + 1][j + 1] if i < m and j < n else 0.0
            back[i][j] = go_on + (end_match if (i, j) == (m, n) else end_free if i == m or j == n else 0.0)
            for k, (weight, extension, at_end) in enumerate(gaps):
                here = weight * go_on + (at_end if (i, j) == (m, n) else 0.0)
                back_down[k][i][j] = here + extension * back_down[k][i + 1][j]
                back_right[k][i][j] = here + extension * back_right[k][i][j + 1]
                back[i][j] += back_down[k][i + 1][j] + back_right[k][i][j + 1]
            found[i - 1][j - 1] = match[i][j] * back[i][j] / total
    return found


def both(model, x, y, spans):
    """Posteriors of the pair-HMM and of the partition function together (native/msa/posterior_model.hpp)."""
    m, n = len(x), len(y)
    t = model.transitions.tolist()
    stay, g = 1 - 2 * t[3] - 2 * t[4], 1.0 if t[7] > 0 else 1 / max(t[5:7])
    odds = [[model.match[a][b] / (model.insert[a] * model.insert[b]) * stay * g * g for b in y] for a in x]
    gaps = [(t[3 + k] * g * (1 - t[5 + k]) / stay, t[5 + k] * g, t[1 + k] * t[3 + k] * g) for k in (0, 1)]

    def overhang(length):
        of_gaps = sum(weight * t[1 + k] / t[3 + k] * e ** (length - 1) for k, (weight, e, _) in enumerate(gaps))
        return of_gaps + t[7] / stay

    before = [t[0] / stay, *(overhang(length) for length in range(1, max(m, n) + 1))]
    hmm = posteriors(odds, before, before, gaps, t[0], t[7], spans)
    ones = [1.0] * (max(m, n) + 1)
    boltzmann = [[model.boltzmann[a][b] for b in y] for a in x]
    opening, extending = model.gap.tolist()
    part = posteriors(boltzmann, ones, ones, [(opening, extending, 0.0)], 1.0, 1.0, spans)
    share = model.hmm_share
    return [
        [math.sqrt(share * a * a + (1 - share) * b * b) for a, b in zip(*rows, strict=True)]
        for rows in zip(hmm, part, strict=True)
    ]
