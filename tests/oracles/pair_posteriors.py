"""Posterior probabilities of a pair as the papers write them, in logarithms; and by counting alignments.

Pair-HMM: Do et al. 2005, ProbCons. Partition function: Miyazawa 1995; Roshan and Livesay 2006, Probalign. A model is a
tropalign.msa.models.PairModel, sequences are lists of codes, matrices are lists of rows.
"""

import math

NONE = -math.inf


def log(x):
    return math.log(x) if x > 0 else NONE


def total(logs):
    """The logarithm of a sum."""
    highest = max(logs, default=NONE)
    return NONE if highest == NONE else highest + math.log(sum(math.exp(x - highest) for x in logs))


def table(m, n):
    return [[NONE] * (n + 2) for _ in range(m + 2)]


def hmm(model, x, y):
    """P(x_i and y_j aligned) by forward and backward; and both totals."""
    m, n = len(x), len(y)
    initial = [log(p) for p in model.transitions[:3]]
    d, e = model.transitions[3:5], model.transitions[5:7]
    stay, open_gap = log(1 - 2 * d[0] - 2 * d[1]), [log(p) for p in d]
    extend, close = [log(p) for p in e], [log(1 - p) for p in e]
    q = [log(p) for p in model.insert]
    overhang = log(model.transitions[7])

    def alone(residues):
        return sum(q[a] for a in residues)

    def pair(i, j):
        return log(model.match[x[i - 1]][y[j - 1]])

    f_m, f_x, f_y = table(m, n), [table(m, n), table(m, n)], [table(m, n), table(m, n)]
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                before = [f_m[i - 1][j - 1] + stay]
                before += [f[k][i - 1][j - 1] + close[k] for f in (f_x, f_y) for k in (0, 1)]
                start = overhang + alone(x[: i - 1]) + alone(y[: j - 1]) if 1 in (i, j) else NONE
                start = initial[0] if (i, j) == (1, 1) else start
                f_m[i][j] = pair(i, j) + total([start, *before])
            for k in (0, 1):
                if i:
                    start = initial[1 + k] if (i, j) == (1, 0) else NONE
                    before = [start, f_m[i - 1][j] + open_gap[k], f_x[k][i - 1][j] + extend[k]]
                    f_x[k][i][j] = q[x[i - 1]] + total(before)
                if j:
                    start = initial[1 + k] if (i, j) == (0, 1) else NONE
                    before = [start, f_m[i][j - 1] + open_gap[k], f_y[k][i][j - 1] + extend[k]]
                    f_y[k][i][j] = q[y[j - 1]] + total(before)
    ends = [f_m[m][n] + initial[0], *(f[k][m][n] + initial[1 + k] for f in (f_x, f_y) for k in (0, 1))]
    ends += [f_m[i][n] + overhang + alone(x[i:]) for i in range(1, m)]
    ends += [f_m[m][j] + overhang + alone(y[j:]) for j in range(1, n)]
    forward = total(ends)

    b_m, b_x, b_y = table(m, n), [table(m, n), table(m, n)], [table(m, n), table(m, n)]
    for i in range(m, -1, -1):
        for j in range(n, -1, -1):
            match = pair(i + 1, j + 1) + b_m[i + 1][j + 1] if i < m and j < n else NONE
            down = [q[x[i]] + b_x[k][i + 1][j] if i < m else NONE for k in (0, 1)]
            right = [q[y[j]] + b_y[k][i][j + 1] if j < n else NONE for k in (0, 1)]
            at_end = (i, j) == (m, n)
            gaps = [step[k] + open_gap[k] for step in (down, right) for k in (0, 1)]
            ends = overhang + alone(x[i:]) + alone(y[j:]) if i == m or j == n else NONE
            b_m[i][j] = initial[0] if at_end else total([match + stay, *gaps, ends])
            for k in (0, 1):
                b_x[k][i][j] = initial[1 + k] if at_end else total([match + close[k], down[k] + extend[k]])
                b_y[k][i][j] = initial[1 + k] if at_end else total([match + close[k], right[k] + extend[k]])
    starts = [initial[0] + pair(1, 1) + b_m[1][1]]
    starts += [overhang + alone(x[: i - 1]) + pair(i, 1) + b_m[i][1] for i in range(2, m + 1)]
    starts += [overhang + alone(y[: j - 1]) + pair(1, j) + b_m[1][j] for j in range(2, n + 1)]
    starts += [initial[1 + k] + q[x[0]] + b_x[k][1][0] for k in (0, 1)]
    starts += [initial[1 + k] + q[y[0]] + b_y[k][0][1] for k in (0, 1)]
    posterior = [[math.exp(f_m[i][j] + b_m[i][j] - forward) for j in range(1, n + 1)] for i in range(1, m + 1)]
    return posterior, forward, total(starts)


