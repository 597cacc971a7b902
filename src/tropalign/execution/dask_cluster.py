"""Workers on other machines, reached through a scheduler of Dask: the one module that knows it.

    this process --submits--> Dask's scheduler --> worker, worker, worker ...      a process per machine or GPU
         ^------- answers ---------------------------'

Nothing that Dask knows is needed again when it is lost: tiles are submitted anew, and what they refer to is sent anew.
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
from tropalign.errors import DeviceError, TropalignWarning, UsageError, shown
from tropalign.execution.cluster_address import LOCAL, check_address
from tropalign.execution.remote_worker import Answer, compute
from tropalign.machine.process import without_interrupts
from tropalign.machine.threads import available_threads

#: Seconds that a scheduler has to answer at first, and between looks at which workers there are.
CONNECT_SECONDS = 30.0
#: Seconds for which nobody may listen there at first, as while a scheduler starts; after as many a wait is told.
REFUSED_SECONDS = 2.0
LOOK_SECONDS = 2.0
#: Those of this process.
_CLUSTERS: weakref.WeakSet[Cluster] = weakref.WeakSet()


def _knock(address: str) -> None:
    """Raises OSError where nobody listens, or no such machine is known: Dask would go on trying for its half minute."""
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
        except OSError:  # Dask says what it is
            return


class Unreachable(Exception):
    """The scheduler, or every worker, is gone for the moment."""


class Cluster:
    """Workers of a scheduler.

    Parameters
    ----------
    where
        Its address, its file, "local:4", or a distributed.Client, which stays open.
    needs_gpu
        Only workers that were started with ``--resources GPU=1`` count, and get tiles.

    Attributes
    ----------
    n_connections
        How often it has been connected; what was submitted to an earlier one is lost.
    shunned
        Workers that get nothing more.

    Raises
    ------
    DeviceError
        dask.distributed is not installed, or nobody answers there.
    UsageError
        A client that is closed or asynchronous.
    """

    def __init__(self, where: Any, needs_gpu: bool = False) -> None:
        try:
            import distributed
        except ImportError:
            raise DeviceError(
                "dask.distributed is not installed: pip install 'tropalign[cluster]', or leave --cluster out"
            ) from None
        self._distributed, self.needs_gpu = distributed, needs_gpu
        self.name = where if isinstance(where, str) else _address_of(where)
        self._own: list[Any] = []  # what `close` closes: at the latest when nobody has the cluster any more
        weakref.finalize(self, _close, self._own)
        _CLUSTERS.add(self)
        self.n_connections = 0
        self._client = self._connected(where)
        self._where = where if isinstance(where, str) else None  # None: a client that somebody else has made
        self._numbers, self._run = itertools.count(), uuid.uuid4().hex[:12]
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._looked, self._n_threads = -LOOK_SECONDS, dict[str, int]()
        self.shunned: set[str] = set()
        self.n_connections = 1

    def _connected(self, where: Any) -> Any:
        if not isinstance(where, str):
            return where
        _silence()
        local = LOCAL.fullmatch(where)
        try:
            if local:
                with without_interrupts():
                    made = self._distributed.LocalCluster(
                        n_workers=int(local[1] or available_threads()),
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address="127.0.0.1:0",  # a port of its own: others may have clusters here, too
                        silence_logs=logging.CRITICAL,
                    )
                    self._own.append(made)
                client = self._distributed.Client(made, set_as_default=False)
            else:
                address = _address_in(where) if where.endswith(".json") else where
                _knock(address)
                client = self._client_at(address)
        except Exception as error:  # of Dask, tornado and asyncio, by what answers there
            self.close()
            raise DeviceError(
                f"no scheduler of Dask answers at {shown(where)} ({shown(str(error)[:200])}): start one with "
                "dask scheduler, and workers with dask worker"
            ) from None
        self._own.insert(0, client)
        return client

    def _client_at(self, address: str) -> Any:
        """A client, made in a thread of its own: where something that is no scheduler answers, it is made for ever."""
        made: list[Any] = []

        class Client(self._distributed.Client):  # type: ignore[misc, name-defined]
            def __del__(self) -> None:  # one that never ran has nothing to close, and would wait for an end
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
            what = f"waiting for an answer of the scheduler of Dask at {shown(address)}, {CONNECT_SECONDS:g} s at most"
            warnings.warn(what, TropalignWarning, stacklevel=2)
        thread.join(max(CONNECT_SECONDS + 1 - REFUSED_SECONDS, 0))
        if not made:
            raise TimeoutError("what is there speaks another language")
        if isinstance(made[0], Exception):
            raise made[0]
        return made[0]

    def close(self) -> None:
        """Leaves the cluster; one that was made here ends."""
        _close(self._own)

    # Who is there.

    def look(self) -> None:
        """Learns which workers there are, unless it did so a moment ago."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            try:
                self._n_threads = self._tiles_at_a_time()
            except Exception:  # the scheduler is gone for the moment
                self._n_threads = {}
                self._reconnect()
            self._looked = time.monotonic()

    def _tiles_at_a_time(self) -> dict[str, int]:
        """By worker."""
        if not self.needs_gpu:
            return {str(worker): int(n) for worker, n in self._client.nthreads().items()}
        workers = self._client.scheduler_info()["workers"]
        n_gpus = {str(worker): int(about["resources"].get("GPU", 0)) for worker, about in workers.items()}
        return {worker: n for worker, n in n_gpus.items() if n}

    def _reconnect(self) -> None:
        """A new client in place of one that has given up.

        Raises
        ------
        DeviceError
            Somebody else made that client, and has closed it, or the workers were of this machine.
        """
        if self._client.status not in ("closed", "closing"):
            return
        if self._where is None or LOCAL.fullmatch(self._where):
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
        """Tiles that they compute at a time."""
        return sum(self._n_threads[worker] for worker in self.workers)

    @property
    def tiles_per_machine(self) -> int:
        """Tiles that one machine computes at a time, at the most."""
        by_host = Counter[str]()
        for worker, n_threads in self._n_threads.items():
            by_host[worker.rpartition(":")[0]] += n_threads
        return max(by_host.values(), default=1)

    # What goes there, and comes back.

    def send(self, value: Any, to_all: bool) -> Any:
        """A future of an object that lies on the workers (on one of them, which others have it from).

        Raises
        ------
        Unreachable
            Nobody is there to take it.
        DeviceError
            A worker lacks tropalign.
        """
        with self._reaching():
            (future,) = self._client.scatter([value], broadcast=to_all, hash=False)
        return future

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (pickle.PicklingError, TypeError):  # it cannot travel: a defect
            raise
        except Exception as error:  # of tornado, asyncio and Dask, by the moment in which the connection broke
            if "ModuleNotFoundError" in repr(error):  # what a worker raised comes as its text
                text = f"a worker of {self.name} lacks a module ({shown(str(error)[:200])})"
                raise DeviceError(f"{text}: install tropalign {__version__} where workers run") from None
            raise Unreachable(str(error)) from error

    def submit(self, work: Any, tiles: bytes, objects: dict[str, Any], avoid: Iterable[str] = ()) -> Any:
        """A future of the `Answer` to these tiles; its key comes out of `finished` when it is there.

        Parameters
        ----------
        work
            Future of a `Work`.
        objects
            By name futures of what the tiles and the work refer to.
        avoid
            Workers that are not to compute them, as long as there are others.

        Raises
        ------
        Unreachable
            Nobody is there to take them.
        """
        places: dict[str, Any] = {"resources": {"GPU": 1}} if self.needs_gpu else {}
        without = {*avoid, *self.shunned}
        others = [worker for worker in self._n_threads if worker not in without]
        if without and others:
            places |= {"workers": others, "allow_other_workers": True}  # or it would wait for those that have died
        key = f"tropalign-{self._run}-{next(self._numbers)}"
        with self._reaching():
            future = self._client.submit(compute, work, tiles, objects, key=key, pure=False, **places)
        finished = self._done  # and not the cluster, which lives as long as somebody wants it
        future.add_done_callback(lambda done: finished.put(done.key))
        return future

    def finished(self, seconds: float) -> list[str]:
        """Keys of futures that have come to an end; waits so long for the first."""
        keys = []
        with suppress(queue.Empty):
            keys.append(self._done.get(timeout=seconds))
            while True:
                keys.append(self._done.get_nowait())
        return keys

    def answers(self, futures: Sequence[Any]) -> list[Answer | Exception | None]:
        """What became of each of them: an answer, what it failed with, or None where it was lost."""
        done = [future for future in futures if future.status == "finished"]
        found: dict[str, Any] = {}
        try:
            found = dict(zip([future.key for future in done], self._client.gather(done), strict=True))
        except Exception:
            for future in done:
                found[future.key] = self._fetched(future)
        return [found[future.key] if future.key in found else self._failed(future) for future in futures]

    def _fetched(self, future: Any) -> Answer | None:
        try:
            answer: Answer = future.result(timeout=CONNECT_SECONDS)
        except Exception:  # its worker has died since
            return None
        return answer

    def _failed(self, future: Any) -> Exception | None:
        if future.status != "error":
            return None
        try:
            error = future.exception(timeout=CONNECT_SECONDS)
        except Exception:
            return None
        return error if isinstance(error, Exception) and not self._is_loss(error) else None

    def _is_loss(self, error: Exception) -> bool:
        """Whether it says no more than that what was sent is gone."""
        return "Cancelled" in type(error).__name__ or "lost" in str(error).lower()

    def forget(self, futures: Sequence[Any]) -> None:
        """Nobody waits for these any more."""
        if futures:
            with suppress(Exception):
                self._client.cancel(list(futures), force=True)


