"""Products and closures of min-plus algebra on a GPU (product.k, closure.k), with the CPU's results."""

from __future__ import annotations

from collections.abc import Callable
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
from tropalign.errors import DeviceError
from tropalign.properties import cached

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
