"""The plan of a job: its pairs in output order, each with a position and a cost, and their tiles.

    all pairs of a set (triangle)     queries against targets         a list
         j = 0  1  2  3                    j = 0  1  2                 as given
    i=0      .  0  1  2               i=0      0  1  2
      1      .  .  3  4                 1      3  4  5
      2      .  .  .  5

Costs are sums in double precision, added in one order: equal on every machine, so that all shards of a run are cut
in the same way.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, named, said
from tropalign.execution.task import CostList, Tile, cuts, share
from tropalign.properties import cached_property
from tropalign.resources.limits import environment_number, require
from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import TAKEN_BYTES
from tropalign.sequences.files import Source, file_name, opened, with_line_ends
from tropalign.sequences.texts import decoded

if TYPE_CHECKING:
    from tropalign.execution.manifest import Shard
    from tropalign.pairwise.engines import Sides
    from tropalign.pairwise.options import PairOptions
    from tropalign.pairwise.translated import PairFrames

Index = NDArray[np.int64]
Costs = NDArray[np.float64]

#: Bytes of a pair while its tile is computed and written, without its path, by depth: indices, columns, short
#: texts.
ROW_BYTES = {"score": 140, "ends": 240, "alignment": 340}
#: Bytes of a path per residue of the shorter sequence, a cautious mean: its operations (twice) and its CIGAR.
PATH_BYTES = 8.0
#: Memory of all alignments of a pair, as a multiple of the first one's: further ones are usually shorter.
MOST_PATHS = 8
#: Cost of a tile in cells, and its most pairs. A kill loses the tiles in progress: a few seconds of work at the 4
#: billion cells per second of a slow core, and a tenth of a second on a large machine.
TILE_CELLS = 15_000_000_000
TILE_PAIRS = 600_000
#: Most bytes of a tile's rows, even if more memory is allowed: 57,000 alignments of 250 residues, half a second of
#: one core. They took 43 MB of the budgeted 128 MB. Tiles four times as large were no faster.
TILE_BYTES = 128 << 20
#: Per-sequence overhead in bytes, excluding the batch: lengths, sums, indices.
SEQUENCE_BYTES = 48
#: Share of the remaining memory for a tile's rows; kernels use the rest.
ROWS_SHARE = 0.5
#: Freed memory that native code keeps, as a share of its allowance (kKeptShare in native/pairwise/tile.cpp).
KEPT_SHARE = 0.25
#: Smallest memory allowance of native code.
LEAST_SCRATCH_BYTES = 1 << 20
#: Limits of grouped scans: fewer targets leave lanes empty, and longer targets are better aligned one by one.
LEAST_TARGETS = 128
LONGEST_TARGET = 1 << 16
#: Cost of a tile of a grouped scan, and overhead of a pair, in cells: 16 x 16 residues take 5 ns, and long
#: pairs .015 ns per cell (one AVX-512 core), so that a tile takes a few seconds of one core.
GROUP_TILE_CELLS = 60_000_000_000
GROUP_PAIR_CELLS = 100
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
        # Cells per query residue with all targets before each target; and the overheads of these pairs.
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
        starts = np.maximum(self._begin[rows], begin)
        counts = np.minimum(self._begin[rows + 1], end) - starts
        # The first pair of a row is with target 0; in a triangle, with the row's successor.
        starts -= self._begin[rows] - (rows + 1 if self._form == "triangle" else 0)
        query, column = _native.list_pairs(rows, starts, counts)
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


@dataclass(frozen=True)
class Plan:
    """The pairs of a task in their order, cut into tiles that fit the memory.

    in_groups: with enough targets, the best ones of a query are found without a list of its pairs.
    keeps_queries: the best targets of a query are chosen among all its pairs, so these stay in one tile.
    row_bytes: memory of the rows of a pair.
    most_pairs: most pairs with rows of a tile.
    scratch_bytes: memory of native code.
    """

    order: PairOrder
    in_groups: bool
    keeps_queries: bool
    row_bytes: float
    most_pairs: int
    scratch_bytes: int
    tiles: list[Tile] = field(default_factory=list)
    has_whole_queries: bool = False

    @classmethod
    def of(
        cls,
        sides: Sides,
        decisive: Sides,
        lengths: tuple[Index, Index],
        pairs: Index | None,
        is_set: bool,
        frames: PairFrames | None,
        options: PairOptions,
        memory_bytes: int,
        shard: Shard | None,
        column_bytes: float,
        wants_whole_queries: bool,
        cell_cost: float = 1.0,
    ) -> Plan:
        """Plan pairs of sequences: the listed ones, all queries with all targets, or all of one set.

        cell_cost: cost of a cell, in cells of letters.

        Sizes depend on the inputs and the limit alone, so that a resumed run is cut in the same way.
        """
        in_groups = options.top is not None and pairs is None and suits_groups(sides.targets)
        in_groups &= not sides.targets.has_positions
        in_groups &= options.whole.is_affine and (frames is None or frames.target is None)
        in_groups &= options.scores_letters and not options.has_track
        order: PairOrder
        if pairs is not None:
            order = Listed(pairs, *lengths)
        else:
            form = "all" if not is_set else "triangle" if options.top is None else "no diagonal"
            order = Grid(*lengths, form, GROUP_PAIR_CELLS if in_groups else PAIR_CELLS)
        batches = {id(batch): batch for batch in (*sides, *decisive) if batch is not None}
        least, row_bytes = least_bytes(batches.values()), bytes_per_pair(sides, options, column_bytes)
        require(least, memory_bytes, "this run", f"allow more with {named('memory_bytes')}, or split the sequences")
        left = memory_bytes - (least - 2 * LEAST_SCRATCH_BYTES)
        most = TILE_PAIRS
        if "TROPALIGN_TILE_PAIRS" in os.environ:
            most = environment_number("TROPALIGN_TILE_PAIRS", os.environ["TROPALIGN_TILE_PAIRS"])
        most = max(1, min(most, int(min(left * ROWS_SHARE, TILE_BYTES) / row_bytes)))
        left -= int(min(most, order.n) * row_bytes)
        plan = cls(order, in_groups, options.top is not None, row_bytes, most, int(left / (1 + KEPT_SHARE)))
        cells = GROUP_TILE_CELLS if in_groups else int(TILE_CELLS / cell_cost)
        return replace(
            plan, **plan._cut(shard, wants_whole_queries, len(sides.targets), options.top or 1, frames, cells)
        )

    def _cut(
        self,
        shard: Shard | None,
        wants_whole_queries: bool,
        n_targets: int,
        top: int,
        frames: PairFrames | None,
        cells: int,
    ) -> dict[str, Any]:
        """Return the tiles, of about this number of cells, and whether each has all pairs of its queries."""
        order, is_whole = self.order, shard is None and (wants_whole_queries or self.keeps_queries)
        snap = order.query_begin if self.keeps_queries or is_whole else int
        begin, end = share(order, shard, snap)
        most = self.most_pairs
        if self.in_groups:
            # Only the rows that a tile keeps need memory, not all that it examines; each frame of a query keeps
            # its own best.
            kept = min(top, n_targets) * (1 if frames is None else frames.most)
            most = max(most // kept, 1) * n_targets
        bounds = cuts(order, begin, end, most, cells, snap)
        if is_whole and not self.keeps_queries and max(np.diff(bounds), default=0) > most:
            is_whole, bounds = False, cuts(order, begin, end, most, cells)
        tiles = [self.tile(k, *span) for k, span in enumerate(pairwise(bounds))]
        return {"tiles": tiles, "has_whole_queries": is_whole}

    def tile(self, index: int, begin: int, end: int) -> Tile:
        """Return the tile of the pairs from position `begin` to before `end`."""
        cells = int(self.order.cost_before(end) - self.order.cost_before(begin))
        n_listed = min(end - begin, self.most_pairs) if self.keeps_queries else end - begin
        return Tile(index, cells, int(self.row_bytes * n_listed), end - begin, (begin, end))

    def split(self, tile: Tile) -> list[Tile]:
        """Split a tile at about half its cost; [] for one pair, or for one query if its best targets are requested."""
        begin, end = tile.payload
        order = self.order
        middle = order.position_at((order.cost_before(begin) + order.cost_before(end)) / 2)
        middle = min(max(middle, begin + 1), end - 1)
        if self.keeps_queries:
            middle = order.query_begin(middle)
        if not begin < middle < end:
            return []
        return [self.tile(tile.index, begin, middle), self.tile(tile.index, middle, end)]

    @property
    def grid(self) -> Grid:
        """The order of the pairs, if they are not listed."""
        if not isinstance(self.order, Grid):
            raise TypeError("a tile of listed pairs has no span of queries")
        return self.order


def bytes_per_pair(sides: Sides, options: PairOptions, column_bytes: float) -> float:
    """Return the memory of a pair's rows; `column_bytes` are those of text per alignment column."""
    report, rows = options.report, options.max_hsps
    queries, _, targets = sides
    taken = TAKEN_BYTES * float(targets.lengths.mean()) if targets.is_stored else 0.0
    if report != "alignment":
        return ROW_BYTES[report] + taken
    shorter, longer = sorted(float(batch.lengths.mean()) for batch in (queries, targets))
    paths = min(rows, MOST_PATHS) if options.co_optimal is None else options.co_optimal
    rows = max(rows, paths)
    return taken + rows * ROW_BYTES[report] + paths * (PATH_BYTES * shorter + 2 * column_bytes * longer)


