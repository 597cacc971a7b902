"""Certain pairs of two sequences (native/msa/certain.hpp), by forbidding one pair after another."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple


class Losses(NamedTuple):
    """The losses of pairs, of residues in gaps and in overhangs, and of opening a gap."""

    pair: Sequence[Sequence[int]]
    gap: Sequence[int]
    end: Sequence[int]
    open: int


def lowest(x: Sequence[int], y: Sequence[int], losses: Losses, forbidden: tuple[int, int] | None = None) -> float:
    """Return the lowest loss of all alignments that do not pair the residues `forbidden`."""
    m, n = len(x), len(y)
    best = [[inf] * (n + 1) for _ in range(m + 1)]
    down = [[inf] * (n + 1) for _ in range(m + 1)]
    for i in range(m + 1):
        along = inf
        for j in range(n + 1):
            found = inf
            if i == 0:
                found = sum(losses.end[b] for b in y[:j])
            elif j == 0:
                found = sum(losses.end[a] for a in x[:i])
            if i:
                down[i][j] = min(best[i - 1][j] + losses.open, down[i - 1][j]) + losses.gap[x[i - 1]]
            if j:
                along = min(best[i][j - 1] + losses.open, along) + losses.gap[y[j - 1]]
            if i and j and (i - 1, j - 1) != forbidden:
                found = min(found, best[i - 1][j - 1] + losses.pair[x[i - 1]][y[j - 1]])
            best[i][j] = min(found, down[i][j], along)
    ends = [best[i][n] + sum(losses.end[a] for a in x[i:]) for i in range(m + 1)]
    ends += [best[m][j] + sum(losses.end[b] for b in y[j:]) for j in range(n + 1)]
    return min(ends)


def certain_rows(x: Sequence[int], y: Sequence[int], losses: Losses, slack: int) -> tuple[float, dict[int, int]]:
    """Return the lowest loss, and the residue of y for each certain residue of x."""
    loss = lowest(x, y, losses)
    found = {}
    for i in range(len(x)):
        for j in range(len(y)):
            if lowest(x, y, losses, (i, j)) > loss + slack:
                found[i] = j
    return loss, found
