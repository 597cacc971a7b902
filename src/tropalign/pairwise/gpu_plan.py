"""Plans for a GPU: numbers shared with its kernels, pairs that run side by side, and numbers that hold their scores.

native/pairwise/gpu_plan.cpp distributes pairs to work-groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.properties import cached_property
from tropalign.results.aligned_pairs import COUNT_COLUMNS, DELETION, DIFFERENT, END_COLUMNS, EQUAL, INSERTION

#: Columns of a block.
COLUMNS = 8
#: Code of padding.
PAD = 31


class Source(IntEnum):
    """Sequences from which a launch takes its scores."""

    #: Two row sequences for a group, one per half of the words.
    SHARED_ROWS = 0
    #: One row sequence for a group, and a column sequence for each half.
    SHARED_ROW = 1
    #: A row sequence and a column sequence for each half.
    OWN_ROWS = 2


class Unit(IntEnum):
    """Indices of the integers of a unit (the work of a group) in `units`."""

    #: Sequences of the shared rows, one per half of the words.
    ROW_LO = 0
    ROW_HI = 1
    #: Number of tiles of rows.
    TILES = 2
    #: Blocks of COLUMNS columns of its longest lane.
    BLOCKS = 3
    #: Properties of all its pairs (`Flag`).
    FLAGS = 4


class Flag(IntFlag):
    """Properties of all pairs of a unit."""

    FREE_ROWS_BEGIN = 1
    FREE_COLUMNS_BEGIN = 2
    FREE_ROWS_END = 4
    FREE_COLUMNS_END = 8
    #: The row sequence is the one that the tie rule treats as the shorter.
    MIRRORED = 16


class Lane(IntEnum):
    """Indices of the integers of a lane in `lanes`: sequences of both halves, -1 for a half without a pair."""

    ROW = 0
    COLUMN = 2


UNIT_INTS, LANE_INTS = len(Unit), 4

#: Arrays of `found`, in the order in which the kernel `finish` writes them: the columns of an AlignmentTable that
#: an engine computes, and the length of the path.
FOUND = ("score", *END_COLUMNS, *COUNT_COLUMNS, "n_runs")
#: Operations of a path.
OPERATIONS = {"INSERTION": INSERTION, "DELETION": DELETION, "EQUAL": EQUAL, "DIFFERENT": DIFFERENT}


def numbers() -> dict[str, int]:
    """Return the constants of this module by their names in the kernels, without the prefix PAIRS."""
    return {
        "COLUMNS": COLUMNS,
        "PAD": PAD,
        "UNIT_INTS": UNIT_INTS,
        "LANE_INTS": LANE_INTS,
        **{f"SOURCE_{source.name}": source.value for source in Source},
        **{f"UNIT_{number.name}": number.value for number in Unit},
        **{f"LANE_{number.name}": number.value for number in Lane},
        **{str(flag.name): flag.value for flag in Flag},
        **{f"FOUND_{name.removeprefix('n_').upper()}": k for k, name in enumerate(FOUND)},
        **OPERATIONS,
    }


Ints = NDArray[np.int64]

#: Most pairs in one plan.
MOST_PAIRS = 4_000_000
#: Cells from which a pair gets a work-group of its own.
STRIPS_CELLS = 1 << 24


@dataclass(frozen=True)
class Shape:
    """Sizes of the kernels: work-items per group, and rows of a work-item's tile by source of scores."""

    group: int = 64
    rows_shared: int = 32
    rows_own: int = 16
    strips_cells: int = STRIPS_CELLS

    @property
    def rows(self) -> tuple[int, int, int]:
        """Rows of a tile, by `Source`."""
        return self.rows_shared, self.rows_shared, self.rows_own


@dataclass(frozen=True)
class Width:
    """Criterion for 32 bits: a pair needs them if its smaller `bound` plus `extend` is at least `wide_from`.

    word_bits: the width of all other pairs.
    bound: int64, highest value that each sequence permits.
    extend: per residue of the longer sequence.
    """

    word_bits: int
    bound: Ints
    wide_from: int
    extend: int


@dataclass(frozen=True)
class Launch:
    """Units that one kernel computes.

    source, strips, word_bits: the kernel (PAIRS_SOURCE, PAIRS_STRIPS and SIMT_WORD).
    units: int32, shape (n_units, UNIT_INTS), by `Unit`; the costliest first.
    lanes: int32, shape (n_units, group, LANE_INTS).
    pair: int64, the pairs as indices into the caller's list, unit by unit.
    where: int32, ``4 * (unit * group + lane) + 2 * half + rows_are_query`` of each of them.
    """

    source: int
    strips: bool
    word_bits: int
    units: NDArray[np.int32]
    lanes: NDArray[np.int32]
    pair: Ints
    where: NDArray[np.int32]

    def unit_of_pair(self) -> Ints:
        """Return the unit of each pair in `pair`."""
        units: Ints = self.where.astype(np.int64) // (4 * self.lanes.shape[1])
        return units


def plan(
    query: Ints,
    target: Ints,
    lengths: Ints,
    rank: NDArray[np.int32],
    free: tuple[bool, bool, bool, bool],
    width: Width,
    shape: Shape,
) -> list[Launch]:
    """Return launches that contain every pair once.

    The rows of a pair are the sequence that has many more pairs than the other, else the longer one. Pairs whose
    row sequence has enough columns share its profile: with a second row sequence of nearly the same columns in the
    other half of the words, else with two columns per lane. The others have their own rows and columns.

    `query` and `target` are indices into `lengths`, `rank` is the rank of each sequence by descending length,
    `free` is query start, query end, target start, target end. Raises ValueError for arrays of unequal lengths, or
    more than MOST_PAIRS pairs for a group of 64.
    """
    rules = (width.bound, width.wide_from, width.extend, shape.strips_cells, free, width.word_bits)
    launches = _native.plan_gpu(query, target, lengths, rank, *rules, shape.group, shape.rows)
    return [Launch(*launch) for launch in launches]


