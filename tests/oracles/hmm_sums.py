"""Sums over the paths of a hidden Markov model, in fractions: no rounding, no scaling (Rabiner 1989, III)."""

from fractions import Fraction


def exact(rows):
    return [[Fraction(float(p)) for p in row] for row in rows]


def forward(start, transition, emissions):
    """Row t: the probability of all paths that end in each state at t. `emissions` has a row per position."""
    start, transition, emissions = exact([start])[0], exact(transition), exact(emissions)
    states = range(len(start))
    rows = []
    for t, emission in enumerate(emissions):
        sums = [sum(rows[-1][i] * transition[i][j] for i in states) for j in states] if t else start
        rows.append([sums[s] * emission[s] for s in states])
    return rows


def backward(transition, emissions):
    """Row t: the probability of what is observed after t, per state at t."""
    transition, emissions = exact(transition), exact(emissions)
    states = range(len(transition))
    rows = [[Fraction(1)] * len(transition)]
    for emission in reversed(emissions[1:]):
        rows.append([sum(transition[i][j] * emission[j] * rows[-1][j] for j in states) for i in states])
    return rows[::-1]


def likelihood(start, transition, emissions):
    return sum(forward(start, transition, emissions)[-1])


def posteriors(start, transition, emissions):
    """Row t: the probability of each state at t, given all that is observed."""
    alphas, betas = forward(start, transition, emissions), backward(transition, emissions)
    total = sum(alphas[-1])
    return [
        [a * b / total for a, b in zip(alpha, beta, strict=True)] for alpha, beta in zip(alphas, betas, strict=True)
    ]


def transitions(start, transition, emissions):
    """How often each step between two states is expected."""
    alphas, betas = forward(start, transition, emissions), backward(transition, emissions)
    transition, emissions, total = exact(transition), exact(emissions), sum(alphas[-1])
    states = range(len(transition))
    return [
        [
            sum(
                alphas[t][i] * transition[i][j] * emissions[t + 1][j] * betas[t + 1][j] / total
                for t in range(len(emissions) - 1)
            )
            for j in states
        ]
        for i in states
    ]
