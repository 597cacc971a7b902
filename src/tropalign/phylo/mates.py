"""Paired ends: both mates on one branch by the sum of their scores, and merged into one row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.phylo.reference_rows import StateAlphabet
from tropalign.phylo.scorer import Scores, Sets
from tropalign.sequences.mates import BETWEEN
from tropalign.sequences.strands import reverse_complement

Index = NDArray[np.int64]
Letters = NDArray[np.uint8]
Columns = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Mates:
    """The mates of some pairs, mate 1 and mate 2 in turn, each read on both strands.

    `own`, `other`: uint8, letters as written, and letters of the opposite strands. `offsets`: int64, shape (2 n +
    1,). `is_usable`: bool, shape (2 n,), mates with a letter that does not stand for all states.
    """

    own: Letters
    other: Letters
    offsets: Index
    is_usable: NDArray[np.bool_]

    @classmethod
    def of(cls, letters: Letters, offsets: Index, states: StateAlphabet) -> Mates:
        """Split pairs in the form of `tropalign.sequences.mates`."""
        between = np.flatnonzero(letters == BETWEEN)
        if len(between) != len(offsets) - 1:
            raise ValueError("pairs have one byte between their mates each")
        lengths = np.stack([between - offsets[:-1], offsets[1:] - between - 1], axis=1).reshape(-1)
        own = letters[letters != BETWEEN]
        of_mates = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        before = np.concatenate([[0], np.cumsum(states.sets[own] != states.all_states)])
        is_usable = np.diff(before[of_mates]) > 0
        return cls(own, reverse_complement(own, of_mates, states.alphabet), of_mates, is_usable)

    def turned(self, strand: NDArray[np.int8]) -> Letters:
        """Return letters on the strand of the reference; `strand` is 1 if mate 1 is read as it is, -1 if reversed."""
        is_other = np.stack([strand < 0, strand > 0], axis=1).reshape(-1)
        return np.where(np.repeat(is_other, np.diff(self.offsets)), self.other, self.own)


def sums(
    mates: Mates,
    chosen: Index,
    states: StateAlphabet,
    both: bool,
    n_columns: int,
    score: Callable[[list[Sets]], NDArray[np.int32]],
) -> Scores:
    """Score the chosen pairs: sums of the mates' scores, in the better orientation.

    In each orientation one mate is read as it is, and the other one's opposite strand. A mate without a usable
    letter adds 0. `both`: mate 1 may be on either strand; else it is on the reference's. `score` returns the
    scores of texts against all branches, a row per text.
    """
    number: dict[bytes, int] = {}
    texts: list[Sets] = []

    def place_of(mate: int, letters: Letters) -> int:
        text = states.sets[letters[mates.offsets[mate] : mates.offsets[mate + 1]]]
        at = number.setdefault(text.tobytes(), len(number))
        if at == len(texts):
            texts.append(text)
        return at

    ways = [(mates.own, mates.other), (mates.other, mates.own)][: 1 + both]
    wanted = [
        [
            [place_of(2 * k + m, way[m]) for m in (0, 1) if mates.is_usable[2 * k + m]]
            for k in chosen.tolist()
        ]
        for way in ways
    ]  # fmt: skip
    found = score(texts)
    windows = np.tile(np.array([0, n_columns], np.int32), (len(chosen), 1))
    of_ways = []
    for way, places in enumerate(wanted):
        values = np.stack([found[at].sum(axis=0, dtype=np.int32) for at in places])
        of_ways.append(Scores(values, windows, np.full(len(chosen), way, np.int8)))
    return of_ways[0] if not both else of_ways[0].better(of_ways[1])


def merged(
    one: tuple[Letters, Columns], other: tuple[Letters, Columns], states: StateAlphabet
) -> tuple[Letters, Columns]:
    """Merge two mates into one read, letters in the order of their columns.

    If both have a letter in a column, the result has the letter that both may be: their own if they agree, the
    more certain one if the other one includes it, else the code for either (A and G: R). Letters between columns
    are those of the mate that starts first, as far as it reaches, then those of the second.
    """
    if not (one[1] >= 0).any() or not (other[1] >= 0).any():
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
    if other[1][other[1] >= 0][0] < one[1][one[1] >= 0][0]:
        one, other = other, one
    (letters, columns), (more, at) = one, other
    keys, more_keys = _slots(columns), _slots(at)
    last = int(columns.max())
    place = {column: k for k, column in enumerate(columns.tolist()) if column >= 0}
    letters = letters.copy()
    stays = np.ones(len(more), bool)
    for k, column in enumerate(at.tolist()):
        if column in place:
            letters[place[column]] = common_letter(int(letters[place[column]]), int(more[k]), states)
            stays[k] = False
    stays &= (at >= 0) | ((more_keys > 2 * last) & ~np.isin(more_keys, keys))
    order = np.argsort(np.concatenate([keys, more_keys[stays]]), kind="stable")
    return np.concatenate([letters, more[stays]])[order], np.concatenate([columns, at[stays]])[order]


def _slots(columns: Columns) -> Index:
    """Return slots: 2c for a letter in column c, 2c + 1 for an insertion after it, 2c - 1 before the first column."""
    keys = np.where(columns >= 0, 2 * columns.astype(np.int64), -1)
    first = int(columns[columns >= 0][0])
    before = np.maximum.accumulate(keys)
    return np.where(columns >= 0, keys, np.where(before < 0, 2 * first - 1, before + 1))


def common_letter(one: int, other: int, states: StateAlphabet) -> int:
    """Return the letter for the states that both stand for, or for their union if they share no state."""
    a, b = int(states.sets[one]), int(states.sets[other])
    wanted = a & b or a | b
    if wanted in (a, b):
        return one if wanted == a else other
    return next(byte for byte in range(ord("A"), ord("Z") + 1) if states.known[byte] and states.sets[byte] == wanted)
