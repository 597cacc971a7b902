"""Code that Dask runs in a worker process: compute tiles that arrive as bytes on the worker's devices.

Several threads of a worker may compute at a time. Pickles name large objects instead of containing them, so that each
is sent to every worker once:

    task --pickled--> bytes with "batch 4f1c" in place of the task's SequenceBatch      4f1c: that batch, sent once
    result --pickled--> the same on the way back: a table of pairs refers to its sequences by name

A class whose objects are large, immutable and needed by many tiles sets ``is_sent_once = True``. It also sets
``is_made_anew = True`` if equal objects are created repeatedly, such as blocks of a file that is read several times.
"""

from __future__ import annotations

import io
import pickle
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from tropalign import __version__
from tropalign.errors import DeviceError, ResourceError, UsageError, has_options, options_named
from tropalign.execution.scheduler import Result, Scheduler
from tropalign.execution.task import Device, Task, naming
from tropalign.resources.limits import available_threads


def is_sent_once(value: Any) -> bool:
    """True if the object is sent by name."""
    return bool(getattr(type(value), "is_sent_once", False))


def is_made_anew(value: Any) -> bool:
    """True if equal objects are created repeatedly, so that one may have been sent already."""
    return bool(getattr(type(value), "is_made_anew", False))


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, name_of: Callable[[Any], str | None]) -> None:
        super().__init__(file, protocol=5)
        self._name_of = name_of

    def persistent_id(self, value: Any) -> str | None:
        return self._name_of(value) if is_sent_once(value) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, objects: Mapping[str, Any]) -> None:
        super().__init__(file)
        self._objects = objects

    def persistent_load(self, name: str) -> Any:
        return self._objects[name]


def packed(value: Any, name_of: Callable[[Any], str | None]) -> bytes:
    """Pickle a value; `name_of` returns the name of an object that is sent once, or None to include it."""
    out = io.BytesIO()
    _Pickler(out, name_of).dump(value)
    return out.getvalue()


def unpacked(data: bytes, objects: Mapping[str, Any]) -> Any:
    """Unpickle a value; `objects` holds the named objects."""
    return _Unpickler(io.BytesIO(data), objects).load()


#: Errors worth retrying on another worker: missing memory, disk space or device, or a faulty machine.
OF_THE_MACHINE = (OSError, MemoryError, ResourceError, DeviceError)
#: Opens the devices of a worker, given the number of threads per tile.
Opener = Callable[[int], Sequence[Device]]


@dataclass
class Loaded:
    """Task on a worker, with its devices and the function that finishes its results."""

    task: Task
    finish: Callable[[Any], Any] | None
    devices: Sequence[Device]
    objects: Mapping[str, Any]  # as named by the task; a worker may later reload them from disk


class Work:
    """Packed task in transit, unpacked by the first tile that a worker computes, and kept while the worker has it.

    `data` packs the task, the function that finishes results, and the opener of devices. `n_threads` is the number
    per tile; 0 divides the processors of the machine by `tiles_per_machine`.
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
        """Return the unpacked task; raise UsageError if the worker runs another version."""
        if self.version != __version__:
            raise UsageError(
                f"the worker has tropalign {__version__}, but this machine has {self.version}: install the same version"
            )
        with self._lock:
            if self._loaded is None:
                task, finish, opener = unpacked(self.data, objects)
                share = max(1, available_threads() // max(self.tiles_per_machine, 1))
                self._loaded = Loaded(task, finish, opener(self.n_threads or share), objects)
            return self._loaded


@dataclass(frozen=True)
class Answer:
    """Result of some tiles from a worker.

    - `data`: one packed result per tile; None if one failed.
    - `seconds`: computing time.
    - `worker`: address of the worker.
    - `error`: the exception, which names the tile.
    - `is_of_machine`: True if another worker may succeed: memory, disk space or a device was missing.
    """

    data: bytes | None
    seconds: float
    worker: str
    error: BaseException | None = None
    is_of_machine: bool = False


def compute(work: Work, tiles: bytes, objects: Mapping[str, Any]) -> Answer:
    """Compute a packed list of tiles one after another; `objects` are those that tiles and work refer to, by name.

    Failures are returned in the `Answer` rather than raised, so that the caller learns which worker failed.
    """
    worker, began = _address(), time.perf_counter()
    try:
        with options_named() if work.has_options else nullcontext():  # errors address the submitting user
            loaded = work.loaded(objects)
            names = {id(value): name for known in (objects, loaded.objects) for name, value in known.items()}
            sources = ((loaded.task, tile) for tile in unpacked(tiles, objects))
            values = [_finished(loaded, result) for result in Scheduler(loaded.devices).run_tiles(sources)]
            data = packed(values, lambda value: names.get(id(value)))
    except Exception as error:
        seconds = time.perf_counter() - began
        is_of_machine = any(isinstance(cause, OF_THE_MACHINE) for cause in (error, error.__cause__))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # an error that cannot be pickled is replaced by its text
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return Answer(None, seconds, worker, error, is_of_machine)
    return Answer(data, time.perf_counter() - began, worker)


def _finished(loaded: Loaded, result: Result) -> Any:
    if loaded.finish is None:
        return result.value
    with naming(result.tile):
        return loaded.finish(result.value)


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # not on a worker
        return "this process"
