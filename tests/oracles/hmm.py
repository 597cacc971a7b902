"""Hidden Markov models straight from their formulas, in whole numbers where ties count.

A model is `start` [l], `transition` [l, l] (from, to) and `frames` [n, l], what each state says of each step; all are
natural logarithms.
"""

import math

#: Logarithms are rounded to multiples of 2^-36, so that sums are exact.
QUANTA_PER_UNIT = 2**36
#: Larger logarithms than this are not rounded.
MOST_ROUNDED = 2.0**15


def frames_of(emission, codes):
    """The frames of a sequence of symbols: emission [l, symbols]."""
    return [[row[code] for row in emission] for code in codes]


def in_quanta(value):
    """A logarithm in whole quanta, ties to even; None for -inf."""
    if value == -math.inf:
        return None
    assert abs(value) < MOST_ROUNDED
    return round(value * QUANTA_PER_UNIT)


def _sum(*terms):
    return None if None in terms else sum(terms)


def _best(values):
    """The lowest index of the highest value, None being the lowest of all."""
    return max(range(len(values)), key=lambda r: (values[r] is not None, values[r] or 0, -r))


def viterbi(start, transition, frames):
    """The best path, and the sum of its logarithms from left to right: the lowest state where several are best.

    Without a possible path: zeros and -inf.
    """
    if not len(frames):
        return [], 0.0
    states = range(len(start))
    moves = [[in_quanta(float(transition[r][s])) for r in states] for s in states]  # [to][from]
    values = [[_sum(in_quanta(float(start[s])), in_quanta(float(frames[0][s]))) for s in states]]
    for frame in frames[1:]:
        before = values[-1]
        sums = [[_sum(before[r], moves[s][r]) for r in states] for s in states]
        values.append([_sum(sums[s][_best(sums[s])], in_quanta(float(frame[s]))) for s in states])
    path = [_best(values[-1])]
    if values[-1][path[0]] is None:
        return [0] * len(frames), -math.inf
    for before in values[-2::-1]:
        path.append(_best([_sum(before[r], moves[path[-1]][r]) for r in states]))
    path.reverse()
    return path, path_score(start, transition, frames, path)


def path_score(start, transition, frames, path):
    """The logarithms along a path, added from left to right."""
    score = float(start[path[0]]) + float(frames[0][path[0]])
    for k in range(1, len(path)):
        score += float(transition[path[k - 1]][path[k]])
        score += float(frames[k][path[k]])
    return score
