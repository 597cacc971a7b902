"""A domain in its envelope, straight from HMMER 3.4's rules: four floats at a time, in its order of operations.

Matrices are those of `oracles.striped`. Forward and Backward are scaled as HMMER scales them (Eddy 2011), the alignment
is that of highest expected accuracy (Kall and others 2005). Call within `denormals_as_zero`.
"""

import ctypes
import ctypes.util
import math

import numpy as np

from oracles.striped import (
    BM,
    DD,
    DM,
    HIGH,
    II,
    IM,
    LETTERS,
    MD,
    MEMBERS,
    MI,
    MM,
    D,
    F,
    I,
    M,
    forward,
    matrix_of,
    striped,
    total,
    up,
)

NEVER = F(-np.inf)

_logf = ctypes.CDLL(ctypes.util.find_library("m")).logf
_logf.restype, _logf.argtypes = ctypes.c_float, [ctypes.c_float]


def down(quad):
    return np.array([*quad[1:], F(0)], F)


class Rescored:
    """The stages of one envelope, one after another; their results are attributes."""

    def __init__(self, odds, transitions, consensus, codes, whole_length):
        """Tables by code or transition and node (column 0 is none); the target's length."""
        self.L, self.odds, self.t = len(codes), striped(odds), striped(transitions)
        self.Q = len(self.t[0])
        self.consensus, self.codes = consensus, codes
        self.move = F(F(2) / F(F(whole_length) + F(2)))
        self.loop = F(F(1) - self.move)
        self.own_scales = False
        self.f, self.fx = forward(self.odds, self.t, odds.shape[1] - 1, codes, self.move, self.loop, False)
        scales = F(0)
        for scale in self.fx["scale"][self.fx["scale"] > 1]:
            scales = F(float(scales) + math.log(float(scale)))
        self.nats = F(float(scales) + math.log(float(self.fx["C"][self.L] * self.move)))
        self._backward()
        self.is_dropped = not self._decode()
        if not self.is_dropped:
            self._accuracies()
            self._lines(self._path())
            self._null2()

    def _delete_more(self, row, way):
        for _ in range(3):
            way = down(way)
            for q in reversed(range(self.Q)):
                way = way * self.t[DD, q]
                row[q, D] += way

    def _backward(self):
        self.b, self.bx = b, x = matrix_of(self.L, self.Q)
        t, Q, L = self.t, self.Q, self.L
        for i in range(L, 0, -1):
            row, B = b[i], F(0)
            if i == L:
                N, C = F(0), self.move
            else:
                after, e = b[i + 1], self.odds[self.codes[i]]
                leaving = [down(t[s, 0]) for s in (MM, DM, IM)]
                M_next, begins = down(after[0, M] * e[0]), np.zeros(4, F)
                for q in reversed(range(Q)):
                    row[q, I] = after[q, I] * t[II, q] + M_next * leaving[I]
                    row[q, D] = M_next * leaving[D]
                    row[q, M] = after[q, I] * t[MI, q] + M_next * leaving[M]
                    M_next = after[q, M] * e[q]
                    leaving = [t[MM, q], t[DM, q], t[IM, q]]
                    begins = begins + M_next * t[BM, q]
                B = total(begins)
                N = B * self.move + x["N"][i + 1] * self.loop
                C = x["C"][i + 1] * self.loop
            E = C
            D_next = down(row[0, D] + E)
            for q in reversed(range(Q)):
                way = D_next * t[DD, q]
                row[q, D] = D_next = row[q, D] + (way + E)
                row[q, M] += E
            self._delete_more(row, way)
            D_next = down(row[0, D])
            for q in reversed(range(Q)):
                row[q, M] += D_next * t[MD, q]
                D_next = row[q, D]
            self.own_scales |= float(B) > 1e16
            scale = self.fx["scale"][i]
            if self.own_scales:
                scale = B if B > HIGH else F(1)
            if scale > 1:
                N, C = N / scale, C / scale
                row *= F(1.0 / float(scale))
            x["N"][i], x["C"][i], x["scale"][i] = N, C, scale
        begins = np.zeros(4, F)
        for q in range(Q):
            begins = begins + b[1, q, M] * self.odds[self.codes[0]][q] * t[BM, q]
        x["N"][0] = total(begins) * self.move + x["N"][1] * self.loop

    def _decode(self):
        f, b = self.fx, self.bx
        rest = F(1.0 / float(b["N"][0]))
        self.p, self.px = matrix_of(self.L, self.Q)
        for i in range(1, self.L + 1):
            self.p[i] = self.f[i] * self.b[i] * F(rest * f["scale"][i])
            self.p[i, :, D] = 0
            for state in "NC":
                self.px[state][i] = f[state][i - 1] * b[state][i] * self.loop * rest
            if self.own_scales:
                rest = rest * (f["scale"][i] / b["scale"][i])
        return not np.isinf(rest)

    def _accuracies(self):
        def possible(which, value):
            return np.where(self.t[which, q] > 0, value, F(0))

        self.a, self.ax = a, x = matrix_of(self.L, self.Q)
        Q, p, px = self.Q, self.p, self.px
        a[0] = NEVER
        x["C"][0] = NEVER
        for i in range(1, self.L + 1):
            row, before = a[i], a[i - 1]
            last = [up(before[Q - 1, s], NEVER) for s in (M, D, I)]
            way = np.full(4, NEVER)
            for q in range(Q):
                ways = [
                    possible(BM, x["B"][i - 1]),
                    possible(MM, last[M]),
                    possible(IM, last[I]),
                    possible(DM, last[D]),
                ]
                row[q, M] = np.maximum.reduce(ways) + p[i, q, M]
                last = before[q]
                row[q, D], way = way, possible(MD, row[q, M])
                row[q, I] = np.maximum(possible(MI, last[M]), possible(II, last[I])) + p[i, q, I]
            for n in range(4):
                way = up(way, NEVER)
                for q in range(Q):
                    row[q, D] = np.maximum(row[q, D], way)
                    way = possible(DD, way if n else row[q, D])
            x["E"][i] = row[:, :2].max()
            x["C"][i] = max(x["C"][i - 1] + px["C"][i], x["E"][i])
            x["N"][i] = x["N"][i - 1] + px["N"][i]
            x["B"][i] = x["N"][i]
        self.accuracy = x["C"][self.L]

    def _cell(self, matrix, i, state, k):
        return matrix[i, (k - 1) % self.Q, state, (k - 1) // self.Q]

    def _way(self, which, k, i, state, before):
        """The accuracy of a way from node `before`, by a transition that belongs to node k; never if it has none."""
        if self.t[which, (k - 1) % self.Q, (k - 1) // self.Q] == 0:
            return NEVER
        return self._cell(self.a, i, state, before)

    def _end(self, i):
        """The best cell of row i, as HMMER scans it: the last of equal M, before any D."""
        best, found = NEVER, None
        for q in range(self.Q):
            for r in range(4):
                if self.a[i, q, M, r] >= best:
                    best, found = self.a[i, q, M, r], ("M", r * self.Q + q + 1)
            for r in range(4):
                if self.a[i, q, D, r] > best:
                    best, found = self.a[i, q, D, r], ("D", r * self.Q + q + 1)
        return found

    def _path(self):
        """(state, residue, node) from the last M of the domain to its first."""
        x, px, i = self.ax, self.px, self.L
        while x["C"][i - 1] + px["C"][i] > x["E"][i]:
            i -= 1
        path, (state, k) = [], self._end(i)
        while state != "B":
            path.append((state, i, k))
            if state == "M":
                begin = self.t[BM, (k - 1) % self.Q, (k - 1) // self.Q] > 0
                ways = [self._way(which, k, i - 1, s, k - 1) for which, s in ((MM, M), (IM, I), (DM, D))]
                state = "MIDB"[int(np.argmax([*ways, x["B"][i - 1] if begin else NEVER]))]
                i, k = i - 1, k - 1
            elif state == "D":
                is_match = self._way(MD, k - 1, i, M, k - 1) >= self._way(DD, k - 1, i, D, k - 1)
                state, k = "M" if is_match else "D", k - 1
            else:
                is_match = self._way(MI, k, i - 1, M, k) >= self._way(II, k, i - 1, I, k)
                state, i = "M" if is_match else "I", i - 1
        return path

    def _lines(self, path):
        steps = path[::-1]
        self.begin, self.model_begin = steps[0][1] - 1, steps[0][2] - 1
        self.end, self.model_end = steps[-1][1], steps[-1][2]
        lines = ["", "", "", ""]
        for state, i, k in steps:
            code = self.codes[i - 1]
            model, letter = self.consensus[k - 1], LETTERS[code]
            if state == "M":
                is_likely = self.odds[code][(k - 1) % self.Q, (k - 1) // self.Q] > 1
                between = model if model.upper() == letter else "+" if is_likely else " "
                column = model, between, letter
            else:
                column = (".", " ", letter.lower()) if state == "I" else (model, " ", "-")
            posterior = "."
            if state != "D":
                p = float(self._cell(self.p, i, M if state == "M" else I, k)) + 0.05
                posterior = "*" if p >= 1.0 else str(int(p * 10.0))
            lines = [line + letter for line, letter in zip(lines, (*column, posterior), strict=True)]
        self.model_line, self.match_line, self.target_line, self.posterior_line = lines

    def _null2(self):
        sums, outside = self.p[1].copy(), {state: self.px[state][1] for state in "NC"}
        for i in range(2, self.L + 1):
            sums = self.p[i] + sums
            outside = {state: outside[state] + self.px[state][i] for state in "NC"}
        share = F(1.0 / self.L)
        sums *= share
        elsewhere = outside["N"] * share + outside["C"] * share
        odds = np.ones(29, F)
        for x in range(20):
            quad = np.zeros(4, F)
            for q in range(self.Q):
                quad = (quad + sums[q, M] * self.odds[x][q]) + sums[q, I]
            odds[x] = total(quad) + elsewhere
        for letter, members in MEMBERS.items():
            mean = F(0)
            for member in members:
                mean += odds[LETTERS.index(member)]
            odds[LETTERS.index(letter)] = mean / F(len(members))
        self.null2 = np.array([_logf(x) for x in odds], F)
        self.correction = F(0)
        for code in self.codes:
            self.correction += self.null2[code]