def suits_groups(targets: SequenceBatch) -> bool:
    """True if a grouped scan suits these targets (native/pairwise/best_targets.cpp)."""
    return len(targets) >= LEAST_TARGETS and int(targets.lengths.max()) <= LONGEST_TARGET


def least_bytes(batches: Iterable[SequenceBatch]) -> int:
    """Return the least memory for aligning pairs of these sequences, for any number of pairs.

    Kernels need margins around the codes, so native code copies them; lengths, costs and indices take some numbers
    per sequence.
    """
    copies = sum(2 * batch.most_codes + SEQUENCE_BYTES * len(batch) for batch in batches)
    return copies + 2 * LEAST_SCRATCH_BYTES


def checked_pairs(pairs: Any, n_queries: int, n_targets: int) -> NDArray[np.int64]:
    """Return listed pairs for engines: int64, shape (n, 2), contiguous, from any array-like of integers.

    Raises InputError for another shape or type, or an index out of range (with its row).
    """
    try:
        given = np.asarray(pairs)
    except ValueError:  # rows of different lengths
        given = np.zeros((1, 1))
    if not given.size and given.ndim < 3:
        return np.zeros((0, 2), np.int64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(f"pairs must be an array of (query index, target index), not of shape {given.shape}")
    if given.dtype.kind not in "iu":
        raise InputError(f"pairs must be integers, not {given.dtype}: give indices of sequences, from 0")
    is_out = (given < 0) | (given >= np.array([n_queries, n_targets]))
    if is_out.any():
        row, side = (int(k) for k in np.argwhere(is_out)[0])
        what, count = (("query", n_queries), ("target", n_targets))[side]
        raise InputError(
            f"row {row} of pairs refers to {what} {given[row, side]}, but there are {count}: indices start at 0"
        )
    return np.ascontiguousarray(given, np.int64)


def _sums(values: Costs) -> Costs:
    """Return the sum of the values before each one, and the total; added in order."""
    return np.concatenate([[0.0], np.cumsum(values)])


#: Longest line: a file with a longer one is not a list of pairs.
MOST_LINE_BYTES = 1 << 20
MARK = b"\xef\xbb\xbf"  # UTF-8 byte order mark, which some editors write


def read_pairs(source: Source, queries: SequenceBatch, targets: SequenceBatch) -> NDArray[np.int64]:
    """Read a file of pairs: int64, shape (n, 2), indices of query and target; "-" is standard input.

    Raises InputError for an unreadable or empty file, a line without two names, and a name of no or several sequences.
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
            names = [decoded(word) for word in line.split()[:2]]
            if len(names) < 2 or len(line) >= MOST_LINE_BYTES:
                raise InputError("a line must contain two names", file=file, line=line_number)
            if b"\0" in line:
                raise InputError("the list of pairs is not a text file", file=file, line=line_number)
            for name, number, several in zip(names, numbers, repeated, strict=True):
                if name not in number or name in several:
                    what = "there is no sequence of this name"
                    if name in several:
                        how = said("duplicate_names", "number")
                        what = f"several sequences have this name: give each its own name, or use {how}"
                    raise InputError(what, file=file, line=line_number, record=name)
                found.append(number[name])
    if not found:
        raise InputError("the list contains no pair", file=file)
    return np.frombuffer(found, np.int64).reshape(-1, 2)
