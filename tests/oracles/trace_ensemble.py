"""Domain definition by HMMER 3.4's rules, a number at a time: regions, stochastic traces and their clusters.

Sums and quotients are floats of 32 bits unless said otherwise, in the order of HMMER's vectors of four floats.
"""

import math

import numpy as np

from oracles.striped import BM, DD, DM, II, IM, MD, MI, MM, F, forward, striped


def regions(begin, end, homology):
    """(first, last, clustered) of each region; residues count from 1 (p7_domaindef_ByPosteriorHeuristics)."""
    found, first, triggered = [], None, False
    for j in range(1, len(homology)):
        if not triggered:
            if first is None or homology[j] - (begin[j] - begin[j - 1]) < F(0.10):
                first = j
            triggered = homology[j] >= F(0.25)
        elif homology[j] - (end[j] - end[j - 1]) < F(0.10):
            ends = [min(end[z] - end[first - 1], begin[j] - begin[z - 1]) for z in range(first, j + 1)]
            found.append((first, j, max(ends) >= F(0.20)))
            first, triggered = None, False
    return found


class Random:
    """Easel's fast generator: x = 69069 x + 1, from a seed that Jenkins' mix has spread."""

    def __init__(self, seed):
        a, b, c = seed, 87654321, 12345678
        for right, left, last in [(13, 8, 13), (12, 16, 5), (3, 10, 15)]:
            a = (a - b - c) % 2**32 ^ c >> right
            b = (b - c - a) % 2**32 ^ a << left & 0xFFFFFFFF
            c = (c - a - b) % 2**32 ^ b >> last
        self.x = c or 42

    def __call__(self):
        self.x = (self.x * 69069 + 1) % 2**32
        return self.x / 2**32

    def choice(self, paths):
        """By floats that are normalised with Kahan's sum, then added up in double."""
        total = lost = F(0)
        for path in paths:
            value = path - lost
            new = total + value
            total, lost = new, (new - total) - value
        shares = [float(path / total) for path in paths]
        norm, reached, roll = sum(shares), 0.0, self()
        for k, share in enumerate(shares):
            reached += share
            if roll < reached / norm:
                return k
        raise AssertionError


