"""Rows of a reference alignment: the tip of each row, and letters as sets of states."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.phylo.tree import Tree
from tropalign.properties import cached
from tropalign.sequences import Alphabet
from tropalign.sequences.alphabet import GAP_LETTERS


@dataclass(frozen=True, eq=False)
class StateAlphabet:
    """States, and the set that each byte of a sequence stands for; create one with `states_of`.

    `sets`: uint32, shape (256,), of each byte in either case; gaps and unknown letters stand for all states.
    `known`: bool, shape (256,), letters or gaps.
    """

    alphabet: Alphabet
    n_states: int
    sets: NDArray[np.uint32]
    known: NDArray[np.bool_]

    @property
    def all_states(self) -> int:
        """Set of all states."""
        return (1 << self.n_states) - 1

    def __reduce__(self) -> tuple[Any, ...]:
        return states_of, (self.alphabet,)


@cached
def states_of(alphabet: Alphabet) -> StateAlphabet:
    """Return the states of an alphabet; raises InputError if it has no states."""
    states = alphabet.states
    if not states:
        raise InputError(f"{alphabet.name} sequences have no model of evolution, which placing reads needs")
    sets = np.full(256, (1 << len(states)) - 1, np.uint32)
    known = np.zeros(256, bool)
    for letter, members in {**{state: state for state in states}, **alphabet.ambiguous}.items():
        for byte in (ord(letter), ord(letter.lower())):
            sets[byte], known[byte] = sum(1 << states.index(member) for member in members), True
    for letter in alphabet.any_state + GAP_LETTERS:
        known[ord(letter)] = known[ord(letter.lower())] = True
    sets.flags.writeable = known.flags.writeable = False
    return StateAlphabet(alphabet, len(states), sets, known)


#: Names shown of each side if tree and alignment differ.
SHOWN = 10
#: Rows that are counted together: the maximum of a byte.
MOST_IN_BYTE = 255


def rows_of_tips(names: tuple[str, ...], tree: Tree, file: str) -> list[int]:
    """Return the alignment's row of each tip; names also match with underscores for blanks and without quotes."""
    tips = [tree.names[tip] for tip in tree.tips]
    for change in (str, _plain):
        row = {change(name): k for k, name in enumerate(names)}
        wanted = [change(tip) for tip in tips]
        if len(row) == len(names) and len(set(wanted)) == len(wanted) and row.keys() == set(wanted):
            return [row[name] for name in wanted]
    only_tree = [tip for tip in tips if _plain(tip) not in {_plain(name) for name in names}]
    only_rows = [name for name in names if _plain(name) not in {_plain(tip) for tip in tips}]
    parts = [
        f"{len(side)} only in the {where} ({', '.join(map(shown, side[:SHOWN]))}{', ...' if len(side) > SHOWN else ''})"
        for side, where in ((only_tree, "tree"), (only_rows, "alignment"))
        if side
    ]
    raise InputError(
        f"tree and alignment have different names: {'; '.join(parts) or 'some are the same but for quotes or blanks'}; "
        "as they are, and without quotes and with underscores for blanks, they do not match",
        file=file,
    )


def _plain(name: str) -> str:
    return name.strip("'\"").replace(" ", "_")


def warn_of_unknown(names: tuple[str, ...], letters: NDArray[np.uint8], states: StateAlphabet, file: str) -> None:
    """Warn of letters outside the alphabet: their number, and the first one's position."""
    unknown = ~states.known[letters]
    row, column = np.argwhere(unknown)[0]
    warnings.warn(
        f"{shown(file)}, row {names[row]!r}: {int(unknown.sum())} letters outside the {states.alphabet.name} "
        f"alphabet, the first {chr(letters[row, column])!r} in column {column + 1}; "
        f"read as {states.alphabet.wildcard}",
        TropalignWarning,
        stacklevel=4,
    )


def column_counts(
    letters: NDArray[np.uint8], counts: NDArray[np.int64], states: StateAlphabet
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of rows with a letter in each column, and of rows with "-".

    `counts`: int64, shape (256,), occurrences of each byte.
    """
    n_rows, n_columns = letters.shape
    n_letters, n_gaps = np.full(n_columns, n_rows, np.int64), np.zeros(n_columns, np.int64)
    without = np.flatnonzero((counts > 0) & (states.sets == states.all_states)).tolist()
    for begin in range(0, n_rows, MOST_IN_BYTE):
        rows = letters[begin : begin + MOST_IN_BYTE]
        for byte in without:
            n_here = (rows == byte).sum(axis=0, dtype=np.uint8)
            n_letters -= n_here
            if byte == ord("-"):
                n_gaps += n_here
    return n_letters, n_gaps
