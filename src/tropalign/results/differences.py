"""Differences of the rows of an alignment to one row, the reference.

    reference   ACG--TTACGA      row a   substitution of G by T at 2, insertion of GG before 3, deletion of AC from 5 on
    a           ACTGGTT--GA      row b   deletion of T from 4 on; its ends are unknown
    b           -CG--T-AC--

Ends of a row that it lacks, and unknown residues (N of nucleotides, X of proteins), are not differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named, shown

if TYPE_CHECKING:
    from tropalign.sequences.batch import SequenceBatch

Kind = Literal["insertion", "substitution", "deletion"]
#: Kinds at one position in the order of the table.
KINDS: tuple[Kind, ...] = ("insertion", "substitution", "deletion")
#: Byte of a gap, and of the columns before and after a row's residues.
GAP, BEYOND = ord("-"), 0


class Difference(NamedTuple):
    """A difference to the reference, and the rows that have it.

    position: residues of the reference before the difference. kind: "insertion", "substitution" or "deletion".
    reference: residues of the reference that are replaced or missing; empty for an insertion. letters: residues of
    the rows; empty for a deletion. rows: indices of the rows, ascending.
    """

    position: int
    kind: Kind
    reference: str
    letters: str
    rows: tuple[int, ...]


class Indel(NamedTuple):
    """Columns without a pair: `letters` in place of residues [begin, end) of the reference, either of them empty."""

    begin: int
    end: int
    letters: bytes


@dataclass(frozen=True)
class RowDifferences:
    """Differences of one row.

    letters: upper case, U as T, of each position of the reference, uint8, shape (n,): `GAP` if deleted, `BEYOND` before
    the first and after the last residue of the row. substituted: int64, positions of other, known residues.
    """

    letters: NDArray[np.uint8]
    substituted: NDArray[np.int64]
    indels: list[Indel]


class Compared:
    """An alignment, given as in `MultipleAlignment`, and its reference row.

    Attributes
    ----------
    reference : uint8, shape (n,)
        Residues of the reference, in upper case and with T for U.
    row
        Index of the reference.
    """

    def __init__(self, sequences: SequenceBatch, columns: NDArray[np.int32], n_columns: int, row: int) -> None:
        self.sequences, self.row = sequences, row
        self._all_columns, self._n_columns = columns, n_columns
        alphabet = sequences.alphabet
        self._letters = np.frombuffer(alphabet.letters.encode(), np.uint8)
        self._unknown = ord(alphabet.wildcard) if alphabet.wildcard else BEYOND
        self._columns, self.reference = self._residues(row)
        self._is_reference = np.zeros(n_columns, bool)
        self._is_reference[self._columns] = True
        self._before = np.concatenate([[0], np.cumsum(self._is_reference)])

    def _residues(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return columns and letters of a row's residues."""
        batch = self.sequences
        span = slice(*batch.offsets[[row, row + 1]].tolist())
        return self._all_columns[span], self._letters[batch.codes[span]]

    def others(self) -> Iterator[tuple[int, RowDifferences]]:
        """Yield the index and differences of each row except the reference."""
        return ((k, self.of(k)) for k in range(len(self.sequences)) if k != self.row)

    def of(self, row: int) -> RowDifferences:
        """Return the differences of a row."""
        columns, residues = self._residues(row)
        whole = np.full(self._n_columns, GAP, np.uint8)
        whole[columns] = residues
        first, last = (int(columns[0]), int(columns[-1]) + 1) if len(columns) else (0, 0)
        whole[:first] = whole[last:] = BEYOND
        letters = whole[self._columns]
        is_other = (letters != self.reference) & (letters != GAP) & (letters != BEYOND) & (letters != self._unknown)
        # Runs of columns without a pair; columns in which both rows have gaps do not end a run.
        is_residue, is_reference = whole[first:last] != GAP, self._is_reference[first:last]
        there = np.flatnonzero(is_residue | is_reference)
        is_single = np.concatenate([[False], (is_residue != is_reference)[there], [False]])
        borders = np.flatnonzero(is_single[1:] != is_single[:-1])
        found = []
        for begin, end in zip(borders[::2], borders[1::2], strict=True):
            single = first + there[begin:end]
            run = whole[single]
            left, right = self._before[[single[0], single[-1] + 1]].tolist()
            found.append(Indel(left, right, run[run != GAP].tobytes()))
        return RowDifferences(letters, np.flatnonzero(is_other), found)


def reference_row(names: tuple[str, ...], reference: int | str) -> int:
    """Return the index of a row by its index or name. Raises UsageError or InputError if it does not exist."""
    if isinstance(reference, str):
        if reference not in names:
            raise InputError(f"the alignment has no row of the name {shown(repr(reference))}: name one of its rows")
        return names.index(reference)
    if isinstance(reference, bool) or not isinstance(reference, int | np.integer):
        raise UsageError(f"{named('reference')} must be the name or the index of a row")
    if not -len(names) <= reference < len(names):
        raise UsageError(f"{named('reference')} {reference} is not a row of {len(names)}")
    return int(reference) % len(names)


def differences(compared: Compared) -> list[Difference]:
    """Return the differences to the reference row by position, kind and letters."""
    target = compared.reference.tobytes().decode()
    indels: dict[tuple[int, int, str, str], list[int]] = {}
    places, letters, rows = [], [], []
    for row, found in compared.others():
        places.append(found.substituted)
        letters.append(found.letters[found.substituted])
        rows.append(np.full(len(found.substituted), row))
        for begin, end, inserted in found.indels:
            if inserted:
                indels.setdefault((begin, 0, "", inserted.decode()), []).append(row)
            if begin < end:
                indels.setdefault((begin, 2, target[begin:end], ""), []).append(row)
    made = [Difference(at, KINDS[kind], old, new, tuple(who)) for (at, kind, old, new), who in indels.items()]
    if places:
        keys = np.concatenate(places) * 256 + np.concatenate(letters)
        order = np.argsort(keys, kind="stable")
        keys, of_row = keys[order], np.concatenate(rows)[order]
        for begin, end in pairwise([*np.flatnonzero(np.diff(keys, prepend=-1)).tolist(), len(keys)]):
            at, letter = divmod(int(keys[begin]), 256)
            made.append(Difference(at, "substitution", target[at], chr(letter), tuple(of_row[begin:end].tolist())))
    return sorted(made, key=lambda one: (one.position, KINDS.index(one.kind), one.reference, one.letters))
