"""Votes of columns, scores of breakpoints and the verdict for a query and its two parents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.chimera_options import ChimeraRules

Booleans = NDArray[np.bool_]
Codes = NDArray[np.int16]

NO, BORDERLINE, YES = "N", "?", "Y"


class Explained(NamedTuple):
    """A sequence as a join of two parents at the best breakpoint.

    score: product of both sides. is_swapped: whether the first parent is on the right side. left, right: columns of
    a side that vote yes, vote no, and abstain. model, a, b, ab: percent identity of the sequence to the model, the
    left parent and the right parent, and of the parents to each other.
    """

    score: float
    is_swapped: bool
    left: tuple[int, int, int]
    right: tuple[int, int, int]
    model: float
    a: float
    b: float
    ab: float

    def verdict(self, rules: ChimeraRules) -> str:
        """Return the verdict: chimera, borderline or not a chimera."""
        top = max(self.a, self.b)
        if rules.rule != "uchime":
            return YES if self.model == 100.0 and top < 100.0 else NO
        if self.score < rules.minh:
            return NO
        votes = min(sum(self.left), sum(self.right))
        return YES if self.model - top >= rules.mindiv and votes >= rules.mindiffs else BORDERLINE


def explained(query: Codes, a: Codes, b: Codes, counts: Booleans, rules: ChimeraRules) -> Explained | None:
    """Find the best breakpoint between a majority for one parent and one for the other; None without a breakpoint.

    query, a, b: codes of three aligned sequences. counts: mask of columns, excluding gaps, their neighbours and
    ambiguous residues.
    """
    query, a, b = query[counts], a[counts], b[counts]
    is_a, is_b, are_same = query == a, query == b, a == b
    votes_a, votes_b, abstains = is_a & ~is_b, is_b & ~is_a, ~is_a & ~is_b
    places = np.flatnonzero(votes_a | votes_b | abstains)
    if not len(places):
        return None
    before = np.cumsum(np.stack([votes_a[places], votes_b[places], abstains[places]]), axis=1, dtype=np.int64)
    behind = before[:, -1:] - before
    is_straight = (before[0] > before[1]) & (behind[1] > behind[0])
    is_swapped = (before[1] > before[0]) & (behind[0] > behind[1])
    # Votes as seen by the left parent: if swapped, a no is a yes. A split of neither kind scores nothing.
    yes = np.where(is_swapped, before[1], before[0]), np.where(is_swapped, behind[0], behind[1])
    no = np.where(is_swapped, before[0], before[1]), np.where(is_swapped, behind[1], behind[0])
    scores = [
        y / (rules.xn * (n + rules.dn) + abstained)
        for y, n, abstained in zip(yes, no, (before[2], behind[2]), strict=True)
    ]
    score = np.where(is_straight | is_swapped, scores[0] * scores[1], -1.0)
    best = int(np.argmax(score))
    if score[best] < 0:
        return None
    left, right = ((int(yes[k][best]), int(no[k][best]), int(side[2][best])) for k, side in enumerate((before, behind)))
    swapped = bool(is_swapped[best])
    if swapped:
        is_a, is_b = is_b, is_a
    split = places[best] + 1
    n_model = int(is_a[:split].sum() + is_b[split:].sum())
    numbers = (n_model, int(is_a.sum()), int(is_b.sum()), int(are_same.sum()))
    return Explained(float(score[best]), swapped, left, right, *(100.0 * n / len(query) for n in numbers))


def counted_columns(query: Codes, parents: tuple[Codes, Codes], inserted: Booleans, is_ambiguous: Booleans) -> Booleans:
    """Return the mask of query residues whose columns count, bool, shape (m,).

    parents: codes aligned to the query, -1 for a gap. inserted: bool, shape (m + 1,), whether a parent has residues
    before each query residue, and after the last one.
    """
    is_gap = (parents[0] < 0) | (parents[1] < 0)
    found = ~(is_gap | inserted[:-1] | inserted[1:])
    found[1:] &= ~is_gap[:-1]
    found[:-1] &= ~is_gap[1:]
    for codes in (query, *parents):
        found &= ~(is_ambiguous[codes] & (codes >= 0))
    return found
