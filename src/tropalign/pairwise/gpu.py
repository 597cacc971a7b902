"""Pairs on a GPU: sweeps, walks and paths of a tile, over whatever device has the kernels of sweep.k and finish.k."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.gpu import Buffer, Gpu, Program
from tropalign.errors import DeviceError, ResourceError
from tropalign.machine.memory import human
from tropalign.pairwise import gpu_plan
from tropalign.pairwise.gpu_plan import COLUMNS, LANE_INTS, Ints, Launch, Shape, Width, plan
from tropalign.results.alignments import COUNT_COLUMNS, END_COLUMNS

#: Quantities of `found` (P_FOUND_* in finish.k), in order; the last is the number of runs.
FOUND = ("score", *END_COLUMNS, *COUNT_COLUMNS, "n_runs")
PAD = 31
#: Seconds that a device is given work for at a time, and cells as long as its rate is not known.
CHUNK_SECONDS, FIRST_CELLS = 0.5, 1_000_000_000
#: Groups that keep a multiprocessor busy: a warp for each of its four schedulers.
GROUPS_A_MULTIPROCESSOR = 2


@dataclass(frozen=True)
class Scheme:
    """What kernels compute: mode, depth and scores, and what number formats hold it.

    Parameters
    ----------
    matrix : int32, shape (32, 32)
    free
        Query start, query end, target start, target end; all False in local mode.
    """

    matrix: NDArray[np.int32]
    gap_open: int
    gap_extend: int
    local: bool
    free: tuple[bool, bool, bool, bool]
    traced: bool

    @cached_property
    def clipped(self) -> NDArray[np.int32]:
        """The matrix; scores that two gaps always better, raised to just below that: no result changes."""
        return np.maximum(self.matrix, -2 * (self.gap_open + self.gap_extend) - 1).astype(np.int32)

    @property
    def scale(self) -> int:
        """Traced values are doubled, for the tag."""
        return 2 if self.traced else 1

    @property
    def most_up(self) -> int:
        """How much H can rise from a cell to its right or lower neighbour."""
        return max(int(self.clipped.max()), 0) + self.gap_open + self.gap_extend

    @property
    def level_bits(self) -> int:
        """Bits of H that tell neighbours apart: 7 or 15; 0 where neither does."""
        spread = self.most_up - int(self.clipped.min()) + self.gap_open + self.gap_extend
        return 7 if spread < 1 << 7 else 15 if spread < 1 << 15 else 0

    def steps(self) -> NDArray[np.int32]:
        """What a diagonal step adds to H', padding included: int32, shape (4, 32, 32), by the free begins (flags)."""
        steps = np.empty((4, 32, 32), np.int64)
        steps[:] = self.clipped.astype(np.int64) + 2 * self.gap_extend
        for flags in range(4):
            # Along a border that is free H' grows by e a residue; along one that is not, a gap is better than padding.
            rows_free, columns_free = flags & gpu_plan.FREE_ROWS_BEGIN, flags & gpu_plan.FREE_COLUMNS_BEGIN
            steps[flags, :, PAD] = self.gap_extend if rows_free else -self.gap_open
            steps[flags, PAD, :] = self.gap_extend if columns_free else -self.gap_open
            steps[flags, PAD, PAD] = 0
        return (self.scale * steps).astype(np.int32)

    def fits(self, word_bits: int, n_rows: int) -> bool:
        """Whether words of that many bits hold this scoring at all."""
        steps = int(np.abs(self.steps()).max()) // self.scale
        lowest = 4 * (self.gap_open + 1) + steps + self._frame(n_rows)
        return self.scale * lowest < 1 << (word_bits - 1) and self._wide_from(word_bits, n_rows) >= 64

    def width(self, word_bits: int, n_rows: int, codes: NDArray[np.uint8], offsets: Ints) -> Width:
        """Which pairs of these sequences pass words of that many bits.

        H is at most the sum of the best scores of either sequence's letters; a global H' is greater by e a row and a
        column, which is e a residue of that sequence, with its best scores, and e a residue of the other.
        """
        best = np.maximum(self.clipped.max(axis=1), 0).astype(np.int64) + (0 if self.local else self.gap_extend)
        sums = np.concatenate([[0], np.cumsum(best[codes])])
        bound = sums[offsets[1:]] - sums[offsets[:-1]]
        extend = 0 if self.local else self.gap_extend
        return Width(word_bits, bound, self._wide_from(word_bits, n_rows), extend)

    def _frame(self, n_rows: int) -> int:
        """What a local H' is greater than H, at most."""
        return self.gap_extend * (n_rows + COLUMNS + 2)

    def _wide_from(self, word_bits: int, n_rows: int) -> int:
        """The least bound that words of that many bits may not hold."""
        step = self.most_up + 2 * self.gap_extend + (self._frame(n_rows) if self.local else 0)
        return (1 << (word_bits - 1)) // self.scale - step


