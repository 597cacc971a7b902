"""The pairs of a job in output order, each with a position and a cost.

    all pairs of a set (triangle)     queries against targets         a list
         j = 0  1  2  3                    j = 0  1  2                 as given
    i=0      .  0  1  2               i=0      0  1  2
      1      .  .  3  4                 1      3  4  5
      2      .  .  .  5

Costs are sums in double precision, added in one order: equal on every machine, so that all shards of a run are cut
in the same way.
"""

from __future__ import annotations

from array import array
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, said
from tropalign.execution.task import CostList
from tropalign.properties import cached_property
from tropalign.sequences import SequenceBatch
from tropalign.sequences.files import Source, file_name, opened, with_line_ends
from tropalign.sequences.texts import decoded

Index = NDArray[np.int64]
Costs = NDArray[np.float64]

#: Overhead of a pair in cells: pairs of short peptides take longer than their cells suggest, about 0.2
#: microseconds each at 20 cells per nanosecond.
PAIR_CELLS = 4_000


class PairOrder(Protocol):
    """Pairs at the positions 0 to n - 1."""

    n: int
    pair_cells: int  # overhead of a pair, in cells

    def pairs(self, begin: int, end: int) -> tuple[Index, Index]:
        """Return query and target indices of the pairs from position `begin` to before `end`."""

    def cost_before(self, position: int) -> float:
        """Return the cells of all pairs before that position, including overhead."""

    def position_at(self, cost: float) -> int:
        """Return the position before which the pairs cost about `cost` in all."""

    def query_begin(self, position: int) -> int:
        """Return the first position of the query of the pair at `position` (n for n)."""


class Grid:
    """Queries against targets, row by row; or the triangle above the diagonal of one set; or all but the diagonal.

    `form` is "all", "triangle" or "no diagonal"; `pair_cells` is the overhead of a pair.
    """

    def __init__(self, query_lengths: Index, target_lengths: Index, form: str, pair_cells: int = PAIR_CELLS) -> None:
        self._form, self._n_targets, self.pair_cells = form, len(target_lengths), pair_cells
        n_queries = len(query_lengths)
        self._lengths = query_lengths.astype(np.float64)
        # Cells of a query with the targets before each one, per residue of the query; and their overheads.
        self._before_target = _sums(target_lengths.astype(np.float64))
        row = np.arange(n_queries)
        if form == "triangle":
            counts = self._n_targets - 1 - row
            residues = self._before_target[-1] - self._before_target[row + 1]
        else:
            counts = np.full(n_queries, self._n_targets - (form == "no diagonal"))
            residues = np.full(n_queries, self._before_target[-1])
            if form == "no diagonal":
                residues = residues - target_lengths
        self._begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._cost = _sums(self._lengths * residues + pair_cells * counts.astype(np.float64))
        self.n = int(self._begin[-1])

    def pairs(self, begin: int, end: int) -> tuple[Index, Index]:
        """Return query and target indices, int64, shape (end - begin,) each."""
        if begin >= end:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        first, after = self.queries(begin, end)
        rows = np.arange(first, after)
        counts = np.minimum(self._begin[rows + 1], end) - np.maximum(self._begin[rows], begin)
        query = np.repeat(rows, counts)
        # The first pair of a row is with target 0; in a triangle, with the row's successor.
        shift = self._begin[rows] - (rows + 1 if self._form == "triangle" else 0)
        column = np.arange(begin, end) - np.repeat(shift, counts)
        if self._form == "no diagonal":
            column += column >= query
        return query, column

    def cost_before(self, position: int) -> float:
        """Return the cells of all pairs before that position, including overhead."""
        if position >= self.n:
            return float(self._cost[-1])
        row = int(np.searchsorted(self._begin, position, "right")) - 1
        count = position - int(self._begin[row])
        return float(self._cost[row] + self._lengths[row] * self._residues(row, count) + self.pair_cells * count)

    def _residues(self, row: int, count: int) -> float:
        """Return the residues of the first `count` targets of a row of the grid."""
        if self._form == "triangle":
            return float(self._before_target[row + 1 + count] - self._before_target[row + 1])
        if self._form == "no diagonal" and count > row:
            own = self._before_target[row + 1] - self._before_target[row]
            return float(self._before_target[count + 1] - own)
        return float(self._before_target[count])

    def position_at(self, cost: float) -> int:
        """Return the position before which the pairs cost about `cost`."""
        row = int(np.searchsorted(self._cost, cost, "right")) - 1
        if row < 0:
            return 0
        if row >= len(self._begin) - 1:
            return self.n
        low, high = int(self._begin[row]), int(self._begin[row + 1])
        while low < high:  # the last position whose cost is not above
            middle = (low + high + 1) // 2
            if self.cost_before(middle) <= cost:
                low = middle
            else:
                high = middle - 1
        following = min(low + 1, self.n)
        return following if self.cost_before(following) - cost < cost - self.cost_before(low) else low

    def queries(self, begin: int, end: int) -> tuple[int, int]:
        """Return the first query of the pairs from position `begin` to before `end`, and the one after the last."""
        if begin >= end:
            return 0, 0
        first, last = (int(np.searchsorted(self._begin, k, "right")) - 1 for k in (begin, end - 1))
        return first, last + 1

    def span_of(self, query: int) -> tuple[int, int]:
        """Return the positions of a query's pairs: the first, and the one after the last."""
        return int(self._begin[query]), int(self._begin[query + 1])

    def query_begin(self, position: int) -> int:
        """Return the first position of that query."""
        if position >= self.n:
            return self.n
        return int(self._begin[int(np.searchsorted(self._begin, position, "right")) - 1])


