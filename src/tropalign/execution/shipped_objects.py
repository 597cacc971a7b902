"""Objects on the workers of a cluster, and their local names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, MutableMapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tropalign.execution.dask_cluster import Cluster
from tropalign.execution.references import is_made_anew, packed
from tropalign.execution.remote_worker import Opener, Work
from tropalign.execution.task import Task, Tile

#: Number of batches after which an unused object is forgotten.
KEPT_BATCHES = 64


class Parcel(NamedTuple):
    """Tiles of a task, ready to submit.

    - `work`: future of the `Work`.
    - `tiles`: a packed list.
    - `futures`, `objects`: by name, the objects that work and tiles refer to, remote and local; the answer may
      also refer to them.
    """

    work: Any
    tiles: bytes
    futures: dict[str, Any]
    objects: dict[str, Any]


class ShippedObjects:
    """Works, and the objects that works and tiles refer to, on the workers of a cluster.

    Only users of the objects hold them, so that blocks of a file that are read one after another do not accumulate
    here. `opener` opens a worker's devices, `n_threads` is the number per tile.
    """

    def __init__(self, cluster: Cluster, opener: Opener, n_threads: int) -> None:
        self._cluster, self._opener, self._n_threads = cluster, opener, n_threads
        self._names: MutableMapping[Any, str] = WeakKeyDictionary()
        self._n_named, self._n_connections = 0, cluster.n_connections
        self._futures: dict[str, Any] = {}  # by name
        self._works: dict[tuple[int, int], tuple[Any, Any, dict[str, Any]]] = {}
        self._last_used: dict[str, int] = {}  # number of the batch
        self._n_batches = 0

    def parcel(self, task: Task, batch: list[Tile], finish: Callable[[Any], Any] | None) -> Parcel:
        """Pack tiles for submission, and send the objects that they refer to and that the workers lack."""
        self._n_batches += 1
        if self._n_connections != self._cluster.n_connections:  # objects of an earlier connection are lost
            self._n_connections = self._cluster.n_connections
            self.forget()
        work, of_work = self._work(task, finish)
        objects = dict(of_work)
        tiles = packed(batch, lambda value: self._name(value, objects))
        self._last_used |= dict.fromkeys(objects, self._n_batches)
        self._drop_old(of_work)
        futures = {name: self._future(name, value, name in of_work) for name, value in objects.items()}
        return Parcel(work, tiles, futures, objects)

    def _work(self, task: Task, finish: Callable[[Any], Any] | None) -> tuple[Any, dict[str, Any]]:
        found = self._works.get((id(task), id(finish)))
        if found is None:
            objects: dict[str, Any] = {}
            data = packed((task, finish, self._opener), lambda value: self._name(value, objects))
            work = Work(data, self._n_threads, self._cluster.tiles_per_machine)
            if len(self._works) >= 2:  # from earlier tasks
                del self._works[next(iter(self._works))]
            found = (task, finish), self._cluster.send(work, to_all=True), objects
            self._works[id(task), id(finish)] = found  # holding both keeps their ids unique
        return found[1], found[2]

    def _name(self, value: Any, used: dict[str, Any]) -> str:
        """Return the name of an object that is sent once; equal objects of `is_made_anew` classes share a name."""
        name = self._names.get(value)
        if name is None:
            self._n_named += 1
            mark = _hash(value) if is_made_anew(value) else str(self._n_named)
            name = self._names[value] = f"{type(value).__name__}-{mark}"
        used[name] = value
        return name

    def _future(self, name: str, value: Any, to_all: bool) -> Any:
        if name not in self._futures:
            self._futures[name] = self._cluster.send(value, to_all)
        return self._futures[name]

    def _drop_old(self, kept: Collection[str]) -> None:
        """Release objects that no batch has used recently."""
        of_works = {name for _, _, objects in self._works.values() for name in objects} | set(kept)
        old = [
            name
            for name, last in self._last_used.items()
            if last < self._n_batches - max(KEPT_BATCHES, 2 * self._cluster.n_slots) and name not in of_works
        ]
        for name in old:
            del self._last_used[name]
            self._futures.pop(name, None)

    def forget(self) -> None:
        """Forget all objects after their workers are lost, so that they are sent again when needed."""
        self._futures.clear()
        self._works.clear()


def _hash(value: Any) -> str:
    """Return a hash that is equal for equal objects, as far as their pickles are equal."""
    return hashlib.blake2b(packed(value, lambda one: None), digest_size=16).hexdigest()