#: `Scheme.local` of each recurrence (`PairOptions.recurrence`) that the kernels support.
KEEPS_ZERO = {"local": True, "global": False}


@dataclass(frozen=True)
class Scheme:
    """Mode, depth and scores, and the number formats that can hold them.

    `matrix`: int32, shape (32, 32). `free`: query start, query end, target start, target end; all False in local
    mode.
    """

    matrix: NDArray[np.int32]
    gap_open: int
    gap_extend: int
    local: bool
    free: tuple[bool, bool, bool, bool]
    traced: bool

    @cached_property
    def clipped(self) -> NDArray[np.int32]:
        """The matrix; scores that two gaps always beat are raised to just below the gaps' score: no result changes."""
        return np.maximum(self.matrix, -2 * (self.gap_open + self.gap_extend) - 1).astype(np.int32)

    @property
    def scale(self) -> int:
        """Traced values are doubled, to make room for the tag."""
        return 2 if self.traced else 1

    @property
    def most_up(self) -> int:
        """Largest rise of H from a cell to its right or lower neighbour."""
        return max(int(self.clipped.max()), 0) + self.gap_open + self.gap_extend

    @property
    def level_bits(self) -> int:
        """Bits of H that suffice to distinguish neighbours: 7 or 15; 0 if neither does."""
        spread = self.most_up - int(self.clipped.min()) + self.gap_open + self.gap_extend
        return 7 if spread < 1 << 7 else 15 if spread < 1 << 15 else 0

    def steps(self) -> NDArray[np.int32]:
        """Return changes of H' in a diagonal step, with padding, by free starts (flags): int32, shape (4, 32, 32)."""
        steps = np.empty((4, 32, 32), np.int64)
        steps[:] = self.clipped.astype(np.int64) + 2 * self.gap_extend
        for flags in range(4):
            # Along a free border H' grows by e per residue; along any other, a gap is better than padding.
            rows_free, columns_free = flags & Flag.FREE_ROWS_BEGIN, flags & Flag.FREE_COLUMNS_BEGIN
            steps[flags, :, PAD] = self.gap_extend if rows_free else -self.gap_open
            steps[flags, PAD, :] = self.gap_extend if columns_free else -self.gap_open
            steps[flags, PAD, PAD] = 0
        return (self.scale * steps).astype(np.int32)

    def fits(self, word_bits: int, n_rows: int) -> bool:
        """True if words of this width can hold the scoring at all."""
        steps = int(np.abs(self.steps()).max()) // self.scale
        lowest = 4 * (self.gap_open + 1) + steps + self._frame(n_rows)
        return self.scale * lowest < 1 << (word_bits - 1) and self._least_unsafe_bound(word_bits, n_rows) >= 64

    def bounds(self, codes: NDArray[np.uint8], offsets: Ints) -> NDArray[np.int64]:
        """Return the upper bound of H by sequence: the sum of the best scores of its residues.

        A global H' is greater by e per row and column: e per residue of this sequence is included in its best
        scores, and e per residue of the other sequence is added later.
        """
        best = np.maximum(self.clipped.max(axis=1), 0).astype(np.int64) + (0 if self.local else self.gap_extend)
        sums = np.zeros(len(offsets) - 1, np.int64)
        is_full = offsets[:-1] < offsets[1:]
        if is_full.any():
            small = best.astype(np.min_scalar_type(int(best.max())))  # usually one byte per residue instead of eight
            sums[is_full] = np.add.reduceat(small[codes], offsets[:-1][is_full], dtype=np.int64)
        return sums

    def width(self, word_bits: int, n_rows: int, bound: NDArray[np.int64]) -> Width:
        """Return which pairs of sequences with these bounds exceed words of this width."""
        extend = 0 if self.local else self.gap_extend
        return Width(word_bits, bound, self._least_unsafe_bound(word_bits, n_rows), extend)

    def _frame(self, n_rows: int) -> int:
        """Return the largest difference between a local H' and H."""
        return self.gap_extend * (n_rows + COLUMNS + 2)

    def _least_unsafe_bound(self, word_bits: int, n_rows: int) -> int:
        """Return the smallest bound that words of this width may not hold."""
        step = self.most_up + 2 * self.gap_extend + (self._frame(n_rows) if self.local else 0)
        return (1 << (word_bits - 1)) // self.scale - step


def constants(scheme: Scheme, shape: Shape, source: int, strips: bool, word_bits: int) -> dict[str, int]:
    """Return the constants for compiling a launch's kernels, in addition to `numbers`."""
    return {
        "SIMT_WORD": word_bits,
        "PAIRS_GROUP": shape.group,
        "PAIRS_ROWS": shape.rows[Source(source)],
        "PAIRS_LOCAL": int(scheme.local),
        "PAIRS_TRACED": int(scheme.traced),
        "PAIRS_SOURCE": int(source),
        "PAIRS_STRIPS": int(strips),
        "PAIRS_OPEN": scheme.gap_open,
        "PAIRS_EXTEND": scheme.gap_extend,
        "PAIRS_LEVEL_BITS": scheme.level_bits or 7,
        "PAIRS_MOST_UP": scheme.most_up,
    }
