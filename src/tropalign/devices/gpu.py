"""Interface that jobs use of any GPU (build kernels, hold memory, launch), implemented by CUDA and OpenCL devices."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

#: Device memory: returned by `upload` and `allocate`, taken by `launch`.
Buffer = Any


class Program(Protocol):
    """Kernels of one source, compiled for one device with one set of constants."""

    def launch(self, kernel: str, groups: int, group_size: int, *arguments: Buffer | int) -> None:
        """Queue a kernel; integers are passed as int32."""


class Memory(Protocol):
    """Buffers of a device that are freed together."""

    def upload(self, array: NDArray[Any]) -> Buffer:
        """Copy an array to the device."""

    def allocate(self, n_bytes: int) -> Buffer:
        """Allocate uninitialised memory; raise MemoryError if there is not enough."""

    def download(self, buffer: Buffer, dtype: type[np.generic], count: int) -> NDArray[Any]:
        """Return the first `count` items of a buffer after all queued work is done."""

    def wait(self) -> None:
        """Wait until all queued work is done."""


class Gpu(Protocol):
    """One GPU device.

    - `name`: its name for ``--device``.
    - `word_bits`: 16 if an operation on two packed int16 takes about one instruction, else 32.
    - `n_streams`: threads that keep the device busy, each with its own queue, so that transfers overlap with
      kernels.
    - `n_multiprocessors`: units that each run some work-groups at a time.
    """

    name: str
    word_bits: int
    n_streams: int
    n_multiprocessors: int

    def build(self, source: str, constants: dict[str, int]) -> Program:
        """Compile kernels; raise DeviceError with the compiler's message."""

    def upload(self, array: NDArray[Any]) -> Buffer:
        """Copy an array to the device; it is freed when it is no longer referenced."""

    def scope(self) -> AbstractContextManager[Memory]:
        """Yield an allocator whose buffers are freed at the end of the ``with`` block."""

    def budget_bytes(self) -> int:
        """Return the bytes that a tile of one thread may take now."""


@dataclass(frozen=True)
class GpuInfo:
    """Device as listed by ``tropalign devices``; `free_bytes` is None if the driver does not report it."""

    name: str
    model: str
    driver: str
    memory_bytes: int
    free_bytes: int | None
    is_gpu: bool
    has_dpx: bool
    shuffles: str
