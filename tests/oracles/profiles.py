"""Profiles aligned with profiles and sequences, in plain Python, straight from Hanif 2014, chapter 4."""

import math


def distance(p, q):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)))


def least_distance(first, second):
    """The smallest sum of distances that an alignment of two profiles has."""
    blank = [0.0] * (len(first[0]) - 1) + [1.0]
    sums = {(0, 0): 0.0}
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            ways = []
            if i and j:
                ways.append(sums[i - 1, j - 1] + distance(first[i - 1], second[j - 1]))
            if i:
                ways.append(sums[i - 1, j] + distance(first[i - 1], blank))
            if j:
                ways.append(sums[i, j - 1] + distance(blank, second[j - 1]))
            sums[i, j] = min(ways, default=0.0)
    return sums[len(first), len(second)]


def most_score(profile, codes, scores):
    """The largest score that an alignment of a profile and a sequence has; the blank is the last of the scores."""
    blank = len(scores) - 1

    def mean(column, b):
        return sum(share * scores[a][b] for a, share in enumerate(column))

    sums = {(0, 0): 0.0}
    for i in range(len(profile) + 1):
        for j in range(len(codes) + 1):
            ways = []
            if i and j:
                ways.append(sums[i - 1, j - 1] + mean(profile[i - 1], codes[j - 1]))
            if i:
                ways.append(sums[i - 1, j] + mean(profile[i - 1], blank))
            if j:
                ways.append(sums[i, j - 1] + scores[blank][codes[j - 1]])
            sums[i, j] = max(ways, default=0.0)
    return sums[len(profile), len(codes)]
