"""Trees of large families without alignments, and their division into groups that can be aligned one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.task import Progress
from tropalign.msa.guide_tree import GuideTree
from tropalign.sequences.batch import SequenceBatch

#: Sequences of each length class whose subsequences with reversed ones tell what chance does.
CHANCE_SAMPLE = 64
#: Classes of the ratio of two lengths: ``LcsChance`` of native/msa/lcs.hpp.
CHANCE_BINS = 32
BINS_PER_DOUBLING = 4
#: Of nucleotides so many neighbours are one letter: four letters share long subsequences by chance alone.
NUCLEOTIDE_WORD = 3


@dataclass(frozen=True)
class Words:
    """Sequences as the letters that are compared: residues, or words of nucleotides.

    Attributes
    ----------
    codes : uint8, shape (n_letters,)
    offsets : int64, shape (n + 1,)
    n_codes : int
        Codes from here on match nothing.
    """

    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    n_codes: int

    def some(self, chosen: NDArray[np.int64]) -> Words:
        """Those of some sequences, in that order."""
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Words(self.codes[places], offsets, self.n_codes)


def words_of(batch: SequenceBatch) -> Words:
    """The letters of sequences that tell of kinship: amino acids, or three nucleotides each."""
    n_plain = len(batch.alphabet.states)
    if n_plain > 4:
        return Words(np.asarray(batch.codes), np.asarray(batch.offsets), n_plain)
    codes, n_words = batch.codes.astype(np.uint8), n_plain**NUCLEOTIDE_WORD
    made, unknown = np.zeros(len(codes), np.uint8), np.zeros(len(codes), bool)
    for step in range(NUCLEOTIDE_WORD):  # a word that reaches into the next sequence, or beyond the end, is unknown
        neighbour = np.concatenate([codes[step:], np.full(step, 255, np.uint8)])
        made = made * n_plain + np.minimum(neighbour, n_plain - 1)
        unknown |= neighbour >= n_plain
    for step in range(1, NUCLEOTIDE_WORD):
        unknown[np.maximum(batch.offsets[1:] - step, batch.offsets[:-1])] = True
    made[unknown] = n_words
    return Words(made, np.asarray(batch.offsets), n_words)


def chance_shares(words: Words, n_threads: int) -> NDArray[np.float32]:
    """How much of the shorter sequence a common subsequence covers by chance, by the ratio of lengths.

    Measured on the family's sequences against one another reversed: they have the same letters, and no kinship.

    Returns
    -------
    float32, shape (32,)
        By ``floor(4 * log2(longer / shorter))``.
    """
    lengths = np.diff(words.offsets)
    order = np.argsort(lengths, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, CHANCE_SAMPLE).astype(np.int64))]
    straight = [words.codes[words.offsets[k] : words.offsets[k + 1]] for k in chosen]
    codes = np.concatenate([*straight, *(one[::-1] for one in straight)])
    size = np.concatenate([lengths[chosen], lengths[chosen]])
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    first = np.arange(len(chosen), dtype=np.int32)
    from tropalign import _native

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
    """UPGMA on distances by longest common subsequences.

    Parameters
    ----------
    progress
        Gives what receives items begun, for their number.

    Returns
    -------
    tree : GuideTree
    distances : float32, shape (n (n - 1) / 2,)
        In the order (0,1), (0,2) .. (1,2) ..
    """
    words = words_of(batch)
    watch = progress(len(batch)) if progress is not None else None
    return tree_of_words(words, chance_shares(words, n_threads), n_threads, watch)


def tree_of_words(
    words: Words, shares: NDArray[np.float32], n_threads: int, progress: Progress | None = None
) -> tuple[GuideTree, NDArray[np.float32]]:
    """The same for sequences whose letters are known, and what chance shares."""
    from tropalign import _native

    distances = _native.lcs_distances(words.codes, words.offsets, words.n_codes, shares, n_threads, progress)
    return GuideTree(*_native.guide_tree(distances)), distances


@dataclass(frozen=True)
class Group:
    """What is aligned at a time.

    Attributes
    ----------
    items : tuple of int
        Sequences by their index; groups by the number of sequences plus their position in the list.
    level : int
        One more than that of any group among the items; 0 where all are sequences.
    """

    items: tuple[int, ...]
    level: int


def divide(children: NDArray[np.int32], most: int) -> list[Group]:
    """A tree's sequences as groups of at most `most` items, the last of which is the whole family.

    From the leaves to the root a node collects the items of its two children. Where they are more than `most`, the
    larger lot becomes a group and takes its place as one item: so every group, the last one aside, holds more than
    ``most / 2`` items.

    Parameters
    ----------
    children : int32, shape (n - 1, 2)
        Leaves are 0 to n - 1, inner node n + k is made in step k.
    most
        At least 2.

    Returns
    -------
    list of Group
        A group stands behind those among its items.
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
