"""Matrices on GPUs: encoding of numbers, kernels (product.k, closure.k), products as tiles, closures and chains."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from tropalign.devices.registry import DeviceCache, GpuDevice, require_processor
from tropalign.errors import DeviceError, ResourceError, TropalignWarning
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Progress, Tile
from tropalign.properties import cached
from tropalign.tropical.semirings import Semiring, Survey, narrowed, surveyed, zero_of

#: Words of a tile's side, and the depth of A and B that passes through local memory at once.
SIDE, DEPTH = 64, 16
#: Lanes of a group, and lanes of a group that closes a block.
GROUP, CLOSURE_GROUP = 64, 256
#: Infinity of integers: twice this number does not wrap.
INFINITY = {16: (1 << 14) - 1, 32: (1 << 30) - 1}
#: Sums (rows times columns times depth) of the first launch, before the device's rate is known.
FIRST_SUMS = 1_000_000_000_000
#: Blocks of the diagonal that are closed together, so that a matrix passes through memory less often.
BLOCKS_TOGETHER = 4
QUAD_BYTES = 16
#: Maximum number of quads: kernels count them in 32 bits.
MOST_QUADS = (1 << 31) - 1


class Kind(IntEnum):
    """Kind of the kernels' words."""

    #: Integers of 0 and more.
    WORDS = 0
    FLOATS = 1
    #: Floats of 0 and more.
    POSITIVE = 2


#: Numbers that the kernels share with this file, by their kernel names without the prefix PRODUCT.
NUMBERS = {
    "SIDE": SIDE,
    "DEPTH": DEPTH,
    **{f"INFINITY_{bits}": number for bits, number in INFINITY.items()},
    **{kind.name: kind.value for kind in Kind},
}


@cached
def source() -> str:
    """Return the kernels as one text, with the numbers that they share with this file."""
    return with_constants(kernel_source(Path(__file__).parent, "product.k", "closure.k"), "PRODUCT", NUMBERS)


def constants(kind: Kind, word_bits: int) -> dict[str, int]:
    """Return the compile-time constants of the kernels, besides NUMBERS."""
    return {"PRODUCT_KIND": int(kind), "SIMT_WORD": word_bits if kind == Kind.WORDS else 32}


@dataclass(frozen=True)
class Layout:
    """Layout of the numbers of a kind on a device.

    `bits`: of a number, 16 if a word has two, else 32.
    """

    kind: Kind
    bits: int

    @property
    def dtype(self) -> type[np.generic]:
        """Type of the numbers on the device."""
        return np.float32 if self.kind != Kind.WORDS else (np.int16 if self.bits == 16 else np.int32)

    @property
    def width(self) -> int:
        """Numbers in a row of a tile."""
        return SIDE * 32 // self.bits

    @property
    def infinity(self) -> float:
        """Number that stands for no path."""
        return INFINITY[self.bits] if self.kind == Kind.WORDS else np.inf

    def identity(self, n: int) -> NDArray[Any]:
        """Return the identity, 0 on the diagonal and infinity elsewhere: shape (1, n, n)."""
        one = np.full((1, n, n), self.infinity, self.dtype)
        np.fill_diagonal(one[0], 0)
        return one

    def quads(self, n: int) -> int:
        """Return the quads of n numbers."""
        return n * self.bits // 8 // QUAD_BYTES

    def padded(self, matrices: NDArray[Any], rows_of: int, columns_of: int) -> NDArray[Any]:
        """Pad matrices with infinity to rows and columns that are positive multiples of these."""
        *batch, m, n = matrices.shape
        padded = np.full((*batch, padded_to(m, rows_of), padded_to(n, columns_of)), self.infinity, self.dtype)
        padded[..., :m, :n] = matrices
        return padded


