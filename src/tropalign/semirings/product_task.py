"""A product as a task of tiles: blocks of its rows, on the processor or a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.launcher import DeviceCache
from tropalign.devices.registry import GpuDevice
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Progress, Tile
from tropalign.semirings.gpu import Held, ProductsOnGpu
from tropalign.semirings.gpu_numbers import Encoding

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu

#: Sums of a tile: some seconds of a core.
TILE_SUMS = 200_000_000_000

#: Products of some rows of A and some B, with a number of threads.
OnCpu = Callable[[NDArray[Any], NDArray[Any], int], NDArray[Any]]


class ProductTask:
    """The product of matrices (p, m, k) and (p, k, n).

    Parameters
    ----------
    a, b
        Of either there may be one for all of the other's.
    encodings
        How they become the numbers of a GPU's kernels, by its word's bits.
    dtype
        What holds every sum.
    on_cpu
        Computes in that type.
    """

    def __init__(
        self, a: NDArray[Any], b: NDArray[Any], encodings: dict[int, Encoding], dtype: np.dtype[Any], on_cpu: OnCpu
    ) -> None:
        self._a, self._b, self._encodings, self._dtype, self._compute = a, b, encodings, dtype, on_cpu
        self._cache = DeviceCache()

    def tiles(self) -> Iterator[Tile]:
        """Rows of one product, or several whole products."""
        p, (m, k), n = max(len(self._a), len(self._b)), self._a.shape[1:], self._b.shape[2]
        several = max(1, min(p, TILE_SUMS // max(m * k * n, 1)))
        rows = m if several > 1 else max(64, min(m, TILE_SUMS // max(k * n, 1) // 64 * 64))
        parts = [(at, row) for at in range(0, p, several) for row in range(0, m, rows)]
        for index, (at, row) in enumerate(parts):
            span = at, min(at + several, p), row, min(row + rows, m)
            n_rows = (span[1] - at) * (span[3] - row)
            yield Tile(index, n_rows * k * n, n_rows * (k + n) * 8, 1, span)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> NDArray[Any]:
        """The tile's rows."""
        return self._compute(*self._factors(tile), n_threads)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> NDArray[Any]:
        """The same with the numbers of a GPU."""
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
) -> NDArray[Any] | None:
    """The product of matrices by several devices.

    Parameters
    ----------
    encode
        Finds the encoding for a device whose words are of so many bits.

    Returns
    -------
    c : dtype, shape (p, m, n)
        None where no GPU has numbers for it.
    """
    found = np.empty((max(len(a), len(b)), a.shape[1], b.shape[2]), dtype)
    bits = {device.gpu.word_bits for device in devices if isinstance(device, GpuDevice)}
    encodings = {b: encoding for b in bits if (encoding := encode(b)) is not None}
    if len(encodings) < len(bits):
        return None
    for result in Scheduler(devices).run([ProductTask(a, b, encodings, dtype, on_cpu)]):
        at, last, row, end = result.tile.payload
        found[at:last, row:end] = result.value
    return found
