"""What lies on the workers of a cluster, and what stands for it here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, MutableMapping
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from tropalign.execution.dask_cluster import Cluster
from tropalign.execution.references import is_made_anew, packed
from tropalign.execution.remote_worker import Opener, Work
from tropalign.execution.task import Task, Tile

#: What is sent once is forgotten when no batch has needed it for so many batches.
KEPT_BATCHES = 64


class Sent:
    """Works, and the objects that they and tiles refer to, on the workers of a cluster.

    Those who use objects hold them, so that the blocks of a file that are read one after another do not pile up here.

    Parameters
    ----------
    cluster
    opener, n_threads
        What opens a worker's devices, and the threads of a tile.

    Attributes
    ----------
    objects
        By name, as long as somebody here holds them; what answers refer to, too.
    """

    def __init__(self, cluster: Cluster, opener: Opener, n_threads: int) -> None:
        self._cluster, self._opener, self._n_threads = cluster, opener, n_threads
        self._names: MutableMapping[Any, str] = WeakKeyDictionary()
        self._n_named, self._n_connections = 0, cluster.n_connections
        self._futures: dict[str, Any] = {}  # by name
        self._works: dict[tuple[int, int], tuple[Any, Any, list[str]]] = {}
        self._last_used: dict[str, int] = {}  # number of the batch
        self._n_batches = 0
        self.objects: MutableMapping[str, Any] = WeakValueDictionary()

    def of(
        self, task: Task, batch: list[Tile], finish: Callable[[Any], Any] | None
    ) -> tuple[Any, bytes, dict[str, Any]]:
        """Future of the work, tiles as bytes, and futures of what they refer to."""
        self._n_batches += 1
        if self._n_connections != self._cluster.n_connections:  # what went through an earlier one is lost
            self._n_connections = self._cluster.n_connections
            self.forget()
        work, names = self._work(task, finish)
        of_tiles: list[str] = []
        tiles = packed(batch, lambda value: self._name(value, of_tiles))
        used = dict.fromkeys([*names, *of_tiles])
        for name in used:
            self._last_used[name] = self._n_batches
        self._drop_old(set(names))
        return work, tiles, {name: self._future(name, name in names) for name in used}

    def _work(self, task: Task, finish: Callable[[Any], Any] | None) -> tuple[Any, list[str]]:
        found = self._works.get((id(task), id(finish)))
        if found is None:
            names: list[str] = []
            data = packed((task, finish, self._opener), lambda value: self._name(value, names))
            work = Work(data, self._n_threads, self._cluster.tiles_per_machine)
            if len(self._works) >= 2:  # of earlier tasks
                del self._works[next(iter(self._works))]
            found = (task, finish), self._cluster.send(work, to_all=True), names
            self._works[id(task), id(finish)] = found  # which holds them: no other has their numbers
        return found[1], found[2]

    def _name(self, value: Any, used: list[str]) -> str:
        """The name of an object that is sent once; equal ones that are made anew have the same."""
        name = self._names.get(value)
        if name is None:
            self._n_named += 1
            mark = _hash(value) if is_made_anew(value) else str(self._n_named)
            name = self._names[value] = f"{type(value).__name__}-{mark}"
            self.objects[name] = value
        used.append(name)
        return name

    def _future(self, name: str, to_all: bool) -> Any:
        if name not in self._futures:
            self._futures[name] = self._cluster.send(self.objects[name], to_all)
        return self._futures[name]

    def _drop_old(self, kept: set[str]) -> None:
        """Lets go what no batch needs any more."""
        of_works = {name for _, _, names in self._works.values() for name in names} | kept
        old = [
            name
            for name, last in self._last_used.items()
            if last < self._n_batches - max(KEPT_BATCHES, 2 * self._cluster.n_slots) and name not in of_works
        ]
        for name in old:
            del self._last_used[name]
            self._futures.pop(name, None)

    def forget(self) -> None:
        """Everything is sent anew when it is needed: the workers that had it are gone."""
        self._futures.clear()
        self._works.clear()


def _hash(value: Any) -> str:
    """Equal for equal objects, as far as their pickles are equal."""
    return hashlib.blake2b(packed(value, lambda one: None), digest_size=16).hexdigest()
