"""Whether a GPU multiplies, closes and decodes as the processor does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.errors import DeviceError
from tropalign.tropical.gpu import Kind, Layout, ProductsOnGpu
from tropalign.tropical.gpu_hmm import ModelsOnGpu, Steps

#: Rows, columns of A and columns of B: several tiles and a part of one. Vertices, states, and steps of sequences.
SIZES, N_VERTICES = (70, 40, 150), 200
N_STATES, N_SYMBOLS, LENGTHS = 12, 4, (1, 40, 90)


def check_gpu(gpu: Gpu) -> None:
    """Raises DeviceError on other products, closures, paths or sums than the processor's."""
    rng = np.random.default_rng(9)
    for layout in (Layout(Kind.WORDS, gpu.word_bits), Layout(Kind.FLOATS, 32), Layout(Kind.POSITIVE, 32)):
        _check_products(ProductsOnGpu(gpu), layout, rng)
    _check_models(ModelsOnGpu(gpu), rng)


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
    """Whole numbers, which floats add without rounding, and infinity."""
    lowest = -300 if layout.kind == Kind.FLOATS else 0
    numbers = rng.integers(lowest, 600, shape).astype(layout.dtype)
    numbers[rng.random(shape) < missing] = layout.infinity
    return numbers


def _check_models(models: ModelsOnGpu, rng: np.random.Generator) -> None:
    start, transition, emission = (
        rng.dirichlet(np.ones(n), *rows)
        for n, rows in ((N_STATES, ()), (N_STATES, (N_STATES,)), (N_SYMBOLS, (N_STATES,)))
    )
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    observed = Steps(rng.integers(0, N_SYMBOLS, offsets[-1]).astype(np.uint8), offsets)
    logs = np.log(start), np.log(transition), np.log(emission)
    found, wanted = models.paths(*logs, observed), _native.viterbi_codes(*logs, observed.steps, offsets)
    if not all(map(np.array_equal, found, wanted)):
        raise DeviceError(f"{models.device.name}: its paths of hidden Markov models are not those of the processor")
    sums = models.forward(start, transition, emission, observed)
    plain = [plain_forward(start, transition, emission, observed.steps[a:b]) for a, b in pairwise(offsets)]
    if not np.allclose(sums, plain, rtol=1e-12, atol=0):
        raise DeviceError(f"{models.device.name}: its sums of hidden Markov models are not those of the processor")


def plain_forward(
    start: NDArray[np.float64], transition: NDArray[np.float64], emission: NDArray[np.float64], codes: NDArray[np.uint8]
) -> float:
    """The logarithm of a sequence's probability, by NumPy."""
    if not len(codes):
        return 0.0
    values, total = start * emission[:, codes[0]], 0.0
    for code in codes[1:]:
        highest = values.max()
        if highest == 0:
            break
        total += float(np.log(highest))
        values = (values / highest) @ transition * emission[:, code]
    with np.errstate(divide="ignore"):
        return total + float(np.log(values.sum()))
