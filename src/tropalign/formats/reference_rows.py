"""Placed reads as rows of the reference alignment: FASTA and PHYLIP, and new columns for insertions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.results.placements import Int64, Placements

GAP = ord("-")


def fixed_rows(placements: Placements, n_columns: int) -> Iterator[tuple[str, bytes]]:
    """Names and rows of the reference's width; inserted letters are left out, and reads that were not placed."""
    for k, name in enumerate(placements.names):
        if placements.branch[k] < 0:
            continue
        letters, columns = placements.read(k)
        row = np.full(n_columns, GAP, np.uint8)
        row[columns[columns >= 0]] = letters[columns >= 0]
        yield name, row.tobytes()


class Insertions:
    """New columns for inserted letters: before each of the reference's and after the last, as many as reads need."""

    def __init__(self, n_columns: int) -> None:
        self.widths = np.zeros(n_columns + 1, np.int64)

    def add(self, placements: Placements) -> None:
        """Makes room for these reads."""
        for k in range(len(placements)):
            if placements.branch[k] >= 0:
                _, before, _ = self._slots(placements.read(k)[1])
                np.maximum.at(self.widths, *np.unique(before, return_counts=True))

    def _slots(self, columns: NDArray[np.int32]) -> tuple[NDArray[np.bool_], Int64, int]:
        """Which letters are inserted, the column before which each of them is, and how many hang over on the left.

        What hangs over an end stands before the first column, or after the last.
        """
        inserted = columns < 0
        before = np.maximum.accumulate(np.where(inserted, -1, columns))[inserted].astype(np.int64) + 1
        n_left = len(columns) if inserted.all() else int(np.argmin(inserted))
        n_right = 0 if inserted.all() else int(np.argmin(inserted[::-1]))
        before[len(before) - n_right :] = len(self.widths) - 1
        return inserted, before, n_left

    def place(self, letters: NDArray[np.uint8], columns: NDArray[np.int32]) -> bytes:
        """A read's row: inserted letters stand left in the new columns, those that hang over on the left right."""
        shift = np.cumsum(self.widths)  # of each column: new columns before it
        row = np.full(len(self.widths) - 1 + int(shift[-1]), GAP, np.uint8)
        placed = columns >= 0
        row[columns[placed] + shift[columns[placed]]] = letters[placed]
        inserted, before, n_left = self._slots(columns)
        ranks = np.arange(len(before)) - np.searchsorted(before, before)
        ranks[:n_left] += self.widths[0] - n_left
        row[before + shift[before] - self.widths[before] + ranks] = letters[inserted]
        return row.tobytes()

    def widen(self, row: NDArray[np.uint8]) -> bytes:
        """A row of the reference with gaps in the new columns."""
        shift = np.cumsum(self.widths)
        out = np.full(len(row) + int(shift[-1]), GAP, np.uint8)
        out[np.arange(len(row)) + shift[:-1]] = row
        return out.tobytes()


def fasta(rows: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Records of one line each."""
    for name, row in rows:
        yield b">" + name.encode() + b"\n" + row + b"\n"


def phylip(rows: Iterable[tuple[str, bytes]], width: int) -> Iterator[bytes]:
    """Relaxed PHYLIP rows, names padded to that width."""
    for name, row in rows:
        yield name.encode().ljust(width) + b" " + row + b"\n"
