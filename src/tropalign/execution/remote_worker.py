"""What runs on a worker elsewhere: tiles that came as bytes are computed on the devices that it has.

Everything here is called by Dask in a worker process; several of its threads may compute at a time.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from tropalign import __version__
from tropalign.errors import DeviceError, ResourceError, UsageError, has_options, options_named
from tropalign.execution.references import packed, unpacked
from tropalign.execution.scheduler import Result, Scheduler
from tropalign.execution.task import Device, Task, naming
from tropalign.machine.threads import available_threads

#: What another worker may do better: it had no memory, disk or device, or is ill.
OF_THE_MACHINE = (OSError, MemoryError, ResourceError, DeviceError)
#: Opens the devices of a worker, given how many threads a tile may take.
Opener = Callable[[int], Sequence[Device]]


@dataclass
class Loaded:
    """A task on a worker, with what computes it and what is made of its results."""

    task: Task
    finish: Callable[[Any], Any] | None
    devices: Sequence[Device]
    objects: Mapping[str, Any]  # by name, as the task refers to them: a worker may read them again from its disk later


class Work:
    """A task on its way. The first tile that a worker computes unpacks it; it is kept as long as the worker has it.

    Parameters
    ----------
    data
        The task, what finishes its results, and what opens the devices, as `packed` makes it.
    n_threads
        Of a tile; 0: the processors of the machine, shared by `tiles_per_machine`.
    tiles_per_machine
        Tiles that a machine computes at a time.
    """

    def __init__(self, data: bytes, n_threads: int, tiles_per_machine: int) -> None:
        self.data, self.n_threads, self.tiles_per_machine = data, n_threads, tiles_per_machine
        self.version, self.has_options = __version__, has_options()
        self._loaded: Loaded | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_loaded", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _loaded=None, _lock=threading.Lock())

    def loaded(self, objects: Mapping[str, Any]) -> Loaded:
        """The task, ready to compute. Raises UsageError where the worker runs another version."""
        if self.version != __version__:
            raise UsageError(
                f"the worker has tropalign {__version__} and this is {self.version}: install one version everywhere"
            )
        with self._lock:
            if self._loaded is None:
                task, finish, opener = unpacked(self.data, objects)
                share = max(1, available_threads() // max(self.tiles_per_machine, 1))
                self._loaded = Loaded(task, finish, opener(self.n_threads or share), objects)
            return self._loaded


@dataclass(frozen=True)
class Answer:
    """What a worker made of some tiles.

    Attributes
    ----------
    data
        One result per tile, packed; None where one failed.
    seconds
        That they took.
    worker
        Where they were computed.
    error
        What it failed with; it names the tile.
    is_of_machine
        Another worker may do better: there was no memory, room on the disk, or device.
    """

    data: bytes | None
    seconds: float
    worker: str
    error: BaseException | None = None
    is_of_machine: bool = False


def compute(work: Work, tiles: bytes, objects: Mapping[str, Any]) -> Answer:
    """Computes some tiles, one after another.

    Parameters
    ----------
    tiles
        A list of them, packed.
    objects
        By name what they and the work refer to.

    Returns
    -------
    Answer
        What fails is no exception, so that the caller learns where it happened.
    """
    worker, began = _address(), time.perf_counter()
    try:
        with options_named() if work.has_options else nullcontext():  # errors speak to who sent it
            loaded = work.loaded(objects)
            names = {id(value): name for known in (objects, loaded.objects) for name, value in known.items()}
            sources = ((loaded.task, tile) for tile in unpacked(tiles, objects))
            values = [_finished(loaded, result) for result in Scheduler(loaded.devices).run_tiles(sources)]
            data = packed(values, lambda value: names.get(id(value)))
    except Exception as error:
        seconds = time.perf_counter() - began
        return Answer(None, seconds, worker, _portable(error), _is_of_machine(error))
    return Answer(data, time.perf_counter() - began, worker)


def _finished(loaded: Loaded, result: Result) -> Any:
    if loaded.finish is None:
        return result.value
    with naming(result.tile):
        return loaded.finish(result.value)


def _is_of_machine(error: BaseException) -> bool:
    return any(isinstance(cause, OF_THE_MACHINE) for cause in (error, error.__cause__))


def _portable(error: Exception) -> Exception:
    """The error, or a plain one that says the same where it cannot travel."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # not on a worker
        return "this process"
