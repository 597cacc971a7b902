"""Closures and chains of matrices, which one GPU of several devices computes: their parts wait for each other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.registry import GpuDevice
from tropalign.devices.selection import require_processor
from tropalign.errors import DeviceError, ResourceError, TropalignWarning
from tropalign.execution.task import Device
from tropalign.semirings.arrays import surveyed
from tropalign.semirings.gpu import ProductsOnGpu
from tropalign.semirings.gpu_numbers import Encoding
from tropalign.semirings.semirings import Semiring, zero_of
from tropalign.semirings.tropical_products import narrowed

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu


def _first(devices: Sequence[Device]) -> Gpu:
    return next(device.gpu for device in devices if isinstance(device, GpuDevice))


def _tried(devices: Sequence[Device], work: Callable[[], NDArray[Any]]) -> NDArray[Any] | None:
    """What a GPU finds; None, after a warning, where it fails and the processor may do it."""
    try:
        return work()
    except (DeviceError, ResourceError, MemoryError) as error:
        if all(device.name != "cpu" for device in devices):
            raise
        warnings.warn(f"{error}: the processor computes instead", TropalignWarning, stacklevel=2)
        return None


def close_on(
    devices: Sequence[Device],
    values: NDArray[Any],
    semiring: Semiring,
    tolerance: float,
    progress: Callable[[int], object] | None,
) -> tuple[int, bool] | None:
    """What native ``closure`` does, by the first GPU: a block waits for the one before, so that nothing is shared.

    Parameters
    ----------
    values : shape (n, n)
        Becomes the closure.
    semiring
        Min-plus or max-plus.
    tolerance
        Of floats: a cycle is negative below its negative.
    progress
        Called now and then with a number that goes up to n.

    Returns
    -------
    vertex : int
        One on a negative cycle, or -1.
    any_infinite : bool
        Whether a path is missing.
        None where the processor is to compute, after a warning if the GPU failed.

    Raises
    ------
    DeviceError, ResourceError
        Only GPUs are named, and they cannot.
    """
    gpu = _first(devices)
    encoding = Encoding.of(values.dtype, semiring, (surveyed(values, semiring),), gpu.word_bits, from_zero=False)
    if encoding is None:
        require_processor(devices, f"closures of {values.dtype} with negative or such high weights")
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
    """The product of square matrices of one size, by the first GPU, as a tree of products side by side.

    Returns
    -------
    product : dtype of the factors, shape (n, n)
        None where the processor is to compute, after a warning if the GPU failed.

    Raises
    ------
    InputError
        A number that the semiring does not have, or a result that the type cannot hold.
    DeviceError, ResourceError
        Only GPUs are named, and they cannot.
    """
    gpu, dtype = _first(devices), factors[0].dtype
    surveys = tuple(surveyed(factor, semiring, f"matrices[{k}]") for k, factor in enumerate(factors))
    encoding = Encoding.of(dtype, semiring, surveys, gpu.word_bits)
    wide = np.dtype(np.int32) if dtype.kind == "i" else dtype
    largest = float(np.finfo(np.float32).max) if dtype.kind == "f" else 2**30
    reach = sum(max(abs(survey.lowest), abs(survey.highest)) for survey in surveys if survey.lowest <= survey.highest)
    if encoding is None or reach >= largest:
        require_processor(devices, "chains of numbers as large or as far apart as these")
        return None
    numbers = np.stack([encoding.encoded(factor, k) for k, factor in enumerate(factors)])
    found = _tried(devices, lambda: ProductsOnGpu(gpu).chain(numbers, encoding.layout))
    return None if found is None else narrowed(encoding.decoded(found, wide), dtype, semiring)
