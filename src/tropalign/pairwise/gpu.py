"""Pairs on a GPU: sweeps, tracebacks and paths of a tile, on any device with the kernels of sweep.k and finish.k."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import (
    Buffer,
    Gpu,
    Memory,
    Pace,
    Program,
    Programs,
    kernel_source,
    require_room,
    with_constants,
)
from tropalign.errors import DeviceError, ResourceError
from tropalign.pairwise import gpu_plan
from tropalign.pairwise.gpu_plan import (
    COLUMNS,
    FOUND,
    LANE_INTS,
    PAD,
    Ints,
    Launch,
    Scheme,
    Shape,
    Unit,
    constants,
    plan,
)

#: Cells of the first launches, before the device's rate is known: in total, and of a single group that sweeps
#: strips.
FIRST_CELLS, FIRST_STRIP_CELLS = 1_000_000_000, 100_000_000
#: Largest strip in cells; pairs with larger ones are left to the CPU. A group sweeps at least a strip per launch, at
#: about 10^9 cells per second, and a device that is silent for two minutes is given up.
MOST_STRIP_CELLS = 20_000_000_000
#: Groups that keep a multiprocessor busy: a warp for each of its four schedulers.
GROUPS_PER_MULTIPROCESSOR = 2


class Sequences:
    """Sequences of a tile's pairs on a device: whole blocks of COLUMNS residues, padded in front."""

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
            raise ResourceError(f"{first[-1]} blocks of residues are more than a device can number: split the set")
        padded = np.full(first[-1] * COLUMNS, PAD, np.uint8)
        runs = np.stack([blocks * COLUMNS - self.lengths, self.lengths], axis=1)  # of padding, then of residues
        padded[np.repeat(np.tile([False, True], len(blocks)), runs.reshape(-1))] = self.codes
        self.letters = device.upload(padded)
        self.first_block = device.upload(first[:-1].astype(np.int32))
        self.length = device.upload(self.lengths.astype(np.int32))


def source() -> str:
    """Return the kernels as one text, with the constants that they share with the plan."""
    return with_constants(kernel_source(Path(__file__).parent, "sweep.k", "finish.k"), "PAIRS", gpu_plan.numbers())


