"""The tables of a profile, straight from HMMER 3's rules: floats of single precision, logarithms of double.

Plain loops over nodes; node k of M is column k, column 0 is no node. Eddy, "Accelerated profile HMM searches", 2011,
says what the tables are for; their roundings are HMMER 3.4's.
"""

import math

import numpy as np

from oracles.striped import LETTERS, MEMBERS, F

LOG2 = 0.69314718055994529
NOTHING = F(-np.inf)


def log(x):
    """A logarithm in double, as a float."""
    return F(math.log(x)) if x > 0 else NOTHING


def match_scores(match, background):
    M = len(match) - 1
    scores = np.full((29, M + 1), NOTHING)
    for k in range(1, M + 1):
        for x in range(20):
            scores[x, k] = log(float(match[k, x]) / float(background[x]))
        for letter, members in MEMBERS.items():
            total, weight = F(0), F(0)
            for x in (LETTERS.index(member) for member in members):
                total += scores[x, k] * background[x]
                weight += background[x]
            scores[LETTERS.index(letter), k] = total / weight
    return scores


def transition_scores(t):
    """BM, MM, IM, DM into node k; MD, MI, II, DD out of it. Rows of t: MM, MI, MD, IM, II, DM, DD."""
    M = len(t) - 1
    scores = np.full((8, M + 1), NOTHING)
    occupancy = [F(0), t[0, 1] + t[0, 0]]
    for k in range(2, M + 1):
        stays = occupancy[-1] * (t[k - 1, 0] + t[k - 1, 1])
        occupancy.append(F(float(stays) + (1.0 - float(occupancy[-1])) * float(t[k - 1, 5])))
    total = F(0)
    for k in range(1, M + 1):
        total += occupancy[k] * F(M - k + 1)
    for k in range(1, M + 1):
        scores[0, k] = log(occupancy[k] / total)
    for k in range(1, M):
        for here, there, place in (
            (0, 1, k + 1),
            (3, 2, k + 1),
            (5, 3, k + 1),
            (2, 4, k),
            (1, 5, k),
            (4, 6, k),
            (6, 7, k),
        ):
            scores[there, place] = log(t[k, here])
    return scores


def single_exp(x):
    """The exponential of the Cephes library, each operation rounded to a float."""
    if x > F(88.3762626647949):
        return F(np.inf)
    if x <= F(-88.3762626647949):
        return F(0)
    turns = F(x * F(1.44269504)) + F(0.5)
    k = math.floor(turns)
    f = x - F(F(k) * F(0.693359375)) - F(F(k) * F(-2.12194440e-4))
    p = F(1.9875691500e-4)
    for c in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
        p = F(p * f) + F(c)
    value = (F(p * F(f * f)) + f + F(1)) * F(np.ldexp(F(1), k) if k > -127 else 0)
    return value if value >= np.finfo(F).tiny else F(0)


def rounded(scale, score):
    """Half away from zero."""
    scaled = F(scale) * score
    return math.copysign(math.floor(abs(scaled) + 0.5), scaled) if np.isfinite(scaled) else float(scaled)


def bytes_of(scores, M):
    """Costs in thirds of a bit, and (bias, entry, end)."""
    scale = 3.0 / LOG2

    def plain(score):
        return int(min(255, -rounded(scale, score)))

    bias = plain(-max(F(0), scores[:20].max()))
    entry = plain(np.log(F(2) / (F(M) * F(M + 1))))
    costs = np.full(scores.shape, 255, np.uint8)
    for at, score in np.ndenumerate(scores):
        cost = -rounded(scale, score)
        costs[at] = 255 if cost > 255 - bias else int(cost) + bias
    return costs, (bias, entry, plain(np.log(F(0.5))))


def words_of(scores, most=32767):
    words = np.empty(scores.shape, np.int16)
    for at, score in np.ndenumerate(scores):
        words[at] = min(most, max(-32768, min(32767, rounded(500.0 / LOG2, score))))
    return words


def composition_odds(composition, background):
    odds = np.ones(29, F)
    odds[:20] = composition / background
    for letter, members in MEMBERS.items():
        total, weight = F(0), F(0)
        for x in (LETTERS.index(member) for member in members):
            total += composition[x]
            weight += background[x]
        odds[LETTERS.index(letter)] = total / weight
    return odds


def tables(match, t, composition, background):
    """All tables of native/profiles/model.hpp by name."""
    M = len(match) - 1
    m, s = match_scores(match, background), transition_scores(t)
    costs, constants = bytes_of(m, M)
    most = (0, 0, 0, 0, 0, 0, -1, 32767)
    return {
        "match_odds": np.vectorize(single_exp, otypes=[F])(m),
        "transitions": np.vectorize(single_exp, otypes=[F])(s),
        "byte_cost": costs,
        "byte_constants": constants,
        "word_match": words_of(m),
        "word_transitions": np.stack([words_of(row, cap) for row, cap in zip(s, most, strict=True)]),
        "composition_odds": composition_odds(composition, background),
    }