def partition_forward(model, x, y):
    """Z_M, Z_E and Z_F; E leaves a residue of y alone, F one of x."""
    m, n = len(x), len(y)
    z_m, z_e, z_f = table(m, n), table(m, n), table(m, n)
    z_m[0][0] = 0.0
    first, further = (log(weight) for weight in model.gap)
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                score = log(model.boltzmann[x[i - 1]][y[j - 1]])
                z_m[i][j] = score + total([z[i - 1][j - 1] for z in (z_m, z_e, z_f)])
            if j:
                free = i in (0, m)
                costs = (0.0, 0.0) if free else (first, further)
                z_e[i][j] = total([z_m[i][j - 1] + costs[0], z_e[i][j - 1] + costs[1]])
            if i:
                free = j in (0, n)
                costs = (0.0, 0.0) if free else (first, further)
                z_f[i][j] = total([z_m[i - 1][j] + costs[0], z_f[i - 1][j] + costs[1]])
    return z_m, total([z[m][n] for z in (z_m, z_e, z_f)])


def partition(model, x, y):
    """P(x_i and y_j aligned): the reverse function is the forward one of the sequences read backwards."""
    m, n = len(x), len(y)
    forward, all_weights = partition_forward(model, x, y)
    reverse, _ = partition_forward(model, x[::-1], y[::-1])

    def probability(i, j):
        score = log(model.boltzmann[x[i - 1]][y[j - 1]])
        return math.exp(forward[i][j] + reverse[m + 1 - i][n + 1 - j] - score - all_weights)

    return [[probability(i, j) for j in range(1, n + 1)] for i in range(1, m + 1)]


def combined(model, x, y):
    """The posteriors that the multiple alignment uses."""
    s = float(model.hmm_share)
    by_hmm, by_partition = hmm(model, x, y)[0], partition(model, x, y)
    return [
        [math.sqrt(s * a * a + (1 - s) * b * b) for a, b in zip(row, other, strict=True)]
        for row, other in zip(by_hmm, by_partition, strict=True)
    ]


def distance(posterior):
    """1 - (expected accuracy of the most accurate alignment) / (length of the shorter sequence)."""
    m, n = len(posterior), len(posterior[0])
    best = [[0.0] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            best[i][j] = max(best[i - 1][j - 1] + posterior[i - 1][j - 1], best[i - 1][j], best[i][j - 1])
    return 1 - best[m][n] / min(m, n)


def alignments(m, n):
    """Every alignment of m with n residues, as a string of M (both), X (one of x) and Y (one of y)."""
    if m == 0 and n == 0:
        yield ""
        return
    if m and n:
        yield from (rest + "M" for rest in alignments(m - 1, n - 1))
    if m:
        yield from (rest + "X" for rest in alignments(m - 1, n))
    if n:
        yield from (rest + "Y" for rest in alignments(m, n - 1))


def counted(weigh, m, n):
    """P(i and j aligned) from the weights of all alignments."""
    sums, everything = [[0.0] * n for _ in range(m)], 0.0
    for path in alignments(m, n):
        weight = weigh(path)
        everything += weight
        i = j = 0
        for step in path:
            i, j = i + (step != "Y"), j + (step != "X")
            if step == "M":
                sums[i - 1][j - 1] += weight
    return [[weight / everything for weight in row] for row in sums]


def hmm_weight(model, x, y, path):
    """The probability of an alignment, summed over the kinds of its insert states: H and T are overhangs."""
    initial, d, e = model.transitions[:3], model.transitions[3:5], model.transitions[5:7]
    overhang = model.transitions[7]
    states = {"M": ["M"], **{step: [step + kind for kind in "01HT"] for step in "XY"}}

    def moves(old, new):
        if "H" in old or "T" in new:
            return {"HM": 1.0, "MT": overhang}.get(old[-1] + new[-1], float(old == new))
        if "T" in old or "H" in new:
            return 0.0
        k = int(new[1]) if new != "M" else int(old[1]) if old != "M" else 0
        if old == "M":
            return 1 - 2 * d[0] - 2 * d[1] if new == "M" else d[k]
        return 1 - e[k] if new == "M" else e[k] if old == new else 0.0

    def ends(state, overhangs):
        return initial[0] if state == "M" else overhangs[state[1]] if state[1] in "HT" else initial[1 + int(state[1])]

    i = j = 0
    weights = {}
    for step in path:
        i, j = i + (step != "Y"), j + (step != "X")
        emission = {
            "M": lambda i=i, j=j: model.match[x[i - 1]][y[j - 1]],
            "X": lambda i=i: model.insert[x[i - 1]],
            "Y": lambda j=j: model.insert[y[j - 1]],
        }[step]()
        if not weights:
            weights = {state: ends(state, {"H": overhang, "T": 0.0}) * emission for state in states[step]}
        else:
            weights = {
                new: emission * sum(weight * moves(old, new) for old, weight in weights.items()) for new in states[step]
            }
    return sum(weight * ends(state, {"H": 0.0, "T": 1.0}) for state, weight in weights.items())


def partition_weight(model, x, y, path):
    """exp(score / T) of an alignment; gaps at the ends are free, and a gap in one does not touch one in the other."""
    if "XY" in path or "YX" in path:
        return 0.0
    m, n = len(x), len(y)
    weight, i, j, before = 1.0, 0, 0, "M"
    for step in path:
        i, j = i + (step != "Y"), j + (step != "X")
        if step == "M":
            weight *= model.boltzmann[x[i - 1]][y[j - 1]]
        elif not (step == "X" and j in (0, n)) and not (step == "Y" and i in (0, m)):
            weight *= model.gap[1 if step == before else 0]
        before = step
    return weight
