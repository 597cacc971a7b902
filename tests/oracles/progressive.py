"""Guide tree, weights, alignment of groups, refinement and confidence in plain Python, straight from the definitions.

Posteriors are {(x, y): integer matrix of 0 to ONE} for x < y; pairs may be missing. An alignment is a list of lists:
the column of every residue of every sequence. The definitions are those of native/msa: guide_tree.hpp,
column_align.hpp, progressive.hpp and confidence.hpp.
"""

import numpy as np

ONE = 32767
WHOLE = 2**31 - 1


def upgma(distances, n):
    """Children and branches; distances in the order (0, 1), (0, 2), ..., (1, 2), ..., averages in float32."""
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    between = dict(zip(pairs, map(np.float32, distances), strict=True))
    node, leaves = list(range(n)), [1] * n
    places, children, branches = list(range(n)), [], [0.0] * (2 * n - 1)
    for joined in range(n, 2 * n - 1):
        best = None
        for j in places:
            for i in places:
                if i < j and (best is None or between[i, j] < between[best]):
                    best = i, j
        i, j = best
        children.append((node[j], node[i]))
        branches[node[i]] = branches[node[j]] = float(between[best]) / 2
        places.remove(i)
        for k in places:
            if k != j:
                own, other = tuple(sorted((j, k))), tuple(sorted((i, k)))
                total = leaves[j] * float(between[own]) + leaves[i] * float(between[other])
                between[own] = np.float32(total / (leaves[j] + leaves[i]))
        node[j], leaves[j] = joined, leaves[j] + leaves[i]
    return children, branches


def leaves_below(children, n):
    """The leaves below each node, those of the first child first."""
    below = [[x] for x in range(n)]
    for one, other in children:
        below.append(below[one] + below[other])
    return below


def sequence_weights(children, branches, n):
    """The weight of each leaf."""
    below = leaves_below(children, n)
    weights = [sum(branches[k] / len(below[k]) for k in range(2 * n - 2) if x in below[k]) for x in range(n)]
    total = sum(weights)
    return [weight / total if total > 0 else 1 / n for weight in weights]


def posterior(matrices, x, y):
    """The matrix of x's rows and y's columns, or None."""
    if (x, y) in matrices:
        return matrices[x, y]
    return matrices[y, x].T if (y, x) in matrices else None


def column_sums(matrices, alignment, m, n, pairs):
    """P(i, j) of columns: integers; `pairs` are (x, y, weight)."""
    most = max((weight for *_, weight in pairs), default=0)
    units = [int(weight / most * 2**24 + 0.5) if most > 0 else 1 for *_, weight in pairs]
    sums = np.zeros((m, n), dtype=np.int64)
    for (x, y, _), unit in zip(pairs, units, strict=True):
        share = unit * WHOLE // sum(units)
        terms = (share * posterior(matrices, x, y).astype(np.int64) + 2**14) >> 15
        sums[np.ix_(alignment[x], alignment[y])] += terms
    return sums >> min(m, n).bit_length()


def align(sums):
    """The new column of each row of `sums`, and that of each of its columns."""
    m, n = sums.shape
    best = np.zeros((m + 1, n + 1), dtype=np.int64)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            best[i, j] = max(best[i - 1, j - 1] + sums[i - 1, j - 1], best[i - 1, j], best[i, j - 1])
    steps, i, j = [], m, n
    while i or j:
        if i and j and best[i, j] == best[i - 1, j - 1] + sums[i - 1, j - 1]:
            step = 1, 1
        elif j and (not i or best[i, j] == best[i, j - 1]):
            step = 0, 1
        else:
            step = 1, 0
        steps.append(step)
        i, j = i - step[0], j - step[1]
    steps.reverse()
    first = [k for k, step in enumerate(steps) if step[0]]
    second = [k for k, step in enumerate(steps) if step[1]]
    return first, second


def cross_pairs(matrices, first, second, weights):
    """All pairs of two groups that have posteriors, with the product of their weights."""
    return [(x, y, weights[x] * weights[y]) for x in first for y in second if posterior(matrices, x, y) is not None]


def progressive(matrices, lengths, children, weights):
    """The alignment up the tree."""
    n = len(lengths)
    alignment = [list(range(length)) for length in lengths]
    size, below = list(lengths), leaves_below(children, n)
    for one, other in children:
        pairs = cross_pairs(matrices, below[one], below[other], weights)
        first, second = align(column_sums(matrices, alignment, size[one], size[other], pairs))
        for group, to in ((below[one], first), (below[other], second)):
            for x in group:
                alignment[x] = [to[column] for column in alignment[x]]
        size.append(max(first[-1], second[-1]) + 1)
    return alignment


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        """64 bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, n):
        """A number below n."""
        return (self.next() >> 32) * n >> 32


def without_empty_columns(alignment, members):
    """New columns of the members, and how many there are."""
    used = sorted({column for x in members for column in alignment[x]})
    to = {column: k for k, column in enumerate(used)}
    return {x: [to[column] for column in alignment[x]] for x in members}, len(used)


def split_of(split, random, alignment, n_columns):
    """The first group of a round."""
    n = len(alignment)
    if split == "random":
        return [x for x in range(n) if random.next() & 1]
    gapped = [c for c in range(n_columns) if sum(c in columns for columns in alignment) < n]
    if not gapped:
        return []
    chosen = gapped[random.below(len(gapped))]
    return [x for x in range(n) if chosen not in alignment[x]]


def refine(matrices, alignment, weights, split, accept, n_rounds, seed):
    """The alignment after all rounds."""
    n, random = len(alignment), Random(seed)
    made, n_columns = without_empty_columns(alignment, range(n))
    alignment = [made[x] for x in range(n)]
    for _ in range(n_rounds):
        first = split_of(split, random, alignment, n_columns)
        second = [x for x in range(n) if x not in first]
        if not first or not second:
            continue
        one, m = without_empty_columns(alignment, sorted(first))
        other, k = without_empty_columns(alignment, second)
        apart = {**one, **other}
        sums = column_sums(matrices, apart, m, k, cross_pairs(matrices, sorted(first), second, weights))
        to, to_other = align(sums)
        length = max(to[-1], to_other[-1]) + 1
        if {"always": True, "not_longer": length <= n_columns}[accept]:
            alignment = [[(to if x in first else to_other)[column] for column in apart[x]] for x in range(n)]
            n_columns = length
    return alignment


def confidence(matrices, alignment, weights):
    """Means of posteriors: of residues, one sequence after another, and of columns."""
    n, n_columns = len(alignment), max(map(max, alignment)) + 1
    residues = []
    sums, totals = np.zeros(n_columns), np.zeros(n_columns)
    for x in range(n):
        for i, column in enumerate(alignment[x]):
            value = total = 0.0
            for y in range(n):
                if y != x and column in alignment[y] and posterior(matrices, x, y) is not None:
                    value += weights[y] * posterior(matrices, x, y)[i, alignment[y].index(column)] / ONE
                    total += weights[y]
            residues.append(value / total if total else 0.0)
            sums[column] += weights[x] * value
            totals[column] += weights[x] * total
    return residues, np.divide(sums, totals, out=np.zeros(n_columns), where=totals > 0)
