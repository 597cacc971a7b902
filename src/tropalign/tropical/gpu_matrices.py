"""Matrices on GPUs: encoding of their numbers, products as tiles, closures and chains on one GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.registry import DeviceCache, GpuDevice, require_processor
from tropalign.errors import DeviceError, ResourceError, TropalignWarning
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Progress, Tile
from tropalign.tropical.gpu import INFINITY, Held, Kind, Layout, ProductsOnGpu
from tropalign.tropical.semirings import Semiring, Survey, narrowed, surveyed, zero_of

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu


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
