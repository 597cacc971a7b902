"""Trees of families that are too large for the distances of all pairs: each sequence goes to the nearest of a sample.

    family --sample--> seeds --UPGMA--> tree of the seeds, in which every seed is replaced
       |                 |              by the tree of the sequences that are nearest to it
       +----nearest------+

The idea is that of PartTree (Katoh and Toh 2007) and mBed (Blackshields et al. 2010).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.task import Progress
from tropalign.msa.families import BINS_PER_DOUBLING, CHANCE_BINS, Words, chance_shares, tree_of_words, words_of
from tropalign.msa.guide_tree import GuideTree
from tropalign.sequences.batch import SequenceBatch

#: A family of more sequences is sampled: its distances would take more than half a gigabyte.
MOST_ALL_PAIRS = 16_384
#: Sequences that are drawn.
SEEDS = 2048
#: Sequences whose nearest seeds are found at a time.
AT_ONCE = 1024
#: A part that holds more of the family than this is cut by length: the seeds did not divide it.
UNDIVIDED = 0.8


def family_tree(
    batch: SequenceBatch,
    n_threads: int,
    progress: Callable[[int], Progress | None] | None = None,
    most: int = MOST_ALL_PAIRS,
    n_seeds: int = SEEDS,
) -> GuideTree:
    """A tree by distances without alignments: of all pairs, or of sequences and a sample.

    Parameters
    ----------
    progress
        Gives what receives items begun, for their number.
    most
        Sequences of which all pairs are compared.
    n_seeds
        Sequences that are drawn where there are more.
    """
    words = words_of(batch)
    shares = chance_shares(words, n_threads)
    watch = progress(len(batch)) if progress is not None else None
    if len(batch) <= most:
        return tree_of_words(words, shares, n_threads, watch)[0]
    children: list[tuple[int, int]] = []
    every = np.arange(len(batch))
    _Sampled(words, shares, most, n_seeds, n_threads, watch).grow(every, children)
    return GuideTree(np.array(children, np.int32), np.zeros(2 * len(batch) - 1))


class _Sampled:
    """A tree in the making."""

    def __init__(
        self,
        words: Words,
        shares: NDArray[np.float32],
        most: int,
        n_seeds: int,
        n_threads: int,
        watch: Progress | None,
    ) -> None:
        self.words, self.shares, self.most, self.n_seeds = words, shares, most, n_seeds
        self.n_threads, self.watch = n_threads, watch
        self.n = len(words.offsets) - 1
        self.begun = 0

    def grow(self, members: NDArray[np.int64], children: list[tuple[int, int]]) -> int:
        """The root of the tree of some sequences, whose inner nodes are appended to `children`."""
        if len(members) <= self.most:
            return self._graft(members.tolist(), self._upgma(members), children)
        seeds = self._seeds(members)
        nearest = self._nearest(members, seeds)
        parts = [members[nearest == k] for k in range(len(seeds))]
        if max(map(len, parts)) > UNDIVIDED * len(members):
            parts = np.array_split(self._by_length(members), len(seeds))
        roots = [self.grow(part, children) for part in parts]
        return self._graft(roots, self._upgma(seeds), children)

    def _graft(self, nodes: list[int], tree: GuideTree, children: list[tuple[int, int]]) -> int:
        """Appends a tree, whose leaves are nodes that are there; gives its root."""
        nodes = list(nodes)
        for left, right in tree.children.tolist():
            children.append((nodes[left], nodes[right]))
            nodes.append(self.n + len(children) - 1)
        return nodes[-1]

    def _by_length(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        lengths = np.diff(self.words.offsets)
        return members[np.argsort(lengths[members], kind="stable")]

    def _seeds(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sequences of all lengths; each is nearest to itself, so that no part is empty."""
        picks = np.unique(np.linspace(0, len(members) - 1, self.n_seeds).astype(np.int64))
        return self._by_length(members)[picks]

    def _upgma(self, members: NDArray[np.int64]) -> GuideTree:
        return tree_of_words(self.words.some(members), self.shares, self.n_threads)[0]

    def _nearest(self, members: NDArray[np.int64], seeds: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each sequence the position of the seed that it is nearest to, of several the first one."""
        from tropalign import _native

        lengths = np.diff(self.words.offsets)
        place = np.full(self.n, -1)
        place[seeds] = np.arange(len(seeds))
        nearest = np.zeros(len(members), np.int64)
        for begin in range(0, len(members), AT_ONCE):
            some = members[begin : begin + AT_ONCE]
            common = _native.lcs_lengths(
                self.words.codes,
                self.words.offsets,
                self.words.n_codes,
                some.astype(np.int32),
                seeds.astype(np.int32),
                self.n_threads,
            )
            m, n = lengths[some][:, None], lengths[seeds]
            shorter, longer = np.minimum(m, n), np.maximum(m, n)
            bins = np.minimum((BINS_PER_DOUBLING * np.log2(longer / shorter)).astype(np.int64), CHANCE_BINS - 1)
            expected = self.shares[bins] * shorter
            found = ((common - expected) / (shorter - expected)).argmax(1)
            nearest[begin : begin + AT_ONCE] = np.where(place[some] >= 0, place[some], found)
            self._tell(len(some))
        return nearest

    def _tell(self, n_items: int) -> None:
        self.begun = min(self.n, self.begun + n_items)
        if self.watch is not None:
            self.watch(self.begun)
