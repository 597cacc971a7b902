"""Calibration of models, as by HMMER: location and slope of the distribution of scores of random sequences.

Eddy, "A probabilistic model of local sequence alignment that simplifies statistical significance estimation",
2008. The random sequences are HMMER's own (its fast generator, seed 42), and so are the orders of sums, so that
the results equal HMMER's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.profiles.proteins import BACKGROUND
from tropalign.properties import cached

#: Sequences per kind of score, and their lengths for MSV, Viterbi and Forward scores.
N_SEQUENCES, LENGTHS = 200, (200, 200, 100)
SEED = 42
#: Probability of the fitted tail of Forward scores.
TAIL = 0.04
TOLERANCE = 1e-5
LOG2 = 0.69314718055994529
#: Substitutes for scores that 8 or 16 bits do not hold, in nats.
LARGEST_BYTE_SCORE = np.float32(65) / np.float32(3 / LOG2)
LARGEST_WORD_SCORE = np.float32((32767 - 12000) / np.float64(np.float32(500 / LOG2)))
Scores = Callable[[_native.ProfileModel, _native.TargetBlock, NDArray[np.int32]], NDArray[np.float32]]


def calibrate(
    match: NDArray[np.float32], transitions: NDArray[np.float32], composition: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return location and slope of MSV, Viterbi and Forward scores of random sequences, as in `Model.evalue`.

    `match`: float32, shape (length + 1, 20); `transitions`: float32, shape (length + 1, 7); `composition`:
    float32, shape (20,); probabilities as in `Model`. Returns float32, shape (6,).
    """
    model = _native.ProfileModel(
        match, transitions, composition, BACKGROUND, np.zeros(6, np.float32), b"x" * (len(match) - 1)
    )
    slope = LOG2 + 1.44 / ((len(match) - 1) * _mean_relative_entropy(match))
    msv, viterbi, forward = _random_targets()
    msv_length, viterbi_length, forward_length = LENGTHS
    msv_bits = _bits(model, _native.msv_scores, msv, msv_length, LARGEST_BYTE_SCORE)
    viterbi_bits = _bits(model, _native.viterbi_scores, viterbi, viterbi_length, LARGEST_WORD_SCORE)
    msv_location, viterbi_location = _location(msv_bits, slope), _location(viterbi_bits, slope)
    bits = _bits(model, _native.forward_scores, forward, forward_length)
    location, own_slope = _fitted(bits)
    # Start of the fitted distribution's tail, moved to the origin of an exponential with the other slope.
    begin = location - math.log(-1.0 * math.log(1.0 - TAIL)) / own_slope
    origin = begin + math.log(TAIL) / slope
    return np.array([msv_location, slope, viterbi_location, slope, origin, slope], np.float32)


@cached
def _random_targets() -> tuple[_native.TargetBlock, ...]:
    """Return random sequences of background composition, for each kind of score."""
    total = N_SEQUENCES * sum(LENGTHS)
    sums = np.cumsum(BACKGROUND, dtype=np.float64)
    codes = np.searchsorted(sums / sums[-1], _random_numbers(SEED, total), side="right").astype(np.uint8)
    blocks, begin = [], 0
    for length in LENGTHS:
        end = begin + N_SEQUENCES * length
        blocks.append(_native.TargetBlock(codes[begin:end], np.arange(0, end - begin + 1, length, dtype=np.int64)))
        begin = end
    return tuple(blocks)


