"""Soft alignment in plain Python and float64: logarithms of sums over alignments, forward and backward.

A cell has a sum for alignments that end in it with a pair (M), with a residue of the target against a gap (E), and
with one of the query (F). Of two adjacent gaps, F precedes E. Scores and costs are divided by the temperature.

Starts: a local alignment starts with any pair. Others start in (0, 0), or also in (i, 0) if the start of the query is
free, or in (0, j) if that of the target is; there are no paid gaps along free borders, at the start or at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracles.pairwise import FREE_ENDS


@dataclass(frozen=True)
class Soft:
    """The soft score, probabilities of pairs, and expected numbers of gaps and of residues in gaps."""

    score: float
    posteriors: np.ndarray
    n_gaps: float
    gap_residues: float


def soft_align(scores, gap_open, gap_extend, mode="local", free_ends=FREE_ENDS, temperature=1.0) -> Soft:
    """Sum over all alignments by a table of scores."""
    table = np.asarray(scores, float) / temperature
    (m, n), o, e = table.shape, gap_open / temperature, gap_extend / temperature
    is_local = mode == "local"
    query_start, query_end, target_start, target_end = (mode == "semiglobal" and end in free_ends for end in FREE_ENDS)
    begins = np.full((m + 1, n + 1), -np.inf)  # of M, besides those of local alignments
    ends = {state: np.full((m + 1, n + 1), -np.inf) for state in "MEF"}
    if is_local:
        ends["M"][1:, 1:] = 0
    else:
        begins[0, 0] = 0
        for state in "MEF":
            ends[state][m, n] = 0
        if query_start:
            begins[:, 0] = 0
        if target_start:
            begins[0, :] = 0
        if query_end:
            ends["M"][:, n] = ends["E"][:, n] = 0
            ends["F"][m, n] = -np.inf
        if target_end:
            ends["M"][m, :] = ends["F"][m, :] = 0
            ends["E"][m, n] = -np.inf
            if query_end:
                ends["F"][m, n] = -np.inf
    add = np.logaddexp
    M, E, F = (np.full((m + 1, n + 1), -np.inf) for _ in range(3))
    for i in range(m + 1):
        for j in range(n + 1):
            M[i, j] = begins[i, j]
            if i and j:
                before = add(add(M[i - 1, j - 1], E[i - 1, j - 1]), F[i - 1, j - 1])
                M[i, j] = table[i - 1, j - 1] + (add(before, 0) if is_local else before)
            if j and not (i == 0 and target_start):
                E[i, j] = add(E[i, j - 1] - e, add(M[i, j - 1], F[i, j - 1]) - o - e)
            if i and not (j == 0 and query_start):
                F[i, j] = add(F[i - 1, j] - e, M[i - 1, j] - o - e)
    total = 0.0 if is_local else -np.inf  # the empty alignment
    for state, sums in zip("MEF", (M, E, F), strict=True):
        total = add(total, add.reduce((sums + ends[state]).ravel()))
    bM, bE, bF = (np.full((m + 2, n + 2), -np.inf) for _ in range(3))
    n_gaps = gap_residues = 0.0
    for i in range(m, -1, -1):
        for j in range(n, -1, -1):
            pair = table[i, j] + bM[i + 1, j + 1] if i < m and j < n else -np.inf
            right = bE[i, j + 1] if j < n and not (i == 0 and target_start) else -np.inf
            down = bF[i + 1, j] if i < m and not (j == 0 and query_start) else -np.inf
            bM[i, j] = add.reduce([pair, right - o - e, down - o - e, ends["M"][i, j]])
            bE[i, j] = add.reduce([pair, right - e, ends["E"][i, j]])
            bF[i, j] = add.reduce([pair, down - e, right - o - e, ends["F"][i, j]])
            n_gaps += np.exp(M[i, j] + add(right, down) - o - e - total) + np.exp(F[i, j] + right - o - e - total)
            gap_residues += np.exp(E[i, j] + bE[i, j] - total) + np.exp(F[i, j] + bF[i, j] - total)
    posteriors = np.exp(M + bM[:-1, :-1] - total)[1:, 1:]
    return Soft(temperature * total, posteriors, n_gaps, gap_residues)
