"""Masks in plain Python, each straight from its paper: SEG, symmetric DUST, tantan."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log, log2

AMINO_ACIDS = frozenset("ARNDCQEGHILKMFPSTWYV")
#: What SEG cuts off a segment at the most; the other letters that a window may hold.
MAX_TRIM, MAX_OTHERS = 50, 2


def seg(text, window=12, low=2.2, high=2.5):
    """Segments of low complexity (Wootton and Federhen 1993, 1996), 0-based, half-open."""
    before = (window + 1) // 2 - 1
    after = window - before
    if len(text) < window:
        return []
    entropy = {}
    for begin in range(len(text) - window + 1):
        counts = Counter(letter for letter in text[begin : begin + window] if letter in AMINO_ACIDS)
        if window - counts.total() <= MAX_OTHERS:
            shares = [count / counts.total() for count in counts.values()]
            entropy[begin + before] = -sum(share * log2(share) for share in shares)
    found = []
    at, limit = before, before
    while at <= len(text) - after:
        if entropy.get(at, high + 1) <= low:
            first = last = at
            while first > limit and entropy.get(first - 1, high + 1) <= high:
                first -= 1
            while entropy.get(last + 1, high + 1) <= high:
                last += 1
            begin, end = first - before, last + after
            left, right = reduced(text[begin:end])
            if at + after <= begin + left:  # the window that began it was cut off
                found += [(begin + a, begin + b) for a, b in seg(text[begin : begin + left], window, low, high)]
            found.append((begin + left, begin + right))
            at = min(last, begin + right - 1 + before)
            limit = at + 1
        at += 1
    return found


def reduced(text):
    """The part of a segment that is least probable; the first one, the longest first."""
    best, span = 1.0, (0, len(text))
    for length in range(len(text), max(1, len(text) - MAX_TRIM), -1):
        for begin in range(len(text) - length + 1):
            chance = log_chance(text[begin : begin + length])
            if chance < best:
                best, span = chance, (begin, begin + length)
    return span


def log_chance(text):
    """ln of the share of all texts this long whose counts are, in some order, those of this one.

    Logarithms of factorials have six decimals, as in both programs of this name. Of parts that are as probable rounding
    chooses one, so that the order of these sums is segmasker's, too.
    """
    counts = sorted((text.count(letter) for letter in AMINO_ACIDS), reverse=True)
    ways, orders = log_factorial(20), log_factorial(len(text))
    for count in sorted(set(counts), reverse=True):
        ways -= log_factorial(counts.count(count))
    for count in counts:
        orders -= log_factorial(count)
    return ways + orders - len(text) * 2.9957322735539909


def log_factorial(n):
    """ln n!, rounded."""
    return round(sum(log(k) for k in range(2, n + 1)), 6)


def dust(text, window=64, level=20):
    """Union of perfect intervals (Morgulis and others 2006); pieces of A, C, G, T between other letters."""
    found = []
    piece = ""
    for at, letter in enumerate(text.upper() + "N"):
        if letter in "ACGT":
            piece += letter
            continue
        found += [
            (at - len(piece) + begin, at - len(piece) + end) for begin, end in _dust_of_piece(piece, window, level)
        ]
        piece = ""
    return found


def _dust_of_piece(text, window, level):
    triplets = [text[k : k + 3] for k in range(len(text) - 2)]
    best, perfect = {}, []
    for last in range(len(triplets)):
        for first in range(last, max(-1, last - (window - 2)), -1):
            counts = Counter(triplets[first : last + 1])
            pairs = sum(count * (count - 1) // 2 for count in counts.values())
            own = Fraction(pairs, last - first) if last > first else Fraction(0)
            within = max(best.get((first + 1, last), 0), best.get((first, last - 1), 0))
            if 10 * own > level and own >= within:
                perfect.append((first, last + 3))
            best[first, last] = max(own, within)
    return union(perfect)


def union(intervals):
    """Intervals that overlap or touch become one."""
    found = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def tantan(text, ratio, width, repeat=0.005, end=0.05, decay=0.9):
    """The chance of each letter to be in a repeat (Frith 2011): forward and backward sums over all its states.

    Parameters
    ----------
    ratio
        ``ratio(x, y)``: how much likelier y follows as a copy of x than by itself.
    width
        The longest period.
    """
    starts = [repeat * decay ** (k - 1) * (1 - decay) / (1 - decay**width) for k in range(1, width + 1)]
    n = len(text)
    emitted = [[ratio(text[i - k], text[i]) if k <= i else 0.0 for k in range(1, width + 1)] for i in range(n)]
    none, states = [], []
    background, copies = 1.0, [0.0] * width
    for i in range(n):
        leaving = sum(copies) * end
        copies = [(background * s + c * (1 - end)) * r for s, c, r in zip(starts, copies, emitted[i], strict=True)]
        background = background * (1 - repeat) + leaving
        none.append(background)
        states.append(copies)
    total = background * (1 - repeat) + sum(copies) * end
    after, after_copies = 1 - repeat, [end] * width
    chances = [0.0] * n
    for i in reversed(range(n)):
        chances[i] = 1 - none[i] * after / total
        coming = [c * r for c, r in zip(after_copies, emitted[i], strict=True)]
        after_copies = [after * end + (1 - end) * c for c in coming]
        after = after * (1 - repeat) + sum(s * c for s, c in zip(starts, coming, strict=True))
    return chances