def _random_numbers(seed: int, n: int) -> NDArray[np.float64]:
    """Return the first numbers, in [0, 1), of Easel's fast generator: ``x <- 69069 * x + 1`` modulo 2^32 (Knuth)."""
    # The first state is the seed mixed with two constants (Jenkins, "Hash functions", Dr. Dobb's Journal, 1997).
    a, b, c, below = seed, 87654321, 12345678, 2**32 - 1
    for down, up, last in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = ((a - b - c) & below) ^ (c >> down)
        b = ((b - c - a) & below) ^ (a << up & below)
        c = ((c - a - b) & below) ^ (b >> last)
    numbers = np.empty(n, np.uint32)
    numbers[0] = (69069 * (c or 42) + 1) % 2**32
    factor, summand, known = 69069, 1, 1  # coefficients of a step by `known` numbers
    while known < n:
        more = min(known, n - known)
        numbers[known : known + more] = numbers[:more] * np.uint32(factor) + np.uint32(summand)
        factor, summand, known = factor * factor % 2**32, (factor + 1) * summand % 2**32, 2 * known
    return numbers / 4294967296.0


def _bits(
    model: _native.ProfileModel,
    scores: Scores,
    block: _native.TargetBlock,
    length: int,
    largest: np.float32 | None = None,
) -> list[float]:
    """Score all targets of a block, which are `length` residues long, in bits relative to the null model."""
    nats = scores(model, block, np.arange(N_SEQUENCES, dtype=np.int32))
    if largest is not None:
        nats[np.isinf(nats)] = largest
    stay = float(np.float32(length) / np.float32(length + 1))
    null = np.float32(length * math.log(stay) + math.log(1.0 - stay))
    return [float(score) / LOG2 for score in nats - null]


def _mean_relative_entropy(match: NDArray[np.float32]) -> float:
    """Return the relative entropy of match emissions to the background, in bits per node, with float32 sums."""
    p = match[1:]
    ratios = np.where(p > 0, p / BACKGROUND, np.float32(1))
    logarithms = np.array(list(map(math.log2, ratios.ravel().tolist()))).reshape(p.shape)  # NumPy's logarithms differ
    entropy = np.zeros(len(p), np.float32)
    for term in (p * logarithms).T:
        entropy = (entropy + term).astype(np.float32)
    total = 0.0
    for value in entropy.tolist():
        total += value
    return total / len(p)


def _location(bits: list[float], slope: float) -> float:
    """Return the maximum likelihood location of a Gumbel distribution of known slope (Lawless 1982, equation 4.1.5)."""
    total = 0.0  # a loop: sum() rounds differently since Python 3.12
    for x in bits:
        total += math.exp(-slope * x)
    return -math.log(total / len(bits)) / slope


def _fitted(bits: list[float]) -> tuple[float, float]:
    """Return the likeliest location and slope of a Gumbel distribution (Lawless 1982, equations 4.1.5 and 4.1.6)."""
    total = squares = 0.0
    for x in bits:
        total += x
        squares += x * x
    variance = abs((squares - total * total / len(bits)) / (len(bits) - 1.0))
    first = math.pi / math.sqrt(6.0 * variance)
    slope = first
    for _ in range(100):  # Newton's method
        value, derivative = _likelihood_slope(bits, slope)
        if abs(value) < TOLERANCE:
            return _location(bits, slope), slope
        slope -= value / derivative
        if slope <= 0:
            slope = 0.001
    left, right = 0.0, first
    while _likelihood_slope(bits, right)[0] > 0 and right <= 1000:
        right *= 2.0
    for _ in range(100):  # bisection
        slope = (left + right) / 2.0
        value = _likelihood_slope(bits, slope)[0]
        if abs(value) < TOLERANCE:
            break
        left, right = (slope, right) if value > 0 else (left, slope)
    return _location(bits, slope), slope


def _likelihood_slope(bits: list[float], slope: float) -> tuple[float, float]:
    """Return the function that is 0 at the likeliest slope (equation 4.1.6), and its derivative."""
    plain = weighted = twice = total = 0.0
    for x in bits:
        e = math.exp(-1.0 * slope * x)
        total += x
        weighted += x * e
        twice += x * x * e
        plain += e
    mean = weighted / plain
    return 1.0 / slope - total / len(bits) + mean, mean * mean - twice / plain - 1.0 / (slope * slope)
