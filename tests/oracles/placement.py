"""Placement in plain Python, straight from the recurrences: branch vectors, scores and paths."""

import math

IMPOSSIBLE = -(10**9)


def score_matrix(vector, read, scoring):
    """H, E and F by (row, column); `vector` is a list of (set, flag), `read` one of sets."""
    match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend, whole = scoring
    n, width = len(read), len(vector)
    H, E, F = {}, {}, {}
    for b in range(-1, n):
        H[b, -1] = IMPOSSIBLE if whole and b >= 0 else 0
        E[b, -1] = IMPOSSIBLE
    for a in range(width):
        H[-1, a], F[-1, a] = 0, IMPOSSIBLE
    for b in range(n):
        for a, (states, flag) in enumerate(vector):
            if whole and not b <= a <= b + width - n:
                H[b, a] = E[b, a] = F[b, a] = IMPOSSIBLE
                continue
            E[b, a] = max(H[b, a - 1] - (0 if flag else gap_open), E[b, a - 1] - (0 if flag else gap_extend))
            F[b, a] = max(H[b - 1, a] - insert_open, F[b - 1, a] - insert_extend)
            pair = (match if states & read[b] else mismatch) + (on_gap if flag else 0)
            H[b, a] = max(H[b - 1, a - 1] + pair, E[b, a], F[b, a])
    return H, E, F


def score(vector, read, scoring):
    """The best of the last row and the last column, or nothing (of the last row alone for whole reads)."""
    H, _, _ = score_matrix(vector, read, scoring)
    best = max(H[cell] for cell in end_cells(len(read), len(vector), scoring))
    return best if scoring[7] else max(best, 0)


def end_cells(n, width, scoring):
    """Where an alignment may end, in the order of the tie rule."""
    last_column = [] if scoring[7] else [(b, width - 1) for b in range(n - 1)]
    return last_column + [(n - 1, a) for a in range(width)]


def path(vector, read, scoring):
    """The column of each letter, -1 where it is in none: diagonal before E before F; gaps as short as may be."""
    match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend, _ = scoring
    H, E, F = score_matrix(vector, read, scoring)
    cells = end_cells(len(read), len(vector), scoring)
    b, a = max(cells, key=lambda cell: (H[cell], -cells.index(cell)))
    columns, state = [-1] * len(read), "H"
    if H[b, a] < 0 and not scoring[7]:
        return columns
    while b >= 0 and a >= 0:
        states, flag = vector[a]
        if state == "H":
            pair = H[b - 1, a - 1] + (match if states & read[b] else mismatch) + (on_gap if flag else 0)
            state = "F" if F[b, a] > E[b, a] and F[b, a] > pair else "E" if E[b, a] > pair else "D"
        if state == "D":
            columns[b] = a
            a, b, state = a - 1, b - 1, "H"
        elif state == "E":
            costs = (0, 0) if flag else (gap_open, gap_extend)
            state = "E" if E[b, a - 1] - costs[1] > H[b, a - 1] - costs[0] else "H"
            a -= 1
        else:
            state = "F" if F[b - 1, a] - insert_extend > H[b - 1, a] - insert_open else "H"
            b -= 1
    return columns


def branch_vectors(tree, tips, share, all_states, discrete=False):
    """(set, flag) by branch and column, from the whole tree anew for each; `tips` maps names to lists of sets."""
    neighbours = {}

    def link(one, other, length):
        neighbours.setdefault(one, []).append((other, length))
        neighbours.setdefault(other, []).append((one, length))

    for node, children in enumerate(tree.children):
        if node or len(children) == 3:
            for child in children:
                link(node, child, float(tree.lengths[child]))
    if len(tree.children[0]) == 2:
        one, other = tree.children[0]
        link(one, other, float(tree.lengths[one] + tree.lengths[other]))

    def across(length, values):
        moved = 1 - math.exp(-length)
        to_gap, to_base = share * moved, (1 - share) * moved
        return (1 - to_gap) * values[0] + to_gap * values[1], to_base * values[0] + (1 - to_base) * values[1]

    def directional(node, came_from, column):
        """Set, likelihoods, CGAP and OPEN flags, and whether this is a tip."""
        if not tree.children[node]:
            states = tips[tree.names[node]][column]
            gap = states == all_states
            return states, (float(not gap), float(gap)), (gap, False), True
        one, other = (
            (directional(next_node, node, column), length)
            for next_node, length in neighbours[node]
            if next_node != came_from
        )
        values = [x * y for x, y in zip(across(one[1], one[0][1]), across(other[1], other[0][1]), strict=True)]
        if max(values) < 2.0**-256:
            values = [value * 2.0**256 for value in values]
        return common(one[0][0], other[0][0]), values, flags(one[0], other[0]), False

    def common(one, other):
        return one & other or one | other

    def flags(one, other):
        counts = [gap and (not open_ or one[3] or other[3]) for gap, open_ in (one[2], other[2])]
        return (any(counts), sum(counts) == 1)

    out = []
    for node, length in zip(tree.branches(), tree.branch_lengths().tolist(), strict=True):
        parent = next(p for p, children in enumerate(tree.children) if node in children)
        if parent == 0 and len(tree.children[0]) == 2:
            parent = tree.children[0][0] if node == tree.children[0][1] else tree.children[0][1]
        row = []
        for column in range(len(next(iter(tips.values())))):
            below, above = directional(node, parent, column), directional(parent, node, column)
            base, gap = (x * y for x, y in zip(across(length, below[1]), across(length, above[1]), strict=True))
            flag = flags(below, above) == (True, False) if discrete else base < gap
            row.append((common(below[0], above[0]), flag))
        out.append(row)
    return out
