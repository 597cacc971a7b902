"""Distribution of pairs to work-groups: which pairs run side by side on a GPU (native/pairwise/gpu_plan.cpp)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import _native

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
        """Rows of a tile, by `gpu_layout.Source`."""
        return self.rows_shared, self.rows_shared, self.rows_own


@dataclass(frozen=True)
class Width:
    """Criterion of pairs that need 32 bits: the lesser `bound` of both sequences plus `extend` reaches `wide_from`.

    word_bits: the width of all others.
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
    units: int32, shape (n_units, UNIT_INTS), by `gpu_layout.Unit`; the costliest first.
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
        """Return the unit of each of `pair`."""
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
