"""Pairs on a GPU: sweeps, walks and paths of a tile, over whatever device has the kernels of sweep.k and finish.k."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.compute.gpu import Buffer, Gpu, Program
from tropalign.compute.memory import human
from tropalign.errors import DeviceError, ResourceError
from tropalign.formats.table import COUNT_COLUMNS, END_COLUMNS
from tropalign.pairwise import gpu_plan
from tropalign.pairwise.gpu_plan import COLUMNS, LANE_INTS, Ints, Launch, Shape, Width, plan

#: Quantities of `found` (P_FOUND_* in finish.k), in order; the last is the number of runs.
FOUND = ("score", *END_COLUMNS, *COUNT_COLUMNS, "n_runs")
SATURATED = -(2**31)
PAD = 31


@dataclass(frozen=True)
class Scheme:
    """What kernels compute: mode, depth and scores, and the limits of the number formats that follow.

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

    @property
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

    def limit(self, word_bits: int, n_rows: int) -> int:
        """The highest local score that surely did not wrap."""
        step = max(int(self.clipped.max()), 0) + 2 * self.gap_extend
        frame = self.gap_extend * (n_rows + COLUMNS + 2)
        return ((1 << (word_bits - 1)) - 1) // self.scale - step - frame - 1

    def fits(self, word_bits: int, n_rows: int) -> bool:
        """Whether words of that many bits hold this scoring at all."""
        steps = int(np.abs(self.steps()).max()) // self.scale
        lowest = 4 * (self.gap_open + 1) + steps + self.gap_extend * (n_rows + COLUMNS + 2)
        return self.scale * lowest < 1 << (word_bits - 1) and (not self.local or self.limit(word_bits, n_rows) >= 64)

    def bound(self, codes: NDArray[np.uint8], offsets: Ints) -> Ints:
        """For each sequence, what H' of a global alignment with it cannot pass, less the other one's share."""
        best = np.maximum(self.clipped.max(axis=1), 0).astype(np.int64) + self.gap_extend
        sums = np.concatenate([[0], np.cumsum(best[codes])])
        bounds: Ints = sums[offsets[1:]] - sums[offsets[:-1]]
        return bounds


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
        self.n_bytes = len(padded) + 8 * len(self.lengths)


