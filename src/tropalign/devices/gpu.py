"""Interface that jobs use of any GPU (build kernels, hold memory, launch), implemented by CUDA and OpenCL devices.

The launcher for the kernels of all jobs stands here as well: compiled programs, launches of bounded time and memory,
and a cache per device. A job (pairwise/gpu.py, placement/gpu.py) has only its arrays and its kernels' arguments.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ResourceError, named
from tropalign.properties import cached
from tropalign.resources.limits import human

if TYPE_CHECKING:
    from concurrent.futures import Future

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


#: Seconds of work per launch, so that a run can be stopped and reports progress.
LAUNCH_SECONDS = 0.5
#: Seconds between calls of `alive` while a program compiles: far fewer than the scheduler waits for a device.
BEAT_SECONDS = 5.0


@cached
def kernel_source(folder: Path, *names: str) -> str:
    """Return the dialect (simt.h) and these kernel files, concatenated."""
    paths = (Path(__file__).parent / "simt.h", *(folder / name for name in names))
    return "".join(path.read_text() for path in paths)


def with_constants(source: str, prefix: str, numbers: Mapping[str, int]) -> str:
    """Prepend ``#define PREFIX_NAME number`` to the source for each of these numbers."""
    return "".join(f"#define {prefix}_{name} {int(number)}\n" for name, number in numbers.items()) + source


class Programs:
    """Programs of one source on one device, each compiled once for all threads.

    Compiling takes up to 20 s per program. It runs in a separate thread, so that waiting threads can report that
    they are alive, and can be stopped.
    """

    def __init__(self, device: Gpu, source: str) -> None:
        self._device, self._source = device, source
        self._builds: dict[Hashable, Future[Program]] = {}
        self._lock = threading.Lock()
        self._compiling = threading.Lock()  # compile one at a time: a compiler takes a processor and much memory

    def get(self, constants: Mapping[str, int], alive: Callable[[], object] | None = None) -> Program:
        """Return the program with these constants compiled in.

        `alive` is called at once and every BEAT_SECONDS during compilation; an exception from it ends the wait.
        Raises DeviceError if the kernels do not compile; the next call tries again.
        """
        from concurrent import futures  # here, because it also loads the standard library's logging

        key, builder = tuple(sorted(constants.items())), None
        with self._lock:
            build = self._builds.get(key)
            if build is None:
                build = self._builds[key] = futures.Future()
                builder = threading.Thread(target=self._build, args=(key, dict(constants), build), daemon=True)
        if builder is not None:
            try:
                builder.start()
            except RuntimeError:  # the system allows no more threads
                builder.run()
        while True:
            if alive:
                alive()
            if futures.wait([build], timeout=BEAT_SECONDS).done:
                return build.result()

    def _build(self, key: Hashable, constants: dict[str, int], build: Future[Program]) -> None:
        try:
            with self._compiling:
                program = self._device.build(self._source, constants)
        except BaseException as error:
            with self._lock:
                del self._builds[key]
            build.set_exception(error)
        else:
            build.set_result(program)


class Pace:
    """Number of `cells` that take LAUNCH_SECONDS on a device: first a guess, then by the last measured rate."""

    def __init__(self, cells: int) -> None:
        self.cells = cells

    @contextmanager
    def measured(self, cells: int) -> Iterator[None]:
        """Time the block, which computes `cells` cells and waits for them, and update the rate."""
        began = time.perf_counter()
        yield
        self.cells = int(LAUNCH_SECONDS * cells / max(time.perf_counter() - began, 1e-6)) + 1


def require_room(device: Gpu, needed_bytes: int, allowed_bytes: int, what: str) -> None:
    """Raise ResourceError if the smallest launchable set (`what`, in the plural) does not fit the device memory."""
    if needed_bytes > allowed_bytes:
        raise ResourceError(
            f"{device.name}: {what} computed together need {human(needed_bytes)} of its memory, but only "
            f"{human(allowed_bytes)} are free: add {named('device')} cpu",
            needed_bytes=needed_bytes,
            allowed_bytes=allowed_bytes,
        )
