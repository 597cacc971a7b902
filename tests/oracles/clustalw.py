"""CLUSTALW's progressive alignment in plain Python, straight from the rules (docs/msa.md), without compat.

Sequences are lists of codes, rows of a group lists of codes with GAP; an alignment is the column of every residue.
Costs and scores are whole numbers: quarters of a hundredth of the matrix' units.
"""

import math
from dataclasses import dataclass

import numpy as np

GAP = -1
UNITS, SCORE_UNITS, FREQUENCY_ONE, SHIFT = 4, 8, 1 << 14, 15
RARE = FREQUENCY_ONE * 2 // 25
LETTERS = "ABCDEFGHIKLMNOPQRSTUVWXYZ"
_OF_LETTERS = [87, 87, 104, 69, 80, 139, 100, 104, 68, 79, 71, 137, 126, 93, 128, 124, 111, 75, 100, 77]
PROPENSITY = dict(zip("ACDEFGHKILMNPQRSTVYW", _OF_LETTERS, strict=True))
NOWHERE = -(10**12)


@dataclass
class Rules:
    """What native code gets."""

    series: list  # (above, shorter_than, scale, mismatch, scores)
    is_nucleotide: bool = False
    gap_open: float = 10.0
    gap_extend: float = 0.2
    gap_distance: int = 4
    hydrophilic: str = "GPSNDQEKR"
    delay: int = 30
    has_hydrophilic_gaps: bool = True
    has_residue_gaps: bool = True
    has_end_gaps: bool = False
    counts_end_gaps: bool = False
    negative_matrix: bool = False
    has_weights: bool = True


def columns_of(rows, k):
    return [row[k] for row in rows]


def inner_gaps(rules, rows):
    """Of each column: rows that have a gap there, those at the ends of a row aside."""
    found = [0] * len(rows[0])
    for row in rows:
        places = [k for k, code in enumerate(row) if code != GAP]
        begin, end = (0, len(row)) if rules.counts_end_gaps or rules.has_end_gaps else (places[0], places[-1] + 1)
        for k in range(begin, end):
            found[k] += row[k] == GAP
    return found


def nearness(gaps, distance):
    """1 beside a gap, 2 one further away; gaps further to the right override, and reach one column less to the left."""
    found, n = [0] * len(gaps), len(gaps)
    begins = [k for k in range(n) if gaps[k] and not (k and gaps[k - 1])]
    for begin in begins:
        for back in range(1, distance):
            if begin >= back and not gaps[begin - back]:
                found[begin - back] = back
        end = begin
        while end < n and gaps[end]:
            end += 1
        for on in range(1, distance + 1):
            if end + on - 1 >= n or gaps[end + on - 1]:
                break
            found[end + on - 1] = on
    return found


def in_runs(rules, rows):
    """Of each column: rows that have a run of four hydrophilic residues or more there."""
    found = [0] * len(rows[0])
    for row in rows:
        is_hydrophilic = [code != GAP and LETTERS[code] in rules.hydrophilic for code in row]
        for k in range(len(row)):
            begin, end = k, k
            while begin > 0 and is_hydrophilic[begin - 1]:
                begin -= 1
            while end < len(row) and is_hydrophilic[end]:
                end += 1
            found[k] += is_hydrophilic[k] and end - begin >= 4
    return found


def local_factor(rules, column, n_in_runs):
    if rules.is_nucleotide:
        return 1.0
    if rules.has_hydrophilic_gaps and 100 * n_in_runs >= len(column):
        return 0.5
    if not rules.has_residue_gaps:
        return 1.0
    letters = [LETTERS[code] for code in column if code != GAP]
    return sum(180 - PROPENSITY[letter] for letter in letters if letter in PROPENSITY) / (100.0 * len(column))


def gap_costs(rules, base_open, base_extend, rows):
    """Opening and extension beside each column, from 1; 0 and n + 1 are beyond."""
    n, n_rows = len(rows[0]), len(rows)
    gaps, runs = inner_gaps(rules, rows), in_runs(rules, rows)
    distance = 0 if rules.is_nucleotide else rules.gap_distance
    near = nearness(gaps, distance)
    opens, extends = [0] * (n + 2), [0] * (n + 2)
    for k in range(n):
        open_cost, extend = base_open, base_extend
        if gaps[k]:
            open_cost, extend = (n_rows - gaps[k]) / n_rows * open_cost, 0.5 * extend
        else:
            open_cost *= local_factor(rules, columns_of(rows, k), runs[k])
            if near[k]:
                open_cost *= 2 + 2 * (distance - near[k]) / distance
        opens[k + 1], extends[k + 1] = (max(1, math.floor(UNITS * cost + 0.5)) for cost in (open_cost, extend))
    if rules.has_end_gaps:
        opens[0], extends[0] = (max(1, math.floor(UNITS * cost + 0.5)) for cost in (base_open, base_extend))
    else:
        opens[n] = extends[n] = 0
    return opens, extends