@cache
def source() -> str:
    """The kernels as one text."""
    here = Path(__file__).parent
    return "".join(
        (path).read_text() for path in (here.parent / "compute" / "simt.h", here / "sweep.k", here / "finish.k")
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
        if not scheme.fits(32, self.shape.rows_shared) or (scheme.traced and not scheme.level_bits):
            raise DeviceError(f"{device.name}: scores this large are computed on the CPU only")
        self._steps = device.upload(scheme.steps())
        self._matrix = device.upload(scheme.clipped)
        self._width = self._width_of_words()
        self._programs: dict[tuple[int, bool, int], Program] = {}

    def align(self, query: Ints, target: Ints, told: Callable[[int], None] | None = None) -> dict[str, Any]:
        """Columns of the pairs (indices into the sequences), by the names of AlignmentTable.

        Raises
        ------
        ResourceError
            A unit of pairs does not fit the device's memory.
        """
        result = _Result(len(query), self.scheme.traced)
        done = 0
        for those, saturated in self._run(query, target, self._width, result):
            done += len(those)
            if told:
                told(done)
            if len(saturated):  # again in words that hold any score
                wide = _Places(result, saturated)
                for _ in self._run(query[saturated], target[saturated], Width(32), wide):
                    pass
        return result.columns()

    def _width_of_words(self) -> Width:
        """Which pairs begin with 32 bits."""
        scheme = self.scheme
        if self.device.word_bits == 32 or not scheme.fits(16, self.shape.rows_shared):
            return Width(32)
        if scheme.local:
            return Width(16)
        wide_from = (1 << 15) // scheme.scale - scheme.most_up - 2 * scheme.gap_extend
        bound = scheme.bound(self.sequences.codes, self.sequences.offsets)
        return Width(16, bound, wide_from, scheme.gap_extend)

    def _run(self, query: Ints, target: Ints, width: Width, result: _Result | _Places) -> Iterator[tuple[Ints, Ints]]:
        """Computes the pairs into `result`; yields the pairs of each chunk, and which of them saturated."""
        sequences = self.sequences
        for launch in plan(query, target, sequences.lengths, sequences.rank, self.scheme.free, width, self.shape):
            program = self._program(launch)
            for chunk in self._chunks(launch):
                yield chunk.pair, self._compute(launch, program, chunk, result)

    def _program(self, launch: Launch) -> Program:
        key = (launch.source, launch.strips, launch.word_bits)
        if key not in self._programs:
            self._programs[key] = self.device.build(source(), constants(self.scheme, self.shape, *key))
        return self._programs[key]

    def _chunks(self, launch: Launch) -> Iterator[_Chunk]:
        """Units in runs that fit the device's memory. Raises ResourceError when one alone does not."""
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
        begin = 0
        while begin < len(edge):
            end = max(begin + 1, int(np.searchsorted(sums, sums[begin] + budget, "right")) - 1)
            units, pairs = slice(begin, end), slice(int(first_pair[begin]), int(first_pair[end]))
            yield _Chunk(
                units,
                launch.pair[pairs],
                launch.where[pairs] - np.int32(4 * group * begin),
                np.stack([np.cumsum(words) - words for words in (edge[units], level[units])], 1),
                int(edge[units].sum()),
                int(level[units].sum()),
                np.cumsum(rooms[unit_of_pair[pairs]]),
            )
            begin = end

    def _compute(self, launch: Launch, program: Program, chunk: _Chunk, result: _Result | _Places) -> Ints:
        """Computes a chunk; returns the pairs that saturated."""
        sequences, scheme, group = self.sequences, self.scheme, self.shape.group
        units, n_pairs = launch.units[chunk.units], len(chunk.pair)
        groups = -(-n_pairs // group)
        limit = scheme.limit(launch.word_bits, self.shape.rows[launch.source])
        n_found = len(FOUND) if scheme.traced else 1
        with self.device.scope() as memory:
            of_sequences: tuple[Buffer, ...] = (sequences.letters, sequences.first_block, sequences.length)
            of_units = [memory.upload(numbers) for numbers in (units, launch.lanes[chunk.units], chunk.places)]
            sizes = (chunk.edge_words, chunk.level_words, len(units) * group)
            swept = [memory.allocate(4 * max(n_words, 1)) for n_words in sizes]
            program.launch("sweep", len(units), group, *of_sequences, self._steps, *of_units, *swept)
            runs_end, where = memory.upload(chunk.runs_end), memory.upload(chunk.where)
            runs = memory.allocate(4 * max(int(chunk.runs_end[-1]), 1))
            found = memory.allocate(4 * n_found * n_pairs)
            finishing = (*of_sequences, self._matrix, *of_units, *swept, where, n_pairs, limit, runs_end, runs, found)
            program.launch("finish", groups, group, *finishing)
            values = memory.download(found, np.int32, n_found * n_pairs).reshape(n_found, n_pairs)
            saturated = values[0] == SATURATED
            begin, path = np.zeros(n_pairs + 1, np.int64), None
            if scheme.traced:
                values[-1, saturated] = 0
                np.cumsum(values[-1], out=begin[1:])
                packed = memory.allocate(4 * max(int(begin[-1]), 1))
                program.launch("gather", groups, group, runs, runs_end, memory.upload(begin), n_pairs, packed)
                path = memory.download(packed, np.uint32, int(begin[-1]))
        result.take(chunk.pair, values, begin, path)
        again: Ints = chunk.pair[saturated]
        return again


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
    """

    units: slice
    pair: Ints
    where: NDArray[np.int32]
    places: Ints
    edge_words: int
    level_words: int
    runs_end: Ints


class _Result:
    """Columns as chunks fill them."""

    def __init__(self, n_pairs: int, traced: bool) -> None:
        self._values = np.zeros((len(FOUND) if traced else 1, n_pairs), np.int32)
        self._paths: list[tuple[Ints, Ints, NDArray[np.uint32]]] = []

    def take(self, pair: Ints, values: NDArray[np.int32], begin: Ints, path: NDArray[np.uint32] | None) -> None:
        """Values (a row a quantity) of these pairs, and their runs: those of the k-th from begin[k] to begin[k + 1]."""
        from tropalign import _native

        _native.place_values(values, pair, self._values)
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
            _native.place_runs(runs, begin, pair, offsets, path)
        columns["cigar_ops"], columns["cigar_offsets"] = path, offsets
        return columns


@dataclass(frozen=True)
class _Places:
    """Some pairs of a result: what is said of the k-th is said of pair places[k]."""

    result: _Result
    places: Ints

    def take(self, pair: Ints, values: NDArray[np.int32], begin: Ints, path: NDArray[np.uint32] | None) -> None:
        """As of `_Result`."""
        self.result.take(self.places[pair], values, begin, path)
