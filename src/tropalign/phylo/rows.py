"""The rows of a reference alignment: which tip each belongs to, and what their letters are."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.phylo.states import StateAlphabet
from tropalign.phylo.tree import Tree

#: Names shown of each side where tree and alignment differ.
SHOWN = 10
#: Rows that are counted together: as many as a byte holds.
MOST_IN_BYTE = 255


def rows_of_tips(names: tuple[str, ...], tree: Tree, file: str) -> list[int]:
    """The alignment's row of each tip; blanks for underscores and quotes are tried."""
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
    """Warns of letters outside the alphabet: how many they are, and where the first one is."""
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
    """How many rows have a letter in each column, and how many have "-".

    Parameters
    ----------
    letters : uint8, shape (n_rows, n_columns)
    counts : int64, shape (256,)
        How often each byte occurs.
    states
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