class Listed(CostList):
    """Listed pairs: int64, shape (n, 2)."""

    def __init__(self, pairs: Index, query_lengths: Index, target_lengths: Index) -> None:
        self._pairs, self.pair_cells = pairs, PAIR_CELLS
        cells = query_lengths[pairs[:, 0]].astype(np.float64) * target_lengths[pairs[:, 1]]
        super().__init__(cells + PAIR_CELLS)

    def pairs(self, begin: int, end: int) -> tuple[Index, Index]:
        """Return query and target indices, int64, shape (end - begin,) each."""
        part = self._pairs[begin:end]
        return np.ascontiguousarray(part[:, 0]), np.ascontiguousarray(part[:, 1])

    def query_begin(self, position: int) -> int:
        """Return the last position up to this one that separates smaller query indices from all larger ones.

        The pairs of a query may be anywhere in a list. If the list goes query by query, this is the query's first
        position; in an unordered list it may be 0.
        """
        if position >= self.n:
            return self.n
        return int(self._borders[np.searchsorted(self._borders, position, "right") - 1])

    @cached_property
    def _borders(self) -> Index:
        """Positions, from 0, with all smaller query indices before and all larger ones after."""
        query = self._pairs[:, 0]
        largest_before = np.maximum.accumulate(query)[:-1]
        smallest_after = np.minimum.accumulate(query[::-1])[::-1][1:]
        return np.concatenate([[0], np.flatnonzero(largest_before < smallest_after) + 1])


def _sums(values: Costs) -> Costs:
    """Return the sum of the values before each, and of all; added in order."""
    return np.concatenate([[0.0], np.cumsum(values)])


#: Longer lines do not hold two names: the file is not a list.
MOST_LINE_BYTES = 1 << 20
MARK = b"\xef\xbb\xbf"  # UTF-8 byte order mark, which some editors write


def read_pairs(source: Source, queries: SequenceBatch, targets: SequenceBatch) -> NDArray[np.int64]:
    """Indices of the pairs that a file lists, decompressed as it is read.

    Parameters
    ----------
    source
        A file's name; "-" is standard input.

    Returns
    -------
    int64, shape (n, 2)
        Query index, target index.

    Raises
    ------
    InputError
        A file that cannot be read or lists no pair, a line without two names, a name that no sequence has or that
        several have.
    """
    file = file_name(source)
    numbers = [{name: k for k, name in enumerate(batch.names)} for batch in (queries, targets)]
    repeated = [
        {name for k, name in enumerate(batch.names) if number[name] != k} if len(number) < len(batch) else set()
        for batch, number in zip((queries, targets), numbers, strict=True)
    ]
    found = array("q")
    with opened(source) as stream:
        lines = with_line_ends(stream)
        for line_number, line in enumerate(iter(lambda: lines.readline(MOST_LINE_BYTES), b""), 1):
            if line_number == 1:
                line = line.removeprefix(MARK)
            if line.startswith(b"#") or not line.strip():
                continue
            names = _two_names(line, file, line_number)
            for name, number, several in zip(names, numbers, repeated, strict=True):
                if name not in number or name in several:
                    what = "there is no sequence of this name"
                    if name in several:
                        how = said("duplicate_names", "number")
                        what = f"several sequences have this name: give each its own, or read with {how}"
                    raise InputError(what, file=file, line=line_number, record=name)
                found.append(number[name])
    if not found:
        raise InputError("the list holds no pair", file=file)
    return np.frombuffer(found, np.int64).reshape(-1, 2)


def _two_names(line: bytes, file: str, number: int) -> list[str]:
    names = [decoded(word) for word in line.split()[:2]]
    if len(names) < 2 or len(line) >= MOST_LINE_BYTES:
        raise InputError("a line has to hold two names", file=file, line=number)
    if b"\0" in line:
        raise InputError("the list of pairs is no text", file=file, line=number)
    return names