def padded_to(n: int, multiple: int) -> int:
    """Return the smallest positive multiple that is not below n."""
    return max(-(-n // multiple), 1) * multiple


@dataclass(frozen=True)
class Panel:
    """A part of matrices on a device.

    `at`: its first quad. `row`, `step`: quads from a row, and from a matrix, to the next one.
    """

    buffer: Buffer
    at: int
    row: int
    step: int = 0

    def beginning(self, quads: int, step: int = 0) -> Panel:
        """Return the part that starts this number of quads later."""
        return Panel(self.buffer, self.at + quads, self.row, step)


@dataclass(frozen=True)
class Held:
    """A matrix on a device, the right factor of products.

    `n`: its columns. `depth`, `width`: its rows and columns on the device.
    """

    whole: Panel
    layout: Layout
    n: int
    depth: int
    width: int


class ProductsOnGpu:
    """Min-plus products of matrices on one device.

    Numbers are in the kernels' form: a layout's infinity, and finite ones below it; integers are 0 or more.
    `blocks_together`: number of blocks of the diagonal that a closure closes together.
    """

    def __init__(self, device: Gpu, blocks_together: int = BLOCKS_TOGETHER) -> None:
        self.device, self._together = device, blocks_together
        self._programs = Programs(device, source())
        self.pace = Pace(FIRST_SUMS)

    def product(
        self, a: NDArray[Any], b: NDArray[Any], layout: Layout, alive: Callable[[], object] | None = None
    ) -> NDArray[Any]:
        """Compute min over k of a[., i, k] + b[., k, j], of the layout's dtype, shape (n_matrices, m, n).

        `a`: shape (n_matrices, m, k). `b`: shape (n_matrices, k, n). Either may have one matrix for all of the
        other's. `alive` is called repeatedly; an exception from it stops the work.
        """
        n_matrices, m, n = max(len(a), len(b)), a.shape[1], b.shape[2]
        rows, depth, width = padded_to(m, SIDE), padded_to(a.shape[2], DEPTH), padded_to(n, layout.width)
        n_bytes = (rows * depth + depth * width + rows * width) * layout.bits // 8
        found = np.empty((n_matrices, m, n), layout.dtype)
        at = 0
        while found.size and at < n_matrices:
            most = min(self.device.budget_bytes() // n_bytes, self.pace.cells // (rows * depth * width))
            count = min(max(1, most), n_matrices - at)  # as many as fit and take a short time
            left, right = _some(a, at, count), _some(b, at, count)
            if count == 1:
                found[at] = self.times(left[0], self.held(right[0], layout), alive)
            else:  # several products in one launch
                launch = self._launcher(layout, alive)
                with self.device.scope() as memory, self.pace.measured(count * rows * width * depth):
                    ours = self._upload(memory, left, layout)
                    others = self._upload(memory, right, layout, DEPTH, layout.width)
                    c = self._allocated_panel(memory, layout, rows, width, count)
                    launch(ours, others, c, rows, width, depth, count)
                    whole = memory.download(c.buffer, layout.dtype, count * rows * width)
                found[at : at + count] = whole.reshape(count, rows, width)[:, :m, :n]
            at += count
        return found

    def held(self, matrix: NDArray[Any], layout: Layout) -> Held:
        """Upload a matrix (depth, n) as the right factor of products."""
        padded = layout.padded(matrix, DEPTH, layout.width)
        whole = Panel(self.device.upload(padded), 0, layout.quads(padded.shape[1]))
        return Held(whole, layout, matrix.shape[1], *padded.shape)

    def times(self, a: NDArray[Any], b: Held, alive: Callable[[], object] | None = None) -> NDArray[Any]:
        """Multiply `a`, shape (m, depth), by a matrix on the device; otherwise as `product`."""
        found, row = np.empty((len(a), b.n), b.layout.dtype), 0
        launch = self._launcher(b.layout, alive)
        while row < len(a):
            if alive:
                alive()
            some = a[row : row + self._rows(b)]
            rows = padded_to(len(some), SIDE)
            with self.device.scope() as memory, self.pace.measured(rows * b.depth * b.width):
                left, c = (
                    self._upload(memory, some[None], b.layout),
                    self._allocated_panel(memory, b.layout, rows, b.width),
                )
                launch(left, b.whole, c, rows, b.width, b.depth)
                whole = memory.download(c.buffer, b.layout.dtype, rows * b.width)
            found[row : row + len(some)] = whole.reshape(rows, b.width)[: len(some), : b.n]
            row += len(some)
        return found

    def _rows(self, b: Held) -> int:
        """Return how many rows of a product fit the memory and take a short time; at least those of a tile."""
        per_tile = SIDE * (b.depth + b.width) * b.layout.bits // 8
        left = self.device.budget_bytes() - b.depth * b.width * b.layout.bits // 8
        require_room(self.device, per_tile, left, "some rows of a matrix and of its product")
        return SIDE * max(1, min(left // per_tile, self.pace.cells // (SIDE * b.depth * b.width)))

    def chain(self, matrices: NDArray[Any], layout: Layout, alive: Callable[[], object] | None = None) -> NDArray[Any]:
        """Return the product of one or more matrices, as a tree: neighbours are multiplied in the same launch.

        `matrices`: shape (n_matrices, n, n). Raises ResourceError if they do not fit the device's memory.
        """
        n, side = matrices.shape[1], padded_to(matrices.shape[1], layout.width)
        needed = 2 * len(matrices) * side * side * layout.bits // 8
        require_room(self.device, needed, self.device.budget_bytes(), "the matrices of a chain")
        launch = self._launcher(layout, alive)
        with self.device.scope() as memory:
            now = self._upload(memory, matrices, layout, layout.width, layout.width)
            one = self._upload(memory, layout.identity(n), layout, layout.width, layout.width)
            count = len(matrices)
            while count > 1:
                pairs, after = count // 2, self._allocated_panel(memory, layout, side, side, -(-count // 2))
                left, right = (now.beginning(quads, 2 * now.step) for quads in (0, now.step))
                launch(left, right, after, side, side, side, pairs)
                if count % 2:
                    last = now.beginning(now.step * (count - 1))
                    launch(last, one, after.beginning(after.step * pairs), side, side, side, 1)
                now, count = after, -(-count // 2)
            found = memory.download(now.buffer, layout.dtype, side * side)
        return found.reshape(side, side)[:n, :n]

    def closure(
        self, matrix: NDArray[Any], layout: Layout, progress: Callable[[int], object] | None = None
    ) -> NDArray[Any]:
        """Return the weights of the best paths between all vertices, by a blocked Floyd-Warshall algorithm.

        `matrix`: shape (n, n), weights of edges; positive numbers on the diagonal become 0. `progress` receives
        the number of vertices done; an exception from it stops the work. Raises ResourceError if the matrix does
        not fit the device's memory.
        """
        n, side = len(matrix), padded_to(len(matrix), layout.width)
        together = min(side, layout.width * self._together)
        needed = side * (side + 2 * together) * layout.bits // 8
        require_room(self.device, needed, self.device.budget_bytes(), "the rows of a matrix")
        if layout.quads(side) * side > MOST_QUADS:
            raise DeviceError(f"{self.device.name}: the closure of {n:,} vertices is computed on the CPU only")
        padded = layout.padded(matrix, layout.width, layout.width)
        np.fill_diagonal(padded, np.minimum(np.diagonal(padded), 0))
        launch = self._launcher(layout, progress and partial(progress, 0))
        with self.device.scope() as memory:
            whole = Panel(memory.upload(padded), 0, layout.quads(side))
            above, beside = (
                self._allocated_panel(memory, layout, together, side),
                self._allocated_panel(memory, layout, side, together),
            )
            closing = _Closing(layout, launch, whole, above, beside)
            for begin in range(0, side, together):
                end = min(begin + together, side)
                closing.through(begin, end, begin, end, layout.width)
                closing.step(0, side, begin, end)
                memory.wait()
                if progress:
                    progress(min(end, n))
            found = memory.download(whole.buffer, layout.dtype, side * side)
        return found.reshape(side, side)[:n, :n]

    @staticmethod
    def _upload(
        memory: Memory, matrices: NDArray[Any], layout: Layout, rows_of: int = SIDE, columns_of: int = DEPTH
    ) -> Panel:
        padded = layout.padded(matrices, rows_of, columns_of)
        row, step = layout.quads(padded.shape[2]), layout.quads(padded[0].size)
        return Panel(memory.upload(padded), 0, row, step if len(matrices) > 1 else 0)

    @staticmethod
    def _allocated_panel(memory: Memory, layout: Layout, rows: int, columns: int, count: int = 1) -> Panel:
        quads = layout.quads(rows * columns)
        return Panel(memory.allocate(count * quads * QUAD_BYTES), 0, layout.quads(columns), quads)

    def _launcher(self, layout: Layout, alive: Callable[[], object] | None) -> _Launcher:
        if layout.bits == 16 and self.device.word_bits == 32:
            raise ValueError("layout: the words of this device have 32 bits")
        return _Launcher(self._programs.get(constants(layout.kind, layout.bits), alive), layout)


def _some(matrices: NDArray[Any], at: int, count: int) -> NDArray[Any]:
    """Return `count` of the matrices, or the single one that serves for all."""
    return matrices if len(matrices) == 1 else matrices[at : at + count]


class _Launcher:
    """Launches of the kernels of a layout."""

    def __init__(self, program: Program, layout: Layout) -> None:
        self._program, self._layout = program, layout

    def __call__(
        self, a: Panel, b: Panel, c: Panel, rows: int, width: int, depth: int, count: int = 1, keeps: bool = False
    ) -> None:
        """Queue products; rows, width and depth are multiples of the tiles'."""
        tiles = rows // SIDE, width // self._layout.width
        places = (a.at, b.at, c.at, a.row, b.row, c.row, a.step, b.step, c.step)
        groups = count * tiles[0] * tiles[1]
        self._program.launch("product", groups, GROUP, a.buffer, b.buffer, c.buffer, *tiles, depth, *places, int(keeps))

    def close(self, block: Panel) -> None:
        """Queue the closure of a block of the layout's width."""
        self._program.launch("closure_block", 1, CLOSURE_GROUP, block.buffer, block.at, block.row)


@dataclass(frozen=True)
class _Closing:
    """The closure of a matrix, from closures of blocks on the diagonal and products."""

    layout: Layout
    launch: _Launcher
    whole: Panel
    above: Panel
    beside: Panel

    def through(self, low: int, high: int, begin: int, end: int, size: int) -> None:
        """Allow paths between vertices `low` to `high` through `begin` to `end`, by blocks of this size."""
        for at in range(begin, end, size):
            self.launch.close(self._part(at, at))
            self.step(low, high, at, at + size)

    def step(self, low: int, high: int, begin: int, end: int) -> None:
        """Allow paths through `begin` to `end`, whose own block is already closed.

        Rows and columns of the block are copied on the way, so that no product writes what another group reads.
        """
        n, size = high - low, end - begin
        closed = self._part(begin, begin)
        self.launch(closed, self._part(begin, low), self.above, size, n, size)
        self.launch(self._part(low, begin), closed, self.beside, n, size, size)
        self.launch(self.beside, self.above, self._part(low, low), n, n, size, keeps=True)

    def _part(self, row: int, column: int) -> Panel:
        return self.whole.beginning(row * self.whole.row + self.layout.quads(column))


#: Rows, columns of A and columns of B: several tiles and a part of one; and vertices.
SIZES, N_VERTICES = (70, 40, 150), 200


def check_gpu(gpu: Gpu) -> None:
    """Raise DeviceError if products or closures differ from the CPU's."""
    rng = np.random.default_rng(9)
    for layout in (Layout(Kind.WORDS, gpu.word_bits), Layout(Kind.FLOATS, 32), Layout(Kind.POSITIVE, 32)):
        products = ProductsOnGpu(gpu)
        m, depth, n = SIZES
        a, b = random_matrix(rng, (m, depth), layout), random_matrix(rng, (depth, n), layout)
        wanted = np.minimum((a[:, :, None].astype(float) + b[None]).min(axis=1), layout.infinity)
        if not np.array_equal(products.product(a[None], b[None], layout)[0], wanted):
            raise DeviceError(f"{gpu.name}: its products differ from those of the CPU")
        edges = np.abs(random_matrix(rng, (N_VERTICES, N_VERTICES), layout, missing=0.97))
        paths = edges.astype(float)
        np.fill_diagonal(paths, 0)
        for k in range(N_VERTICES):
            paths = np.minimum(paths, paths[:, k : k + 1] + paths[k])
        if not np.array_equal(products.closure(edges, layout), np.minimum(paths, layout.infinity)):
            raise DeviceError(f"{gpu.name}: its shortest paths differ from those of the CPU")


def random_matrix(
    rng: np.random.Generator, shape: tuple[int, ...], layout: Layout, missing: float = 0.2
) -> NDArray[Any]:
    """Return integers, which floats add without rounding, and infinity."""
    lowest = -300 if layout.kind == Kind.FLOATS else 0
    numbers = rng.integers(lowest, 600, shape).astype(layout.dtype)
    numbers[rng.random(shape) < missing] = layout.infinity
    return numbers


@dataclass(frozen=True)
class Encoding:
    """Conversion of numbers of one type to those of the kernels: min-plus, integers from 0.

    `layout`: on the device. `semiring`: of the given numbers; those of max-plus change their sign. `lows`:
    subtracted from the integers of each factor, and added to their sums.
    """

    layout: Layout
    semiring: Semiring
    dtype: np.dtype[Any]
    lows: tuple[int, ...]

    @classmethod
    def of(
        cls,
        dtype: np.dtype[Any],
        semiring: Semiring,
        surveys: tuple[Survey, ...],
        word_bits: int,
        *,
        from_zero: bool = True,
    ) -> Encoding | None:
        """Return the encoding with the fewest bits that hold a sum of one number per factor, or None.

        Without `from_zero` nothing is subtracted from integers, which must be 0 or more, and they keep their size:
        closures, which sum many numbers, detect by their infinity whether it suffices.
        """
        bounds = [_signed(survey, semiring) for survey in surveys]
        if dtype == np.float32:
            is_positive = all(low >= 0 for low, _ in bounds)
            return cls(Layout(Kind.POSITIVE if is_positive else Kind.FLOATS, 32), semiring, dtype, (0,) * len(bounds))
        if dtype.kind != "i":
            return None
        sizes = [word_bits, 32]
        if not from_zero:
            if any(low < 0 for low, _ in bounds):
                return None
            bounds = [(0, high) for _, high in bounds]
            sizes = [bits for bits in sizes if bits >= 8 * dtype.itemsize]
        reach = sum(high - low for low, high in bounds)
        lows = tuple(low for low, _ in bounds)
        for bits in sizes:
            if reach < INFINITY[bits]:
                return cls(Layout(Kind.WORDS, bits), semiring, dtype, lows)
        return None

    def encoded(self, matrix: NDArray[Any], factor: int = 0) -> NDArray[Any]:
        """Convert the numbers of a factor for the kernels."""
        sign = -1 if self.semiring.is_max else 1
        if self.layout.kind != Kind.WORDS:
            return np.asarray(sign * matrix + np.float32(0))  # -0 would be the lowest of all in the order of bits
        numbers = sign * matrix.astype(np.int64) - self.lows[factor]
        numbers[matrix == zero_of(self.semiring, self.dtype)] = self.layout.infinity
        return numbers.astype(self.layout.dtype)

    def decoded(self, numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Convert a product to a type that holds it."""
        sign = -1 if self.semiring.is_max else 1
        if self.layout.kind != Kind.WORDS:
            return np.asarray(sign * numbers + np.float32(0))
        found = (sign * (numbers.astype(np.int64) + sum(self.lows))).astype(dtype)
        found[numbers >= self.layout.infinity] = zero_of(self.semiring, dtype)
        return found


def _signed(survey: Survey, semiring: Semiring) -> tuple[Any, Any]:
    """Return the bounds of finite numbers, negated and swapped for max-plus; exact for integers."""
    if survey.lowest > survey.highest:
        return 0, 0
    low, high = (-survey.highest, -survey.lowest) if semiring.is_max else (survey.lowest, survey.highest)
    return (int(low), int(high)) if float(low).is_integer() and float(high).is_integer() else (low, high)


#: Sums of a tile: some seconds of a core.
TILE_SUMS = 200_000_000_000

#: Products of some rows of A and some B, with a number of threads.
OnCpu = Callable[[NDArray[Any], NDArray[Any], int], NDArray[Any]]


class ProductTask:
    """The product of matrices (p, m, k) and (p, k, n).

    `a`, `b`: either may have one matrix for all of the other's. `encodings`: for GPUs, by the bits of their words.
    `dtype`: holds every sum; `on_cpu` computes in it.
    """

    def __init__(
        self, a: NDArray[Any], b: NDArray[Any], encodings: dict[int, Encoding], dtype: np.dtype[Any], on_cpu: OnCpu
    ) -> None:
        self._a, self._b, self._encodings, self._dtype, self._compute = a, b, encodings, dtype, on_cpu
        self._cache = DeviceCache()

    def tiles(self) -> Iterator[Tile]:
        """Yield tiles of some rows of one product, or of several whole products."""
        p, (m, k), n = max(len(self._a), len(self._b)), self._a.shape[1:], self._b.shape[2]
        several = max(1, min(p, TILE_SUMS // max(m * k * n, 1)))
        rows = m if several > 1 else max(64, min(m, TILE_SUMS // max(k * n, 1) // 64 * 64))
        parts = [(at, row) for at in range(0, p, several) for row in range(0, m, rows)]
        for index, (at, row) in enumerate(parts):
            span = at, min(at + several, p), row, min(row + rows, m)
            n_rows = (span[1] - at) * (span[3] - row)
            yield Tile(index, n_rows * k * n, n_rows * (k + n) * 8, 1, span)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> NDArray[Any]:
        """Compute the tile's rows."""
        return self._compute(*self._factors(tile), n_threads)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> NDArray[Any]:
        """Compute the tile's rows on a GPU, in its numbers."""
        encoding = self._encodings[device.word_bits]
        products: ProductsOnGpu = self._cache.get(device, "products", partial(ProductsOnGpu, device))
        a, b = self._factors(tile)
        left, alive = encoding.encoded(a, 0), progress and partial(progress, 0)
        if len(a) > 1 or len(b) > 1:
            found = products.product(left, encoding.encoded(b, 1), encoding.layout, alive)
        else:
            which = 0 if len(self._b) == 1 else tile.payload[0]
            held: Held = self._cache.get(
                device, which, lambda: products.held(encoding.encoded(b[0], 1), encoding.layout)
            )
            found = products.times(left[0], held, alive)[None]
        return encoding.decoded(found, self._dtype)

    def _factors(self, tile: Tile) -> tuple[NDArray[Any], NDArray[Any]]:
        at, last, row, end = tile.payload
        a = self._a if len(self._a) == 1 else self._a[at:last]
        return a[:, row:end], self._b if len(self._b) == 1 else self._b[at:last]


def product_on(
    devices: Sequence[Device],
    a: NDArray[Any],
    b: NDArray[Any],
    encode: Callable[[int], Encoding | None],
    dtype: np.dtype[Any],
    on_cpu: OnCpu,
    progress: Progress | None = None,
) -> NDArray[Any] | None:
    """Multiply matrices on several devices; None if a GPU has no encoding for them.

    `encode` returns the encoding for a device's number of bits per word. Returns `dtype`, shape (p, m, n).
    """
    found = np.empty((max(len(a), len(b)), a.shape[1], b.shape[2]), dtype)
    bits = {device.gpu.word_bits for device in devices if isinstance(device, GpuDevice)}
    encodings = {b: encoding for b in bits if (encoding := encode(b)) is not None}
    if len(encodings) < len(bits):
        return None
    for result in Scheduler(devices, progress).run([ProductTask(a, b, encodings, dtype, on_cpu)]):
        at, last, row, end = result.tile.payload
        found[at:last, row:end] = result.value
    return found


def _first(devices: Sequence[Device]) -> Gpu:
    return next(device.gpu for device in devices if isinstance(device, GpuDevice))


def _tried(devices: Sequence[Device], work: Callable[[], NDArray[Any]]) -> NDArray[Any] | None:
    """Return the result of a GPU; None, after a warning, if it fails and the CPU is allowed to compute."""
    try:
        return work()
    except (DeviceError, ResourceError, MemoryError) as error:
        if all(device.name != "cpu" for device in devices):
            raise
        warnings.warn(f"{error}: the CPU computes instead", TropalignWarning, stacklevel=2)
        return None


def close_on(
    devices: Sequence[Device],
    values: NDArray[Any],
    semiring: Semiring,
    tolerance: float,
    progress: Callable[[int], object] | None,
) -> tuple[int, bool] | None:
    """Compute native ``closure`` on the first GPU alone, since each block waits for the previous one.

    `values`, shape (n, n), becomes the closure; a cycle of floats is negative below -`tolerance`. Returns a vertex
    on a negative cycle or -1, and whether a path is missing; None if the CPU is to compute, with a warning if the
    GPU failed.
    """
    gpu = _first(devices)
    encoding = Encoding.of(values.dtype, semiring, (surveyed(values, semiring),), gpu.word_bits, from_zero=False)
    if encoding is None:
        require_processor(devices, f"closures of {values.dtype} with negative or such large weights")
        return None
    numbers, layout = encoding.encoded(values), encoding.layout
    closed = _tried(devices, lambda: ProductsOnGpu(gpu).closure(numbers, layout, progress))
    if closed is None:
        return None
    diagonal = np.diagonal(closed)
    negative = np.flatnonzero(diagonal < -tolerance)
    values[...] = encoding.decoded(closed, values.dtype)
    np.fill_diagonal(values, 0)
    return (int(negative[0]) if len(negative) else -1), bool((values == zero_of(semiring, values.dtype)).any())


def chain_on(devices: Sequence[Device], factors: list[NDArray[Any]], semiring: Semiring) -> NDArray[Any] | None:
    """Multiply square matrices of one size on the first GPU, as a tree of products; shape (n, n).

    None if the CPU is to compute, after a warning if the GPU failed.
    """
    gpu, dtype = _first(devices), factors[0].dtype
    surveys = tuple(surveyed(factor, semiring, f"matrices[{k}]") for k, factor in enumerate(factors))
    encoding = Encoding.of(dtype, semiring, surveys, gpu.word_bits)
    wide = np.dtype(np.int32) if dtype.kind == "i" else dtype
    largest = float(np.finfo(np.float32).max) if dtype.kind == "f" else 2**30
    reach = sum(max(abs(survey.lowest), abs(survey.highest)) for survey in surveys if survey.lowest <= survey.highest)
    if encoding is None or reach >= largest:
        require_processor(devices, "chains of such large or widely spread numbers")
        return None
    numbers = np.stack([encoding.encoded(factor, k) for k, factor in enumerate(factors)])
    found = _tried(devices, lambda: ProductsOnGpu(gpu).chain(numbers, encoding.layout))
    return None if found is None else narrowed(encoding.decoded(found, wide), dtype, semiring)
