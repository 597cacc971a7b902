"""Distances of aligned rows, and bootstrap, from their definitions."""

import math

PURINES, PYRIMIDINES = set("AG"), set("CT")


def counts(one, other, letters):
    """Columns in which both rows hold one of the letters, those that differ, and differences that are transitions."""
    both = [(a, b) for a, b in zip(one, other, strict=True) if a in letters and b in letters]
    differing = [{a, b} for a, b in both if a != b]
    return len(both), len(differing), sum(pair in (PURINES, PYRIMIDINES) for pair in differing)


def distance(compared, differing, transitions, model):
    """Jukes and Cantor 1969, Kimura 1980 (of nucleotides) and 1983 (of proteins, of shares below 0.75)."""
    p, ts, tv = differing / compared, transitions / compared, (differing - transitions) / compared
    if model == "identity":
        return p
    if model == "kimura":
        return -math.log(1 - p - p * p / 5)
    if model == "jc69":
        return -3 / 4 * math.log(1 - 4 / 3 * p)
    return -1 / 2 * math.log((1 - 2 * ts - tv) * math.sqrt(1 - 2 * tv))


def mixed(x):
    """The generator SplitMix64 of Steele, Lea and Flood 2014."""
    mask = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def drawn_columns(n_columns, seed, sample):
    """The columns of a bootstrap sample."""
    state, found = mixed(seed ^ mixed(sample)), []
    for _ in range(n_columns):
        state = mixed(state)
        found.append(state * n_columns >> 64)
    return found
