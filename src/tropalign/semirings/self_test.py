"""Checks that a GPU multiplies and closes matrices like the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.gpu import Gpu
from tropalign.errors import DeviceError
from tropalign.semirings.gpu import Kind, Layout, ProductsOnGpu

#: Rows, columns of A and columns of B: several tiles and a part of one; and vertices.
SIZES, N_VERTICES = (70, 40, 150), 200


def check_gpu(gpu: Gpu) -> None:
    """Raise DeviceError if products or closures differ from the CPU's."""
    rng = np.random.default_rng(9)
    for layout in (Layout(Kind.WORDS, gpu.word_bits), Layout(Kind.FLOATS, 32), Layout(Kind.POSITIVE, 32)):
        _check_products(ProductsOnGpu(gpu), layout, rng)


def _check_products(products: ProductsOnGpu, layout: Layout, rng: np.random.Generator) -> None:
    m, depth, n = SIZES
    a, b = random_matrix(rng, (m, depth), layout), random_matrix(rng, (depth, n), layout)
    wanted = np.minimum((a[:, :, None].astype(float) + b[None]).min(axis=1), layout.infinity)
    if not np.array_equal(products.product(a[None], b[None], layout)[0], wanted):
        raise DeviceError(f"{products.device.name}: its products are not those of the processor")
    edges = np.abs(random_matrix(rng, (N_VERTICES, N_VERTICES), layout, missing=0.97))
    paths = edges.astype(float)
    np.fill_diagonal(paths, 0)
    for k in range(N_VERTICES):
        paths = np.minimum(paths, paths[:, k : k + 1] + paths[k])
    if not np.array_equal(products.closure(edges, layout), np.minimum(paths, layout.infinity)):
        raise DeviceError(f"{products.device.name}: its shortest paths are not those of the processor")


def random_matrix(
    rng: np.random.Generator, shape: tuple[int, ...], layout: Layout, missing: float = 0.2
) -> NDArray[Any]:
    """Return integers, which floats add without rounding, and infinity."""
    lowest = -300 if layout.kind == Kind.FLOATS else 0
    numbers = rng.integers(lowest, 600, shape).astype(layout.dtype)
    numbers[rng.random(shape) < missing] = layout.infinity
    return numbers
