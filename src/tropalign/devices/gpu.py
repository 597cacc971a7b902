"""What a job asks of a GPU, whoever made it: build kernels, hold memory, launch. CUDA and OpenCL devices give this."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

#: Device memory: what `upload` and `allocate` return and `launch` takes.
Buffer = Any


class Program(Protocol):
    """Kernels of one source, compiled for one device with one set of constants."""

    def launch(self, kernel: str, groups: int, group_size: int, *arguments: Buffer | int) -> None:
        """Queues a kernel; whole numbers are passed as int32."""


class Memory(Protocol):
    """Buffers of a device that are freed together."""

    def upload(self, array: NDArray[Any]) -> Buffer:
        """A copy of the array on the device."""

    def allocate(self, n_bytes: int) -> Buffer:
        """Memory whose content is not set. Raises MemoryError when there is not as much."""

    def download(self, buffer: Buffer, dtype: type[np.generic], count: int) -> NDArray[Any]:
        """The first items of a buffer, once all that was queued before is done."""

    def wait(self) -> None:
        """Until all that was queued is done."""


class Gpu(Protocol):
    """One device.

    Attributes
    ----------
    name
        As ``--device`` calls it.
    word_bits
        16 where an operation on two packed int16 is one instruction or so, else 32.
    n_streams
        Threads that keep it busy, each with a queue of its own: one's transfers beside another's kernels.
    n_multiprocessors
        Parts that run some work-groups each, at a time.
    """

    name: str
    word_bits: int
    n_streams: int
    n_multiprocessors: int

    def build(self, source: str, constants: dict[str, int]) -> Program:
        """Compiles kernels. Raises DeviceError with the compiler's words."""

    def upload(self, array: NDArray[Any]) -> Buffer:
        """A copy of the array on the device, freed when it is no longer referred to."""

    def scope(self) -> AbstractContextManager[Memory]:
        """Buffers for the length of a ``with`` block."""

    def budget_bytes(self) -> int:
        """Memory that a tile of one thread may take now."""


@dataclass(frozen=True)
class GpuInfo:
    """A device as ``tropalign devices`` lists it; `free_bytes` None where the driver does not tell."""

    name: str
    model: str
    driver: str
    memory_bytes: int
    free_bytes: int | None
    is_gpu: bool
    has_dpx: bool
    shuffles: str