def base_costs(rules, matrix, first, second):
    """Before the columns count; sums in the original's 32-bit floats."""
    _, _, scale, mismatch, _ = matrix
    one, gap_open, gap_extend = np.float32, np.float32(rules.gap_open), np.float32(rules.gap_extend)
    if rules.is_nucleotide:
        return 100.0 * float(gap_open) * float(one(scale)), 100.0 * float(gap_extend) * float(one(scale))
    shorter, longer = sorted([first, second])
    by_length = by_difference = 1.0
    if shorter > 0:
        by_length = 1 / math.log10(shorter) if shorter > 1 else math.inf
        by_difference = max(0.9, 1 + 0.5 * math.log10(float(one(shorter) / one(longer))))
    extend = 100.0 * float(gap_extend)
    if rules.negative_matrix:
        return 100.0 * float(gap_open), extend
    if mismatch <= 0:
        found = 100.0 * float(one(float(gap_open) + by_length))
        return (found if math.isfinite(found) else 0.0), extend
    return float(one(scale) * one(mismatch) * one(float(gap_open) / (by_difference * by_length))), extend


def profile_scores(rules, matrix, first, second, weights):
    """The score of each column of the first profile with each of the second."""
    scores, (one, other) = matrix[4], (first, second)
    gaps, n_rows = inner_gaps(rules, one[1]), len(one[1])
    total, other_total = (sum(weights[k] for k in members) for members, _ in (one, other))
    means, frequencies = [], []
    for k in range(len(one[1][0])):
        column, mean = columns_of(one[1], k), [0] * 25
        if gaps[k] < n_rows:
            factor = SCORE_UNITS * float(n_rows - gaps[k]) / (float(n_rows) * float(total))
            for letter in range(25):
                pairs = zip(one[0], column, strict=True)
                weighed = sum(weights[x] * int(scores[code][letter]) for x, code in pairs if code != GAP)
                mean[letter] = math.floor(weighed * factor + 0.5)
        means.append(mean)
    for k in range(len(other[1][0])):
        found = [0] * 25
        for x, code in zip(other[0], columns_of(other[1], k), strict=True):
            if code != GAP:
                found[code] += weights[x]
        share = [(FREQUENCY_ONE * weight + other_total // 2) // other_total - RARE for weight in found]
        frequencies.append([max(0, value) * FREQUENCY_ONE // (FREQUENCY_ONE - RARE) for value in share])
    sums = np.array(means, np.int64) @ np.array(frequencies, np.int64).T
    return (sums + (1 << (SHIFT - 1))) >> SHIFT


def best_path(rules, scores, first, second):
    """Steps "both", "first", "second" of the best alignment by the tie rule; costs are those of gap_costs."""
    (open1, extend1), (open2, extend2) = first, second
    n, m = scores.shape
    ends = rules.has_end_gaps

    def cost(i, j, is_down):  # of a gap beside column i of the first and j of the second: opening, extension
        free = not ends and (j in (0, m) if is_down else i in (0, n))
        return (0, 0) if free else (open1[i] + open2[j], extend1[i] if is_down else extend2[j])

    best, down, across = (np.full((n + 1, m + 1), NOWHERE, np.int64) for _ in range(3))
    best[0, 0] = 0
    for i in range(n + 1):
        for j in range(m + 1):
            if i:
                opens, extends = cost(i, j, True)
                down[i, j] = max(best[i - 1, j] - opens, down[i - 1, j]) - extends
            if j:
                opens, extends = cost(i, j, False)
                across[i, j] = max(best[i, j - 1] - opens, across[i, j - 1]) - extends
            if i and j:
                best[i, j] = max(best[i - 1, j - 1] + scores[i - 1, j - 1], across[i, j], down[i, j])
            elif i or j:
                best[i, j] = max(across[i, j], down[i, j])
    steps, i, j, state = [], n, m, "both"
    while i and j:
        if state == "both" and best[i, j] != best[i - 1, j - 1] + scores[i - 1, j - 1]:
            state = "second" if across[i, j] == best[i, j] else "first"
        steps.append(state)
        if state == "both":
            i, j = i - 1, j - 1
        elif state == "first":
            opens, _ = cost(i, j, True)
            state = "first" if down[i - 1, j] >= best[i - 1, j] - opens and i > 1 else "both"
            i -= 1
        else:
            opens, _ = cost(i, j, False)
            state = "second" if goes_on(across, best, i, j, opens) else "both"
            j -= 1
    steps += ["first"] * i + ["second"] * j
    return steps[::-1], int(best[n, m])


def goes_on(across, best, i, j, opens):
    """Whether a gap in the first profile came from the column before, rather than that it begins here."""
    return j > 1 and across[i, j - 1] >= best[i, j - 1] - opens


def merge(first, second, steps):
    """Members and rows of both groups; a group's columns stay together."""
    found = {}
    for (members, rows), skipped in ((first, "second"), (second, "first")):
        for x, row in zip(members, rows, strict=True):
            letters = iter(row)
            found[x] = [GAP if step == skipped else next(letters) for step in steps]
    members = sorted(found)
    return members, [found[x] for x in members]


def align_groups(rules, one, other, weights, identity):
    first, second = (other, one) if len(other[0]) > len(one[0]) else (one, other)
    lengths = [sum(code != GAP for row in rows for code in row) // len(rows) for _, rows in (first, second)]
    shorter = min(lengths)
    matrix = next(entry for entry in rules.series if identity > entry[0] and shorter < entry[1])
    base = base_costs(rules, matrix, *lengths)
    scores = profile_scores(rules, matrix, first, second, weights)
    costs = [gap_costs(rules, *base, rows) for _, rows in (first, second)]
    return merge(first, second, best_path(rules, scores, *costs)[0])


def tree_identities(children, lengths, n):
    """100 - 100 d of all pairs; d is the way through the tree, from .01 to 1, added up from the leaves in float32."""
    below, found = [{k: np.float32(0)} for k in range(n)], np.zeros((n, n))
    for one, other in children:
        sides = [{x: sum_ + np.float32(lengths[k]) for x, sum_ in below[k].items()} for k in (one, other)]
        for x, a in sides[0].items():
            for y, b in sides[1].items():
                found[x, y] = found[y, x] = 100.0 - min(max(float(a + b), 0.01), 1.0) * 100.0
        below.append(sides[0] | sides[1])
    return found


def mean_identity(identities, one, other):
    return sum(identities[x, y] for x in one for y in other) / (len(one) * len(other))


def align(rules, sequences, children, lengths, weights, distances=None):
    """Columns of every residue of every sequence, and the order in which the sequences came in."""
    n = len(sequences)
    identities = tree_identities(children, lengths, n)
    if distances is not None:
        identities = 100.0 - 100.0 * np.array(distances)
        np.fill_diagonal(identities, 0.0)
    waits = [x for x in range(n) if int(max(identities[x, y] for y in range(n) if y != x)) <= rules.delay]
    groups = [None if x in waits else ([x], [list(sequences[x])]) for x in range(n)]
    order = []
    for one, other in children:
        both = [group for group in (groups[one], groups[other]) if group]
        if len(both) == 2:
            first, second = both if len(both[1][0]) <= len(both[0][0]) else both[::-1]
            both = [align_groups(rules, *both, weights, mean_identity(identities, first[0], second[0]))]
        groups.append(both[0] if both else None)
    for node in walk(children, n):
        order += [x for x in (groups[node] or [[]])[0] if x not in order]
    if not order:
        order = [first_of_most_alike(identities, n)]
        waits.remove(order[0])
        groups[-1] = ([order[0]], [list(sequences[order[0]])])
    return add_one_by_one(rules, sequences, identities, weights, groups[-1], waits, order)


def walk(children, n):
    """Inner nodes, each after those below it, the first child's before the second's."""

    def of(node):
        return [] if node < n else [*of(children[node - n][0]), *of(children[node - n][1]), node]

    return of(2 * n - 2)


def first_of_most_alike(identities, n):
    most, found = -1, 0
    for x in range(n):
        for y in range(x + 1, n):
            if most < identities[x, y]:
                most, found = int(identities[x, y]), x
    return found


def add_one_by_one(rules, sequences, identities, weights, group, waits, order):
    while waits:
        new = max(waits, key=lambda x: (max(int(identities[x, y]) for y in order), -x))
        beside = list(weights)
        if rules.has_weights:
            for x in group[0]:
                share = weights[x] / max(weights) * identities[new, x] / 100
                beside[x] = max(1, math.floor(share * 1000 * 1000 + 0.5))
        identity = mean_identity(identities, group[0], [new])
        group = align_groups(rules, group, ([new], [list(sequences[new])]), beside, identity)
        waits.remove(new)
        order.append(new)
    columns = [[k for k, code in enumerate(row) if code != GAP] for row in group[1]]
    return columns, order
