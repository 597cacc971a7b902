"""Pairs into units of work-groups: which pairs run side by side on a GPU (native/pairwise/gpu_plan.cpp)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import _native

Ints = NDArray[np.int64]

#: Pairs that one plan holds at the most.
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
    """Which pairs need 32 bits: those whose sequences' lesser `bound` and `extend` per residue reach `wide_from`.

    Attributes
    ----------
    word_bits
        The width of all others.
    bound : int64
        The most that each sequence lets values reach.
    extend
        For each residue of the longer sequence.
    """

    word_bits: int
    bound: Ints
    wide_from: int
    extend: int


@dataclass(frozen=True)
class Launch:
    """Units that one kernel computes.

    Attributes
    ----------
    source, strips, word_bits
        Which kernel (PAIRS_SOURCE, PAIRS_STRIPS and SIMT_WORD).
    units : int32, shape (n_units, UNIT_INTS)
        By `gpu_layout.Unit`; the costliest first.
    lanes : int32, shape (n_units, group, LANE_INTS)
    pair : int64
        The pairs as indices into the caller's list, unit by unit ...
    where : int32
        ... and for each of them ``4 * (unit * group + lane) + 2 * half + rows_are_query``.
    """

    source: int
    strips: bool
    word_bits: int
    units: NDArray[np.int32]
    lanes: NDArray[np.int32]
    pair: Ints
    where: NDArray[np.int32]

    def unit_of_pair(self) -> Ints:
        """For each of `pair`, its unit."""
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
    """Launches that hold every pair once.

    The rows of a pair are the sequence that has many more pairs than the other, else the longer one. Pairs whose row
    sequence has enough columns share its profile: with a second row sequence of nearly the same columns in the other
    half of the words, else with two columns per lane. The others bring rows and columns of their own.

    Parameters
    ----------
    query, target : int64, shape (n,)
        Indices into `lengths`.
    rank : int32
        Place of each sequence among all by descending length.
    free
        Query start, query end, target start, target end.

    Raises
    ------
    ValueError
        Arrays of unequal lengths, or more than MOST_PAIRS for a group of 64.
    """
    rules = (width.bound, width.wide_from, width.extend, shape.strips_cells, free, width.word_bits)
    launches = _native.plan_gpu(query, target, lengths, rank, *rules, shape.group, shape.rows)
    return [Launch(*launch) for launch in launches]
