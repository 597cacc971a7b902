"""Guide trees of large families, made without alignments, and their division into groups.

    family --sample--> seeds --UPGMA--> tree of the seeds, in which every seed is replaced
       |                 |              by the tree of the sequences that are nearest to it
       +----nearest------+

The idea is that of PartTree (Katoh and Toh 2007) and mBed (Blackshields et al. 2010).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.execution.task import Progress
from tropalign.msa.guide_tree import GuideTree
from tropalign.sequences.batch import SequenceBatch

#: Sequences sampled by length; common subsequences with reversed ones measure chance.
CHANCE_SAMPLE = 64
#: Classes of the ratio of two lengths: ``LcsChance`` of native/msa/lcs.hpp.
CHANCE_BINS = 32
BINS_PER_DOUBLING = 4
#: Nucleotides per k-mer: single nucleotides share long subsequences by chance alone.
NUCLEOTIDE_WORD = 3


@dataclass(frozen=True)
class Words:
    """Sequences as the symbols that are compared: residues, or k-mers of nucleotides.

    `codes`: uint8, shape (n_letters,). `offsets`: int64, shape (n + 1,). `n_codes`: codes from here on match
    nothing.
    """

    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    n_codes: int

    def some(self, chosen: NDArray[np.int64]) -> Words:
        """Return the symbols of some sequences, in that order."""
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Words(self.codes[places], offsets, self.n_codes)


def words_of(batch: SequenceBatch) -> Words:
    """Return the symbols of sequences that indicate relationship: amino acids, or nucleotide 3-mers."""
    n_plain = len(batch.alphabet.states)
    if n_plain > 4:
        return Words(np.asarray(batch.codes), np.asarray(batch.offsets), n_plain)
    codes, n_words = batch.codes.astype(np.uint8), n_plain**NUCLEOTIDE_WORD
    made, unknown = np.zeros(len(codes), np.uint8), np.zeros(len(codes), bool)
    for step in range(NUCLEOTIDE_WORD):  # a k-mer that reaches into the next sequence, or beyond the end, is unknown
        neighbour = np.concatenate([codes[step:], np.full(step, 255, np.uint8)])
        made = made * n_plain + np.minimum(neighbour, n_plain - 1)
        unknown |= neighbour >= n_plain
    for step in range(1, NUCLEOTIDE_WORD):
        unknown[np.maximum(batch.offsets[1:] - step, batch.offsets[:-1])] = True
    made[unknown] = n_words
    return Words(made, np.asarray(batch.offsets), n_words)


def chance_shares(words: Words, n_threads: int) -> NDArray[np.float32]:
    """Return the share of the shorter sequence that a common subsequence covers by chance, by length ratio.

    float32, shape (32,), by ``floor(4 * log2(longer / shorter))``. Measured on the family's sequences against one
    another reversed, which have the same letters and are unrelated.
    """
    lengths = np.diff(words.offsets)
    order = np.argsort(lengths, kind="stable")
    chosen = order[distinct(np.linspace(0, len(order) - 1, CHANCE_SAMPLE).astype(np.int64))]
    straight = [words.codes[words.offsets[k] : words.offsets[k + 1]] for k in chosen]
    codes = np.concatenate([*straight, *(one[::-1] for one in straight)])
    size = np.concatenate([lengths[chosen], lengths[chosen]])
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    first = np.arange(len(chosen), dtype=np.int32)
    common = _native.lcs_lengths(codes, offsets, words.n_codes, first, first + np.int32(len(chosen)), n_threads)
    a, b = size[: len(chosen), None], size[None, : len(chosen)]
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    bins = np.minimum((BINS_PER_DOUBLING * np.log2(longer / shorter)).astype(np.int64), CHANCE_BINS - 1).ravel()
    total = np.bincount(bins, shorter.ravel(), CHANCE_BINS)
    found = np.bincount(bins, common.ravel(), CHANCE_BINS)
    known = np.flatnonzero(total > 0)
    shares = np.interp(np.arange(CHANCE_BINS), known, found[known] / total[known])
    return np.minimum(shares, 0.999).astype(np.float32)


def fast_tree(
    batch: SequenceBatch, n_threads: int, progress: Callable[[int], Progress | None] | None = None
) -> tuple[GuideTree, NDArray[np.float32]]:
    """Build a UPGMA tree by longest common subsequences; also return its distances.

    Distances: float32, shape (n (n - 1) / 2,), in the order (0,1), (0,2) .. (1,2) ..
    """
    words = words_of(batch)
    watch = progress(len(batch)) if progress is not None else None
    return tree_of_words(words, chance_shares(words, n_threads), n_threads, watch)


def tree_of_words(
    words: Words, shares: NDArray[np.float32], n_threads: int, progress: Progress | None = None
) -> tuple[GuideTree, NDArray[np.float32]]:
    """Build a UPGMA tree from symbols and the shares of chance; also return its distances."""
    distances = _native.lcs_distances(words.codes, words.offsets, words.n_codes, shares, n_threads, progress)
    return GuideTree(*_native.guide_tree(distances)), distances


@dataclass(frozen=True)
class Group:
    """Items that are aligned together.

    `items`: sequences by index; groups by the number of sequences plus their index in the list. `level`: one above
    the highest level among the items; 0 if all items are sequences.
    """

    items: tuple[int, ...]
    level: int


def divide(children: NDArray[np.int32], most: int) -> list[Group]:
    """Divide a tree's sequences into groups of at most `most` (>= 2) items; the last one is the whole family.

    From the leaves to the root, a node collects the items of its two children. If there are more than `most`, the
    larger set becomes a group and replaces its items as one item: so every group except the last one has more than
    ``most / 2`` items, and comes after the groups among its items. `children`: int32, shape (n - 1, 2); step k
    makes inner node n + k.
    """
    n = len(children) + 1
    groups: list[Group] = []
    waiting: dict[int, list[int]] = {}

    def close(items: list[int]) -> list[int]:
        level = 1 + max((groups[item - n].level for item in items if item >= n), default=-1)
        groups.append(Group(tuple(items), level))
        return [n + len(groups) - 1]

    for step, (left, right) in enumerate(children.tolist()):
        a, b = (waiting.pop(node, [node]) for node in (left, right))
        if len(a) + len(b) > most:
            a, b = (close(a), b) if len(a) >= len(b) else (a, close(b))
        if len(a) + len(b) > most:
            a, b = (close(a), b) if len(a) >= len(b) else (a, close(b))
        waiting[n + step] = a + b
    close(waiting.get(2 * n - 2, [0]))
    return groups


#: Larger families are sampled: their distances would take more than half a gigabyte.
MOST_ALL_PAIRS = 16_384
#: Sequences in a sample.
SEEDS = 2048
#: Sequences whose nearest seeds are found at once.
AT_ONCE = 1024
#: If one part holds a larger share, the seeds did not divide the members, which are then cut by length.
UNDIVIDED = 0.8


def family_tree(
    batch: SequenceBatch,
    n_threads: int,
    progress: Callable[[int], Progress | None] | None = None,
    most: int = MOST_ALL_PAIRS,
    n_seeds: int = SEEDS,
) -> GuideTree:
    """Build a tree by distances without alignments: of all pairs, or of sequences and a sample.

    Above `most` sequences, `n_seeds` of them are sampled.
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
    """A tree in progress, by samples."""

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
        """Build the tree of some sequences: append its inner nodes to `children`, and return its root."""
        if len(members) <= self.most:
            return self._graft(members.tolist(), self._upgma(members), children)
        # Seeds have all lengths; each is nearest to itself, so that no part is empty.
        picks = distinct(np.linspace(0, len(members) - 1, self.n_seeds).astype(np.int64))
        seeds = self._by_length(members)[picks]
        nearest = self._nearest(members, seeds)
        by_seed = np.argsort(nearest, kind="stable")
        parts = np.split(members[by_seed], np.cumsum(np.bincount(nearest, minlength=len(seeds)))[:-1])
        if max(map(len, parts)) > UNDIVIDED * len(members):
            parts = np.array_split(self._by_length(members), len(seeds))
        roots = [self.grow(part, children) for part in parts]
        return self._graft(roots, self._upgma(seeds), children)

    def _graft(self, nodes: list[int], tree: GuideTree, children: list[tuple[int, int]]) -> int:
        """Append a tree whose leaves are existing nodes; return its root."""
        nodes = list(nodes)
        for left, right in tree.children.tolist():
            children.append((nodes[left], nodes[right]))
            nodes.append(self.n + len(children) - 1)
        return nodes[-1]

    def _by_length(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        lengths = np.diff(self.words.offsets)
        return members[np.argsort(lengths[members], kind="stable")]

    def _upgma(self, members: NDArray[np.int64]) -> GuideTree:
        return tree_of_words(self.words.some(members), self.shares, self.n_threads)[0]

    def _nearest(self, members: NDArray[np.int64], seeds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each sequence the index of the nearest seed, the first one of several."""
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
            self.begun = min(self.n, self.begun + len(some))
            if self.watch is not None:
                self.watch(self.begun)
        return nearest