class Matrix:
    """Forward over codes[0 .. L), in multihit mode for a target of whole_length."""

    def __init__(self, match_odds, transitions, codes, whole_length):
        self.M, self.match_odds, self.transitions, self.codes = match_odds.shape[1] - 1, match_odds, transitions, codes
        self.move = F(3) / (F(whole_length) + F(3))
        self.loop = F(1) - self.move
        e, t = striped(match_odds), striped(transitions)
        self.Q = len(t[0])
        self.cells, specials = forward(e, t, self.M, codes, self.move, self.loop, True)
        self.specials = [{name: values[i] for name, values in specials.items()} for i in range(len(codes) + 1)]

    def cell(self, i, state, k):
        return self.cells[i, (k - 1) % self.Q, "MDI".index(state), (k - 1) // self.Q] if k > 0 else F(0)

    def step(self, which, k):
        return self.transitions[which, k] if k > 0 else F(0)


def trace(matrix, random):
    """States of one trace from row L to row 0: (state, row, node), rows and nodes of C, E, J, B and N as they are."""
    states, state, i, k = [], "C", len(matrix.codes), 0
    while state != "N":
        states.append((state, i, k))
        here, before = matrix.specials[i], matrix.specials[i - 1]
        if state in "CJ":
            stays = random.choice([before[state] * matrix.loop, here["E"] * F(0.5) * here["scale"]]) == 0
            state, i = (state, i - 1) if stays else ("E", i)
        elif state == "E":
            state, k = end_of(matrix, i, random())
        elif state == "B":
            state = "NJ"[random.choice([here["N"] * matrix.move, here["J"] * matrix.move])]
        elif state == "M":
            paths = [before["B"] * matrix.step(BM, k)]
            paths += [
                matrix.cell(i - 1, s, k - 1) * matrix.step(t, k) for s, t in zip("MID", (MM, IM, DM), strict=True)
            ]
            state, i, k = "BMID"[random.choice(paths)], i - 1, k - 1
        elif state == "I":
            paths = [matrix.cell(i - 1, s, k) * matrix.step(t, k) for s, t in (("M", MI), ("I", II))]
            state, i = "MI"[random.choice(paths)], i - 1
        else:
            paths = [matrix.cell(i, s, k - 1) * matrix.step(t, k - 1) for s, t in (("M", MD), ("D", DD))]
            state, k = "MD"[random.choice(paths)], k - 1
    return states


def end_of(matrix, i, roll):
    """The M or D that a domain ends with, by cells' shares of E: quad by quad, added up in double."""
    factor, total = F(1 / float(matrix.specials[i]["E"])), 0.0
    while True:
        for q in range(matrix.Q):
            for state in "MD":
                for r in range(4):
                    total += (
                        float(matrix.cell(i, state, r * matrix.Q + q + 1) * factor)
                        if r * matrix.Q + q < matrix.M
                        else 0
                    )
                    if roll < total:
                        return state, r * matrix.Q + q + 1


def ensemble(matrix, n, seed):
    """Domains of n traces (trace, begin, end, model_begin, model_end), and log odds of residues under null2."""
    random, segments, odds = Random(seed), [], np.zeros(len(matrix.codes), F)
    for number in range(n):
        domains, inside = [], np.zeros(len(matrix.codes), bool)
        for state, i, k in trace(matrix, random):
            if state == "E":
                domains.append([])
            elif state in "MI":
                domains[-1].append((state, i, k))
        for states in domains:
            matches = [(i, k) for state, i, k in states if state == "M"]
            (end, model_end), (first, model_first) = matches[0], matches[-1]
            segments.append((number, first - 1, end, model_first - 1, model_end))
            null2 = composition_odds(matrix, [k for _, _, k in states])
            for i in range(first, end):  # HMMER leaves the first residue out
                inside[i] = True
                odds[i] += null2(matrix.codes[i])
        segments[-len(domains) :] = segments[-len(domains) :][::-1]
        odds[~inside] += F(1)
    return segments, np.array([math.log(x) for x in odds / F(n)], F)


def composition_odds(matrix, nodes):
    """Mean odds of residues over nodes, each quarter of the model by itself (p7_Null2_ByTrace)."""
    norm, sums = F(1 / len(nodes)), np.zeros((20, 4), F)
    for k in sorted(set(nodes)):
        sums[:, (k - 1) // matrix.Q] += F(nodes.count(k)) * norm * matrix.match_odds[:20, k]
    odds = (sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3])
    members = {21: [2, 11], 22: [7, 9], 23: [3, 13], 24: [8], 25: [1], 26: range(20)}

    def of(code):
        if code < 20:
            return odds[code]
        if code not in members:
            return F(1)
        total = F(0)
        for x in members[code]:
            total += odds[x]
        return total / F(len(members[code]))

    return of


def is_most(overlap, length):
    return F(overlap) / F(length) >= F(0.8)


def are_linked(a, b):
    (_, i, j, k, m), (_, i2, j2, k2, m2) = a, b
    if not is_most(min(j, j2) - max(i, i2), min(j - i, j2 - i2)):
        return False
    if not is_most(min(m, m2) - max(k, k2) - 1, min(m - k, m2 - k2)):
        return False
    return abs((i - k) - (i2 - k2)) <= 4 or abs((j - m) - (j2 - m2)) <= 4


def linkage(segments):
    """Numbers of clusters, in the order of Easel's search (esl_cluster_SingleLinkage)."""
    waiting, numbers, n = list(range(len(segments)))[::-1], [0] * len(segments), 0
    while waiting:
        found = [waiting.pop()]
        while found:
            v = found.pop()
            numbers[v] = n
            for place in range(len(waiting) - 1, -1, -1):
                if are_linked(segments[v], segments[waiting[place]]):
                    found.append(waiting[place])
                    waiting[place] = waiting[-1]
                    waiting.pop()
        n += 1
    return numbers


def clusters(segments, n_traces):
    """(begin, end, model_begin, model_end, probability) of envelopes (p7_spensemble_Cluster, region_trace_ensemble)."""
    numbers, found = linkage(segments), []
    for number in sorted(set(numbers)):
        members = [s for s, c in zip(segments, numbers, strict=True) if c == number]
        n = len({s[0] for s in members})
        if F(n) / F(n_traces) < F(0.25):
            continue
        enough = math.ceil(F(n) * F(0.02))

        def outermost(column, last, members=members, enough=enough):
            values = [s[column] for s in members]
            often = [v for v in values if values.count(v) >= enough]
            if often:
                return max(often) if last else min(often)
            return min(values, key=lambda v: (-values.count(v), v))

        begin, end, model_begin, model_end = (
            outermost(1, False),
            outermost(2, True),
            outermost(3, False),
            outermost(4, True),
        )
        if begin < end and model_begin < model_end:
            found.append((begin, end, model_begin, model_end, float(F(n) / F(n_traces))))
    found.sort(key=lambda cluster: cluster[0])
    dropped = set()
    for a, x in enumerate(found):
        for b in range(a + 1, len(found)):
            y = found[b]
            overlap = min(x[1], y[1]) - max(x[0], y[0])
            if overlap == 0:
                break
            if is_most(overlap, min(x[1] - x[0], y[1] - y[0])):
                dropped.add(b if x[4] > y[4] else a)
    return [cluster for k, cluster in enumerate(found) if k not in dropped]