def _address_of(client: Any) -> str:
    """The address of a client's scheduler. Raises UsageError on a client that cannot be asked."""
    if client.status != "running" or client.scheduler is None:
        raise UsageError(f"this client is {client.status}: give one that runs, or the address of its scheduler")
    if client.asynchronous:
        raise UsageError("this client is asynchronous: give the address of its scheduler, or a client that is not")
    return str(client.scheduler.address)


def _address_in(path: str) -> str:
    """The address in a scheduler's file, which may be written a moment later. Raises ValueError when it has none."""
    began = time.monotonic()
    while True:
        try:
            return check_address(json.loads(Path(path).read_bytes())["address"])
        except FileNotFoundError:
            found, patience = "there is no such file", CONNECT_SECONDS
        except (ValueError, LookupError, TypeError):  # or half of it is written
            found, patience = "this file names no scheduler", LOOK_SECONDS
        if time.monotonic() - began > patience:
            raise ValueError(found)
        time.sleep(0.1)


def close_clusters() -> None:
    """Leaves all clusters that this process has connected to: at the end of a command, whatever ended it."""
    for cluster in list(_CLUSTERS):
        cluster.close()


def _close(made: list[Any]) -> None:
    """Ends clients and clusters of processes, the client first."""
    with without_interrupts():
        while made:
            with suppress(Exception):
                made.pop(0).close()


def _silence() -> None:
    """Dask's own words go nowhere: what matters is said by those who call this."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
