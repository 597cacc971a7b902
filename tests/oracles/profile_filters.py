"""HMMER 3.4's Viterbi filter in 16-bit scores and its filter of biased composition, straight from their recurrences.

Viterbi (Eddy, "Accelerated profile HMM searches", 2011): scores are 1/500 bit, all sums stay within 16 bits. All
targets of a call go side by side, a column each, in rows of nodes. Floats of the biased composition are of single
precision, their logarithms of double.
"""

import ctypes
import ctypes.util
import math

import numpy as np

from oracles.striped import BM, DD, DM, II, IM, MD, MI, MM, F

SCALE = F(500 / 0.69314718055994529)
LOWEST, HIGHEST, BASE, END = -32768, 32767, 12000, 500
#: The C library's logarithm in single precision; NumPy has one of its own.
LOGF = ctypes.CDLL(ctypes.util.find_library("m")).logf
LOGF.argtypes, LOGF.restype = [ctypes.c_float], ctypes.c_float


def word_move(L):
    """The score of leaving N, J or C."""
    score = float(SCALE * np.log(F(3) / F(L + 3)))
    return max(LOWEST, -math.floor(-score + 0.5))


def within(a):
    return np.clip(a, LOWEST, HIGHEST)


def viterbi(match, transitions, targets):
    """Scores in nats of targets of one residue or more: infinity beyond 16 bits, minus infinity where nothing ends."""
    match, transitions = match.astype(int), transitions.astype(int)[:, :, None]
    lengths = np.array([len(target) for target in targets])
    moves = np.array([word_move(L) for L in lengths])
    n, M = len(targets), match.shape[1] - 1
    m, i, d = (np.full((M + 1, n), LOWEST) for _ in range(3))
    xC, overflow = np.full(n, LOWEST), np.zeros(n, bool)
    for row in range(max(lengths)):
        codes = np.array([target[row] if row < len(target) else 20 for target in targets])
        ways = [within(np.maximum(xC, BASE) + moves + transitions[BM, 1:])]
        for state, which in ((m, MM), (i, IM), (d, DM)):
            ways.append(within(state[:-1] + transitions[which, 1:]))
        i = np.maximum(within(m + transitions[MI]), within(i + transitions[II]))
        m[1:] = within(np.max(ways, axis=0) + match[codes, 1:].T)
        from_match = within(m + transitions[MD])
        for k in range(2, M + 1):
            d[k] = np.maximum(from_match[k - 1], np.maximum(d[k - 1] + transitions[DD, k - 1], LOWEST))
        xE = m[1:].max(axis=0)
        inside = row < lengths
        overflow |= inside & (xE >= HIGHEST)
        xC = np.where(inside, np.maximum(xC, xE - END), xC)
    nats = [nats_of(*end) for end in zip(xC.tolist(), moves.tolist(), overflow.tolist(), strict=True)]
    return np.array(nats, F)


def nats_of(xC, move, overflow):
    if overflow or xC == LOWEST:
        return F(np.inf if overflow else -np.inf)
    return F(float((F(xC) + F(move) - F(BASE)) / SCALE) - 3.0)


def log(x):
    return F(math.log(float(x)))


def float_log(x):
    return F(LOGF(x))


def bias(odds, M, codes):
    """The null score of a target of one residue or more, in nats."""
    L, mean = F(len(codes)), F(M) / F(8)
    stay = L / F(len(codes) + 1)
    leave = F(1) - stay
    back, stay_foreground = F(1) / (mean + F(1)), mean / (mean + F(1))
    nats = F(0)
    b, f = F(0.999), F(0.001)
    for row, odd in enumerate(odds[codes]):
        if row:
            b, f = b * stay + f * back, b * leave + f * stay_foreground
        f = f * odd
        highest = max(b, f)
        b, f = b / highest, f / highest
        nats += log(highest)
    nats += log(b + f)
    return nats + L * float_log(stay) + float_log(leave)
