"""Greedy clustering: a sequence joins a representative that is similar enough, or becomes one.

    sequences in order    ......|[ block ]|.................
    representatives       R R R  R  R          of all before

A block is compared with all earlier representatives at once. Sequences that find none are settled in rounds: the
first few of the rest are compared with each other, in order, and all later ones of the block with the new
representatives among them. So no sequence is compared with another that joined a representative, and the result
equals that of processing one sequence after another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import places_of
from tropalign.clusters.candidates import CandidateFilter
from tropalign.clusters.comparison import Comparison
from tropalign.errors import named
from tropalign.resources.limits import require

Index = NDArray[np.int64]

#: Largest block, and sequences of its first round.
MOST_BLOCK, ROUND = 1024, 8
#: Bytes per pair of a block's sequence and a representative: common k-mers, bounds, positions.
PAIR_BYTES = 64
#: Share of the memory for a block; alignments take the rest.
BLOCK_SHARE = 0.5
#: Byte limit of a block and its representatives; more is not faster.
MOST_BLOCK_BYTES = 96 << 20


class Greedy:
    """Clusters sequences one after another.

    order: indices in processing order. memory_bytes: limit for blocks and alignments together. progress: receives
    the number of settled sequences; an exception that it raises stops the work.
    """

    def __init__(
        self,
        comparison: Comparison,
        candidates: CandidateFilter,
        order: Index,
        memory_bytes: int,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self._comparison, self._candidates, self._order, self._progress = comparison, candidates, order, progress
        self._least = comparison.options.min_identity
        self._is_first = comparison.options.assign == "first"
        self._block_bytes = min(int(memory_bytes * BLOCK_SHARE), MOST_BLOCK_BYTES)
        n = len(order)
        self._representatives = np.zeros(n, np.int64)  # in the order in which they were chosen
        self._places = np.zeros(n, np.int64)  # their positions in `order`
        self._count = 0
        # Best representative so far of each sequence, by position in `order`: its number, or -1.
        self._best, self._similarity = np.full(n, -1, np.int64), np.zeros(n)

    def run(self) -> tuple[Index, Index]:
        """Return the cluster of each sequence, shape (n,), and the representative of each cluster."""
        n, begin, block = len(self._order), 0, self._block()
        while begin < n:
            end = min(n, begin + block)
            places = np.arange(begin, end)
            self._offer(places, 0, self._count)
            self._settle(places)
            begin = end
            if self._progress is not None:
                self._progress(end)
        labels = np.zeros(n, np.int64)
        labels[self._order] = self._best
        return labels, self._representatives[: self._count].copy()

    def _block(self) -> int:
        """Return the block size: the largest for which a round fits in memory."""
        least = PAIR_BYTES * MOST_BLOCK
        require(least, self._block_bytes, "comparing sequences", f"allow more with {named('memory_bytes')}")
        return min(MOST_BLOCK, self._block_bytes // least)

    def _settle(self, places: Index) -> None:
        """Make unassigned sequences representatives, in order, and offer these to the sequences after them."""
        count = ROUND
        unsettled = places[self._best[places] < 0]
        while len(unsettled):
            first, before = unsettled[:count], self._count
            self._choose(first)
            later = unsettled[count:] if self._is_first else places[places > first[0]]
            later = later[~np.isin(later, first)]
            self._offer(later, before, self._count)
            # Restart with small rounds if most joined one another: those were compared in vain.
            count = min(2 * count, MOST_BLOCK) if 2 * (self._count - before) > len(first) else ROUND
            unsettled = places[self._best[places] < 0]

    def _choose(self, places: Index) -> None:
        """Settle a few sequences among themselves."""
        similar = np.zeros((len(places), len(places)))
        batch = self._comparison.batch[self._order[places]]
        is_later = np.tril(np.ones(similar.shape, bool), -1)  # not with itself: for a chromosome, that takes hours
        later, earlier = places_of(self._candidates.within(batch, batch, is_later))
        similar[later, earlier] = self._comparison.similarities(
            self._order[places[later]], self._order[places[earlier]]
        )
        for k, place in enumerate(places.tolist()):
            chosen = [j for j in range(k) if self._is_own(places[j]) and self._passes(similar[k, j])]
            if not chosen:
                self._representatives[self._count], self._places[self._count] = self._order[place], place
                self._best[place], self._similarity[place] = self._count, np.inf
                self._count += 1
                continue
            best = chosen[0] if self._is_first else max(chosen, key=lambda j, k=k: similar[k, j])  # type: ignore[misc]
            self._best[place], self._similarity[place] = self._best[places[best]], similar[k, best]

    def _is_own(self, place: int) -> bool:
        return bool(self._similarity[place] == np.inf)

    def _passes(self, similarity: float) -> bool:
        return similarity >= self._least

    def _offer(self, places: Index, begin: int, end: int) -> None:
        """Offer representatives `begin` to `end` to the sequences after them, as many at once as fit in memory."""
        step = max(1, self._block_bytes // (PAIR_BYTES * max(1, len(places))))
        for first in range(begin, end, step):
            self._offer_some(places, first, min(end, first + step))

    def _offer_some(self, places: Index, begin: int, end: int) -> None:
        """Assign each sequence to an offered representative that is more similar than its current one."""
        places = places[~(self._similarity[places] == np.inf)]
        if not len(places):
            return
        of = self._representatives[begin:end]
        batch = self._comparison.batch
        may_join = self._candidates.within(batch[self._order[places]], batch[of])
        row, number = places_of(may_join & (places[:, None] > self._places[None, begin:end]))
        similar = self._comparison.similarities(self._order[places[row]], of[number])
        keep = similar >= self._least
        row, number, similar = row[keep], number[keep], similar[keep]
        # First of each row: the most similar (unless `first`), then the earliest representative.
        ranked = np.lexsort((number, np.zeros(len(row)) if self._is_first else -similar, row))
        row, number, similar = row[ranked], number[ranked], similar[ranked]
        heads = np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]])) if len(row) else np.zeros(0, np.int64)
        place, number, similar = places[row[heads]], number[heads] + begin, similar[heads]
        is_better = (self._best[place] < 0) | (not self._is_first and similar > self._similarity[place])
        self._best[place[is_better]] = number[is_better]
        self._similarity[place[is_better]] = similar[is_better]
