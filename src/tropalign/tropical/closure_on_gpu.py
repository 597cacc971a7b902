"""The closure of a matrix by one GPU of several devices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.registry import GpuDevice
from tropalign.errors import DeviceError, ResourceError, TropalignWarning
from tropalign.execution.task import Device
from tropalign.tropical.arrays import surveyed
from tropalign.tropical.gpu import ProductsOnGpu
from tropalign.tropical.gpu_numbers import Encoding
from tropalign.tropical.semirings import Semiring, zero_of
from tropalign.tropical.where import require_processor


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
    gpu = next(device.gpu for device in devices if isinstance(device, GpuDevice))
    encoding = Encoding.of(values.dtype, semiring, (surveyed(values, semiring),), gpu.word_bits, from_zero=False)
    if encoding is None:
        require_processor(devices, f"closures of {values.dtype} with negative or such high weights")
        return None
    try:
        closed = ProductsOnGpu(gpu).closure(encoding.encoded(values), encoding.layout, progress)
    except (DeviceError, ResourceError, MemoryError) as error:
        require_processor(devices, f"closures ({error})")
        warnings.warn(f"{error}: the processor computes instead", TropalignWarning, stacklevel=2)
        return None
    diagonal = np.diagonal(closed)
    negative = np.flatnonzero(diagonal < -tolerance)
    values[...] = encoding.decoded(closed, values.dtype)
    np.fill_diagonal(values, 0)
    return (int(negative[0]) if len(negative) else -1), bool((values == zero_of(semiring, values.dtype)).any())
