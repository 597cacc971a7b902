"""Placed reads: the table, gapped rows, and jplace (Matsen et al. 2012)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
COLUMNS = (
    "read", "branch", "clade", "score", "second_score", "ties", "strand", "start", "end", "inserted", "unaligned",
)  # fmt: skip
GAP = ord("-")
#: Branches of equal score that jplace lists of a read at most.
JPLACE_BRANCHES = 7


@dataclass(frozen=True, eq=False)
class Placements:
    """Reads and the branches that they were placed on, a row a read.

    Attributes
    ----------
    names : tuple of str
    letters : uint8
        Of all reads, on the strand that was placed, as they were written, without gaps.
    offsets : int64, shape (n + 1,)
        Read k's letters are ``letters[offsets[k]:offsets[k + 1]]``.
    branch : int64, shape (n,)
        The best branch, the first of several; -1 for a read without a usable letter.
    score, second_score : int32, shape (n,)
        Of the best branch, and of the next best one (equal where several are best).
    ties : int64, shape (n,)
        Branches with the best score.
    strand : int8, shape (n,)
        1, or -1 where the read was reverse-complemented.
    tied : tuple of int64 arrays
        Of each read the first JPLACE_BRANCHES of its best branches.
    column : int32, shape of `letters`
        The reference column of each letter, 0-based; -1 where it was inserted or hangs over an end.
    """

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    offsets: Int64
    branch: Int64
    score: NDArray[np.int32]
    second_score: NDArray[np.int32]
    ties: Int64
    strand: NDArray[np.int8]
    tied: tuple[Int64, ...]
    column: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.names)

    def read(self, k: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Letters of read k, and their columns."""
        own = slice(int(self.offsets[k]), int(self.offsets[k + 1]))
        return self.letters[own], self.column[own]

    def spans(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Of each read: first column, one past the last, letters inserted between columns, letters beyond its ends."""
        out = np.zeros((4, len(self)), np.int64)
        for k in range(len(self)):
            columns = self.read(k)[1]
            placed = np.flatnonzero(columns >= 0)
            if not len(placed):
                out[3, k] = len(columns)
                continue
            first, last = int(placed[0]), int(placed[-1])
            inside = last - first + 1
            out[:, k] = columns[first], columns[last] + 1, inside - len(placed), len(columns) - inside
        return out[0], out[1], out[2], out[3]


def table_columns(placements: Placements, clades: list[str]) -> dict[str, list[Any] | NDArray[Any]]:
    """The table's columns by name; a read that was not placed has branch -1 and no clade."""
    start, end, inserted, unaligned = placements.spans()
    return {
        "read": list(placements.names),
        "branch": placements.branch,
        "clade": [clades[branch] if branch >= 0 else "*" for branch in placements.branch.tolist()],
        "score": placements.score,
        "second_score": placements.second_score,
        "ties": placements.ties,
        "strand": ["+" if strand > 0 else "-" for strand in placements.strand.tolist()],
        "start": start,
        "end": end,
        "inserted": inserted,
        "unaligned": unaligned,
    }


def table_rows(placements: Placements, clades: list[str]) -> str:
    """The rows of the TSV."""
    columns = [
        map(str, column.tolist()) if isinstance(column, np.ndarray) else column
        for column in table_columns(placements, clades).values()
    ]
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))


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


def jplace_entries(placements: Placements, lengths: NDArray[np.float64]) -> Iterator[str]:
    """An entry a placed read: its best branches, which share its weight, each at its middle."""
    for k, name in enumerate(placements.names):
        if placements.branch[k] < 0:
            continue
        weight = 1.0 / int(placements.ties[k])
        score = float(placements.score[k])
        branches = [[b, score, weight, float(f"{lengths[b] / 2:.10g}"), 0.0] for b in placements.tied[k].tolist()]
        yield json.dumps({"p": branches, "nm": [[name, 1]]})


def jplace_frame(newick: str, invocation: str) -> tuple[str, str]:
    """What comes before and after the entries."""
    fields = ["edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length"]
    meta = {"invocation": invocation, "likelihood": "the alignment score"}
    head = json.dumps({"version": 3, "tree": newick, "fields": fields, "metadata": meta}, indent=0)[:-2]
    return head + ',\n"placements": [\n', "\n]}\n"
