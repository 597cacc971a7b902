"""The first filter of HMMER 3.4 in bytes: SSV, MSV, and what they make of an overflow.

A row per residue, straight from the recurrences (Eddy, "Accelerated profile HMM searches", 2011; SSV: Knudsen's filter
in HMMER). Scores are thirds of a bit; `costs` are those of a model by code and node, column 0 is no node.
"""

import math

import numpy as np

F = np.float32
LOG2 = 0.69314718055994529
SCALE = F(3.0 / LOG2)
BASE = 190
INFINITE = F(np.inf)


def move(L):
    """The cost of leaving N, J or C."""
    return min(255, math.floor(-float(SCALE * np.log(F(3) / F(L + 3))) + 0.5))


def null1(L):
    """The score of a target by the null model, in nats."""
    p1 = F(L) / F(L + 1)
    return F(float(F(L)) * math.log(float(p1)) + math.log(1.0 - float(p1)))


def nats(xJ, L):
    return F(float(F(F(xJ - move(L)) - F(BASE)) / SCALE) - 3.0)


def ssv(costs, constants, codes):
    """The score, infinity, or None where only MSV can say."""
    bias, entry, end = constants
    L = len(codes)
    enter = move(L) + entry
    if enter + end + bias >= 127:
        return None
    signed = np.minimum(costs[:, 1:].astype(int) - bias, 127)
    v = np.full(costs.shape[1] - 1, -128)
    highest = 128
    for code in codes:
        v = np.clip(np.append(-128, v[:-1]) - signed[code], -128, 127)
        highest = max(highest, int((v & 255).max()))
    if highest >= 255 - bias:
        return None if BASE - enter < 128 else INFINITE
    xE = highest + BASE - enter - 128
    if xE >= 255 - bias:
        return INFINITE
    return None if xE - end > BASE else nats(xE - end, L)


def msv(costs, constants, codes):
    """The score, or infinity."""
    bias, entry, end = constants
    L = len(codes)
    enter = (move(L) + entry) % 256
    m = np.zeros(costs.shape[1] - 1, int)
    xJ, xB = 0, max(0, BASE - enter)
    for code in codes:
        raised = np.minimum(255, np.maximum(np.append(0, m[:-1]), xB) + bias)
        m = np.maximum(0, raised - costs[code, 1:])
        xE = int(m.max())
        if xE + bias >= 255:
            return INFINITE
        xJ = max(xJ, xE - end)
        xB = max(0, max(BASE, xJ) - enter)
    return nats(xJ, L)


def score(costs, constants, codes):
    """What HMMER's first filter gives."""
    found = ssv(costs, constants, codes)
    return msv(costs, constants, codes) if found is None else found


def p_value(score, L, mu, lambda_):
    """How likely a random target reaches the score."""
    bits = F(float(F(score - null1(L))) / LOG2)
    with np.errstate(over="ignore"):
        t = float(np.exp(-(lambda_ * (float(bits) - mu))))
    return t if t < 5e-9 else 1 - math.exp(-t)
