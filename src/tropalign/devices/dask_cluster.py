"""Workers on other machines, reached through a Dask scheduler; the only module that imports Dask.

    this process --submits--> Dask's scheduler --> worker, worker, worker ...      a process per machine or GPU
         ^------- answers ---------------------------'

Dask holds no irreplaceable state: after a loss, tiles are resubmitted and the objects that they refer to are
resent.
"""

from __future__ import annotations

import itertools
import json
import logging
import pickle
import queue
import socket
import threading
import time
import uuid
import warnings
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tropalign import __version__
from tropalign.devices.remote_worker import Answer, compute
from tropalign.errors import DeviceError, TropalignWarning, UsageError, shown
from tropalign.resources.limits import available_threads, without_interrupts

#: Addresses in the file of a scheduler.
SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "ucxx://")
#: Seconds within which a scheduler must answer at first.
CONNECT_SECONDS = 30.0
#: Seconds for which connections may be refused at first, as by a scheduler that is starting; after as many seconds
#: without an answer, a warning reports the wait. LOOK_SECONDS: time between checks of the list of workers.
REFUSED_SECONDS = 2.0
LOOK_SECONDS = 2.0
#: Clusters of this process.
_CLUSTERS: weakref.WeakSet[Cluster] = weakref.WeakSet()


def _knock(address: str) -> None:
    """Raise OSError if the address refuses connections or is unknown: Dask itself would retry for half a minute."""
    place = urlsplit(address)
    if place.hostname is None or place.port is None or place.scheme.startswith("ucx"):
        return
    until = time.monotonic() + REFUSED_SECONDS
    while True:
        try:
            socket.create_connection((place.hostname, place.port), CONNECT_SECONDS).close()
            return
        except (ConnectionRefusedError, socket.gaierror):
            if time.monotonic() > until:
                raise
            time.sleep(REFUSED_SECONDS / 8)
        except OSError:  # Dask will report it
            return


class Unreachable(Exception):
    """The scheduler, or every worker, is temporarily unreachable."""


