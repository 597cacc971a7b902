"""Mode, scores and number formats of the kernels of pairs, and the constants that they are compiled with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.pairwise.gpu_layout import COLUMNS, PAD, Flag, Source
from tropalign.pairwise.gpu_plan import Ints, Shape, Width
from tropalign.properties import cached_property

#: `Scheme.local` by the recurrence (`PairOptions.recurrence`): the kernels have no other one.
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
        """The matrix, with scores that two gaps always beat raised to just below that: no result changes."""
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
        """Return how a diagonal step changes H', with padding: int32, shape (4, 32, 32), by the free starts (flags)."""
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
        return self.scale * lowest < 1 << (word_bits - 1) and self._wide_from(word_bits, n_rows) >= 64

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
        return Width(word_bits, bound, self._wide_from(word_bits, n_rows), extend)

    def _frame(self, n_rows: int) -> int:
        """Return the largest difference between a local H' and H."""
        return self.gap_extend * (n_rows + COLUMNS + 2)

    def _wide_from(self, word_bits: int, n_rows: int) -> int:
        """Return the smallest bound that words of this width may not hold."""
        step = self.most_up + 2 * self.gap_extend + (self._frame(n_rows) if self.local else 0)
        return (1 << (word_bits - 1)) // self.scale - step


def constants(scheme: Scheme, shape: Shape, source: int, strips: bool, word_bits: int) -> dict[str, int]:
    """Return the constants for compiling a launch's kernels, in addition to those of gpu_layout.py."""
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
