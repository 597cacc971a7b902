"""Scores of reads against branch vectors on any GPU device, with the kernel of place.k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.gpu import Gpu, Pace, Programs, kernel_source, require_room, with_constants
from tropalign.errors import DeviceError

Ints = NDArray[np.int64]

#: Column codes per word, number of different codes, code of padding, and the flag in the other codes.
COLUMNS, CODES, PAD, FLAG = 6, 33, 32, 16
#: Overhead of a tile for its boundary, in rows.
TILE_ROWS = 4
#: Cells of the first launch, before the device's rate is known.
FIRST_CELLS = 10_000_000_000


class Couple(IntEnum):
    """Indices of the numbers of a couple of reads, in `couples`."""

    #: First row.
    ROW = 0
    #: Number of tiles of rows.
    TILES = 1
    #: Lengths of both reads.
    LENGTH = 2


COUPLE_INTS = 4
#: Numbers that place.k shares with this file, by their kernel names without the prefix PLACE.
NUMBERS = {
    "COLUMNS": COLUMNS,
    "CODES": CODES,
    "PAD": PAD,
    "FLAG": FLAG,
    "COUPLE_INTS": COUPLE_INTS,
    **{f"COUPLE_{number.name}": number.value for number in Couple},
}


@dataclass(frozen=True)
class Shape:
    """Distribution of cells to lanes.

    `group`: branches that are computed together. `rows`: tile heights, of which a call takes the one with the
    least padding.
    """

    group: int = 64
    rows: tuple[int, ...] = (32, 28, 24, 20)

    def height(self, lengths: Ints) -> int:
        """Return the rows of a tile for couples whose longer reads have these lengths."""
        return min(self.rows, key=lambda rows: (int((-(-lengths // rows)).sum()) * (rows + TILE_ROWS), -rows))


@dataclass(frozen=True)
class Scoring:
    """Scores of native ``place_scores``, in the form for the kernel.

    An extension that costs more than an opening costs the same as an opening: another gap could be opened instead.
    """

    match: int
    mismatch: int
    on_gap: int
    gap_open: int
    gap_extend: int
    insert_open: int
    insert_extend: int

    @classmethod
    def of(cls, values: tuple[int, ...]) -> Scoring:
        """Convert match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend (whole_read follows)."""
        match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend = values[:7]
        gap_extend, insert_extend = min(gap_extend, gap_open), min(insert_extend, insert_open)
        return cls(match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend)

    def cells(self) -> Ints:
        """Return the scores of a base in a column, int64, shape (16, 32), by letter and column code.

        Scores that are always worse than an insertion and a skipped column are raised to that cost.
        """
        letter, code = np.arange(16)[:, None], np.arange(32)
        flag = (code & FLAG) != 0
        score = np.where(letter & code & 15, self.match, self.mismatch) + np.where(flag, self.on_gap, 0)
        cells: Ints = np.maximum(score, -self.insert_open - np.where(flag, 0, self.gap_open)).astype(np.int64)
        return cells

    def steps(self) -> NDArray[np.int32]:
        """Return what a diagonal step adds to H', including padding (letter 0, code 32): int32, shape (16, 33)."""
        steps = np.empty((16, CODES), np.int64)
        free = np.where(np.arange(32) & FLAG, 0, self.gap_extend)
        steps[:, :32] = self.cells() + free + self.insert_extend
        steps[:, PAD] = self.insert_extend
        steps[0] = [*free, 0]
        return steps.astype(np.int32)

    def highest(self, lengths: Ints, vectors: NDArray[np.uint8]) -> Ints:
        """Return an upper limit of H' for reads of given lengths."""
        unflagged = int(((vectors & FLAG) == 0).sum(axis=1).max(initial=0))
        step = max(int(self.cells().max()), 0)
        return step * np.minimum(lengths, vectors.shape[1]) + self.gap_extend * unflagged + self.insert_extend * lengths

    def lowest(self) -> int:
        """Return a lower limit of all numbers of a sweep: H' of an insertion from the border."""
        return -2 * (self.gap_open + self.insert_open) - abs(int(self.cells().min()))


def source() -> str:
    """Return the kernel as one text, with the numbers that it shares with this file."""
    return with_constants(kernel_source(Path(__file__).parent, "place.k"), "PLACE", NUMBERS)