class Cluster:
    """Workers of a Dask scheduler.

    `where` is the scheduler's address or file, "local:4", or a distributed.Client, which stays open. With
    `needs_gpu`, only workers that were started with ``--resources GPU=1`` are used. `n_connections` counts
    connections: tiles submitted through an earlier one are lost. `shunned` workers get no more tiles.
    Raises DeviceError if dask.distributed is missing or no scheduler answers, UsageError for an unusable client.
    """

    def __init__(self, where: Any, needs_gpu: bool = False) -> None:
        try:
            import distributed
        except ImportError:
            raise DeviceError(
                "dask.distributed is not installed: pip install 'tropalign[cluster]', or leave --cluster out"
            ) from None
        self._distributed, self.needs_gpu = distributed, needs_gpu
        if isinstance(where, str):
            self.name = where
        elif where.status != "running" or where.scheduler is None:
            raise UsageError(f"this client is {where.status}: give a running one, or the address of its scheduler")
        elif where.asynchronous:
            raise UsageError("this client is asynchronous: give the address of its scheduler, or a synchronous client")
        else:
            self.name = str(where.scheduler.address)
        self._own: list[Any] = []  # closed by `close`, or when the cluster is garbage-collected
        weakref.finalize(self, _close, self._own)
        _CLUSTERS.add(self)
        self.n_connections = 0
        self._client = self._connected(where)
        self._where = where if isinstance(where, str) else None  # client of the caller if None
        self._numbers, self._run = itertools.count(), uuid.uuid4().hex[:12]
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._looked, self._n_threads = -LOOK_SECONDS, dict[str, int]()
        self.shunned: set[str] = set()
        self.n_connections = 1

    def _connected(self, where: Any) -> Any:
        if not isinstance(where, str):
            return where
        _silence()
        try:
            if _is_local(where):
                with without_interrupts():
                    made = self._distributed.LocalCluster(
                        n_workers=int(where.partition(":")[2] or available_threads()),
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address="127.0.0.1:0",  # a separate port: other users may have clusters here
                        silence_logs=logging.CRITICAL,
                    )
                    self._own.append(made)
                client = self._distributed.Client(made, set_as_default=False)
            else:
                address = _address_in(where) if where.endswith(".json") else where
                _knock(address)
                client = self._client_at(address)
        except Exception as error:  # Dask, tornado and asyncio raise different errors
            self.close()
            raise DeviceError(
                f"no Dask scheduler answers at {shown(where)} ({shown(str(error)[:200])}): start one with "
                "dask scheduler, and workers with dask worker"
            ) from None
        self._own.insert(0, client)
        return client

    def _client_at(self, address: str) -> Any:
        """Make a client in a separate thread, since construction never ends if the peer is not a Dask scheduler."""
        made: list[Any] = []

        class Client(self._distributed.Client):  # type: ignore[misc, name-defined]
            def __del__(self) -> None:  # a client that never ran has nothing to close, and would hang
                if self.status == "running":
                    super().__del__()

        def make() -> None:
            try:
                made.append(Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
            except Exception as error:
                made.append(error)

        thread = threading.Thread(target=make, daemon=True)
        thread.start()
        thread.join(REFUSED_SECONDS)
        if not made and not self.n_connections and CONNECT_SECONDS > REFUSED_SECONDS:
            what = f"waiting up to {CONNECT_SECONDS:g} s for the Dask scheduler at {shown(address)}"
            warnings.warn(what, TropalignWarning, stacklevel=2)
        thread.join(max(CONNECT_SECONDS + 1 - REFUSED_SECONDS, 0))
        if not made:
            raise TimeoutError("the program there is not a Dask scheduler")
        if isinstance(made[0], Exception):
            raise made[0]
        return made[0]

    def close(self) -> None:
        """Disconnect from the cluster; stop it if it was started here."""
        _close(self._own)

    # Workers.

    def look(self) -> None:
        """Update the list of workers, at most every LOOK_SECONDS."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            try:
                if self.needs_gpu:
                    workers = self._client.scheduler_info()["workers"]
                    n_tiles = {worker: about["resources"].get("GPU", 0) for worker, about in workers.items()}
                else:
                    n_tiles = self._client.nthreads()
                self._n_threads = {str(worker): int(n) for worker, n in n_tiles.items() if n}
            except Exception:  # the scheduler is temporarily gone
                self._n_threads = {}
                self._reconnect()
            self._looked = time.monotonic()

    def _reconnect(self) -> None:
        """Replace a client that has given up.

        Raises DeviceError if the client belongs to the caller and is closed, or if the workers were local.
        """
        if self._client.status not in ("closed", "closing"):
            return
        if self._where is None or _is_local(self._where):
            raise DeviceError(f"the connection to {self.name} is closed: repeat the command")
        with suppress(DeviceError):
            self._client = self._connected(self._where)
            del self._own[1:]
            self.n_connections += 1

    @property
    def workers(self) -> list[str]:
        """Addresses of the workers that get tiles."""
        return [worker for worker in self._n_threads if worker not in self.shunned]

    @property
    def n_slots(self) -> int:
        """Number of tiles that the workers compute at a time."""
        return sum(self._n_threads[worker] for worker in self.workers)

    @property
    def tiles_per_machine(self) -> int:
        """Maximum number of tiles that one machine computes at a time."""
        by_host = Counter[str]()
        for worker, n_threads in self._n_threads.items():
            by_host[worker.rpartition(":")[0]] += n_threads
        return max(by_host.values(), default=1)

    # Sending and receiving.

    def send(self, value: Any, to_all: bool) -> Any:
        """Copy an object to all workers, or to one from which the others fetch it, and return its future.

        Raises Unreachable if no worker takes it, DeviceError if a worker lacks tropalign.
        """
        with self._reaching():
            (future,) = self._client.scatter([value], broadcast=to_all, hash=False)
        return future

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (pickle.PicklingError, TypeError):  # the object cannot be pickled: a defect
            raise
        except Exception as error:  # tornado, asyncio and Dask raise different errors when a connection breaks
            if "ModuleNotFoundError" in repr(error):  # a worker's exception arrives as text
                text = f"a worker of {self.name} lacks a module ({shown(str(error)[:200])})"
                raise DeviceError(f"{text}: install tropalign {__version__} on the machines of the workers") from None
            raise Unreachable(str(error)) from error

    def submit(self, work: Any, tiles: bytes, objects: dict[str, Any], avoid: Iterable[str] = ()) -> Any:
        """Submit tiles and return a future of the `Answer`; `finished` returns its key when it is done.

        `work` is the future of a `Work`, `objects` the futures, by name, of the objects that tiles and work refer
        to. Workers in `avoid` are used only if there are no others. Raises Unreachable if no worker takes the
        tiles.
        """
        places: dict[str, Any] = {"resources": {"GPU": 1}} if self.needs_gpu else {}
        without = {*avoid, *self.shunned}
        others = [worker for worker in self._n_threads if worker not in without]
        if without and others:
            places |= {"workers": others, "allow_other_workers": True}  # else Dask waits for dead workers
        key = f"tropalign-{self._run}-{next(self._numbers)}"
        with self._reaching():
            future = self._client.submit(compute, work, tiles, objects, key=key, pure=False, **places)
        finished = self._done  # captured instead of `self`, which must stay collectable
        future.add_done_callback(lambda done: finished.put(done.key))
        return future

    def finished(self, seconds: float) -> list[str]:
        """Return keys of ended futures, after waiting up to `seconds` for the first."""
        keys = []
        with suppress(queue.Empty):
            keys.append(self._done.get(timeout=seconds))
            while True:
                keys.append(self._done.get_nowait())
        return keys

    def answers(self, futures: Sequence[Any]) -> list[Answer | Exception | None]:
        """Return the outcome of each future: an answer, its exception, or None if it was lost."""
        found: dict[str, Answer | Exception | None] = dict.fromkeys(future.key for future in futures)
        done = [future for future in futures if future.status == "finished"]
        keys = [future.key for future in done]
        try:
            found |= zip(keys, self._client.gather(done), strict=True)
        except Exception:
            for future in done:
                with suppress(Exception):  # the worker may have died since
                    found[future.key] = future.result(timeout=CONNECT_SECONDS)
        for future in futures:
            if future.status == "error" and future.key not in keys:
                with suppress(Exception):
                    error = future.exception(timeout=CONNECT_SECONDS)
                    is_loss = "Cancelled" in type(error).__name__ or "lost" in str(error).lower()
                    found[future.key] = error if isinstance(error, Exception) and not is_loss else None
        return [found[future.key] for future in futures]

    def forget(self, futures: Sequence[Any]) -> None:
        """Cancel futures that are no longer needed."""
        if futures:
            with suppress(Exception):
                self._client.cancel(list(futures), force=True)


def _is_local(where: str) -> bool:
    return where.partition(":")[0] == "local" and not where.endswith(".json")


def _address_in(path: str) -> str:
    """Return the address in a scheduler file, waiting for the file; raise ValueError if it has no address."""
    began = time.monotonic()
    while True:
        try:
            address: str = json.loads(Path(path).read_bytes())["address"]
            if not address.startswith(SCHEMES):
                raise ValueError("not an address")
            return address
        except FileNotFoundError:
            found, patience = "there is no such file", CONNECT_SECONDS
        except (ValueError, LookupError, TypeError, AttributeError):  # or a half-written file
            found, patience = "this file contains no scheduler address", LOOK_SECONDS
        if time.monotonic() - began > patience:
            raise ValueError(found)
        time.sleep(0.1)


def close_clusters() -> None:
    """Leave all clusters of this process, at the end of a command."""
    for cluster in list(_CLUSTERS):
        cluster.close()


def _close(made: list[Any]) -> None:
    """Close clients and local clusters, the client first."""
    with without_interrupts():
        while made:
            with suppress(Exception):
                made.pop(0).close()


def _silence() -> None:
    """Suppress Dask's log: callers report what matters."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
