"""What the kernels of every job need of a device: compiled programs, launches of bounded time and memory, and a cache.

A job (pairwise/gpu.py, phylo/gpu.py) knows its arrays and its kernels' arguments; everything else is here, once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tropalign.devices.gpu import Gpu, Program
from tropalign.errors import ResourceError, named
from tropalign.machine.memory import human
from tropalign.properties import cached

if TYPE_CHECKING:
    from concurrent.futures import Future

Made = TypeVar("Made")

#: Seconds of work that a device is given at a time, so that a run can be stopped and is heard of.
LAUNCH_SECONDS = 0.5
#: Seconds between signs of life while a program compiles: far fewer than the scheduler's patience with a device.
BEAT_SECONDS = 5.0


@cached
def kernel_source(folder: Path, *names: str) -> str:
    """The dialect (simt.h), then these files of kernels, as one text."""
    paths = (Path(__file__).parent / "simt.h", *(folder / name for name in names))
    return "".join(path.read_text() for path in paths)


def with_constants(source: str, prefix: str, numbers: Mapping[str, int]) -> str:
    """The source after a ``#define PREFIX_NAME number`` for each of these numbers."""
    return "".join(f"#define {prefix}_{name} {int(number)}\n" for name, number in numbers.items()) + source


class Programs:
    """The programs of one source on one device, each compiled once, whichever threads ask for it.

    Compiling takes up to 20 s per program. It runs in a thread of its own, so that the threads that wait can tell that
    they are alive, and can be stopped.

    Parameters
    ----------
    device
        What compiles and runs them.
    source
        Text of the kernels.
    """

    def __init__(self, device: Gpu, source: str) -> None:
        self._device, self._source = device, source
        self._builds: dict[Hashable, Future[Program]] = {}
        self._lock = threading.Lock()
        self._compiling = threading.Lock()  # one at a time: a compiler takes a processor and much memory

    def get(self, constants: Mapping[str, int], alive: Callable[[], object] | None = None) -> Program:
        """The program with these constants.

        Parameters
        ----------
        constants
            Compiled into the kernels.
        alive
            Called at once, and every BEAT_SECONDS while the program is being made; what it raises ends the wait.

        Raises
        ------
        DeviceError
            The kernels do not compile. The next call tries again.
        """
        from concurrent import futures  # which loads the standard library's logging, too

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
    """How much work makes LAUNCH_SECONDS on a device, by the rate that was measured last.

    Attributes
    ----------
    cells
        What to give the device next; at first a guess.
    """

    def __init__(self, cells: int) -> None:
        self.cells = cells

    @contextmanager
    def measured(self, cells: int) -> Iterator[None]:
        """The block computes that many cells, and waits for them."""
        began = time.perf_counter()
        yield
        self.cells = int(LAUNCH_SECONDS * cells / max(time.perf_counter() - began, 1e-6)) + 1


def require_room(device: Gpu, needed_bytes: int, allowed_bytes: int, what: str) -> None:
    """Raises ResourceError where the least that can run at once (`what`, in the plural) does not fit the memory."""
    if needed_bytes > allowed_bytes:
        raise ResourceError(
            f"{device.name}: {what} side by side need {human(needed_bytes)} of its memory and "
            f"{human(allowed_bytes)} are free: add {named('device')} cpu",
            needed_bytes=needed_bytes,
            allowed_bytes=allowed_bytes,
        )


class DeviceCache:
    """What a task keeps on each device: made by the first thread that asks for it, while the others wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[Gpu, threading.Lock] = {}
        self._made: dict[tuple[Gpu, Hashable], Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return DeviceCache, ()  # what lies on a device stays there

    def get(self, device: Gpu, what: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` returned when this was first asked for; what it raises is not kept.

        `make` must not ask the cache for something of the same device.
        """
        with self._lock:
            lock = self._locks.setdefault(device, threading.Lock())
        with lock:
            if (device, what) not in self._made:
                self._made[device, what] = make()
            made: Made = self._made[device, what]
            return made