def constants(scoring: Scoring, group: int, rows: int, word_bits: int) -> dict[str, int]:
    """Return the compile-time constants of the kernel, besides NUMBERS."""
    return {
        "SIMT_WORD": word_bits,
        "PLACE_GROUP": group,
        "PLACE_ROWS": rows,
        "PLACE_GAP_OPEN": scoring.gap_open - scoring.gap_extend,
        "PLACE_GAP_EXTEND": scoring.gap_extend,
        "PLACE_INSERT_OPEN": scoring.insert_open - scoring.insert_extend,
        "PLACE_INSERT_EXTEND": scoring.insert_extend,
    }


class ScoresOnGpu:
    """Scores of reads against all branches of a reference on one device.

    `vectors`: uint8, shape (n_vectors, n_columns), state set in bits 0 to 3, gap flag in bit 4. `scoring`: match,
    mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend, whole_read. Raises DeviceError for
    unsupported arguments.
    """

    def __init__(
        self, device: Gpu, vectors: NDArray[np.uint8], scoring: tuple[int, ...], shape: Shape | None = None
    ) -> None:
        if vectors.dtype != np.uint8:
            raise DeviceError(f"{device.name}: placement of proteins is computed on the CPU only")
        if scoring[7]:
            raise DeviceError(f"{device.name}: scores of whole reads are computed on the CPU only")
        if min(scoring[3:7]) < 0:
            raise DeviceError(f"{device.name}: scores with negative gap costs are computed on the CPU only")
        self.device, self.vectors, self.shape, self.scoring = device, vectors, shape or Shape(), Scoring.of(scoring)
        if self.scoring.lowest() <= -(1 << 30):
            raise DeviceError(f"{device.name}: such large scores are computed on the CPU only")
        self._columns = device.upload(packed_columns(vectors, self.shape.group))
        self._steps = device.upload(self.scoring.steps())
        self._programs, self.pace = Programs(device, source()), Pace(FIRST_CELLS)

    def scores(
        self, codes: NDArray[np.uint8], offsets: Ints, progress: Callable[[int], None] | None = None
    ) -> NDArray[np.int32]:
        """Score reads: int32, shape (n_reads, n_vectors).

        `codes`: state sets 1 to 15 of all reads' bases. `offsets`: shape (n_reads + 1,). `progress` receives the
        reads done after each launch, and while kernels compile. Raises DeviceError also for scores that do not
        fit.
        """
        if len(codes) and not 1 <= int(codes.min()) <= int(codes.max()) <= 15:
            raise ValueError("a code of a read is not a state set of nucleotides")
        lengths = np.diff(offsets)
        highest = self.scoring.highest(lengths, self.vectors)
        if int(highest.max(initial=0)) >= 1 << 31:
            raise DeviceError(f"{self.device.name}: such large scores are computed on the CPU only")
        narrow = self.device.word_bits == 16 and self.scoring.lowest() > -(1 << 14)
        order = np.argsort(-lengths, kind="stable")
        n_wide = int((highest >= 1 << 15).sum()) if narrow else len(lengths)  # the longest, which come first
        n_groups = -(-len(self.vectors) // self.shape.group)
        result, done = np.zeros((len(lengths), n_groups, self.shape.group), np.int32), 0
        for word_bits, some in ((32, order[:n_wide]), (16, order[n_wide:])):
            if len(some):
                self._score(word_bits, _Couples(some, codes, offsets, word_bits, self.shape), result, done, progress)
                done += len(some)
        return result.reshape(len(lengths), n_groups * self.shape.group)[:, : len(self.vectors)]

    def _score(
        self,
        word_bits: int,
        couples: _Couples,
        result: NDArray[np.int32],
        before: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        """Compute scores of couples into `result`, in runs that fit the device's memory and take a short time.

        A run consists of units: a couple and a group of branches.
        """
        group, n_groups, sides = self.shape.group, result.shape[1], couples.reads.shape[1]
        chosen = constants(self.scoring, group, couples.height, word_bits)
        program = self._programs.get(chosen, progress and partial(progress, before))
        n_blocks = -(-self.vectors.shape[1] // COLUMNS)
        n_units, begin = len(couples.reads) * n_groups, 0
        while begin < n_units:
            first = begin // n_groups
            rows = int(couples.numbers[first, Couple.TILES]) * couples.height  # no later couple has more rows
            edge = 2 * n_blocks * COLUMNS * group if rows > couples.height else 1
            unit_bytes, budget = 4 * (edge + 2 * group) + 2 * rows + 16, self.device.budget_bytes()
            require_room(self.device, unit_bytes, budget, f"{group} branches")
            cells = max(rows, 1) * n_blocks * COLUMNS * group * (32 // word_bits)
            end = min(n_units, begin + min(budget // unit_bytes, max(self.pace.cells // cells, 1)))
            units = np.arange(begin, end)
            letters, numbers = couples.some(first, (end - 1) // n_groups + 1)
            with self.pace.measured(cells * len(units)), self.device.scope() as memory:
                arrays = (memory.upload(letters), memory.upload(numbers))
                layout = (begin - first * n_groups, n_groups, n_blocks, n_blocks * COLUMNS - self.vectors.shape[1])
                boundary, found = memory.allocate(4 * edge * len(units)), memory.allocate(8 * group * len(units))
                arguments = (self._columns, self._steps, *arrays, *layout, boundary, found)
                program.launch("place", len(units), group, *arguments)
                scores = memory.download(found, np.int32, 2 * group * len(units)).reshape(-1, 2, group)
            for side in range(sides):
                read = couples.reads[units // n_groups, side]
                result[read[read >= 0], units[read >= 0] % n_groups] = scores[read >= 0, side]
            begin = end
            if progress:
                progress(before + min(end // n_groups * sides, couples.n_reads))


def packed_columns(vectors: NDArray[np.uint8], group: int) -> NDArray[np.uint32]:
    """Return column codes of 5 bits, 6 per word: uint32, shape (n_groups, n_blocks, group), padded in front."""
    n_vectors, n_columns = vectors.shape
    n_groups, n_blocks = -(-n_vectors // group), -(-n_columns // COLUMNS)
    words = np.zeros((n_groups, n_blocks, group), np.uint32)
    for k in range(n_groups):
        some = vectors[k * group : (k + 1) * group]
        padded = np.zeros((len(some), n_blocks * COLUMNS), np.uint32)
        padded[:, n_blocks * COLUMNS - n_columns :] = some
        shifted = padded.reshape(len(some), n_blocks, COLUMNS) << (5 * np.arange(COLUMNS, dtype=np.uint32))
        words[k, :, : len(some)] = np.bitwise_or.reduce(shifted, axis=2).T
    return words


class _Couples:
    """Reads in couples, longest first: two per couple if words have two halves, else one.

    `reads`: int64, shape (n, 1 or 2), indices, -1 for a missing read. `height`: rows of a tile. `letters`: uint8,
    shape (n_rows, 2), rows of both reads, padded in front to whole tiles (0). `numbers`: int64, shape (n,
    COUPLE_INTS), by `Couple`.
    """

    def __init__(self, order: Ints, codes: NDArray[np.uint8], offsets: Ints, word_bits: int, shape: Shape) -> None:
        sides = 32 // word_bits
        self.n_reads = len(order)
        self.reads = np.full((-(-len(order) // sides), sides), -1, np.int64)
        self.reads.reshape(-1)[: len(order)] = order
        lengths = np.zeros((len(self.reads), 2), np.int64)
        lengths[:, :sides] = np.where(self.reads >= 0, np.diff(offsets)[self.reads], 0)
        self.height = shape.height(lengths[:, 0])
        tiles = -(-lengths[:, 0] // self.height)
        ends = np.cumsum(tiles * self.height)
        self.numbers = np.column_stack([ends - tiles * self.height, tiles, lengths])
        self.letters = np.zeros((int(ends[-1]), 2), np.uint8)
        for side in range(sides):
            which = np.flatnonzero(self.reads[:, side] >= 0)
            length, begin = lengths[which, side], offsets[self.reads[which, side]]
            base = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
            row = np.repeat(ends[which] - length, length) + base
            self.letters[row, side] = codes[np.repeat(begin, length) + base]

    def some(self, begin: int, end: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return letters and numbers of a run of couples, with rows counted from its first one."""
        numbers = self.numbers[begin:end].copy()
        first = int(numbers[0, Couple.ROW])
        last = int(numbers[-1, Couple.ROW] + numbers[-1, Couple.TILES] * self.height)
        numbers[:, Couple.ROW] -= first
        return self.letters[first:last], numbers.astype(np.int32)