class Sequences:
    """Sequences of a tile's pairs on a device: whole blocks of COLUMNS letters, padded in front."""

    def __init__(self, device: Gpu, parts: list[tuple[NDArray[np.uint8], Ints]]) -> None:
        self.codes = np.concatenate([codes for codes, _ in parts])
        before = np.cumsum([0] + [len(codes) for codes, _ in parts])
        self.offsets = np.concatenate([offsets[k > 0 :] + before[k] for k, (_, offsets) in enumerate(parts)])
        self.lengths = np.diff(self.offsets)
        self.rank = np.empty(len(self.lengths), np.int32)
        self.rank[np.argsort(-self.lengths, kind="stable")] = np.arange(len(self.lengths), dtype=np.int32)
        blocks = -(-self.lengths // COLUMNS)
        first = np.concatenate([[0], np.cumsum(blocks)])
        if first[-1] >= 2**31:
            raise ResourceError(f"{first[-1]} blocks of letters are more than a device can number: split the set")
        padded = np.full(first[-1] * COLUMNS, PAD, np.uint8)
        shift = first[1:] * COLUMNS - self.offsets[1:]
        padded[np.arange(len(self.codes)) + np.repeat(shift, self.lengths)] = self.codes
        self.letters = device.upload(padded)
        self.first_block = device.upload(first[:-1].astype(np.int32))
        self.length = device.upload(self.lengths.astype(np.int32))


@cache
def source() -> str:
    """The kernels as one text."""
    here = Path(__file__).parent
    return "".join(
        path.read_text() for path in (here.parent / "devices" / "simt.h", here / "sweep.k", here / "finish.k")
    )


def constants(scheme: Scheme, shape: Shape, launch_source: int, strips: bool, word_bits: int) -> dict[str, int]:
    """What the kernels of a launch are compiled with."""
    return {
        "SIMT_WORD": word_bits,
        "P_GROUP": shape.group,
        "P_ROWS": shape.rows[launch_source],
        "P_LOCAL": int(scheme.local),
        "P_TRACED": int(scheme.traced),
        "P_SOURCE": launch_source,
        "P_STRIPS": int(strips),
        "P_OPEN": scheme.gap_open,
        "P_EXTEND": scheme.gap_extend,
        "P_LEVEL_BITS": scheme.level_bits or 7,
        "P_MOST_UP": scheme.most_up,
    }


class PairsOnGpu:
    """Aligns lists of pairs of one set of sequences on one device.

    Raises
    ------
    DeviceError
        A scoring that the kernels cannot hold.
    """

    def __init__(self, device: Gpu, sequences: Sequences, scheme: Scheme, shape: Shape | None = None) -> None:
        self.device, self.sequences, self.scheme, self.shape = device, sequences, scheme, shape or Shape()
        n_rows = self.shape.rows_shared
        word_bits = 16 if device.word_bits == 16 and scheme.fits(16, n_rows) else 32
        self._width = scheme.width(word_bits, n_rows, sequences.codes, sequences.offsets)
        widest = scheme.width(32, n_rows, sequences.codes, sequences.offsets)
        highest = int(widest.bound.max()) + widest.extend * int(sequences.lengths.max())
        holds = scheme.fits(32, n_rows) and highest < widest.wide_from
        if not holds or (scheme.traced and not scheme.level_bits):
            raise DeviceError(f"{device.name}: scores this large are computed on the CPU only")
        self._steps = device.upload(scheme.steps())
        self._matrix = device.upload(scheme.clipped)
        self._programs: dict[tuple[int, bool, int], Program] = {}
        self._building = threading.Lock()
        self._chunk_cells = FIRST_CELLS

    def align(self, query: Ints, target: Ints, told: Callable[[int], None] | None = None) -> dict[str, Any]:
        """Columns of the pairs (indices into the sequences), by the names of AlignmentTable.

        Raises
        ------
        ResourceError
            A unit of pairs does not fit the device's memory.
        DeviceError, MemoryError
            What the device says.
        """
        result, done = _Result(len(query), self.scheme.traced), 0
        for begin in range(0, len(query), gpu_plan.MOST_PAIRS):
            some = slice(begin, begin + gpu_plan.MOST_PAIRS)
            for launch in self._plan(query[some], target[some]):
                program = self._program(launch)
                for chunk in self._chunks(launch):
                    self._compute(launch, program, chunk, result.after(begin))
                    done += len(chunk.pair)
                    if told:
                        told(done)
        return result.columns()

    def _plan(self, query: Ints, target: Ints) -> list[Launch]:
        """Pairs as long as that fewer groups than the device runs at a time would find memory get one each."""
        shape, sequences = self.shape, self.sequences
        if self.scheme.traced:
            cell_bytes = 2 if self.scheme.level_bits == 7 else 4  # of both halves
            at_a_time = GROUPS_A_MULTIPROCESSOR * self.device.n_multiprocessors
            most = self.device.budget_bytes() // (cell_bytes * shape.group * at_a_time)
            shape = replace(shape, strips_cells=min(shape.strips_cells, max(most, 1)))
        return plan(query, target, sequences.lengths, sequences.rank, self.scheme.free, self._width, shape)

    def _program(self, launch: Launch) -> Program:
        key = (launch.source, launch.strips, launch.word_bits)
        with self._building:
            if key not in self._programs:
                self._programs[key] = self.device.build(source(), constants(self.scheme, self.shape, *key))
            return self._programs[key]

    def _chunks(self, launch: Launch) -> Iterator[_Chunk]:
        """Units in runs that fit the device's memory and take it a short time, so that a run can be stopped.

        Raises ResourceError when one alone does not fit.
        """
        scheme, group, n_rows = self.scheme, self.shape.group, self.shape.rows[launch.source]
        tiles, columns = launch.units[:, 2].astype(np.int64), launch.units[:, 3].astype(np.int64) * COLUMNS
        arrays = 3 if scheme.local and scheme.traced else 2
        edge = (arrays * columns + (0 if scheme.local else tiles * n_rows)) * (1 if launch.strips else group)
        level = np.zeros_like(edge)
        if scheme.traced:
            strips = -(-tiles // group) if launch.strips else tiles
            level = strips * columns * (n_rows // 2 if scheme.level_bits == 7 else n_rows) * group
        unit_of_pair = launch.where.astype(np.int64) // (4 * group)
        first_pair = np.searchsorted(unit_of_pair, np.arange(len(edge) + 1))
        rooms = (tiles * n_rows + columns) * int(scheme.traced)  # for the runs of a pair
        n_pairs = np.diff(first_pair)
        sums = np.concatenate([[0], np.cumsum(edge + level + (LANE_INTS + 1) * group + (rooms + 24) * n_pairs)])
        budget = self.device.budget_bytes() // 4
        most = int(np.diff(sums).max())
        if most > budget:
            raise ResourceError(
                f"{self.device.name}: {group} pairs side by side need {human(4 * most)} of its memory and "
                f"{human(4 * budget)} are free: add --device cpu",
                needed_bytes=4 * most,
                allowed_bytes=4 * budget,
            )
        lanes = 1 if launch.strips else group * 32 // launch.word_bits
        cells = np.concatenate([[0], np.cumsum(tiles * n_rows * columns * lanes)])
        begin = 0
        while begin < len(edge):
            allowed = ((sums, budget), (cells, self._chunk_cells))
            end = min(int(np.searchsorted(ends, ends[begin] + most, "right")) for ends, most in allowed)
            end = max(begin + 1, end - 1)
            units, pairs = slice(begin, end), slice(int(first_pair[begin]), int(first_pair[end]))
            yield _Chunk(
                units,
                launch.pair[pairs],
                launch.where[pairs] - np.int32(4 * group * begin),
                np.stack([np.cumsum(words) - words for words in (edge[units], level[units])], 1),
                int(edge[units].sum()),
                int(level[units].sum()),
                np.cumsum(rooms[unit_of_pair[pairs]]),
                int(cells[end] - cells[begin]),
            )
            begin = end

    def _compute(self, launch: Launch, program: Program, chunk: _Chunk, result: _Result) -> None:
        """Computes a chunk."""
        sequences, scheme, group = self.sequences, self.scheme, self.shape.group
        units, n_pairs = launch.units[chunk.units], len(chunk.pair)
        groups = -(-n_pairs // group)
        n_found = len(FOUND) if scheme.traced else 1
        begin, path = np.zeros(n_pairs + 1, np.int64), None
        began = time.perf_counter()
        with self.device.scope() as memory:
            of_sequences: tuple[Buffer, ...] = (sequences.letters, sequences.first_block, sequences.length)
            of_units = [memory.upload(numbers) for numbers in (units, launch.lanes[chunk.units], chunk.places)]
            sizes = (chunk.edge_words, chunk.level_words, len(units) * group)
            swept = [memory.allocate(4 * max(n_words, 1)) for n_words in sizes]
            program.launch("sweep", len(units), group, *of_sequences, self._steps, *of_units, *swept)
            runs_end, where = memory.upload(chunk.runs_end), memory.upload(chunk.where)
            runs = memory.allocate(4 * max(int(chunk.runs_end[-1]), 1))
            found = memory.allocate(4 * n_found * n_pairs)
            finishing = (*of_sequences, self._matrix, *of_units, *swept, where, n_pairs, runs_end, runs, found)
            program.launch("finish", groups, group, *finishing)
            values = memory.download(found, np.int32, n_found * n_pairs).reshape(n_found, n_pairs)
            if scheme.traced:
                np.cumsum(values[-1], out=begin[1:])
                packed = memory.allocate(4 * max(int(begin[-1]), 1))
                program.launch("gather", groups, group, runs, runs_end, memory.upload(begin), n_pairs, packed)
                path = memory.download(packed, np.uint32, int(begin[-1]))
        self._chunk_cells = int(CHUNK_SECONDS * chunk.cells / max(time.perf_counter() - began, 1e-6)) + 1
        result.take(chunk.pair, values, begin, path)


@dataclass(frozen=True)
class _Chunk:
    """Units of a launch that run at once.

    Attributes
    ----------
    units
        Of the launch.
    pair, where
        As the launch's; `where` counts from the chunk's first unit.
    places : int64, shape (n_units, 2)
        Where each unit's boundary and levels begin, in words.
    edge_words, level_words
        Words of all boundaries and of all levels.
    runs_end : int64
        Where each pair's room for its runs ends.
    cells
        Padding included.
    """

    units: slice
    pair: Ints
    where: NDArray[np.int32]
    places: Ints
    edge_words: int
    level_words: int
    runs_end: Ints
    cells: int


class _Result:
    """Columns as chunks fill them."""

    def __init__(self, n_pairs: int, traced: bool) -> None:
        self._values = np.zeros((len(FOUND) if traced else 1, n_pairs), np.int32)
        self._paths: list[tuple[Ints, Ints, NDArray[np.uint32]]] = []
        self._before = 0

    def after(self, n_pairs: int) -> _Result:
        """Itself; pairs are counted from that one from now on."""
        self._before = n_pairs
        return self

    def take(self, pair: Ints, values: NDArray[np.int32], begin: Ints, path: NDArray[np.uint32] | None) -> None:
        """Values (a row a quantity) of these pairs, and their runs: those of the k-th from begin[k] to begin[k + 1]."""
        from tropalign import _native

        pair = pair + self._before
        _native.scatter_values(values, pair, self._values)
        if path is not None:
            self._paths.append((pair, begin, path))

    def columns(self) -> dict[str, Any]:
        """By name."""
        from tropalign import _native

        columns: dict[str, Any] = dict(zip(FOUND, self._values, strict=False))
        if "n_runs" not in columns:
            return columns
        offsets = np.concatenate([[0], np.cumsum(columns.pop("n_runs"), dtype=np.int64)])
        path = np.empty(int(offsets[-1]), np.uint32)
        for pair, begin, runs in self._paths:
            _native.scatter_runs(runs, begin, pair, offsets, path)
        columns["cigar_ops"], columns["cigar_offsets"] = path, offsets
        return columns