class PairsOnGpu:
    """Aligns pairs of a set of sequences on a device. Raises DeviceError if scores exceed the kernels' range."""

    def __init__(self, device: Gpu, sequences: Sequences, scheme: Scheme, shape: Shape | None = None) -> None:
        self.device, self.sequences, self.scheme, self.shape = device, sequences, scheme, shape or Shape()
        n_rows = self.shape.rows_shared
        word_bits = 16 if device.word_bits == 16 and scheme.fits(16, n_rows) else 32
        bound = scheme.bounds(sequences.codes, sequences.offsets)
        self._width, widest = scheme.width(word_bits, n_rows, bound), scheme.width(32, n_rows, bound)
        highest = int(widest.bound.max()) + widest.extend * int(sequences.lengths.max())
        holds = scheme.fits(32, n_rows) and highest < widest.wide_from
        if not holds or (scheme.traced and not scheme.level_bits):
            raise DeviceError(f"{device.name}: scores this large are computed on the CPU only")
        self._steps = device.upload(scheme.steps())
        self._matrix = device.upload(scheme.clipped)
        self._programs = Programs(device, source())
        #: Cells per launch: in total, and of one group that sweeps strips.
        self.pace, self.strip_pace = Pace(FIRST_CELLS), Pace(FIRST_STRIP_CELLS)

    def align(self, query: Ints, target: Ints, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
        """Align pairs (indices into the sequences); return columns by their names in AlignmentTable.

        `progress` is called with the number of finished pairs after each launch, and while kernels compile. Raises
        ResourceError if a unit of pairs does not fit the device's memory, and DeviceError or MemoryError from the
        device, or for a pair that would occupy it too long.
        """
        result, done = _Result(len(query), self.scheme.traced), 0

        def alive() -> None:
            if progress:
                progress(done)

        for begin in range(0, len(query), gpu_plan.MOST_PAIRS):
            some = slice(begin, begin + gpu_plan.MOST_PAIRS)
            for launch in self._plan(query[some], target[some]):
                how = constants(self.scheme, self.shape, launch.source, launch.strips, launch.word_bits)
                program = self._programs.get(how, alive)
                for chunk in self._chunks(launch):
                    self._compute(launch, program, chunk, result.after(begin), alive)
                    done += len(chunk.pair)
                    alive()
        return result.columns()

    @property
    def _groups_at_once(self) -> int:
        return GROUPS_PER_MULTIPROCESSOR * self.device.n_multiprocessors

    def _plan(self, query: Ints, target: Ints) -> list[Launch]:
        """Plan launches; a pair gets its own group if it is so long that memory would leave groups idle."""
        shape, sequences = self.shape, self.sequences
        if self.scheme.traced:
            cell_bytes = 2 if self.scheme.level_bits == 7 else 4  # for both halves
            most = self.device.budget_bytes() // (cell_bytes * shape.group * self._groups_at_once)
            shape = replace(shape, strips_cells=min(shape.strips_cells, max(most, 1)))
        return plan(query, target, sequences.lengths, sequences.rank, self.scheme.free, self._width, shape)

    def _chunks(self, launch: Launch) -> Iterator[_Chunk]:
        """Divide units into runs that fit the device's memory and take a short time, so that a run can be stopped.

        Raises ResourceError if a single unit does not fit, and DeviceError if a single strip takes too long.
        """
        scheme, group, n_rows = self.scheme, self.shape.group, self.shape.rows[launch.source]
        tiles = launch.units[:, Unit.TILES].astype(np.int64)
        columns = launch.units[:, Unit.BLOCKS].astype(np.int64) * COLUMNS
        arrays = 3 if scheme.local and scheme.traced else 2
        edge = (arrays * columns + (0 if scheme.local else tiles * n_rows)) * (1 if launch.strips else group)
        level = np.zeros_like(edge)
        if scheme.traced:
            strips = -(-tiles // group) if launch.strips else tiles
            level = strips * columns * (n_rows // 2 if scheme.level_bits == 7 else n_rows) * group
        unit_of_pair = launch.unit_of_pair()
        first_pair = np.searchsorted(unit_of_pair, np.arange(len(edge) + 1))
        rooms = (tiles * n_rows + columns) * int(scheme.traced)  # words for the runs of a pair's path
        n_pairs = np.diff(first_pair)
        words = _sums(edge + level + (LANE_INTS + 1) * group + (rooms + 24) * n_pairs)
        budget = self.device.budget_bytes() // 4
        require_room(self.device, 4 * int(np.diff(words).max()), 4 * budget, f"{group} pairs")
        lanes = 1 if launch.strips else group * 32 // launch.word_bits
        cells = _sums(tiles * n_rows * columns * lanes)
        if launch.strips:
            strip_cells = np.minimum(tiles, self.shape.group) * n_rows * columns
            worst = int(np.argmax(strip_cells))
            if strip_cells[worst] > MOST_STRIP_CELLS:
                raise DeviceError(
                    f"{self.device.name}: a pair of about {tiles[worst] * n_rows:,} by {columns[worst]:,} residues "
                    "would occupy the device for minutes without progress: it is computed on the CPU only"
                )
        begin = 0
        while begin < len(edge):
            # `_sweep` splits strips into short launches, so a chunk holds as many units as run at once.
            most_units = begin + self._groups_at_once if launch.strips else _last_within(cells, begin, self.pace.cells)
            end = max(begin + 1, min(_last_within(words, begin, budget), most_units, len(edge)))
            units, pairs = slice(begin, end), slice(int(first_pair[begin]), int(first_pair[end]))
            yield _Chunk(
                units,
                launch.pair[pairs],
                launch.where[pairs] - np.int32(4 * group * begin),
                np.stack([_sums(sizes[units])[:-1] for sizes in (edge, level)], 1),
                int(edge[units].sum()),
                int(level[units].sum()),
                np.cumsum(rooms[unit_of_pair[pairs]]),
                int(np.diff(cells)[units].max() if launch.strips else cells[end] - cells[begin]),
            )
            begin = end

    def _compute(
        self, launch: Launch, program: Program, chunk: _Chunk, result: _Result, alive: Callable[[], None]
    ) -> None:
        """Compute a chunk."""
        sequences, scheme, group = self.sequences, self.scheme, self.shape.group
        units, n_pairs = launch.units[chunk.units], len(chunk.pair)
        groups = -(-n_pairs // group)
        n_found = len(FOUND) if scheme.traced else 1
        begin, path = np.zeros(n_pairs + 1, np.int64), None
        pace = self.strip_pace if launch.strips else self.pace
        with pace.measured(chunk.cells), self.device.scope() as memory:
            of_sequences: tuple[Buffer, ...] = (sequences.letters, sequences.first_block, sequences.length)
            of_units = [memory.upload(numbers) for numbers in (units, launch.lanes[chunk.units], chunk.places)]
            sizes = (chunk.edge_words, chunk.level_words, len(units) * group)
            swept = [memory.allocate(4 * max(n_words, 1)) for n_words in sizes]
            self._sweep(launch, program, units, (*of_sequences, self._steps, *of_units, *swept), memory, alive)
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
        result.take(chunk.pair, values, begin, path)

    def _sweep(
        self,
        launch: Launch,
        program: Program,
        units: NDArray[np.int32],
        arguments: tuple[Buffer, ...],
        memory: Memory,
        alive: Callable[[], None],
    ) -> None:
        """Sweep units in one launch, or strip by strip, in launches that one group finishes in a short time."""
        group, n_tiles = self.shape.group, int(units[:, Unit.TILES].max())
        strip_cells = group * self.shape.rows[launch.source] * COLUMNS * int(units[:, Unit.BLOCKS].max())
        begin = 0
        while launch.strips and n_tiles - begin > (step := group * max(1, self.strip_pace.cells // strip_cells)):
            with self.strip_pace.measured(strip_cells * step // group):
                program.launch("sweep", len(units), group, *arguments, begin, begin + step)
                memory.wait()
            alive()
            begin += step
        program.launch("sweep", len(units), group, *arguments, begin, n_tiles)


def _sums(numbers: Ints) -> Ints:
    """Return the sum of the numbers before each one, and the total."""
    sums: Ints = np.concatenate([[0], np.cumsum(numbers)])
    return sums


def _last_within(sums: Ints, begin: int, most: int) -> int:
    """Return the end of the longest run from `begin` whose numbers add up to at most `most`."""
    return int(np.searchsorted(sums, sums[begin] + most, "right")) - 1


@dataclass(frozen=True)
class _Chunk:
    """Units of a launch that run at once.

    units: indices of the launch's units.
    pair, where: as in the launch, with `where` relative to the chunk's first unit.
    places: int64, shape (n_units, 2), offsets of each unit's boundary and levels, in words.
    edge_words, level_words: words of all boundaries and of all levels.
    runs_end: int64, end of the space for each pair's runs.
    cells: with padding; for strips those of the largest unit, because all are swept side by side.
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
    """Columns that are filled by chunks."""

    def __init__(self, n_pairs: int, traced: bool) -> None:
        self._values = np.zeros((len(FOUND) if traced else 1, n_pairs), np.int32)
        self._paths: list[tuple[Ints, Ints, NDArray[np.uint32]]] = []
        self._before = 0

    def after(self, n_pairs: int) -> _Result:
        """Set the offset that `take` adds to the indices of pairs, and return this object."""
        self._before = n_pairs
        return self

    def take(self, pair: Ints, values: NDArray[np.int32], begin: Ints, path: NDArray[np.uint32] | None) -> None:
        """Store the values (a row per quantity) of these pairs, and their runs (pair k: begin[k] to begin[k + 1])."""
        pair = pair + self._before
        _native.scatter_values(values, pair, self._values)
        if path is not None:
            self._paths.append((pair, begin, path))

    def columns(self) -> dict[str, Any]:
        """Return the columns by name."""
        columns: dict[str, Any] = dict(zip(FOUND, self._values, strict=False))
        if "n_runs" not in columns:
            return columns
        offsets = np.concatenate([[0], np.cumsum(columns.pop("n_runs"), dtype=np.int64)])
        path = np.empty(int(offsets[-1]), np.uint32)
        for pair, begin, runs in self._paths:
            _native.scatter_runs(runs, begin, pair, offsets, path)
        columns["cigar_ops"], columns["cigar_offsets"] = path, offsets
        return columns
